//! Keys of drives that write superpages out of a buffer, and of the buffers, queues and cores of any device.
//!
//! These are `[ssd.superblock]`, `[ssd.buffer]`, `[ssd.queues]`, `[ssd.firmware]`, `[ssd.suspension]`, `[ssd.placement_handles]` and
//! `[ssd.slc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::units::{Duration, Fraction, Size};

/// A drive that collects superblocks, each the same block of all planes and dies, in small steps. One program of a die writes a
/// superpage: a page of each plane and bit per cell. The map of the drive stores the place of each unit of data, a page or several.
/// Without the table `[ssd.superblock]`, each plane or die has a pool of blocks, and collects single blocks.
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
    /// True to program parity (RAIN). The superpages at the same place of all dies form a row. One superpage of a row is the parity of
    /// the others and is programmed after them. `geometry.reserved` must leave room for the parity.
    #[serde(skip_serializing_if = "is_off")]
    pub rain: bool,
    /// Number of free superblocks that collection aims at. With this number, it frees as much space as the host takes; with fewer free
    /// superblocks, it is faster.
    #[schemars(range(min = 3, max = 65_536))]
    pub target: u32,
    /// Number of free superblocks below or above `target` at which collection changes its speed. With `target` − `span` free superblocks,
    /// collection is twice as fast as with `target`. With `target` + `span`, it stops.
    #[schemars(range(min = 1, max = 65_536))]
    pub span: u32,
    /// Number of free superblocks at or below which the drive sends no superpage of host data from its write buffer to a die. Host
    /// writes wait when the buffer is full. The drive collects meanwhile.
    #[schemars(range(min = 2, max = 65_536))]
    pub floor: u32,
    /// Maximum amount of data, in superpages per die, that collection still has to move to keep up with past host writes. While it is
    /// more, the drive sends no superpage of host data from its write buffer to a die.
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
    /// Size of the buffer. With `ssd.superblock`, it must be at least one superpage for each placement handle and one more. The default
    /// is two superpages per die, or this minimum if it is larger. Without `ssd.superblock`, it must be at least one page, and the
    /// default is two pages per die.
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

/// Placement handles, as with Flexible Data Placement: writes with different handles go to different superblocks. A write of stream s
/// (counted from 0) of a workload with `kind = "mix"` has handle s modulo `handles`. All other writes have handle 0. Needs
/// `ssd.superblock`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PlacementHandlesConfig {
    /// Number of placement handles. The superblocks of each are its reclaim units.
    #[schemars(range(min = 1, max = 16))]
    pub handles: u32,
    /// Time for which data of different placement handles stay in different superblocks: until collection moves the data, or forever.
    pub isolation: HandleIsolation,
}

impl Default for PlacementHandlesConfig {
    fn default() -> Self {
        Self { handles: 2, isolation: HandleIsolation::Initially }
    }
}

/// Time for which data of different placement handles stay in different superblocks: until collection moves the data, or forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandleIsolation {
    /// Data of different handles lie in different superblocks until collection moves the data. Moved data of all handles lie in the same
    /// superblocks.
    Initially,
    /// Data of different handles lie in different superblocks forever, because collection keeps them apart, too. `ssd.superblock.floor`
    /// must be at least `handles` + 1.
    Persistently,
}

/// Superblocks with one bit per cell (SLC). Host writes go there while there is room. Collection later moves the data to superblocks with
/// all bits per cell (folding). Needs `ssd.superblock`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SlcConfig {
    /// Group of superblocks that `share` refers to: all superblocks, or those that are free in excess of `superblock.target` or hold one
    /// bit per cell now.
    pub mode: SlcMode,
    /// Maximum share of superblocks that hold one bit per cell at the same time. The key `mode` says of which superblocks it is a share. A
    /// superblock with one bit per cell holds less data than others, by the factor `superblock.pages_per_cell`.
    pub share: Fraction,
    /// Time that a die takes to program a flash page with one bit per cell in each of its planes.
    pub program: Duration,
    /// Time that the flash array takes to read a page with one bit per cell.
    pub read: Duration,
}

/// Group of superblocks of which the share `slc.share` may hold one bit per cell at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlcMode {
    /// The share `slc.share` of all superblocks of the drive may hold one bit per cell at the same time. The spare area
    /// (`geometry.reserved`) must have room for these.
    Static,
    /// The share `slc.share` is taken of two groups together: superblocks that hold one bit per cell now, and those free in excess of
    /// `superblock.target`. The result is the maximum number of superblocks that may hold one bit per cell at the same time. In a full
    /// drive, few are free, so that this maximum is small.
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

/// Suspension of one kind of operation, programs or erases, by reads. If `ssd.scale` makes erases shorter, the times for the suspension
/// of erases become shorter in proportion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OperationSuspension {
    /// Time from the interruption until reads begin. By default, 100 µs for a program and 700 µs for an erase. An operation that ends
    /// earlier is not interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<Duration>,
    /// Time from the end of the last read during a suspension until the suspended operation continues.
    pub resume: Duration,
    /// Maximum number of times that one program or erase is suspended.
    pub suspensions_max: u32,
    /// Minimum time that the operation works between two suspensions. By default, it equals `suspend`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Duration>,
}

impl Default for OperationSuspension {
    fn default() -> Self {
        Self { suspend: None, resume: Duration { ns: 0 }, suspensions_max: 10, progress: None }
    }
}

/// The submission queues of a drive, from which it fetches commands round robin. Each stream of a workload with `kind = "mix"` sends to
/// its own queue if there are enough queues; otherwise, streams share queues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct QueuesConfig {
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
    /// Number of processor cores. Each command, and each unit of data that collection moves, occupies one core for the time that the
    /// other keys give (except `latency`).
    #[schemars(range(min = 1, max = 1_024))]
    pub cores: u32,
    /// Time for which a read command of any size occupies a processor core.
    pub read: Duration,
    /// Time for which a write or flush command of any size occupies a processor core.
    pub write: Duration,
    /// Time for which each unit of data (one page or several, `ssd.superblock.unit`) that collection moves occupies a processor core. Needs
    /// `ssd.superblock`.
    #[serde(rename = "move")]
    pub move_: Duration,
    /// Time for which a trim command occupies a processor core, besides the time for its units (`trim_unit`).
    pub trim: Duration,
    /// Time for which each unit of data in a trim command occupies a processor core. A unit is `ssd.superblock.unit` or, without
    /// superblocks, a page.
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
