//! Keys of garbage collection: `[ssd.gc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_model::ssd::{self, VictimPolicy};
use flashraid_workload::units::{AllowedUnitlessRange, Duration, Fraction, GcStartThreshold, GcStopThreshold, Quantity, UnitError};

/// Garbage collection of one SSD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GcConfig {
    /// Rules by which collection chooses victim blocks and free blocks, and moves pages. With `as-set`, the other keys give the rules.
    /// With `reference-no-copy-back`, they are those of the SSD extension of DiskSim with copy-back disabled.
    pub procedure: GcAlgorithmConfig,
    /// Choice of the block, or superblock, to collect: the name of a policy, or a table with its parameters.
    pub victim: VictimPolicy,
    /// Number of free blocks of a pool of blocks (of a plane or of a die) at or below which collection in the pool starts.
    pub start: GcStartThreshold,
    /// Number of free blocks of a pool of blocks (of a plane or of a die) at which collection in the pool stops.
    pub stop: GcStopThreshold,
    /// Kinds of host requests before which a die checks if one of its pools of blocks has so few free blocks that collection must start.
    pub trigger: HostRequestsThatMayStartGc,
    /// Scope of a pool of blocks: a plane, or a whole die. All blocks of a pool have their free blocks in common, and the open blocks
    /// that are being written. The thresholds `start` and `stop` of garbage collection count the free blocks of a pool.
    pub pool: BlockPoolScope,
    /// The blocking scope of a collection: the part that serves no request during the collection.
    pub blocking: Blocking,
    /// True to write moved pages to an open block of their own, instead of that for host writes.
    pub separate_open_block: bool,
    /// True if moved pages stay inside their plane and need no transfer.
    pub copy_back: bool,
    /// True to clean planes of a die at the same time where several of them need it, or are forced. The die is held for the longest.
    /// False to clean one plane after another. Needs a pool for each plane, blocking of the die, copy-back, pins of each die's own,
    /// and no preemption.
    pub parallel_planes: bool,
    /// Points of a collection at which requests may interrupt it.
    pub preemption: Preemption,
    /// Number of free blocks of a pool below which host writes that need a free page wait while a block is collected. It is a share of
    /// the number in the key `start`, at which collection starts. The paper on preemptive collection (PGC) calls it T_hard. Needs a
    /// `preemption` other than `"none"`. Applies only to drives without superblocks.
    pub t_hard: Fraction,
    /// Overlap of host requests with a step of a collection: the read or program of a page that is moved. With `true`, requests that
    /// wait when a step begins may overlap with it. All requests that the die may serve then must be of the step's kind: reads for a
    /// read, writes for a program. Otherwise none overlaps. With `"in-flight"`, requests of the step's kind that arrive during the
    /// step may overlap, too. Needs a `preemption` other than `"none"`. In drives with superblocks, only reads overlap, and
    /// `superblock.cache_read = true` and `superblock.plane_reads = "independent"` are needed, too.
    pub pipeline: HostOverlapWithMovesConfig,
    /// True if host requests use the copy of a page that collection has read and not yet programmed. A read gets its data from this
    /// copy, and a write replaces the data in it. The copy is in the page register of the die. In drives with superblocks, the copy is
    /// in the controller, and only reads use it. Needs a `preemption` other than `"none"`.
    pub merge: bool,
    /// True if collection moves a page earlier than others of its block because a waiting request reads or writes it. The request is
    /// then served with the copy of the page that collection has read (as the key `merge` says). Needs `merge = true`. Applies only to
    /// drives without superblocks.
    pub reorder: bool,
    /// Time that a die takes, between two steps of a collection, to look for waiting requests in its queue. Needs a `preemption` other
    /// than `"none"`. Applies only to drives without superblocks.
    pub poll: Duration,
    /// Time from the suspension of a program or erase until the read that interrupts it begins, in nanoseconds. Needs
    /// `preemption = "suspend"`.
    #[schemars(range(min = 0, max = 3_600_000_000_000_u64))]
    pub suspend_ns: u64,
    /// Time from the end of the last read that is served during a suspension until the suspended program or erase continues, in
    /// nanoseconds. Needs `preemption = "suspend"`.
    #[schemars(range(min = 0, max = 3_600_000_000_000_u64))]
    pub resume_ns: u64,
    /// Maximum number of times that one program or erase is suspended. Needs `preemption = "suspend"`.
    pub suspensions_max: u32,
    /// Idle time after which a die (with superblocks, the whole drive) collects in the background.
    pub idle: IdleTimeBeforeCollection,
}

impl Default for GcConfig {
    fn default() -> Self {
        Self {
            procedure: GcAlgorithmConfig::AsSet,
            victim: VictimPolicy::default(),
            start: GcStartThreshold::FreeShareOfBlockPool(Fraction(0.05)),
            stop: GcStopThreshold::AboveStart(1),
            trigger: HostRequestsThatMayStartGc::Request,
            pool: BlockPoolScope::Plane,
            blocking: Blocking::Die,
            separate_open_block: false,
            copy_back: true,
            parallel_planes: false,
            preemption: Preemption::None,
            t_hard: Fraction(0.5),
            pipeline: HostOverlapWithMovesConfig::Plain(false),
            merge: false,
            reorder: false,
            poll: Duration { ns: 600 },
            // None of the papers gives these values. Data sheets promise a few microseconds.
            suspend_ns: 5_000,
            resume_ns: 5_000,
            suspensions_max: 10,
            idle: IdleTimeBeforeCollection::Off,
        }
    }
}

