//! Settings of the front of an SSD: queues, processor cores and write buffer, which are everything before the dies. They are the tables
//! `[ssd.queues]`, `[ssd.firmware]` and `[ssd.buffer]`.

use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of placement handles of a drive.
pub(crate) const PLACEMENT_HANDLES_MAX: u32 = 16;

/// Queues, cores and write buffer before the dies of an SSD (sections 24 and 25 of the rules).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontEndParams {
    /// The write buffer. With `None`, a write is done when it has been programmed. Drives with superblocks always have a buffer.
    pub write_buffer: Option<BufferParams>,
    /// Queues in which commands wait until the drive fetches them. With `None`, the drive takes them as they arrive.
    pub queues: Option<SubmissionQueues>,
    /// Processor cores of the SSD's controller: their number, and the time of a core that each kind of command takes.
    pub firmware: ControllerCores,
}

/// Settings of a write buffer. A write is done when all its data are in the buffer and the time `ack` has passed. With
/// `ssd.superblock`, data leave the buffer in superpages, each written by one program of a die. Without `ssd.superblock`, single pages
/// go to their dies one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WriteBuffer {
    /// Time that the acknowledgement of a write takes. It begins when the last unit of the command is in the buffer.
    pub ack: Duration,
    /// True if the buffer survives a loss of power, so that a flush need not wait.
    pub protected: bool,
    /// Maximum time that a superpage stays open, after which it is programmed even if it is not full. By default, there is no limit. Needs
    /// `ssd.superblock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linger: Option<Duration>,
}

impl Default for WriteBuffer {
    fn default() -> Self {
        Self { ack: Duration { ns: 0 }, protected: true, linger: None }
    }
}

/// The write buffer of a drive with its capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferParams {
    /// Number of units that fit, at least 1. A unit is what the buffer handles at once: a page or, with
    /// superblocks, a unit of the mapping. With superblocks, at least two superpages must fit.
    pub capacity_mapping_units: u32,
    /// Settings of the buffer.
    pub settings: WriteBuffer,
}

/// The submission queues of a drive, from which it fetches commands round robin. Each stream of a workload with `kind = "mix"` sends to
/// its own queue if there are enough queues; otherwise, streams share queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SubmissionQueues {
    /// Number of submission queues of each drive. Stream s (counted from 0) of a workload with `kind = "mix"` sends to queue s modulo
    /// this number. Everything else goes to queue 0.
    #[schemars(range(min = 1, max = 65_535))]
    pub queues: u32,
    /// Number of commands that are fetched from a queue before the next one has its turn.
    #[schemars(range(min = 1, max = 65_536))]
    pub burst: u32,
    /// Maximum number of commands that the drive works on at the same time. Others wait in their queues.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub commands: u32,
}

impl Default for SubmissionQueues {
    fn default() -> Self {
        Self { queues: 64, burst: 1, commands: 256 }
    }
}

/// The processor cores of a drive's controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControllerCores {
    /// Number of processor cores in the controller of a drive. Each command, and each unit of data that collection moves, occupies one
    /// core for some time. The keys `read`, `write`, `move`, `trim` and `trim_unit` are these times.
    #[schemars(range(min = 1, max = 1_024))]
    pub cores: u32,
    /// Time for which a read command of any size occupies a processor core.
    pub read: Duration,
    /// Time for which a write or flush command of any size occupies a processor core.
    pub write: Duration,
    /// Time for which moving one unit of data in a collection occupies a processor core of the drive. A unit is one page or several
    /// (`ssd.superblock.unit`). Needs `ssd.superblock`.
    #[serde(rename = "move")]
    pub move_: Duration,
    /// Time for which a trim command of any size occupies a processor core. To this is added `trim_unit` for each unit of data that is
    /// trimmed: a unit of the size `ssd.superblock.unit` or, without superblocks, a page.
    pub trim: Duration,
    /// Time for which each unit of data in a trim command occupies a processor core. A unit is `ssd.superblock.unit` or, without
    /// superblocks, a page.
    pub trim_unit: Duration,
    /// Fixed time from the end of the core's work on a command until the drive begins with the command. No core is occupied meanwhile.
    pub latency: Duration,
}

impl ControllerCores {
    /// Settings with which commands take no time.
    pub const WITHOUT_OVERHEAD: Self = {
        let none = Duration { ns: 0 };
        Self { cores: 1, read: none, write: none, move_: none, trim: none, trim_unit: none, latency: none }
    };
}

impl Default for ControllerCores {
    fn default() -> Self {
        Self::WITHOUT_OVERHEAD
    }
}
