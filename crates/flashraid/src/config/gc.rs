//! Keys of garbage collection: `[ssd.gc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_model::ssd::{CollectionRules, GcAlgorithm, GcPreemption, ProgramEraseSuspension, VictimPolicy};
use flashraid_workload::units::{AllowedUnitlessRange, Duration, Fraction, GcStartThreshold, GcStopThreshold, Quantity, UnitError};

/// Garbage collection of one SSD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GcConfig {
    /// Rules by which collection chooses victim blocks and free blocks, and moves pages. With `as-set`, the other keys give the rules.
    /// With `reference-no-copy-back`, they are those of the SSD extension of DiskSim with copy-back disabled.
    pub procedure: GcAlgorithm,
    /// Choice of the block, or superblock, to collect: the name of a policy, or a table with its parameters.
    pub victim: VictimPolicy,
    /// Number of free blocks of a pool of blocks (of a plane or of a die) at or below which collection in the pool starts.
    pub start: GcStartThreshold,
    /// Number of free blocks of a pool of blocks (of a plane or of a die) at which collection in the pool stops.
    pub stop: GcStopThreshold,
    /// Rules of drives with pools of blocks.
    #[serde(flatten)]
    pub rules: CollectionRules,
    /// Points of a collection at which requests may interrupt it.
    pub preemption: Preemption,
    /// Options of the modes of preemption other than `none`.
    #[serde(flatten)]
    pub options: GcPreemption,
    /// Suspension on drives without superblocks.
    #[serde(flatten)]
    pub suspension: ProgramEraseSuspension,
    /// Idle time after which a die (with superblocks, the whole drive) collects in the background.
    pub idle: IdleTimeBeforeCollection,
}

impl Default for GcConfig {
    fn default() -> Self {
        Self {
            procedure: GcAlgorithm::VictimByPolicy,
            victim: VictimPolicy::default(),
            start: GcStartThreshold::FreeShareOfBlockPool(Fraction(0.05)),
            stop: GcStopThreshold::AboveStart(1),
            rules: CollectionRules::default(),
            preemption: Preemption::None,
            options: GcPreemption::default(),
            suspension: ProgramEraseSuspension::default(),
            idle: IdleTimeBeforeCollection::Off,
        }
    }
}

/// Name of the procedure [`GcAlgorithm::LikeDiskSimWithoutCopyBack`].
pub(super) const REFERENCE_NO_COPY_BACK: &str = "reference-no-copy-back";

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
