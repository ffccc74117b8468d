//! Keys of reads: `[read]`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use flashraid_model::array::{self, HedgeAfter, ReadPlan, ReadPlanParams, SlowReadPredictionParams};
use flashraid_model::coordination::CoordinationPolicy;
use flashraid_workload::units::{AllowedUnitlessRange, Duration, Fraction, Quantity, UnitError};

use super::Config;
use super::resolve::Resolver;

/// Longest time after which a member may refuse a read.
const REFUSAL_MAX_NS: u64 = 1_000_000_000;
/// Longest time after which a read may be late.
const LATE_MAX_NS: u64 = 3_600_000_000_000;

/// Settings of the host's reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct HostReadConfig {
    /// Read plan: the way the array chooses which members a read is served from, if there is a choice. With mirrors, it chooses a copy.
    /// With parity, it may reconstruct pages from the rest of their stripe instead of reading them.
    pub plan: ReadPlanName,
    /// Time that a member takes to refuse a read that would wait for its collection. The host then reads the rest of the stripe, or
    /// another copy, from other members. If one of these is collecting as well, the host loses this time twice. No further read is
    /// refused then: reads wait for collection if they must. Only with `plan = "avoid"`.
    pub fast_fail: Duration,
    /// Knowledge of the host about which parts of the array collect garbage at the moment: dies or planes, members, or only whose turn
    /// it is. The host uses it to read elsewhere. Only with `plan = "avoid"` (reads avoid members that collect).
    pub knowledge: HostKnowledgeOfGcConfig,
    /// True to avoid collecting members also in the reads that an array with parity makes before a write. For the new parity, the
    /// array reads either the old data and parity, or the rest of the stripe. With true, it takes whichever of the two is delayed less
    /// by collection. Only with `plan = "avoid"` (reads avoid members that collect).
    pub pre_reads: bool,
    /// Knowledge of the host about how long collection will last. Only with `plan = "avoid"`.
    pub remaining: HostKnowledgeOfRemainingCollection,
    /// Time after which a read that has not ended is also read elsewhere: from another copy, or from the rest of the stripe. It is a
    /// duration, or `"p95"` for the 95th percentile of the durations of the member's last reads. Only with `plan = "hedge"`, or with
    /// `plan = "predict"` and `then_hedge`.
    pub after: HedgeDelay,
    /// Number of a member's last reads that count for `after = "p95"`. With this value, a read is also made elsewhere if it takes
    /// longer than the 95th percentile of the durations of these reads. Until this many reads of the member have ended, none of its
    /// reads is also made elsewhere. The key has no effect if `after` is a duration.
    #[schemars(range(min = 1, max = 65_536))]
    pub learn: u32,
    /// Treatment of unneeded reads. A read becomes unneeded if it was also made elsewhere, and the answer from there came first. Only
    /// with `plan = "hedge"`, or with `plan = "predict"` and `then_hedge`.
    pub cancel: UnneededReadCancellation,
    /// Wait above which a read counts as slow. Before each read, the host predicts if it will be slow. The wait is the time from this
    /// prediction until the die of the member would begin the read. Only with `plan = "predict"`.
    pub slow: Duration,
    /// Probability that a slow read is predicted to be fast. Only with `plan = "predict"`.
    pub false_accept: Fraction,
    /// Probability that a fast read is predicted to be slow. Only with `plan = "predict"`.
    pub false_reject: Fraction,
    /// Time that a prediction takes before each read. Only with `plan = "predict"`.
    pub cost: Duration,
    /// True to read again, from another copy or from the rest of the stripe, if a read has not ended after the time `after`. This applies
    /// to reads that were predicted to be fast and to those that were predicted to be slow. Only with `plan = "predict"`.
    pub then_hedge: bool,
}

impl Default for HostReadConfig {
    fn default() -> Self {
        Self {
            plan: ReadPlanName::default(),
            fast_fail: Duration { ns: 1000 },
            knowledge: HostKnowledgeOfGcConfig::Element,
            pre_reads: true,
            remaining: HostKnowledgeOfRemainingCollection::Known,
            after: HedgeDelay::P95OfReads,
            learn: 1024,
            cancel: UnneededReadCancellation::Never,
            slow: Duration { ns: 1_000_000 },
            false_accept: Fraction(0.05),
            false_reject: Fraction(0.05),
            cost: Duration { ns: 5000 },
            then_hedge: false,
        }
    }
}

