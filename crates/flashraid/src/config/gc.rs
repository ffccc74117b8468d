//! What users write about garbage collection: `[ssd.gc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_model::ssd::{self, VictimPolicy};
use flashraid_workload::units::{Duration, Fraction, Numbers, Quantity, StartThreshold, StopThreshold, UnitError};

/// Garbage collection of one SSD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GcConfig {
    /// How victims and free blocks are found: as the other keys say, or in all as the reference simulator does without copy-back.
    pub procedure: Procedure,
    /// Which block, or superblock, is collected: a policy by name, or a table with its parameters.
    pub victim: VictimPolicy,
    /// A pool with this many free blocks or fewer is collected.
    pub start: StartThreshold,
    /// A collection of a pool ends when it has this many free blocks.
    pub stop: StopThreshold,
    /// Before which requests the free blocks are checked.
    pub trigger: Trigger,
    /// What shares free blocks, open blocks and thresholds.
    pub pool: Pool,
    /// The blocking scope of a collection: what serves no request while it runs.
    pub blocking: Blocking,
    /// Pages that are moved go to an open block of their own rather than to the one of host writes.
    pub separate_open_block: bool,
    /// Moved pages stay inside their plane and need no transfer.
    pub copy_back: bool,
    /// Whether requests may interrupt a collection.
    pub preemption: Preemption,
    /// Free blocks below which requests that consume free blocks wait, as a share of `start`; needs preemption. Not with superblocks.
    pub t_hard: Fraction,
    /// Requests that may go in overlap with the next step of the collection, if all are of its kind. `"in-flight"`: so do those of its
    /// kind that arrive during the step. Needs preemption; with superblocks also `superblock.cache_read`.
    pub pipeline: Pipeline,
    /// A request for the page that is being moved is served from the register, with superblocks from the controller; needs preemption.
    pub merge: bool,
    /// A page that a waiting request wants is moved first; needs preemption and `merge`. Not with superblocks.
    pub reorder: bool,
    /// A poll of the queue between two steps of a collection; needs preemption. Not with superblocks.
    pub poll: Duration,
    /// From the suspension of a program or erase until the read begins, in nanoseconds; needs `preemption = "suspend"`.
    #[schemars(range(min = 0, max = 3_600_000_000_000_u64))]
    pub suspend_ns: u64,
    /// From the end of the read until the operation goes on, in nanoseconds; needs `preemption = "suspend"`.
    #[schemars(range(min = 0, max = 3_600_000_000_000_u64))]
    pub resume_ns: u64,
    /// Suspensions that one operation suffers at most; needs `preemption = "suspend"`.
    pub suspensions_max: u32,
    /// Idle time after which a die collects in the background.
    pub idle: Idle,
}

impl Default for GcConfig {
    fn default() -> Self {
        Self {
            procedure: Procedure::AsSet,
            victim: VictimPolicy::default(),
            start: StartThreshold::Share(Fraction(0.05)),
            stop: StopThreshold::AboveStart(1),
            trigger: Trigger::Request,
            pool: Pool::Plane,
            blocking: Blocking::Die,
            separate_open_block: false,
            copy_back: true,
            preemption: Preemption::None,
            t_hard: Fraction(0.5),
            pipeline: Pipeline::Plain(false),
            merge: false,
            reorder: false,
            poll: Duration { ns: 600 },
            // No paper of ours gives these; a few microseconds is what data sheets promise.
            suspend_ns: 5_000,
            resume_ns: 5_000,
            suspensions_max: 10,
            idle: Idle::Off,
        }
    }
}

/// Which requests overlap with steps of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Pipeline {
    /// None, or those that may go in before the step.
    Plain(bool),
    /// More than these.
    Named(NamedPipeline),
}

/// Requests that overlap with a step though they have not waited for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NamedPipeline {
    /// Those that arrive during the step, too.
    InFlight,
}

impl Pipeline {
    /// There is any overlapping.
    pub fn is_on(self) -> bool {
        self != Self::Plain(false)
    }

    /// As the model has it.
    pub(super) fn resolved(self) -> ssd::Pipeline {
        match self {
            Self::Plain(false) => ssd::Pipeline::Off,
            Self::Plain(true) => ssd::Pipeline::AtPoints,
            Self::Named(NamedPipeline::InFlight) => ssd::Pipeline::InFlight,
        }
    }
}

/// The name of [`Procedure::ReferenceNoCopyBack`].
pub(super) const REFERENCE_NO_COPY_BACK: &str = "reference-no-copy-back";

/// How collection goes about its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// As the other keys say.
    AsSet,
    /// As the reference simulator does without copy-back: a pool for each die, victims from a table made when a collection begins, free
    /// blocks plane by plane, transfers only for pages that cross planes.
    ReferenceNoCopyBack,
}

/// Idle time after which a die collects in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// Never.
    Off,
    /// After this long without work.
    After(Duration),
}

impl Quantity for Idle {
    const NAME: &'static str = "idle-time";
    const ALLOWED: &'static str = "\"off\", or a duration with a unit, such as \"10ms\"";
    const PATTERN: &'static str = r"^\s*(off|[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d))\s*$";
    const NUMBERS: Option<Numbers> = None;

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

/// Before which requests the free blocks are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// Before every request.
    Request,
    /// Before writes only.
    Write,
}

/// What shares free blocks, open blocks and thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// Each plane by itself.
    Plane,
    /// All planes of a die together.
    Die,
}

/// The blocking scope of a collection: what serves no request while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocking {
    /// The whole die.
    Die,
    /// Only the plane of the victim; needs `pool = "plane"`.
    Plane,
}

/// Whether requests may interrupt a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Preemption {
    /// A collection of a victim runs to its end.
    None,
    /// Between its steps (PGC section III).
    Semi,
    /// Between its steps, and reads also interrupt a program or erase in flight (Wu & He, FAST 2012).
    Suspend,
}