/// Choice of the host requests that may overlap with a step of a collection. They are none, those that wait when the step begins, or
/// also those that arrive during it. A step is a read or a program of a page that collection moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HostOverlapWithMovesConfig {
    /// No overlap (`false`), or overlap of a step of a collection with host requests that wait when the step begins (`true`). A step
    /// is a read or a program of a page that collection moves. All requests that the die may serve then must be of the step's kind:
    /// reads for a read, writes for a program. Otherwise none overlaps. In drives with superblocks, only reads overlap.
    Plain(bool),
    /// Overlap that is chosen by a name; `"in-flight"` is the only one. Host requests may then overlap with a step of a collection if
    /// they wait when the step begins, or if they arrive during it. A step is a read or a program of a page that collection moves.
    /// Reads overlap only with a read, and writes only with a program.
    Named(NamedHostOverlap),
}

/// Values of the key `pipeline` that are names rather than true or false. The only one is `"in-flight"`. Host requests may then
/// overlap with a step of a collection if they wait when the step begins, or if they arrive during it. A step is a read or a program
/// of a page that collection moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NamedHostOverlap {
    /// Lets host requests overlap with a step of a collection if they wait when the step begins, or if they arrive during it. A step is a
    /// read or a program of a page that collection moves. Host reads overlap only with a step that reads, and host writes only with a step
    /// that programs. If both reads and writes wait when the step begins, none of these overlap. In drives with superblocks, only reads
    /// overlap.
    InFlight,
}

impl HostOverlapWithMovesConfig {
    /// Returns true if the setting allows host requests to overlap with steps of a collection.
    pub fn allows_host_overlap(self) -> bool {
        self != Self::Plain(false)
    }

    /// Returns the setting as the model represents it.
    pub(super) fn resolved(self) -> ssd::HostOverlapWithMoves {
        match self {
            Self::Plain(false) => ssd::HostOverlapWithMoves::NoOverlap,
            Self::Plain(true) => ssd::HostOverlapWithMoves::RequestsWaitingAtStepStart,
            Self::Named(NamedHostOverlap::InFlight) => ssd::HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep,
        }
    }
}

/// Name of the procedure [`GcAlgorithm::LikeDiskSimWithoutCopyBack`].
pub(super) const REFERENCE_NO_COPY_BACK: &str = "reference-no-copy-back";

/// Rules by which collection chooses victim blocks and free blocks, and moves pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GcAlgorithmConfig {
    /// Finds victims and free blocks as the other keys of `ssd.gc` say.
    AsSet,
    /// Follows the SSD extension of DiskSim with its setting copy-back disabled. Each die has one pool of blocks. When collection
    /// begins in the pool, its blocks are listed in a table, those with the fewest valid pages first. Victims are taken from the table
    /// in order. The die looks for the next free block to write plane by plane. A moved page is transferred out of the die and back
    /// only if it changes planes, as in DiskSim.
    ReferenceNoCopyBack,
}

/// Idle time after which a die (with superblocks, the whole drive) collects in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleTimeBeforeCollection {
    /// Never collect in the background.
    Off,
    /// Collect in a die after the die has had no work for this time. With superblocks, the drive collects after no command has arrived for
    /// this time.
    After(Duration),
}

impl Quantity for IdleTimeBeforeCollection {
    const JSON_SCHEMA_FORMAT: &'static str = "idle-time";
    const ALLOWED_VALUES: &'static str = "\"off\", or a duration with a unit, such as \"10ms\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(off|[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d))\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "off" { Ok(Self::Off) } else { Duration::parse(text).map(Self::After) }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Off => "off".into(),
            Self::After(time) => time.to_json(),
        }
    }
}

/// Kinds of host requests before which a die checks if one of its pools of blocks has so few free blocks that collection must start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostRequestsThatMayStartGc {
    /// Makes a die check its pools of blocks before it serves any request of the host. Collection starts if a pool has only `start`
    /// free blocks or fewer.
    Request,
    /// Makes a die check its pools of blocks only before it serves a write of the host. Collection starts if a pool has only `start`
    /// free blocks or fewer.
    Write,
}

/// Scope of a pool of blocks: a plane, or a whole die. All blocks of a pool have their free blocks in common, and the open blocks that
/// are being written. The thresholds `start` and `stop` of garbage collection count the free blocks of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockPoolScope {
    /// Each plane has its own pool of blocks.
    Plane,
    /// All planes of a die share one pool of blocks.
    Die,
}

/// The blocking scope of a collection: the part that serves no request during the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocking {
    /// The whole die is blocked by a collection.
    Die,
    /// Only the plane of the victim is blocked. Needs `pool = "plane"`.
    Plane,
}

/// Points of a collection at which requests may interrupt it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preemption {
    /// Lets no request interrupt the collection of a victim block: once the block is chosen, its collection runs to its end. Drives
    /// with superblocks are an exception, because they serve host requests between the parts of a collection. A part is all reads of
    /// one superpage (the data that one program of a die writes), one such program, or one die's erase.
    None,
    /// Requests may be served between two steps of the collection. The steps are page reads, page programs and the erase (section III of
    /// the paper on preemptive collection, PGC).
    Semi,
    /// Requests may be served between two steps of the collection. Reads also interrupt a program or erase that is in progress (Wu & He,
    /// FAST 2012).
    Suspend,
}