/// Time after which a read that has not ended is also read elsewhere: from another copy, or from the rest of the stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HedgeDelay {
    /// Makes a read elsewhere, too, if it has not ended after the 95th percentile of the durations of the member's last reads.
    P95OfReads,
    /// Makes a read elsewhere, too, if it has not ended after this time, which is the same for all reads.
    Time(Duration),
}

impl Quantity for HedgeDelay {
    const JSON_SCHEMA_FORMAT: &'static str = "time-until-late";
    const ALLOWED_VALUES: &'static str = "\"p95\", or a duration with a unit, such as \"1ms\"";
    const JSON_SCHEMA_PATTERN: &'static str = r"^\s*(p95|[0-9][0-9_]*(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|min|h|d))\s*$";
    const UNITLESS_RANGE: Option<AllowedUnitlessRange> = None;

    fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "p95" { Ok(Self::P95OfReads) } else { Duration::parse(text).map(Self::Time) }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::P95OfReads => "p95".into(),
            Self::Time(time) => time.to_json(),
        }
    }
}

/// Treatment of unneeded reads. A read becomes unneeded if it was also made elsewhere, and the answer from there came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnneededReadCancellation {
    /// Serves unneeded reads to their end. A read becomes unneeded if it was also made elsewhere, and the answer from there came
    /// first.
    Never,
    /// Drops unneeded reads that still wait in the queue of their die. A read becomes unneeded if it was also made elsewhere, and the
    /// answer from there came first. Unneeded reads that have left the queue, or have not reached it, are served to their end.
    Queued,
}

/// Knowledge of the host about collection in the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostKnowledgeOfGcConfig {
    /// The host knows which dies or planes (the parts that a collection blocks) collect now.
    Element,
    /// The host knows which members have a die that collects now, but not which die it is.
    Member,
    /// The host only knows the clock, and so which member has its turn to collect. It avoids this member, even if the member does not
    /// collect, and avoids no other. Requires `coordination.scheme = "windows"`.
    Turn,
}

/// Knowledge of the host about how long collection will last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostKnowledgeOfRemainingCollection {
    /// Each member, collecting or not, tells the host at what time it would begin a read that is sent now.
    Known,
    /// Members only tell the host that they collect, and not for how long.
    Unknown,
}

impl HostReadConfig {
    /// Returns true if the settings are the defaults, so that reports leave the section out.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true if reads that take long are also made elsewhere: from another copy, or from the rest of the stripe.
    fn hedges(&self) -> bool {
        self.plan.0.hedges() || (self.plan.0.predicts_slow_reads() && self.then_hedge)
    }

    /// Returns the settings of a read plan that considers if members collect, reads a second time, or predicts slow reads.
    pub(super) fn planning(&self) -> ReadPlanParams {
        ReadPlanParams {
            refusal_answer_ns: self.fast_fail.ns,
            collection_knowledge: match self.knowledge {
                HostKnowledgeOfGcConfig::Element => array::HostKnowledgeOfCollection::PerDieOrPlane,
                HostKnowledgeOfGcConfig::Member => array::HostKnowledgeOfCollection::PerMember,
                HostKnowledgeOfGcConfig::Turn => array::HostKnowledgeOfCollection::Turns,
            },
            parity_update_reads_avoid_collection: self.pre_reads,
            knows_remaining_collection_time: self.remaining == HostKnowledgeOfRemainingCollection::Known,
            hedge_delay: match self.after {
                HedgeDelay::P95OfReads => HedgeAfter::P95OfReads { percentile_window_reads: self.learn },
                HedgeDelay::Time(time) => HedgeAfter::Time(time.ns),
            },
            abandons_waiting_reads: self.cancel == UnneededReadCancellation::Queued,
            prediction: SlowReadPredictionParams {
                slow_wait_threshold_ns: self.slow.ns,
                false_accept: self.false_accept.0,
                false_reject: self.false_reject.0,
                prediction_time_per_read_ns: self.cost.ns,
                also_hedges: self.then_hedge,
            },
        }
    }
}

