//! Keys of drives that write superpages out of a buffer, and of the buffers, queues and cores of any device.
//!
//! These are `[ssd.superblock]`, `[ssd.buffer]`, `[ssd.queues]`, `[ssd.firmware]`, `[ssd.suspension]`, `[ssd.placement_handles]` and
//! `[ssd.slc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::units::{Duration, Fraction, Size};

/// A drive that maps units, programs superpages, and collects superblocks in small steps. Without this table, it has pools of blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SuperblockConfig {
    /// Size of a unit, the smallest piece of data whose place the map of the drive stores; a multiple of `geometry.page_size`. A smaller
    /// write first reads the rest of its unit.
    pub unit: Size,
    /// Number of bytes that a plane reads at a time, a multiple of `unit`.
    pub flash_page: Size,
    /// Number of flash pages that one program writes to each plane, one for each bit of a cell: 3 for TLC, 4 for QLC.
    #[schemars(range(min = 1, max = 8))]
    pub pages_per_cell: u32,
    /// Times that the flash array takes to read a page, by type of page, in order of the pages of a block. By default, all take
    /// `timing.page_read`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub page_reads: Vec<Duration>,
    /// Number of planes of a die that can read at the same time.
    pub plane_reads: PlaneReads,
    /// True if a plane can read its next page while the page before is being transferred.
    pub cache_read: bool,
    /// Maximum number of host reads on a die that go ahead of another waiting operation. Then that operation has its turn.
    #[schemars(range(min = 1))]
    pub reads_ahead: u32,
    /// Number of dies that may program at the same time. By default, all may.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub programs_at_once: Option<u32>,
    /// True to program parity (RAIN). Superpages at the same place of all dies form a row, of which one is the parity of the others and is
    /// programmed after them. `geometry.reserved` must leave room for it.
    #[serde(skip_serializing_if = "is_off")]
    pub rain: bool,
    /// Number of free superblocks that collection aims at. There, it frees as much space as the host takes; with fewer free superblocks, it
    /// is faster.
    #[schemars(range(min = 3, max = 65_536))]
    pub target: u32,
    /// Number of superblocks below the target at which collection is twice as fast, and number above it at which collection stops.
    #[schemars(range(min = 1, max = 65_536))]
    pub span: u32,
    /// Number of free superblocks at or below which the host may begin no superpage.
    #[schemars(range(min = 2, max = 65_536))]
    pub floor: u32,
    /// Number of superpages per die that collection may be behind with its moves. Beyond it, the host may begin no superpage.
    #[schemars(range(min = 0, max = 65_536))]
    pub debt: u32,
    /// Number of host reads after which data are moved (read disturb). It is an average over the blocks of a superblock, and counts since
    /// the last erase. By default, data are never moved for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub refresh_reads: Option<u32>,
    /// Wear difference at which the least erased superblock is moved (static wear levelling). It is the difference of its erases from those
    /// of the most erased one. By default, none is moved for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub wear_difference: Option<u32>,
}

impl Default for SuperblockConfig {
    fn default() -> Self {
        Self {
            unit: Size { bytes: 4096 },
            flash_page: Size { bytes: 16_384 },
            pages_per_cell: 3,
            page_reads: Vec::new(),
            plane_reads: PlaneReads::Independent,
            cache_read: false,
            reads_ahead: 64,
            programs_at_once: None,
            rain: false,
            target: 6,
            span: 3,
            floor: 2,
            debt: 4,
            refresh_reads: None,
            wear_difference: None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_off(is_on: &bool) -> bool {
    !is_on
}

/// Number of planes of a die that can read at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneReads {
    /// Each plane reads independently of the others.
    Independent,
    /// Only one plane of a die reads at a time.
    Die,
}

/// The write buffer of a drive. Without `ssd.superblock`, it holds pages. A write is then done when its pages are in the buffer, and they
/// go to their dies one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct BufferConfig {
    /// Size of the buffer. By default, two superpages per die, but at least a superpage for each placement handle and one more. With pools
    /// of blocks at least a page, and by default two pages per die.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Time that the acknowledgement of a write takes. It begins when the last unit of the command is in the buffer.
    pub ack: Duration,
    /// True if the buffer survives a loss of power, so that a flush need not wait.
    pub protected: bool,
    /// Maximum time that a superpage stays open, after which it is programmed even if it is not full. By default, there is no limit. Needs
    /// `ssd.superblock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linger: Option<Duration>,
}

impl Default for BufferConfig {
    fn default() -> Self {
        Self { size: None, ack: Duration { ns: 0 }, protected: true, linger: None }
    }
}

/// Placement handles, as with Flexible Data Placement: writes with different handles go to different superblocks. A write has the number of
/// its stream in a mix, modulo `handles`. Needs `ssd.superblock`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PlacementHandlesConfig {
    /// Number of placement handles. The superblocks of each are its reclaim units.
    #[schemars(range(min = 1, max = 16))]
    pub handles: u32,
    /// Time for which data of different placement handles stay in different superblocks: until collection moves them, or for ever.
    pub isolation: HandleIsolation,
}

