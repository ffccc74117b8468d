//! What users write about garbage collection: `[ssd.gc]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use flashraid_workload::units::{Duration, Fraction, Numbers, Quantity, UnitError, counted};

/// Garbage collection of one SSD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GcConfig {
    /// Which block is collected: a policy by name, or a table with its parameters.
    pub victim: Victim,
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
    /// Free blocks below which requests that consume free blocks wait, as a share of `start`; needs preemption.
    pub t_hard: Fraction,
    /// A request of the same kind overlaps with the operation of the collection; needs preemption.
    pub pipeline: bool,
    /// A request for the page that is being moved is served from the register; needs preemption.
    pub merge: bool,
    /// A page that a waiting request wants is moved first; needs preemption and `merge`.
    pub reorder: bool,
    /// A poll of the queue between two steps of a collection; needs preemption.
    pub poll: Duration,
    /// From the suspension of a program or erase until the read begins, in nanoseconds; needs `preemption = "suspend"`.
    pub suspend_ns: u64,
    /// From the end of the read until the operation goes on, in nanoseconds; needs `preemption = "suspend"`.
    pub resume_ns: u64,
    /// Suspensions that one operation suffers at most; needs `preemption = "suspend"`.
    pub suspensions_max: u32,
    /// Idle time after which a die collects in the background.
    pub idle: Idle,
}

impl Default for GcConfig {
    fn default() -> Self {
        Self {
            victim: Victim::Name(VictimName::Greedy),
            start: StartThreshold::Share(Fraction(0.05)),
            stop: StopThreshold::AboveStart(1),
            trigger: Trigger::Request,
            pool: Pool::Plane,
            blocking: Blocking::Die,
            separate_open_block: false,
            copy_back: true,
            preemption: Preemption::None,
            t_hard: Fraction(0.5),
            pipeline: false,
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

/// A policy by its name, or with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Victim {
    /// With the default parameters.
    Name(VictimName),
    /// With its parameters.
    Table(VictimTable),
}

/// Which block is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VictimName {
    /// Fewest valid pages.
    Greedy,
    /// Greedy that spares worn blocks, threshold 80 %.
    GreedyWearAware,
    /// Greatest benefit for its cost, weighted by age.
    CostBenefit,
    /// Fewest valid pages among 10 blocks drawn at random.
    DChoices,
    /// The block that was opened first.
    Fifo,
    /// Any block with garbage.
    Random,
}

/// A victim policy with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum VictimTable {
    /// Fewest valid pages.
    Greedy {},
    /// Greedy that spares worn blocks (Agrawal et al., USENIX ATC 2008).
    GreedyWearAware {
        /// Share of the mean remaining life below which a block is spared.
        #[serde(default = "default_wear_threshold")]
        threshold: Fraction,
    },
    /// Greatest benefit for its cost, weighted by age (Rosenblum & Ousterhout, SOSP 1991).
    CostBenefit {},
    /// Fewest valid pages among `d` blocks drawn at random (Van Houdt, SIGMETRICS 2013).
    DChoices {
        /// Blocks drawn.
        #[serde(default = "default_choices")]
        #[schemars(range(min = 1, max = 4_294_967_295_u32))]
        d: u32,
    },
    /// The block that was opened first.
    Fifo {},
    /// Any block with garbage.
    Random {},
}

/// Agrawal et al. spare a block whose remaining life is below 80 % of the mean.
pub(super) fn default_wear_threshold() -> Fraction {
    Fraction(0.8)
}

/// Van Houdt finds d = 10 within a few percent of greedy.
pub(super) fn default_choices() -> u32 {
    10
}

impl Victim {
    /// The policy with its parameters.
    pub(super) fn spelt_out(&self) -> VictimTable {
        match self {
            Self::Table(table) => table.clone(),
            Self::Name(VictimName::Greedy) => VictimTable::Greedy {},
            Self::Name(VictimName::GreedyWearAware) => VictimTable::GreedyWearAware { threshold: default_wear_threshold() },
            Self::Name(VictimName::CostBenefit) => VictimTable::CostBenefit {},
            Self::Name(VictimName::DChoices) => VictimTable::DChoices { d: default_choices() },
            Self::Name(VictimName::Fifo) => VictimTable::Fifo {},
            Self::Name(VictimName::Random) => VictimTable::Random {},
        }
    }
}