impl Resolver<'_> {
    /// Adds problems of the read plan.
    pub(super) fn read_plan(&mut self, config: &Config) {
        if config.read.fast_fail.ns > REFUSAL_MAX_NS {
            let message = format!("`read.fast_fail` is {}, but at most 1s is allowed", config.read.fast_fail);
            self.problem("read.fast_fail", message, None);
        }
        for (key, time) in [("slow", config.read.slow), ("cost", config.read.cost)] {
            if time.ns > LATE_MAX_NS {
                self.problem(&format!("read.{key}"), format!("`read.{key}` is {time}, but at most 1h is allowed"), None);
            }
        }
        if let HedgeDelay::Time(after) = config.read.after
            && !(1..=LATE_MAX_NS).contains(&after.ns)
        {
            let message = format!("`read.after` is {after}, but between 1ns and 1h is allowed");
            self.problem("read.after", message, None);
        }
        let takes_turns = matches!(config.coordination.scheme, CoordinationPolicy::CollectionTimeWindows(_));
        if config.read.plan.0.considers_collecting_members() && config.read.knowledge == HostKnowledgeOfGcConfig::Turn && !takes_turns {
            let message = format!(
                "`read.knowledge` is \"turn\", but with coordination.scheme = \"{}\" members have no turns",
                config.coordination.scheme.name()
            );
            let fix = "use coordination.scheme = \"windows\", or read.knowledge = \"element\" or \"member\"";
            self.problem("read.knowledge", message, Some(fix));
        }
        let policy = &config.cache.policy;
        if config.read.plan.0 != ReadPlan::Home && policy.stripe_and_member_caches().member_caches.is_some() {
            let message = format!(
                "`read.plan` is \"{}\", but with cache.policy = \"{}\" the flash of a member may be older than its cache, so that no strip follows from the others",
                config.read.plan.0.name(),
                policy.name()
            );
            self.problem("read.plan", message, Some("use read.plan = \"home\", or a cache of whole stripes: \"wow\" or \"stow\""));
        }
    }
}

/// Returns warnings about keys of reads without effect. `is_written` says whether the user has set a key.
pub(super) fn without_effect(config: &Config, array: &array::ArrayParams, is_written: impl Fn(&str) -> bool) -> Vec<String> {
    let plan = config.read.plan.0;
    let mut warnings = Vec::new();
    for (works, needs, keys) in [
        (plan.considers_collecting_members(), "plan = \"avoid\"", &["fast_fail", "knowledge", "pre_reads", "remaining"][..]),
        (plan.predicts_slow_reads(), "plan = \"predict\"", &["slow", "false_accept", "false_reject", "cost", "then_hedge"]),
        (config.read.hedges(), "plan = \"hedge\" (or \"predict\" with read.then_hedge = true)", &["after", "learn", "cancel"]),
        (!config.read.hedges() || config.read.after == HedgeDelay::P95OfReads, "after = \"p95\"", &["learn"]),
    ] {
        let keys = keys.iter().map(|key| format!("read.{key}")).filter(|key| !works && is_written(key));
        warnings.extend(keys.map(|key| format!("{key} has no effect without read.{needs}")));
    }
    if plan == ReadPlan::Home {
        return warnings;
    }
    let name = plan.name();
    if !array.chooses_source_of_each_read() {
        let level = config.array.level.name();
        warnings.push(format!("read.plan = \"{name}\" has no effect with level \"{level}\", where each page lies in one place only"));
    } else if plan.considers_collecting_members() && array.ssd.gc.collection_takes_no_time {
        warnings.push(format!("read.plan = \"{name}\" has no effect with coordination.scheme = \"ideal\", where collection takes no time"));
    }
    warnings
}

/// A read plan (the way the array chooses which members a read is served from), which is written as its name. All plans are in
/// [`ReadPlan::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadPlanName(pub ReadPlan);

impl Default for ReadPlanName {
    fn default() -> Self {
        Self(ReadPlan::Home)
    }
}

