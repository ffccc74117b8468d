//! Converts the section `[coordination]` to the parameters of the model.

use super::Config;
use super::coordination::CoordinationConfig;
use super::resolve::Resolver;
use flashraid_model::array::RaidLevel;
use flashraid_model::coordination::{CoordinationParams, JointCollectionRequestTiming, time_range_problem};
use flashraid_model::ids::MemberSet;
use flashraid_model::policy::policy_config_serde;
use flashraid_model::ssd::SsdParams;
use flashraid_workload::units::Duration;

/// Returns the keys of every controller together with the scheme.
fn params(written: &CoordinationConfig) -> CoordinationParams {
    CoordinationParams { scheme: written.policy.clone(), ..written.common.clone() }
}

/// Returns the options that have no effect with this scheme. They are no problems, because a comparison of schemes sets them for all.
pub(super) fn without_effect(written: &CoordinationConfig) -> Vec<String> {
    let (protocol, default) = (&params(written), CoordinationParams::default());
    let coordinated = protocol.scheme.has_coordinating_controller();
    let forces_members_to_collect_together = protocol.scheme.forces_members_to_collect_together();
    let is_soft = protocol.notify() == JointCollectionRequestTiming::AtSoftThreshold;
    let t_soft_is_used =
        protocol.scheme.members_report_low_free_blocks() || is_soft || (forces_members_to_collect_together && !protocol.across_dies);
    let of_protocol = [
        ("force_until", coordinated, protocol.force_until != default.force_until),
        ("across_dies", forces_members_to_collect_together, protocol.across_dies != default.across_dies),
        ("notify", forces_members_to_collect_together, protocol.notify.is_some()),
        ("t_soft", t_soft_is_used, protocol.t_soft != default.t_soft),
        ("delay", forces_members_to_collect_together, protocol.delay != default.delay),
        ("at_idle", forces_members_to_collect_together, protocol.at_idle != default.at_idle),
        ("answer", coordinated, protocol.answer != default.answer),
        ("ggc_aware", coordinated, protocol.ggc_aware != default.ggc_aware),
        ("latency", coordinated, protocol.latency != default.latency),
    ];
    let unused = of_protocol.into_iter().filter(|(_, used, set)| *set && !used).map(|(key, ..)| key.to_owned());
    unused.chain(written.unused_parameters()).collect()
}

/// Returns settings of the protocol that have no effect because of other settings, each with the reason.
pub(super) fn contradictions(config: &Config) -> Vec<String> {
    let protocol = &params(&config.coordination);
    let scheme = &protocol.scheme;
    let is_set = |(key, _): &(&str, &str)| policy_config_serde::is_parameter_set(scheme, key);
    let unused = scheme.parameters_without_effect().into_iter().filter(is_set);
    let mut warnings: Vec<_> =
        unused.map(|(key, needs)| format!("coordination.{key} has no effect without coordination.{needs}")).collect();
    if !scheme.forces_members_to_collect_together() {
        return warnings;
    }
    if protocol.at_idle && protocol.notify() == JointCollectionRequestTiming::AtStartThreshold {
        let why = "where members ask when they have begun to collect; set coordination.notify = \"soft\"";
        warnings.push(format!("coordination.at_idle has no effect with coordination.notify = \"at-start\", {why}"));
    }
    if !protocol.across_dies && config.ssd.superblock.is_some() {
        warnings.push("coordination.across_dies has no effect on drives with [ssd.superblock], whose superblocks lie on all dies".into());
    }
    warnings
}

impl Resolver<'_> {
    pub(super) fn coordination(&mut self, config: &Config, members: u32, ssd: &SsdParams) -> Option<CoordinationParams> {
        let params = params(&config.coordination);
        let pools = ssd.pool_sizes();
        let (latency, none) = (&params.latency, Duration { ns: 0 });
        let of_common_keys = [
            pools.stop_threshold_problem("t_soft", params.t_soft),
            time_range_problem("delay", params.delay, none),
            time_range_problem("latency.gc_request", latency.gc_request, none),
            time_range_problem("latency.participate", latency.participate, none),
            time_range_problem("latency.force_gc", latency.force_gc, none),
            time_range_problem("latency.gc_state", latency.gc_state, none),
            time_range_problem("latency.gc_done", latency.gc_done, none),
        ];
        self.table_problems(&config.coordination, |scheme| scheme.problems(&pools), of_common_keys.into_iter().flatten());
        let coordinated_members = self.ggc_aware(params.ggc_aware.as_deref(), members, config.array.level);
        params.scheme.has_coordinating_controller().then_some(CoordinationParams { coordinated_members, ..params })
    }

    fn ggc_aware(&mut self, written: Option<&[u32]>, members: u32, level: RaidLevel) -> MemberSet {
        let Some(written) = written else { return MemberSet::first_members(members) };
        let mut ggc_aware = MemberSet::NONE;
        for &member in written {
            if member >= members {
                let message = format!(
                    "`coordination.ggc_aware` names member {member}, but the members of this \"{}\" are 0 to {}",
                    level.name(),
                    members - 1
                );
                self.problem("coordination.ggc_aware", message, None);
            } else if ggc_aware.contains(member) {
                self.problem("coordination.ggc_aware", format!("`coordination.ggc_aware` names member {member} twice"), None);
            } else {
                ggc_aware.insert(member);
            }
        }
        ggc_aware
    }
}
