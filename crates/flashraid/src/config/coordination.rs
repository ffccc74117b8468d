//! Keys of the coordination of garbage collection: `[coordination]`.
//!
//! The parameters of all schemes stand side by side in this table, with the keys of every controller. A comparison of schemes can therefore
//! set them once. The schemes themselves define their parameters.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use std::borrow::Cow;

use flashraid_model::coordination::{CoordinationPolicy, DEFAULT_LOW_FREE_BLOCKS_THRESHOLD};
use flashraid_model::policy::policy_config_serde;
use flashraid_workload::units::{Duration, GcStopThreshold};

/// Coordination of the members' garbage collection.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CoordinationConfig {
    /// The coordination scheme, with its parameters. It decides which members collect garbage at what time.
    pub scheme: CoordinationPolicy,
    /// Keys that apply to every scheme in which a controller of the array decides which members collect garbage, and when.
    pub protocol: GcCoordinatorConfig,
    /// Other schemes whose parameters the user also set.
    pub(super) others: Vec<CoordinationPolicy>,
}

/// Keys that apply to every scheme in which a controller of the array decides which members collect garbage, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GcCoordinatorConfig {
    /// Amount of garbage collection that each die does when the controller forces its member to collect, or permits it.
    pub force_until: ForceCollectionUntil,
    /// True if all dies of a member collect when the controller forces the member to collect. False if only dies that are short of
    /// free blocks collect. Such a die has a pool of blocks with at most as many free blocks as the key `t_soft` says.
    pub across_dies: bool,
    /// Moment at which a member asks the controller to force members to collect together. With `"at-start"`, the member asks when it
    /// begins to collect by itself. With `"soft"`, it asks earlier, before it must collect. The scheme decides which members are then
    /// forced. By default `"soft"` if the waiting time of the controller (the key `delay`) is above 0, otherwise `"at-start"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notify: Option<JointCollectionRequestTimingConfig>,
    /// Number of free blocks at or below which a pool of blocks (of a plane or die) counts as low. With the schemes `reactive-selective`
    /// and `proactive-idle`, a member with a low pool registers with the controller. When the controller next forces members to collect,
    /// it forces all that have registered. With `notify = "soft"`, a member with a low pool asks the controller to force it to collect.
    pub t_soft: GcStopThreshold,
    /// Time from a member's first message that asks for forced collection until the controller forces members to collect, so that more
    /// members can ask. With `notify = "soft"`, the controller forces members earlier if an asking member would otherwise have to
    /// collect by itself.
    pub delay: Duration,
    /// True if the controller does not wait when the array is idle. It then forces members to collect as soon as no host request is
    /// outstanding. If false, it always waits for the time in the key `delay` after a member has asked for forced collection. The scheme
    /// decides which members collect. Only with `notify = "soft"`.
    pub at_idle: bool,
    /// Answer to a message that asks for forced collection while members are forced already. Only with `notify = "at-start"`.
    pub during_cycle: RequestsDuringCycle,
    /// Answer of the controller to a member that asks for forced collection: it forces the members that the scheme chooses, or ignores all
    /// messages.
    pub answer: ControllerAnswerToForcedGcRequest,
    /// List of the members (counted from 0) that exchange messages with the controller of globally coordinated garbage collection
    /// (GGC). Other members collect by themselves. By default, all members exchange messages with the controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub ggc_aware: Option<Vec<u32>>,
    /// Latency of each kind of message between the controller and a member.
    pub latency: MessageLatencyConfig,
}

impl GcCoordinatorConfig {
    /// Returns the situation in which a member asks the controller to force members to collect, as the configuration has it or by default.
    pub fn notify(&self) -> JointCollectionRequestTimingConfig {
        self.notify.unwrap_or(if self.delay.ns > 0 {
            JointCollectionRequestTimingConfig::Soft
        } else {
            JointCollectionRequestTimingConfig::AtStart
        })
    }
}

impl Default for GcCoordinatorConfig {
    fn default() -> Self {
        Self {
            force_until: ForceCollectionUntil::OneVictim,
            across_dies: true,
            notify: None,
            t_soft: DEFAULT_LOW_FREE_BLOCKS_THRESHOLD,
            delay: Duration { ns: 0 },
            at_idle: false,
            during_cycle: RequestsDuringCycle::Absorb,
            answer: ControllerAnswerToForcedGcRequest::Prompt,
            ggc_aware: None,
            latency: MessageLatencyConfig::default(),
        }
    }
}

