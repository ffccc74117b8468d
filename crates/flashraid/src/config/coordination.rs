//! What users write about the coordination of garbage collection: `[coordination]`.
//!
//! The parameters of all schemes stand side by side in this table, with what holds for every controller, so that a comparison of schemes can
//! set them once. Which there are, the schemes themselves say.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use std::borrow::Cow;

use flashraid_model::coordination::{ABOVE_START, SchemePolicy};
use flashraid_model::policy::flat;
use flashraid_workload::units::{Duration, StopThreshold};

/// How garbage collection of the members is coordinated.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CoordinationConfig {
    /// The scheme, with its parameters.
    pub scheme: SchemePolicy,
    /// What holds for every controller.
    pub protocol: ProtocolConfig,
    /// Other schemes whose parameters were set beside.
    pub(super) others: Vec<SchemePolicy>,
}

/// What holds for every controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ProtocolConfig {
    /// What a forced member cleans in each of its dies.
    pub force_until: ForceUntil,
    /// Dies of a forced member that collect: all, or with `false` those with a pool at `t_soft` free blocks or fewer.
    pub across_dies: bool,
    /// When a member asks for collection; `"soft"` by default if `delay` is above 0, else `"at-start"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notify: Option<NotifyConfig>,
    /// Free blocks of a pool at which its member registers (reactive-selective, proactive-idle), and asks with `notify = "soft"`.
    pub t_soft: StopThreshold,
    /// From the first request of a member for collection until the controller forces, so that more members can ask. With `notify = "soft"`
    /// it forces sooner, before the first of them must collect by itself.
    pub delay: Duration,
    /// With `notify = "soft"`: forces as soon as no request is outstanding, too.
    pub at_idle: bool,
    /// Whether the controller answers.
    pub answer: Answer,
    /// Numbers of the GGC-aware members, which know the protocol; without it all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub ggc_aware: Option<Vec<u32>>,
    /// How long messages take.
    pub latency: LatencyConfig,
}

impl ProtocolConfig {
    /// When members ask, written or by default.
    pub fn notify(&self) -> NotifyConfig {
        self.notify.unwrap_or(if self.delay.ns > 0 { NotifyConfig::Soft } else { NotifyConfig::AtStart })
    }
}

impl Default for ProtocolConfig {
    fn default() -> Self {
        Self {
            force_until: ForceUntil::VictimAndWatermark,
            across_dies: true,
            notify: None,
            t_soft: ABOVE_START,
            delay: Duration { ns: 0 },
            at_idle: false,
            answer: Answer::Prompt,
            ggc_aware: None,
            latency: LatencyConfig::default(),
        }
    }
}

/// The key that names the scheme.
const SCHEME: &str = "scheme";

impl Serialize for CoordinationConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Map::new();
        flat::put(SCHEME, &self.scheme, &mut table);
        flat::write(table, &self.protocol, serializer)
    }
}

impl<'de> Deserialize<'de> for CoordinationConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(deserializer)?;
        let (scheme, others) = flat::take(SCHEME, &mut table).map_err(D::Error::custom)?;
        let protocol = serde_json::from_value(table.into()).map_err(D::Error::custom)?;
        Ok(Self { scheme, protocol, others })
    }
}

impl JsonSchema for CoordinationConfig {
    fn schema_name() -> Cow<'static, str> {
        "CoordinationConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let meaning = "How garbage collection of the members is coordinated.";
        flat::table_schema::<SchemePolicy, ProtocolConfig>(SCHEME, "The scheme.", meaning, generator)
    }
}

/// What a forced member cleans in each of its dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForceUntil {
    /// One victim, whatever its free blocks are, and then until they exceed `ssd.gc.stop` in every pool (GGC 4.3.1 and 5.1).
    VictimAndWatermark,
    /// One victim.
    OneVictim,
    /// Victims until the free blocks of every pool exceed `ssd.gc.stop`.
    Watermark,
}

/// When a member asks for collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotifyConfig {
    /// When it must collect: it has begun to.
    AtStart,
    /// When a pool has come down to `t_soft` free blocks; it holds out, and tells how many pages can still be written (GGC 4.3.1).
    Soft,
}

/// Whether the controller answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// After `delay`.
    Prompt,
    /// Never: members collect when they must.
    Never,
}

/// How long messages take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LatencyConfig {
    /// From a member that must collect.
    pub gc_request: Duration,
    /// From a member that registers.
    pub participate: Duration,
    /// To a member that is forced, or that has to stop because idle time is over.
    pub force_gc: Duration,
    /// Each way, when the controller asks for a member's state.
    pub gc_state: Duration,
    /// From a member that is done.
    pub gc_done: Duration,
}

impl Default for LatencyConfig {
    fn default() -> Self {
        let none = Duration { ns: 0 };
        Self { gc_request: none, participate: none, force_gc: none, gc_state: none, gc_done: none }
    }
}
