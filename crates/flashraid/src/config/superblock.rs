//! Keys of drives that write superpages out of a buffer, and of the buffers, queues and cores of any device.
//!
//! These are `[ssd.superblock]`, `[ssd.buffer]`, `[ssd.queues]`, `[ssd.firmware]`, `[ssd.suspension]`, `[ssd.placement_handles]` and
//! `[ssd.slc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::units::{Duration, Fraction, Size};

/// A drive that collects garbage in superblocks. A superblock is the same block of all planes and dies. Its collection is divided into
/// small steps (reads, programs and erases of dies), so that host requests can be served in between. One program of a die writes a
/// superpage: in each plane, as many pages as a cell has bits. The map of the drive stores the place of each unit of data, a page or
/// several. Without the table `[ssd.superblock]`, each plane or die has a pool of blocks, and collects single blocks.
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
    /// Times that the flash array takes to read a page, one for each type of page. The types repeat through the pages of a block: with
    /// three entries, pages 0, 3, 6 and so on take the first. By default, all pages take `timing.page_read`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub page_reads: Vec<Duration>,
    /// Number of planes of a die that can read at the same time.
    pub plane_reads: ConcurrentPlaneReads,
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
    /// Distance of the number of free superblocks from `target` at which collection is twice as fast, or stops. It is twice as fast
    /// with `target` − `span` free superblocks as with `target`, and stops with `target` + `span`. The speed changes linearly with the
    /// number of free superblocks, up to four times that at `target`.
    #[schemars(range(min = 1, max = 65_536))]
    pub span: u32,
    /// Number of free superblocks at or below which the drive sends no superpage of host data from its write buffer to a die. Host
    /// writes wait when the buffer is full. The drive collects meanwhile.
    #[schemars(range(min = 2, max = 65_536))]
    pub floor: u32,
    /// Maximum backlog of collection, which is the data that it should have moved by now to keep up with host writes. The whole
    /// drive's maximum is this number of superpages (each the data of one program of a die), multiplied by the number of dies. While
    /// the backlog exceeds it, the drive sends no superpage of host data from its write buffer to a die.
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
            plane_reads: ConcurrentPlaneReads::Independent,
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
pub enum ConcurrentPlaneReads {
    /// Each plane reads independently of the others.
    Independent,
    /// Only one plane of a die reads at a time.
    Die,
}

/// The write buffer of a drive. A write is done when all its data are in the buffer and the time `ack` has passed. With
/// `ssd.superblock`, data leave the buffer in superpages, each written by one program of a die. Without `ssd.superblock`, single pages
/// go to their dies one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WriteBufferConfig {
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

impl Default for WriteBufferConfig {
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
    /// Number of placement handles. A placement handle is a label of a write, as in Flexible Data Placement (FDP) of NVMe. Writes with
    /// different handles go to different superblocks, which are the reclaim units of FDP.
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
    /// Data of different placement handles lie in different superblocks until collection moves the data. Moved data of all handles lie
    /// in the same superblocks.
    Initially,
    /// Data of different placement handles lie in different superblocks forever, because collection keeps them apart, too. Collection
    /// then writes to one superblock for each handle. Hence `ssd.superblock.floor` must be at least `ssd.placement_handles.handles` +
    /// 1.
    Persistently,
}

/// Superblocks with one bit per cell (SLC). Host writes go there while there is room. Collection later moves the data to superblocks with
/// all bits per cell (folding). Needs `ssd.superblock`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SlcSuperblocksConfig {
    /// Number of which `share`, the maximum share of superblocks with one bit per cell (SLC), is a share. With `"static"`, it is the
    /// number of all superblocks. With `"dynamic"`, it is the number of superblocks with one bit per cell now, plus free ones. Of the
    /// free superblocks, only those beyond the number that collection keeps free (`superblock.target`) count.
    pub mode: SlcShareBase,
    /// Maximum share of superblocks that hold one bit per cell at the same time. With `mode = "static"`, it is a share of all
    /// superblocks. With `mode = "dynamic"`, it is a share of those with one bit per cell now, plus the free ones beyond
    /// `superblock.target`. A superblock with one bit per cell holds less data than others, by the factor `superblock.pages_per_cell`.
    pub share: Fraction,
    /// Time of a program operation with one bit per cell. The operation writes one flash page in each plane of a die at once.
    pub program: Duration,
    /// Time that the flash array takes to read a page with one bit per cell.
    pub read: Duration,
}

/// Number of which `slc.share`, the maximum share of superblocks with one bit per cell, is a share. It is the number of all
/// superblocks, or of those with one bit per cell now plus the free ones that collection does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlcShareBase {
    /// Lets the share `slc.share` of all superblocks of the drive hold one bit per cell at the same time. The spare area
    /// (`geometry.reserved`) must have this number of superblocks in addition to those that it needs otherwise.
    Static,
    /// Limits the superblocks with one bit per cell to the share `slc.share` of n + f superblocks. Here n is the number of superblocks
    /// that have one bit per cell now. The number f counts free superblocks beyond those that collection keeps free
    /// (`superblock.target`). In a full drive, f is small.
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
    /// Minimum time for which a program or erase works between two suspensions by reads. By default, it equals the key `suspend`, the
    /// time from the interruption until reads begin.
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
pub struct SubmissionQueuesConfig {
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

impl Default for SubmissionQueuesConfig {
    fn default() -> Self {
        Self { queues: 64, burst: 1, commands: 256 }
    }
}

/// The processor cores of a drive's controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ControllerCoresConfig {
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

impl Default for ControllerCoresConfig {
    fn default() -> Self {
        let none = Duration { ns: 0 };
        Self { cores: 1, read: none, write: none, move_: none, trim: none, trim_unit: none, latency: none }
    }
}