/// Answer to a message that asks for forced collection while members are forced already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequestsDuringCycle {
    /// Absorb it, since members are being forced.
    Absorb,
    /// Force members once more when those that are being forced have finished. A message of a member that has not finished itself is
    /// absorbed.
    Repeat,
}

/// Key in the table under which users name the scheme.
const SCHEME: &str = "scheme";

impl Serialize for CoordinationConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Map::new();
        policy_config_serde::put_policy_and_defaults_of_others(SCHEME, &self.scheme, &mut table);
        policy_config_serde::serialize_merged_tables(table, &self.protocol, serializer)
    }
}

impl<'de> Deserialize<'de> for CoordinationConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(deserializer)?;
        let (scheme, others) = policy_config_serde::take_chosen_and_other_policies(SCHEME, &mut table).map_err(D::Error::custom)?;
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
        policy_config_serde::policy_table_json_schema::<CoordinationPolicy, GcCoordinatorConfig>(SCHEME, "The scheme.", meaning, generator)
    }
}

/// Amount of garbage collection that each die does when the controller forces its member to collect, or permits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForceCollectionUntil {
    /// Collect one victim block in each die, whatever the number of free blocks. A drive with superblocks instead collects until it
    /// has as many free superblocks as the sum of the keys `ssd.superblock.target` and `ssd.superblock.span`.
    OneVictim,
    /// Collect one victim block in each pool of blocks (of a plane or of a die), whatever the number of free blocks. A drive with
    /// superblocks frees one superblock.
    PoolVictims,
    /// Collect one victim block in each die. Then collect further ones until every pool of blocks of the die has more than `ssd.gc.stop`
    /// free blocks.
    VictimAndWatermark,
    /// Collect one victim block in each pool of blocks (of a plane or of a die). Then collect further ones until every pool has more than
    /// `ssd.gc.stop` free blocks (sections 4.3.1, 5.1 and 6 of the paper GGC).
    PoolVictimsAndWatermark,
    /// Collect victim blocks in each die until every pool of blocks of the die has more than `ssd.gc.stop` free blocks.
    Watermark,
}

/// Moment at which a member asks the controller to force members to collect together. The member asks when it begins to collect by
/// itself, or earlier, before it must collect. The scheme decides which members are then forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JointCollectionRequestTimingConfig {
    /// The member collects by itself when it must. As it begins, it asks the controller for forced collection, so that other members
    /// collect at the same time.
    AtStart,
    /// The member asks the controller to force it to collect when a pool of blocks (of a plane or die) has only `t_soft` free blocks.
    /// It then puts collection off until it is forced, or until a pool has only `ssd.gc.start` free blocks. Its message says how many
    /// pages can be written before it must collect (section 4.3.1 of the paper GGC).
    Soft,
}

/// Answer of the controller to a member that asks for forced collection: it forces the members that the scheme chooses, or ignores all
/// messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ControllerAnswerToForcedGcRequest {
    /// The controller forces members to collect when the time `delay` has passed since a member asked for it. Other members can ask in
    /// this time. The scheme decides which members are forced.
    Prompt,
    /// The controller ignores all messages, so that members collect only when they must.
    Never,
}

/// Latency of each kind of message between the controller and a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct MessageLatencyConfig {
    /// Latency of the message with which a member asks the controller to force members to collect. With `scheme = "stagger"`, the
    /// member asks for permission to collect instead, or announces that it collects without permission.
    pub gc_request: Duration,
    /// Latency of the message with which a member registers with the controller, because a pool of blocks has only `t_soft` free
    /// blocks left. When the controller next forces members to collect, it forces all that have registered. Only the schemes
    /// `reactive-selective` and `proactive-idle` use this message.
    pub participate: Duration,
    /// Time that a message from the controller to a member takes. The message forces the member to collect, gives or denies it permission
    /// to collect, or ends a collection because idle time has ended.
    pub force_gc: Duration,
    /// Time that each of two messages takes: the controller's question for a member's state, and the member's answer.
    pub gc_state: Duration,
    /// Latency of the message with which a member reports the end of its collection. The member has then collected as much as the
    /// controller told it to. With `scheme = "stagger"`, the message may also report the end of a collection without permission.
    pub gc_done: Duration,
}

impl Default for MessageLatencyConfig {
    fn default() -> Self {
        let none = Duration { ns: 0 };
        Self { gc_request: none, participate: none, force_gc: none, gc_state: none, gc_done: none }
    }
}
