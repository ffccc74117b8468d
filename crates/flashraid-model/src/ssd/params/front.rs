//! Parameters of the front of an SSD, as plain integers. The front comprises everything before the dies.

/// Maximum number of placement handles of a drive.
pub(crate) const PLACEMENT_HANDLES_MAX: u32 = 16;

/// Queues, cores and write buffer before the dies of an SSD (sections 24 and 25 of the rules).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontEndParams {
    /// The write buffer. With `None`, a write is done when it has been programmed. Drives with superblocks always have a buffer.
    pub write_buffer: Option<BufferParams>,
    /// Queues in which commands wait until the drive fetches them. With `None`, the drive takes them as they arrive.
    pub queues: Option<SubmissionQueueParams>,
    /// Processor cores of the SSD's controller: their number, and the time of a core that each kind of command takes.
    pub firmware: ControllerCoresParams,
}

/// The write buffer of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferParams {
    /// Number of units that fit, at least 1. A unit is what the buffer handles at once: a page or, with superblocks, a unit of the
    /// mapping (one page or several). With superblocks, at least two superpages must fit; one program of a die writes one superpage.
    pub capacity_mapping_units: u32,
    /// Time that the acknowledgement of a write takes, in nanoseconds. It begins when the last unit of the command is in the buffer.
    pub acknowledge_ns: u64,
    /// True if the contents survive a loss of power, so that flushes need not wait.
    pub survives_power_loss: bool,
    /// Maximum time that a superpage stays open in nanoseconds, after which it is closed even if it is not full; `None` for no limit.
    pub superpage_open_max_ns: Option<u64>,
}

/// The submission queues of a drive (rule 219). All values are at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubmissionQueueParams {
    /// Number of submission queues.
    pub queues: u32,
    /// Number of commands fetched from a queue in one turn.
    pub commands_per_fetch: u32,
    /// Maximum number of commands that are fetched and not done.
    pub fetched_commands_max: u32,
}

/// The processor cores of a drive's controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControllerCoresParams {
    /// Number of processor cores, at least 1.
    pub cores: u32,
    /// Time of a processor core for a read command, in nanoseconds.
    pub core_ns_per_read: u64,
    /// Time of a processor core for a write or flush command, in nanoseconds.
    pub core_ns_per_write: u64,
    /// Time of a processor core for each unit that collection moves, in nanoseconds. A unit is what the mapping of a drive with
    /// superblocks places: one page or several. Without superblocks, moves take no time of a core.
    pub core_ns_per_moved_unit: u64,
    /// Time of a processor core for a trim command, in nanoseconds. Each page of the command or, with superblocks, each unit of the
    /// mapping (one page or several) takes `core_ns_per_trimmed_unit` more.
    pub core_ns_per_trim: u64,
    /// Time of a processor core for each unit of a trim command, in nanoseconds. A unit is a page or, with superblocks, a unit of the
    /// mapping (one page or several).
    pub core_ns_per_trimmed_unit: u64,
    /// Delay of each command after its time at the processor core, in nanoseconds.
    pub latency_after_core_ns: u64,
}

impl ControllerCoresParams {
    /// Settings with which commands take no time.
    pub const WITHOUT_OVERHEAD: Self = Self {
        cores: 1,
        core_ns_per_read: 0,
        core_ns_per_write: 0,
        core_ns_per_moved_unit: 0,
        core_ns_per_trim: 0,
        core_ns_per_trimmed_unit: 0,
        latency_after_core_ns: 0,
    };
}