impl Serialize for ReadPlanName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for ReadPlanName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let plan = ReadPlan::ALL.iter().find(|plan| plan.name() == name);
        plan.map(|plan| Self(*plan)).ok_or_else(|| D::Error::custom(format!("there is no read plan \"{name}\"")))
    }
}

impl JsonSchema for ReadPlanName {
    fn schema_name() -> Cow<'static, str> {
        "ReadPlan".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let variant = |plan: &ReadPlan| json!({ "type": "string", "const": plan.name(), "description": plan.summary() });
        let variants: Vec<Value> = ReadPlan::ALL.iter().map(variant).collect();
        json_schema!({ "description": "A read plan.", "oneOf": variants })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_written_by_their_names() {
        for plan in ReadPlan::ALL {
            let config = HostReadConfig { plan: ReadPlanName(*plan), ..HostReadConfig::default() };
            let text = serde_json::to_string(&config).unwrap();
            assert!(text.starts_with(&format!("{{\"plan\":\"{}\",", plan.name())), "{text}");
            assert_eq!(serde_json::from_str::<HostReadConfig>(&text).unwrap(), config);
        }
        assert!(serde_json::from_str::<HostReadConfig>("{\"plan\":\"away\"}").is_err());
    }

    fn read(text: &str) -> Result<super::super::Scenario, super::super::Problems> {
        super::super::scenario_from_toml("test.toml", text, &[], None)
    }

    #[test]
    fn the_settings_of_a_plan_reach_the_model() {
        let text = "[array]\nlevel = \"raid5\"\nmembers = 4\n[read]\nplan = \"avoid\"\nfast_fail = \"3us\"\nknowledge = \"member\"\npre_reads = false\nremaining = \"unknown\"\n";
        let array = read(text).unwrap_or_else(|problems| panic!("{problems}")).array;
        assert!(array.chooses_source_of_each_read());
        let expected = ReadPlanParams {
            refusal_answer_ns: 3000,
            collection_knowledge: array::HostKnowledgeOfCollection::PerMember,
            parity_update_reads_avoid_collection: false,
            knows_remaining_collection_time: false,
            ..ReadPlanParams::default()
        };
        assert_eq!(array.read_plan_params, expected);
        let of_turns = |scheme: &str| {
            let level = "[array]\nlevel = \"raid5\"\nmembers = 4\n";
            read(&format!("{level}[read]\nplan = \"avoid\"\nknowledge = \"turn\"\n[coordination]\nscheme = \"{scheme}\"\n"))
        };
        let array = of_turns("windows").unwrap_or_else(|problems| panic!("{problems}")).array;
        assert_eq!(array.read_plan_params.collection_knowledge, array::HostKnowledgeOfCollection::Turns);
        let refused = of_turns("stagger").unwrap_err().to_string();
        assert!(refused.contains("`read.knowledge` is \"turn\", but with coordination.scheme = \"stagger\""), "{refused}");
        let defaults =
            read("[array]\nlevel = \"raid5\"\nmembers = 4\n[read]\nplan = \"avoid\"\n").unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(defaults.array.read_plan_params, ReadPlanParams::default());
        let of_hedge = |keys: &str| {
            let text = format!("[array]\nlevel = \"raid1\"\nmembers = 2\n[read]\nplan = \"hedge\"\n{keys}");
            read(&text).map(|scenario| scenario.array.read_plan_params.hedge_delay).map_err(|problems| problems.to_string())
        };
        assert_eq!(of_hedge("after = \"2ms\"\n"), Ok(HedgeAfter::Time(2_000_000)));
        assert_eq!(of_hedge("learn = 10\n"), Ok(HedgeAfter::P95OfReads { percentile_window_reads: 10 }));
        let cancels = read("[array]\nlevel = \"raid1\"\nmembers = 2\n[read]\nplan = \"hedge\"\ncancel = \"queued\"\n");
        assert!(cancels.is_ok_and(|scenario| scenario.array.read_plan_params.abandons_waiting_reads));
        assert!(of_hedge("cancel = \"always\"\n").is_err());
        let of_prediction = |keys: &str| {
            let text = format!("[array]\nlevel = \"raid1\"\nmembers = 2\n[read]\nplan = \"predict\"\n{keys}");
            read(&text).map(|scenario| scenario.array.read_plan_params.prediction).map_err(|problems| problems.to_string())
        };
        assert_eq!(of_prediction(""), Ok(SlowReadPredictionParams::default()));
        let keys = "slow = \"2ms\"\nfalse_accept = 0.1\nfalse_reject = \"20%\"\ncost = \"0s\"\nthen_hedge = true\n";
        let prediction = SlowReadPredictionParams {
            slow_wait_threshold_ns: 2_000_000,
            false_accept: 0.1,
            false_reject: 0.2,
            prediction_time_per_read_ns: 0,
            also_hedges: true,
        };
        assert_eq!(of_prediction(keys), Ok(prediction));
        assert!(of_prediction("false_accept = 1.5\n").is_err());
        assert!(of_prediction("cost = \"2h\"\n").is_err_and(|text| text.contains("at most 1h")));
        assert!(of_hedge("after = \"0ns\"\n").is_err_and(|text| text.contains("between 1ns and 1h")));
        assert!(of_hedge("learn = 0\n").is_err_and(|text| text.contains("read.learn")));
    }

