//! What users write about drives that write superpages out of a buffer, and about buffers, queues and cores of any device: `[ssd.superblock]`, `[ssd.buffer]`, `[ssd.queues]`,
//! `[ssd.firmware]`, `[ssd.suspension]`, `[ssd.placement_handles]`, `[ssd.slc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::units::{Duration, Fraction, Size};

/// The drive maps units, programs superpages and collects superblocks little by little; without this table it has pools of blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SuperblockConfig {
    /// What the map knows; a multiple of `geometry.page_size`. A write of less reads the rest first.
    pub unit: Size,
    /// What a plane reads at a time; a multiple of `unit`.
    pub flash_page: Size,
    /// Flash pages that one program brings to each plane: 3 for TLC, 4 for QLC.
    #[schemars(range(min = 1, max = 8))]
    pub pages_per_cell: u32,
    /// Array reads by type of page, in order of the pages of a block; without it all take `timing.page_read`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub page_reads: Vec<Duration>,
    /// What reads at the same time in a die.
    pub plane_reads: PlaneReads,
    /// A plane may read its next page while the one before is on its way out.
    pub cache_read: bool,
    /// Host reads of a die that begin while something else waits, before that has its turn.
    #[schemars(range(min = 1))]
    pub reads_ahead: u32,
    /// Dies that may program at the same time; without it all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub programs_at_once: Option<u32>,
    /// One superpage in `geometry.dies` is parity of the others of its row, programmed after them; `geometry.reserved` must have room for it.
    #[serde(skip_serializing_if = "is_off")]
    pub rain: bool,
    /// Free superblocks at which moves balance writes.
    #[schemars(range(min = 3, max = 65_536))]
    pub target: u32,
    /// Superblocks below the target at which the pace has doubled, and above it at which it is 0.
    #[schemars(range(min = 1, max = 65_536))]
    pub span: u32,
    /// Free superblocks at which no superpage of the host begins any more.
    #[schemars(range(min = 2, max = 65_536))]
    pub floor: u32,
    /// Moves owed beyond which no superpage of the host begins, in superpages per die.
    #[schemars(range(min = 0, max = 65_536))]
    pub debt: u32,
    /// Array reads of a block for the host, on average over those of its superblock, after which the superblock is moved (read disturb);
    /// without it never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub refresh_reads: Option<u32>,
    /// Erases that the most erased superblock may be ahead; when it is as many, the least erased one is moved (static wear levelling).
    /// Without it never.
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

/// What reads at the same time in a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneReads {
    /// Each plane a page of its own.
    Independent,
    /// One plane at a time.
    Die,
}

/// The write buffer of a drive. Before pools of blocks it holds pages: a write is done when its pages are in, and they go to their dies one
/// after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct BufferConfig {
    /// What it holds; without it two superpages per die, and no less than it needs: a superpage for each placement handle, and one more. Before
    /// pools of blocks at least a page; without it two pages per die.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// From the entry of a command's last unit until it is done.
    pub ack: Duration,
    /// It survives a loss of power, so that a flush has nothing to wait for.
    pub protected: bool,
    /// A superpage that has been open for so long is programmed though not full; without it never. Needs `ssd.superblock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub linger: Option<Duration>,
}

impl Default for BufferConfig {
    fn default() -> Self {
        Self { size: None, ack: Duration { ns: 0 }, protected: true, linger: None }
    }
}

/// What the host writes with different handles goes to different superblocks, as with Flexible Data Placement; needs `ssd.superblock`. A write
/// carries the number of its stream in a mix, modulo `handles`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PlacementHandlesConfig {
    /// Placement handles; the superblocks of each are its reclaim units.
    #[schemars(range(min = 1, max = 16))]
    pub handles: u32,
    /// What collection moves apart.
    pub isolation: Isolation,
}

impl Default for PlacementHandlesConfig {
    fn default() -> Self {
        Self { handles: 2, isolation: Isolation::Initially }
    }
}

/// How long what was written with different handles lies apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Until collection moves it: what is moved lies together, whatever its handle.
    Initially,
    /// For ever: what is moved stays with its handle. `ssd.superblock.floor` is to be at least `handles` + 1.
    Persistently,
}

/// What the host writes goes to superblocks with one bit per cell (SLC) while there is room, and is folded into others by collection; needs
/// `ssd.superblock`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SlcConfig {
    /// What `share` is a share of.
    pub mode: SlcMode,
    /// Superblocks that may hold one bit per cell at a time, as a share; a superblock holds `superblock.pages_per_cell` times less in this way.
    pub share: Fraction,
    /// Time in which all planes of a die program a flash page each.
    pub program: Duration,
    /// Time of an array read.
    pub read: Duration,
}

/// What the room for one bit per cell depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlcMode {
    /// A share of all superblocks, taken from those in reserve.
    Static,
    /// A share of the superblocks that are free beyond `superblock.target`: a full drive has little.
    Dynamic,
}

/// How reads interrupt programs and erases of a drive; needs `ssd.superblock`, and `gc.preemption = "suspend"`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SuspensionConfig {
    /// Programs of superpages.
    pub program: OperationSuspension,
    /// Erases.
    pub erase: OperationSuspension,
}

/// How reads interrupt one kind of operation. With `ssd.scale` above 1 the times of erases shrink as erases do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OperationSuspension {
    /// From the interruption until reads begin; without it 100 µs for a program, 700 µs for an erase. What ends earlier is not interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<Duration>,
    /// From the end of the last read until the operation goes on.
    pub resume: Duration,
    /// Suspensions that one operation suffers at most.
    pub suspensions_max: u32,
    /// What the operation works at least between two suspensions; without it as long as `suspend`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Duration>,
}

impl Default for OperationSuspension {
    fn default() -> Self {
        Self { suspend: None, resume: Duration { ns: 0 }, suspensions_max: 10, progress: None }
    }
}

/// The submission queues of a drive, which it fetches round robin. Each stream of a mix sends to a queue of its
/// own, as far as there are enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct QueuesConfig {
    /// Queues; the stream with number s of a mix, counted from 0, sends to queue s modulo this. All else goes to queue 0.
    #[schemars(range(min = 1, max = 65_535))]
    pub queues: u32,
    /// Commands that are fetched of a queue before the next one has its turn.
    #[schemars(range(min = 1, max = 65_536))]
    pub burst: u32,
    /// Commands that the drive works on at the same time: while there are so many, the others wait in their queues.
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
    /// Cores; each command and each move holds one for its cost.
    #[schemars(range(min = 1, max = 1_024))]
    pub cores: u32,
    /// Cost of a read command of any size.
    pub read: Duration,
    /// Cost of a write or flush command of any size.
    pub write: Duration,
    /// Cost of a unit that collection moves; needs `ssd.superblock`.
    #[serde(rename = "move")]
    pub move_: Duration,
    /// Cost of a trim command.
    pub trim: Duration,
    /// The same for each unit of it.
    pub trim_unit: Duration,
    /// Delay of each command, which holds nothing.
    pub latency: Duration,
}

impl Default for FirmwareConfig {
    fn default() -> Self {
        let none = Duration { ns: 0 };
        Self { cores: 1, read: none, write: none, move_: none, trim: none, trim_unit: none, latency: none }
    }
}