impl Default for PlacementHandlesConfig {
    fn default() -> Self {
        Self { handles: 2, isolation: HandleIsolation::Initially }
    }
}

/// Time for which data of different placement handles stay in different superblocks: until collection moves them, or for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandleIsolation {
    /// Until collection moves them. Moved units of all handles lie in the same superblocks.
    Initially,
    /// Forever: moved units stay with their handle. `ssd.superblock.floor` must be at least `handles` + 1.
    Persistently,
}

/// Superblocks with one bit per cell (SLC). Host writes go there while there is room, and collection folds them into other superblocks.
/// Needs `ssd.superblock`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SlcConfig {
    /// Superblocks of which `share` is a share: all of them, or those that are free beyond `superblock.target`.
    pub mode: SlcMode,
    /// Share of the superblocks named by `mode` that may hold one bit per cell at a time. Such a superblock holds less data, by the factor
    /// `superblock.pages_per_cell`.
    pub share: Fraction,
    /// Time that a die takes to program a flash page in each of its planes.
    pub program: Duration,
    /// Time that the flash array takes for a read.
    pub read: Duration,
}

/// Superblocks of which a share may hold one bit per cell at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlcMode {
    /// All superblocks. Those with one bit per cell are taken from the reserve.
    Static,
    /// Superblocks that are free beyond `superblock.target`, or that hold one bit per cell now. A full drive has few of them.
    Dynamic,
}

/// Suspension of programs and erases by reads. Needs `ssd.superblock` and `gc.preemption = "suspend"`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SuspensionConfig {
    /// Suspension of programs of superpages.
    pub program: OperationSuspension,
    /// Suspension of erases of blocks.
    pub erase: OperationSuspension,
}

/// Suspension of one kind of operation by reads. If `ssd.scale` makes erases shorter, it divides these times for erases, too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OperationSuspension {
    /// Time from the interruption until reads begin. By default, 100 µs for a program and 700 µs for an erase. An operation that ends
    /// earlier is not interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<Duration>,
    /// Time from the end of the last read until the operation continues.
    pub resume: Duration,
    /// Maximum number of times that one program or erase is suspended.
    pub suspensions_max: u32,
    /// Least time that the operation works between two suspensions. By default, it equals `suspend`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Duration>,
}

impl Default for OperationSuspension {
    fn default() -> Self {
        Self { suspend: None, resume: Duration { ns: 0 }, suspensions_max: 10, progress: None }
    }
}

/// The submission queues of a drive, which it fetches round robin. Each stream of a mix sends to its own queue, as far as there are enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct QueuesConfig {
    /// Number of queues. Stream s of a mix, counted from 0, sends to queue s modulo this number. Everything else goes to queue 0.
    #[schemars(range(min = 1, max = 65_535))]
    pub queues: u32,
    /// Number of commands that are fetched from a queue before the next one has its turn.
    #[schemars(range(min = 1, max = 65_536))]
    pub burst: u32,
    /// Most commands that the drive works on at the same time. Others wait in their queues.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub commands: u32,
}

impl Default for QueuesConfig {
    fn default() -> Self {
        Self { queues: 64, burst: 1, commands: 256 }
    }
}

/// The processor cores of a drive's controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct FirmwareConfig {
    /// Number of processor cores. Each command, and each moved unit, occupies one of them for the time given here.
    #[schemars(range(min = 1, max = 1_024))]
    pub cores: u32,
    /// Time of a core for a read command of any size.
    pub read: Duration,
    /// Time of a core for a write or flush command of any size.
    pub write: Duration,
    /// Time of a core for a unit that collection moves. Needs `ssd.superblock`.
    #[serde(rename = "move")]
    pub move_: Duration,
    /// Time of a core for a trim command.
    pub trim: Duration,
    /// Time of a core for each unit of a trim command.
    pub trim_unit: Duration,
    /// Fixed time from the end of the core's work on a command until the drive begins with the command. No core is occupied meanwhile.
    pub latency: Duration,
}

impl Default for FirmwareConfig {
    fn default() -> Self {
        let none = Duration { ns: 0 };
        Self { cores: 1, read: none, write: none, move_: none, trim: none, trim_unit: none, latency: none }
    }
}
