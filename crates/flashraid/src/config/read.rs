//! Keys of reads: `[read]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use flashraid_model::array::{self, ReadPlan, Redundancy};
use flashraid_model::coordination::CoordinationPolicy;
use flashraid_model::policy::{PolicyEnum, policy_config_serde};

use super::Config;
use super::policy_table::{PolicyTable, TablePolicy};
use super::problems::one_of;
use super::resolve::Resolver;

/// Settings of the host's reads.
pub type HostReadConfig = PolicyTable<ReadPlan>;

/// The keys that belong to no plan, of which there are none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoOtherKeys {}

impl TablePolicy for ReadPlan {
    type Common = NoOtherKeys;
    const TABLE: &'static str = "read";
    const KEY: &'static str = "plan";
    const SCHEMA_NAME: &'static str = "HostReadConfig";
    const KEY_MEANING: &'static str = "Read plan: the way the array chooses which members a read is served from, if there is a choice. With \
                                       mirrors, it chooses a copy. With parity, it may reconstruct pages from the rest of their stripe \
                                       instead of reading them.";
    const TABLE_MEANING: &'static str = "Settings of the host's reads.";

    fn table(&self, others: &[Self]) -> Map<String, Value> {
        let mut chosen = self.parameters();
        let mut table = Map::from_iter([(Self::KEY.to_owned(), self.name().into())]);
        // Keys of plans that are not chosen keep what the user wrote, in the order of the list of plans.
        for default in ReadPlan::all_with_default_parameters() {
            let written = others.iter().find(|plan| plan.name() == default.name()).unwrap_or(&default);
            for (key, value) in written.parameters() {
                let value = chosen.remove(&key).unwrap_or(value);
                table.entry(key).or_insert(value);
            }
        }
        table
    }
}

/// Returns true if the settings are the defaults, so that reports leave the section out.
pub(super) fn is_default(read: &HostReadConfig) -> bool {
    *read == HostReadConfig::default()
}

impl Resolver<'_> {
    /// Adds problems of the read plan.
    pub(super) fn read_plan(&mut self, config: &Config) {
        let plan = &config.read.policy;
        self.table_problems(&config.read, ReadPlan::problems, []);
        let scheme = &config.coordination.policy;
        if let Some(parameter) = plan.parameter_that_needs_turns().filter(|_| !scheme.has_turns_by_the_clock()) {
            let key = format!("read.{parameter}");
            let message = format!(
                "`{key}` is {}, but with coordination.scheme = \"{}\" members have no turns by the clock",
                self.written(&key),
                scheme.name()
            );
            let by_the_clock =
                CoordinationPolicy::all_with_default_parameters().into_iter().filter(CoordinationPolicy::has_turns_by_the_clock);
            let names: Vec<_> = by_the_clock.map(|scheme| format!("\"{}\"", scheme.name())).collect();
            let fix = format!("use coordination.scheme = {}, or another {key}", one_of(&names));
            self.problem(&key, message, Some(&fix));
        }
        let policy = &config.cache.policy;
        if plan.has_choice(Redundancy::Copies) && policy.stripe_and_member_caches().member_caches.is_some() {
            let message = format!(
                "`read.plan` is \"{}\", but with cache.policy = \"{}\" the flash of a member may be older than its cache, so that no strip follows from the others",
                plan.name(),
                policy.name()
            );
            self.problem("read.plan", message, Some("use read.plan = \"home\", or a cache of whole stripes: \"wow\" or \"stow\""));
        }
    }
}