    #[test]
    fn settings_without_effect_are_warned_of() {
        let warns = |text: &str, of: &str| {
            let scenario = read(text).unwrap_or_else(|problems| panic!("{problems}"));
            scenario.warnings.iter().any(|warning| warning.contains(of))
        };
        assert!(warns("[array]\nlevel = \"raid0\"\nmembers = 4\n[read]\nplan = \"avoid\"\n", "no effect with level \"raid0\""));
        assert!(!warns("[array]\nlevel = \"raid1\"\nmembers = 2\n[read]\nplan = \"avoid\"\n", "read.plan"));
        assert!(warns("[read]\nknowledge = \"member\"\n", "read.knowledge has no effect"));
        assert!(warns("[read]\nafter = \"1ms\"\n", "read.after has no effect without read.plan = \"hedge\""));
        let hedge = "[array]\nlevel = \"raid5\"\nmembers = 3\n[read]\nplan = \"hedge\"\nafter = \"1ms\"\nlearn = 5\nfast_fail = \"3us\"\n";
        assert!(warns(hedge, "read.learn has no effect without read.after = \"p95\""));
        assert!(warns(hedge, "read.fast_fail has no effect without read.plan = \"avoid\""));
        assert!(warns("[read]\nfalse_accept = 0.1\n", "read.false_accept has no effect without read.plan = \"predict\""));
        let predict = "[array]\nlevel = \"raid5\"\nmembers = 3\n[read]\nplan = \"predict\"\nafter = \"1ms\"\n";
        assert!(warns(predict, "read.after has no effect without read.plan = \"hedge\" (or \"predict\" with read.then_hedge = true)"));
        assert!(!warns(&format!("{predict}then_hedge = true\n"), "no effect"));
        let ideal = "[array]\nlevel = \"raid5\"\nmembers = 3\n[read]\nplan = \"avoid\"\n[coordination]\nscheme = \"ideal\"\n";
        assert!(warns(ideal, "no effect with coordination.scheme = \"ideal\""));
    }

    #[test]
    fn caches_of_single_members_exclude_plans_that_read_elsewhere() {
        for plan in ["avoid", "hedge", "predict"] {
            for (policy, is_right) in [("none", true), ("wow", true), ("stow", true), ("iwc", false), ("iwc-sync", false), ("lawc", false)]
            {
                let text = format!("[array]\nlevel = \"raid5\"\nmembers = 4\n[read]\nplan = \"{plan}\"\n[cache]\npolicy = \"{policy}\"\n");
                let message = read(&text).err().map(|problems| problems.to_string());
                assert_eq!(message.is_none(), is_right, "{plan} with {policy}: {message:?}");
                assert!(message.is_none_or(|message| message.contains("may be older than its cache")));
            }
        }
        assert!(read("[read]\nplan = \"avoid\"\nfast_fail = \"2s\"\n").is_err());
    }
}
