//! What users write about the coordination of garbage collection: `[coordination]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gc::StopThreshold;
use flashraid_workload::units::Duration;

/// How garbage collection of the members is coordinated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CoordinationConfig {
    /// The scheme.
    pub scheme: Scheme,
    /// What a forced member cleans in each of its dies.
    pub force_until: ForceUntil,
    /// Free blocks of a pool at which its member registers (reactive-selective, proactive-idle).
    pub t_soft: StopThreshold,
    /// Between two checks of the controller (proactive-idle, proactive-soft-limit).
    pub check_interval: Duration,
    /// Without a request for so long the array is idle (proactive-idle).
    pub idle_threshold: Duration,
    /// Free blocks of a pool at which its member is forced (proactive-soft-limit).
    pub soft_limit: StopThreshold,
    /// With so many requests outstanding, or fewer, it is a good moment (proactive-soft-limit).
    pub shallow_depth: u32,
    /// From the first request of a member for collection until the controller forces, so that more members can ask.
    pub delay: Duration,
    /// Whether the controller answers.
    pub answer: Answer,
    /// Numbers of the GGC-aware members, which know the protocol; without it all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ggc_aware: Option<Vec<u32>>,
    /// How long messages take.
    pub latency: LatencyConfig,
}

impl Default for CoordinationConfig {
    fn default() -> Self {
        Self {
            scheme: Scheme::Local,
            force_until: ForceUntil::OneVictim,
            t_soft: StopThreshold::AboveStart(2),
            check_interval: Duration { ns: 10_000_000 },
            idle_threshold: Duration { ns: 10_000_000 },
            soft_limit: StopThreshold::AboveStart(2),
            shallow_depth: 1,
            delay: Duration { ns: 0 },
            answer: Answer::Prompt,
            ggc_aware: None,
            latency: LatencyConfig::default(),
        }
    }
}

/// How garbage collection of the members is coordinated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Not at all: every member collects when it must.
    Local,
    /// All members collect as soon as one must.
    ReactiveInclusive,
    /// Members that soon must collect do so as soon as one must.
    ReactiveSelective,
    /// The same, and also when the array is idle.
    ProactiveIdle,
    /// Members with few free blocks collect when little waits, or just before the first of them must.
    ProactiveSoftLimit,
    /// Collection takes no time but still moves and erases: the lower bound of response times.
    Ideal,
}

/// What a forced member cleans in each of its dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForceUntil {
    /// One victim.
    OneVictim,
    /// Victims until the free blocks of every pool exceed `ssd.gc.stop`.
    Watermark,
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