/// Free blocks at which a collection starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StartThreshold {
    /// Share of the blocks of the pool, rounded down.
    Share(Fraction),
    /// Blocks of the pool.
    Blocks(u32),
}

/// Free blocks at which a collection stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopThreshold {
    /// This many more than the start threshold.
    AboveStart(u32),
    /// Share of the blocks of the pool, rounded down.
    Share(Fraction),
    /// Blocks of the pool.
    Blocks(u32),
}

fn parse_blocks(text: &str) -> Option<Result<u32, UnitError>> {
    let number = text.trim().strip_suffix("blocks").or_else(|| text.trim().strip_suffix("block"))?;
    Some(number.trim().parse().map_err(|_| UnitError::new("it does not begin with a whole number of blocks")))
}

fn write_blocks(blocks: u32) -> serde_json::Value {
    counted(u64::from(blocks), "block").into()
}

impl Quantity for StartThreshold {
    const NAME: &'static str = "start-threshold";
    const ALLOWED: &'static str = "a share of the blocks, such as 0.05 or \"5%\", or a number of blocks, such as \"30 blocks\"";
    const PATTERN: &'static str = r"^\s*([0-9]+(\.[0-9]+)?\s*%?|[0-9]+\s*blocks?)\s*$";
    const NUMBERS: Option<Numbers> = Fraction::NUMBERS;

    fn parse(text: &str) -> Result<Self, UnitError> {
        match parse_blocks(text) {
            Some(blocks) => blocks.map(Self::Blocks),
            None => Fraction::parse(text).map(Self::Share),
        }
    }

    fn from_number(number: f64) -> Result<Self, UnitError> {
        Fraction::from_number(number).map(Self::Share)
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Share(share) => share.to_json(),
            Self::Blocks(blocks) => write_blocks(*blocks),
        }
    }
}

impl StartThreshold {
    /// Free blocks of a pool of `pool_blocks`.
    pub(super) fn blocks_of(self, pool_blocks: u32) -> u32 {
        match self {
            Self::Share(share) => share.of(pool_blocks),
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl Quantity for StopThreshold {
    const NAME: &'static str = "stop-threshold";
    const ALLOWED: &'static str = "\"start+1\" (or more above the start), a share of the blocks, such as 0.08 or \"8%\", or a number of blocks, such as \"30 blocks\"";
    const PATTERN: &'static str = r"^\s*(start\s*\+\s*[0-9]+|[0-9]+(\.[0-9]+)?\s*%?|[0-9]+\s*blocks?)\s*$";
    const NUMBERS: Option<Numbers> = Fraction::NUMBERS;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if let Some(rest) = text.trim().strip_prefix("start") {
            let above = rest.trim_start().strip_prefix('+').and_then(|number| number.trim().parse().ok());
            return match above {
                Some(above) if above > 0 => Ok(Self::AboveStart(above)),
                _ => Err(UnitError::new("after \"start\" comes + and a whole number of blocks above 0")),
            };
        }
        match parse_blocks(text) {
            Some(blocks) => blocks.map(Self::Blocks),
            None => Fraction::parse(text).map(Self::Share),
        }
    }

    fn from_number(number: f64) -> Result<Self, UnitError> {
        Fraction::from_number(number).map(Self::Share)
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::AboveStart(blocks) => format!("start+{blocks}").into(),
            Self::Share(share) => share.to_json(),
            Self::Blocks(blocks) => write_blocks(*blocks),
        }
    }
}

impl StopThreshold {
    /// Free blocks of a pool of `pool_blocks` that starts at `start`.
    pub(super) fn blocks_of(self, pool_blocks: u32, start: u32) -> u32 {
        match self {
            Self::AboveStart(above) => start.saturating_add(above),
            Self::Share(share) => share.of(pool_blocks),
            Self::Blocks(blocks) => blocks,
        }
    }
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