/// Returns warnings about keys of reads without effect. `is_written` says whether the user has set a key.
pub(super) fn without_effect(config: &Config, array: &array::ArrayParams, is_written: impl Fn(&str) -> bool) -> Vec<String> {
    let plan = &config.read.policy;
    let (name, own, unused) = (plan.name(), plan.parameters(), plan.parameters_without_effect());
    let mut keys: Vec<String> = Vec::new();
    for key in ReadPlan::all_with_default_parameters().iter().flat_map(|plan| plan.parameters().into_iter()).map(|(key, _)| key) {
        if !keys.contains(&key) && is_written(&format!("read.{key}")) {
            keys.push(key);
        }
    }
    let mut warnings = Vec::new();
    for key in &keys {
        let needs = match unused.iter().find(|(unused, _)| *unused == key.as_str()) {
            Some((_, needs)) => (*needs).to_owned(),
            None if own.contains_key(key) => continue,
            None => format!("plan = \"{}\"", policy_config_serde::policies_with_parameter::<ReadPlan>(key).join("\" or \"")),
        };
        warnings.push(format!("read.{key} has no effect without read.{needs}"));
    }
    if !plan.has_choice(Redundancy::Copies) {
        return warnings;
    }
    if !array.chooses_source_of_each_read() {
        let level = config.array.level.name();
        warnings.push(format!("read.plan = \"{name}\" has no effect with level \"{level}\", where each page lies in one place only"));
    } else if plan.is_about_collection() && array.ssd.gc.collection_takes_no_time {
        warnings.push(format!("read.plan = \"{name}\" has no effect with coordination.scheme = \"ideal\", where collection takes no time"));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashraid_model::array::{
        Avoid, Hedge, HedgeDelay, HostKnowledgeOfCollection, HostKnowledgeOfRemainingCollection, Predict, UnneededReadCancellation,
    };
    use flashraid_workload::units::{Duration, Fraction};

    fn time(ns: u64) -> Duration {
        Duration { ns }
    }

    #[test]
    fn plans_are_written_by_their_names_with_the_keys_of_all() {
        for plan in ReadPlan::all_with_default_parameters() {
            let config = HostReadConfig { policy: plan.clone(), ..HostReadConfig::default() };
            let text = serde_json::to_string(&config).unwrap();
            assert!(text.starts_with(&format!("{{\"plan\":\"{}\",\"fast_fail\":\"1us\",", plan.name())), "{text}");
            assert_eq!(serde_json::from_str::<HostReadConfig>(&text).unwrap(), config);
        }
        assert!(serde_json::from_str::<HostReadConfig>("{\"plan\":\"away\"}").is_err());
        assert!(serde_json::from_str::<HostReadConfig>("{\"distance\":1}").is_err());
    }

    #[test]
    fn keys_of_other_plans_are_kept() {
        let text = "{\"plan\":\"predict\",\"fast_fail\":\"3us\",\"after\":\"1ms\",\"slow\":\"2ms\"}";
        let config: HostReadConfig = serde_json::from_str(text).unwrap();
        let written = serde_json::to_value(&config).unwrap();
        let of = |key: &str| written[key].to_string();
        assert_eq!(["fast_fail", "after", "slow", "learn"].map(of), ["\"3us\"", "\"1ms\"", "\"2ms\"", "1024"]);
        assert_eq!(serde_json::from_value::<HostReadConfig>(written).unwrap(), config);
    }

    fn read(text: &str) -> Result<super::super::Scenario, super::super::Problems> {
        super::super::scenario_from_toml("test.toml", text, &[], None)
    }

    #[test]
    fn the_settings_of_a_plan_reach_the_model() {
        let text = "[array]\nlevel = \"raid5\"\nmembers = 4\n[read]\nplan = \"avoid\"\nfast_fail = \"3us\"\nknowledge = \"member\"\npre_reads = false\nremaining = \"unknown\"\n";
        let array = read(text).unwrap_or_else(|problems| panic!("{problems}")).array;
        assert!(array.chooses_source_of_each_read());
        let expected = Avoid {
            fast_fail: time(3000),
            knowledge: HostKnowledgeOfCollection::Member,
            pre_reads: false,
            remaining: HostKnowledgeOfRemainingCollection::Unknown,
            ..Avoid::default()
        };
        assert_eq!(array.read_plan, expected.into());
        let of_turns = |scheme: &str| {
            let level = "[array]\nlevel = \"raid5\"\nmembers = 4\n";
            read(&format!("{level}[read]\nplan = \"avoid\"\nknowledge = \"turn\"\n[coordination]\nscheme = \"{scheme}\"\n"))
        };
        let array = of_turns("windows").unwrap_or_else(|problems| panic!("{problems}")).array;
        assert_eq!(array.read_plan, Avoid { knowledge: HostKnowledgeOfCollection::Turn, ..Avoid::default() }.into());
        let refused = of_turns("stagger").unwrap_err().to_string();
        assert!(refused.contains("`read.knowledge` is \"turn\", but with coordination.scheme = \"stagger\""), "{refused}");
        let plan_of = |keys: &str| {
            let text = format!("[array]\nlevel = \"raid1\"\nmembers = 2\n[read]\n{keys}");
            read(&text).map(|scenario| scenario.array.read_plan).map_err(|problems| problems.to_string())
        };
        assert_eq!(plan_of("plan = \"avoid\"\n"), Ok(Avoid::default().into()));
        let of_hedge = |keys: &str| plan_of(&format!("plan = \"hedge\"\n{keys}"));
        assert_eq!(of_hedge("after = \"2ms\"\n"), Ok(Hedge { after: HedgeDelay::Time(time(2_000_000)), ..Hedge::default() }.into()));
        assert_eq!(of_hedge("learn = 10\n"), Ok(Hedge { learn: 10, ..Hedge::default() }.into()));
        let cancels = Hedge { cancel: UnneededReadCancellation::Queued, ..Hedge::default() };
        assert_eq!(of_hedge("cancel = \"queued\"\n"), Ok(cancels.clone().into()));
        assert!(of_hedge("cancel = \"always\"\n").is_err());
        let of_prediction = |keys: &str| plan_of(&format!("plan = \"predict\"\n{keys}"));
        assert_eq!(of_prediction(""), Ok(Predict::default().into()));
        let keys = "slow = \"2ms\"\nfalse_accept = 0.1\nfalse_reject = \"20%\"\ncost = \"0s\"\nthen_hedge = true\ncancel = \"queued\"\n";
        let prediction = Predict {
            slow: time(2_000_000),
            false_accept: Fraction(0.1),
            false_reject: Fraction(0.2),
            cost: time(0),
            then_hedge: true,
            hedge: cancels,
            ..Predict::default()
        };
        assert_eq!(of_prediction(keys), Ok(prediction.into()));
        assert!(of_prediction("false_accept = 1.5\n").is_err());
        assert!(of_prediction("cost = \"2h\"\n").is_err_and(|text| text.contains("at most 1h")));
        assert!(plan_of("cost = \"2h\"\n").is_err_and(|text| text.contains("at most 1h")), "another plan could not have it");
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
        assert!(warns(predict, "read.after has no effect without read.then_hedge = true"));
        assert!(!warns(&format!("{predict}then_hedge = true\n"), "no effect"));
        let ideal = "[array]\nlevel = \"raid5\"\nmembers = 3\n[read]\nplan = \"avoid\"\n[coordination]\nscheme = \"ideal\"\n";
        assert!(warns(ideal, "no effect with coordination.scheme = \"ideal\""));
    }

    #[test]
    fn caches_of_single_members_exclude_plans_that_read_elsewhere() {
        for plan in ["avoid", "hedge", "predict", "shortest-queue"] {
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
