//! Keys of garbage collection: `[ssd.gc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_model::ssd::{self, VictimPolicy};
use flashraid_workload::units::{Duration, Fraction, NumberRange, Quantity, StartThreshold, StopThreshold, UnitError};

/// Garbage collection of one SSD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GcConfig {
    /// Procedure of a collection: `as-set` follows the other keys, and `reference-no-copy-back` does the same as the SSD extension of
    /// DiskSim without copy-back.
    pub procedure: Procedure,
    /// Choice of the block, or superblock, to collect: the name of a policy, or a table with its parameters.
    pub victim: VictimPolicy,
    /// Number of free blocks at or below which a pool is collected.
    pub start: StartThreshold,
    /// Number of free blocks at which the collection of a pool ends.
    pub stop: StopThreshold,
    /// Kinds of requests before which the free blocks are checked.
    pub trigger: Trigger,
    /// Group of blocks that share free blocks, open blocks and thresholds.
    pub pool: BlockPoolScope,
    /// The blocking scope of a collection: the part that serves no request during the collection.
    pub blocking: Blocking,
    /// True to write moved pages to an open block of their own, instead of that for host writes.
    pub separate_open_block: bool,
    /// True if moved pages stay inside their plane and need no transfer.
    pub copy_back: bool,
    /// Points of a collection at which requests may interrupt it.
    pub preemption: Preemption,
    /// T_hard of PGC, as a share of `start`: with fewer free blocks, requests that consume free blocks wait. Needs preemption. Not with
    /// superblocks.
    pub t_hard: Fraction,
    /// Overlap of requests with the steps of a collection. Requests that may be served between two steps overlap with the next step, if
    /// they and the step are all reads or all writes. With `"in-flight"`, requests that arrive during a step may overlap with it, too.
    /// Needs preemption; with superblocks also `superblock.cache_read`.
    pub pipeline: Pipeline,
    /// True to serve a request for a page that is being moved with the copy in the page register (with superblocks, in the controller).
    /// Needs preemption.
    pub merge: bool,
    /// True to move a page first if a waiting request needs it. Needs preemption and `merge`. Not with superblocks.
    pub reorder: bool,
    /// Time of a poll of the queue between two steps of a collection. Needs preemption. Not with superblocks.
    pub poll: Duration,
    /// Time from the suspension of a program or erase until the read begins, in nanoseconds. Needs `preemption = "suspend"`.
    #[schemars(range(min = 0, max = 3_600_000_000_000_u64))]
    pub suspend_ns: u64,
    /// Time from the end of the read until the operation continues, in nanoseconds. Needs `preemption = "suspend"`.
    #[schemars(range(min = 0, max = 3_600_000_000_000_u64))]
    pub resume_ns: u64,
    /// Maximum number of times that one program or erase is suspended. Needs `preemption = "suspend"`.
    pub suspensions_max: u32,
    /// Idle time after which a die collects in the background.
    pub idle: IdleTimeBeforeCollection,
}

impl Default for GcConfig {
    fn default() -> Self {
        Self {
            procedure: Procedure::AsSet,
            victim: VictimPolicy::default(),
            start: StartThreshold::ShareOfPool(Fraction(0.05)),
            stop: StopThreshold::AboveStart(1),
            trigger: Trigger::Request,
            pool: BlockPoolScope::Plane,
            blocking: Blocking::Die,
            separate_open_block: false,
            copy_back: true,
            preemption: Preemption::None,
            t_hard: Fraction(0.5),
            pipeline: Pipeline::Plain(false),
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

/// Requests that overlap with steps of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Pipeline {
    /// No requests overlap with a step of a collection (`false`), or those do that may be served before the step (`true`). All of these
    /// must be reads or writes like the step.
    Plain(bool),
    /// Further requests overlap with a step of a collection, in addition to those with `true`.
    Named(NamedPipeline),
}

/// Further requests that overlap with a step, although they arrived after its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NamedPipeline {
    /// Requests that arrive during a step of a collection, if they are of the same kind as the step: reads or writes.
    InFlight,
}

impl Pipeline {
    /// Returns true if any requests overlap with steps of a collection.
    pub fn is_on(self) -> bool {
        self != Self::Plain(false)
    }

    /// Returns the setting as the model represents it.
    pub(super) fn resolved(self) -> ssd::PipeliningMode {
        match self {
            Self::Plain(false) => ssd::PipeliningMode::Off,
            Self::Plain(true) => ssd::PipeliningMode::AtPreemptionPoints,
            Self::Named(NamedPipeline::InFlight) => ssd::PipeliningMode::AlsoDuringSteps,
        }
    }
}

/// Name of the procedure [`CollectionProcedure::ReferenceSimulatorWithoutCopyBack`].
pub(super) const REFERENCE_NO_COPY_BACK: &str = "reference-no-copy-back";

/// Procedure of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// Finds victims and free blocks as the other keys of `ssd.gc` say.
    AsSet,
    /// Follows the DiskSim SSD extension without copy-back. There is a pool for each die. When it begins to collect, a table of its blocks
    /// is sorted by valid pages, and victims are taken from it in order. Free blocks are searched plane by plane, and only pages that cross
    /// planes are transferred.
    ReferenceNoCopyBack,
}

/// Idle time after which a die collects in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleTimeBeforeCollection {
    /// Never collect in the background.
    Off,
    /// Collect after this time without work.
    After(Duration),
}

impl Quantity for IdleTimeBeforeCollection {
    const NAME: &'static str = "idle-time";
    const ALLOWED_TEXT: &'static str = "\"off\", or a duration with a unit, such as \"10ms\"";
    const PATTERN: &'static str = r"^\s*(off|[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d))\s*$";
    const ALLOWED_NUMBERS: Option<NumberRange> = None;

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

/// Kinds of requests before which the free blocks are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// Check before every request of the host.
    Request,
    /// Check before writes only.
    Write,
}

/// Group of blocks that share free blocks, open blocks and thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockPoolScope {
    /// Each plane has its own pool.
    Plane,
    /// All planes of a die form one pool.
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
    /// Never: once a victim is chosen, its collection runs to its end.
    None,
    /// Between two steps of the collection, which are reads, programs and the erase (PGC section III).
    Semi,
    /// Between two steps of the collection; reads also interrupt a program or erase in progress (Wu & He, FAST 2012).
    Suspend,
}
