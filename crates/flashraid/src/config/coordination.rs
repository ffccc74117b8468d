//! Keys of the coordination of garbage collection: `[coordination]`.
//!
//! The parameters of all schemes stand side by side in this table, with the keys of every controller. A comparison of schemes can therefore
//! set them once. The schemes themselves define their parameters.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use std::borrow::Cow;

use flashraid_model::coordination::{DEFAULT_SOFT_LIMIT, SchemePolicy};
use flashraid_model::policy::policy_tables;
use flashraid_workload::units::{Duration, StopThreshold};

/// Coordination of the members' garbage collection.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CoordinationConfig {
    /// The scheme, with its parameters.
    pub scheme: SchemePolicy,
    /// Keys that apply to every scheme with a controller.
    pub protocol: ProtocolConfig,
    /// Other schemes whose parameters the user also set.
    pub(super) others: Vec<SchemePolicy>,
}

/// Keys that apply to every scheme with a controller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ProtocolConfig {
    /// Work that a forced member does in each of its dies.
    pub force_until: ForceUntil,
    /// True to collect in all dies of a forced member, false to collect only in dies with a pool at or below `t_soft` free blocks.
    pub across_dies: bool,
    /// Moment at which a member asks the controller to let it collect. By default `"soft"` if `delay` is above 0, otherwise `"at-start"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notify: Option<NotifyConfig>,
    /// Free blocks of a pool at which its member registers with the controller for the next common collection (`reactive-selective`,
    /// `proactive-idle`). With `notify = "soft"`, the member also asks to collect then.
    pub t_soft: StopThreshold,
    /// Time from a member's first request to collect until the controller forces members, so that more members can ask. With `notify =
    /// "soft"`, the controller forces earlier if the first asking member would have to collect by itself.
    pub delay: Duration,
    /// True if the controller also forces members that have asked to collect as soon as no request of the host is outstanding. Only with
    /// `notify = "soft"`.
    pub at_idle: bool,
    /// Answer of the controller to members that ask to collect.
    pub answer: ControllerAnswer,
    /// Numbers of the GGC-aware members, which exchange messages with the controller. The others collect by themselves. By default, all
    /// members are GGC-aware.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub ggc_aware: Option<Vec<u32>>,
    /// Time that each kind of message takes.
    pub latency: LatencyConfig,
}

impl ProtocolConfig {
    /// Returns the time at which members ask to collect, as written or by default.
    pub fn notify(&self) -> NotifyConfig {
        self.notify.unwrap_or(if self.delay.ns > 0 { NotifyConfig::Soft } else { NotifyConfig::AtStart })
    }
}

impl Default for ProtocolConfig {
    fn default() -> Self {
        Self {
            force_until: ForceUntil::OneVictim,
            across_dies: true,
            notify: None,
            t_soft: DEFAULT_SOFT_LIMIT,
            delay: Duration { ns: 0 },
            at_idle: false,
            answer: ControllerAnswer::Prompt,
            ggc_aware: None,
            latency: LatencyConfig::default(),
        }
    }
}

/// Key in the table under which users name the scheme.
const SCHEME: &str = "scheme";

impl Serialize for CoordinationConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Map::new();
        policy_tables::put_policy(SCHEME, &self.scheme, &mut table);
        policy_tables::serialize_table_with(table, &self.protocol, serializer)
    }
}

impl<'de> Deserialize<'de> for CoordinationConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(deserializer)?;
        let (scheme, others) = policy_tables::take_policy(SCHEME, &mut table).map_err(D::Error::custom)?;
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
        policy_tables::policy_table_schema::<SchemePolicy, ProtocolConfig>(SCHEME, "The scheme.", meaning, generator)
    }
}

/// Work that a forced member does in each of its dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForceUntil {
    /// Clean one victim in each die, whatever the number of free blocks. A drive with superblocks collects as with `watermark`.
    OneVictim,
    /// Clean one victim in each pool, whatever the number of free blocks. A drive with superblocks frees one superblock.
    PoolVictims,
    /// Clean one victim in each die, and then until every pool has more than `ssd.gc.stop` free blocks.
    VictimAndWatermark,
    /// Clean one victim in each pool, and then until every pool has more than `ssd.gc.stop` free blocks (GGC 4.3.1, 5.1 and 6).
    PoolVictimsAndWatermark,
    /// Clean until every pool has more than `ssd.gc.stop` free blocks.
    Watermark,
}

/// Moment at which a member asks the controller to let it collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotifyConfig {
    /// The member begins to collect by itself when it must, and then asks.
    AtStart,
    /// The member asks when a pool has come down to `t_soft` free blocks. It waits as long as it can, and tells how many pages can still be
    /// written (GGC 4.3.1).
    Soft,
}

/// Answer of the controller to members that ask to collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControllerAnswer {
    /// The controller forces members to collect after the time `delay`.
    Prompt,
    /// The controller never answers, so that members collect when they must.
    Never,
}

/// Time that each kind of message takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LatencyConfig {
    /// Time of the message by which a member asks to collect, or for leave to.
    pub gc_request: Duration,
    /// Time of the message by which a member registers for the next common collection.
    pub participate: Duration,
    /// Time of a message from the controller. It forces a member to collect, gives or denies it leave, or ends a collection because idle
    /// time has ended.
    pub force_gc: Duration,
    /// Time of each of two messages: the question of the controller for a member's state, and the answer.
    pub gc_state: Duration,
    /// Time of the message by which a member reports the end of its collection. It has collected as much as it was told to, or no longer
    /// collects without leave.
    pub gc_done: Duration,
}

impl Default for LatencyConfig {
    fn default() -> Self {
        let none = Duration { ns: 0 };
        Self { gc_request: none, participate: none, force_gc: none, gc_state: none, gc_done: none }
    }
}
