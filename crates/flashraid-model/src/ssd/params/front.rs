//! Parameters of the front of an SSD, as plain integers.

/// Placement handles of a drive at most.
pub const HANDLES_MAX: u32 = 16;

/// Queues, cores and write buffer before the dies of an SSD (sections 24 and 25 of the rules).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontParams {
    /// The write buffer; `None`: writes are done when they are programmed. With superblocks there is always one.
    pub buffer: Option<BufferParams>,
    /// Queues in which commands wait until the drive fetches them. `None`: it takes them as they come.
    pub queues: Option<QueueParams>,
    /// The processor cores of the controller.
    pub firmware: FirmwareParams,
}

/// The write buffer of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferParams {
    /// Units that it holds, which are pages where there are no superblocks; at least 1, with superblocks at least two superpages.
    pub units: u32,
    /// Time from the entry of a command's last unit until the command is done.
    pub ack_ns: u64,
    /// The content survives a loss of power, so that a flush has nothing to wait for.
    pub is_protected: bool,
    /// An open superpage that has waited for so long is closed, though not full.
    pub linger_ns: Option<u64>,
}

/// The submission queues of a drive (rule 219); all at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueParams {
    /// Number of submission queues.
    pub queues: u32,
    /// Commands that are fetched of a queue in one turn.
    pub burst: u32,
    /// Commands in flight at most.
    pub commands: u32,
}

/// The processor cores of a drive's controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirmwareParams {
    /// Cores; at least 1.
    pub cores: u32,
    /// Cost of a read command on a core.
    pub read_ns: u64,
    /// Cost of a write or flush command on a core.
    pub write_ns: u64,
    /// Cost of a unit that collection moves on a core; means nothing without superblocks.
    pub move_ns: u64,
    /// Cost of a trim command on a core, without its units.
    pub trim_ns: u64,
    /// Cost of each unit of a trim command.
    pub trim_unit_ns: u64,
    /// Delay of each command after its core.
    pub latency_ns: u64,
}

impl FirmwareParams {
    /// Parameters with which commands cost nothing.
    pub const FREE: Self = Self { cores: 1, read_ns: 0, write_ns: 0, move_ns: 0, trim_ns: 0, trim_unit_ns: 0, latency_ns: 0 };
}
