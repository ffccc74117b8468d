//! Converts the section `[coordination]` to the parameters of the model.

use super::Config;
use super::coordination::{
    ControllerAnswerToForcedGcRequest, CoordinationConfig, ForceCollectionUntil, GcCoordinatorConfig, JointCollectionRequestTimingConfig,
    RequestsDuringCycle,
};
use super::resolve::Resolver;
use flashraid_model::array::RaidLevel;
use flashraid_model::coordination::{
    self, CoordinationParams, CoordinationPolicy, ForcedCollectionAmount, JointCollectionRequestTiming, MessageKind, time_range_problem,
};
use flashraid_model::ids::MemberSet;
use flashraid_model::policy::{ParameterProblem, policy_config_serde};
use flashraid_model::ssd::SsdParams;
use flashraid_workload::units::Duration;

/// Returns the options that have no effect with this scheme. They are no problems, because a comparison of schemes sets them for all.
pub(super) fn without_effect(written: &CoordinationConfig) -> Vec<String> {
    let (protocol, default) = (&written.protocol, GcCoordinatorConfig::default());
    let coordinated = written.scheme.has_coordinating_controller();
    let forces_members_to_collect_together = written.scheme.forces_members_to_collect_together();
    let is_soft = forces_members_to_collect_together && protocol.notify() == JointCollectionRequestTimingConfig::Soft;
    let t_soft_is_used =
        written.scheme.members_report_low_free_blocks() || is_soft || (forces_members_to_collect_together && !protocol.across_dies);
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
    unused.chain(policy_config_serde::unused_parameters(&written.scheme, &written.others)).collect()
}

/// Returns settings of the protocol that have no effect because of other settings, each with the reason.
pub(super) fn contradictions(config: &Config) -> Vec<String> {
    let CoordinationConfig { scheme, protocol, .. } = &config.coordination;
    let mut warnings = Vec::new();
    if let CoordinationPolicy::CollectionTimeWindows(windows) = scheme {
        let keys = windows.keys_without_effect();
        warnings.extend(keys.iter().map(|key| format!("coordination.{key} has no effect without coordination.protocol = \"nvme\"")));
    }
    if !scheme.forces_members_to_collect_together() {
        return warnings;
    }
    if protocol.at_idle && protocol.notify() == JointCollectionRequestTimingConfig::AtStart {
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
        let CoordinationConfig { scheme, protocol, others } = &config.coordination;
        let pools = ssd.pool_sizes();
        let (latency, none) = (&protocol.latency, Duration { ns: 0 });
        let of_protocol = [
            pools.stop_threshold_problem("t_soft", protocol.t_soft),
            time_range_problem("delay", protocol.delay, none),
            time_range_problem("latency.gc_request", latency.gc_request, none),
            time_range_problem("latency.participate", latency.participate, none),
            time_range_problem("latency.force_gc", latency.force_gc, none),
            time_range_problem("latency.gc_state", latency.gc_state, none),
            time_range_problem("latency.gc_done", latency.gc_done, none),
        ];
        // Options without effect with this scheme must also be possible, because other schemes use them.
        let of_schemes = std::iter::once(scheme).chain(others).flat_map(|scheme| scheme.problems(&pools));
        let mut problems: Vec<ParameterProblem> = Vec::new();
        for problem in of_schemes.chain(of_protocol.into_iter().flatten()) {
            if problems.iter().all(|known| known.key != problem.key) {
                self.policy_problem("coordination", &problem);
                problems.push(problem);
            }
        }
        let ggc_aware = self.ggc_aware(protocol.ggc_aware.as_deref(), members, config.array.level);
        scheme.has_coordinating_controller().then(|| CoordinationParams {
            scheme: scheme.clone(),
            forced_collection_amount: match protocol.force_until {
                ForceCollectionUntil::PoolVictims => ForcedCollectionAmount::OneVictimPerPool,
                ForceCollectionUntil::PoolVictimsAndWatermark => ForcedCollectionAmount::OneVictimPerPoolThenWatermark,
                ForceCollectionUntil::VictimAndWatermark => ForcedCollectionAmount::OneVictimThenUntilStopThreshold,
                ForceCollectionUntil::OneVictim => ForcedCollectionAmount::OneVictimPerDie,
                ForceCollectionUntil::Watermark => ForcedCollectionAmount::ToWatermark,
            },
            joint_gc_registration_threshold_free_blocks: protocol
                .t_soft
                .threshold_free_blocks_for_pool(pools.blocks_per_pool, pools.start_threshold_free_blocks),
            joint_collection_request_timing: match protocol.notify() {
                _ if !scheme.forces_members_to_collect_together() => JointCollectionRequestTiming::AtStartThreshold,
                JointCollectionRequestTimingConfig::AtStart => JointCollectionRequestTiming::AtStartThreshold,
                JointCollectionRequestTimingConfig::Soft => JointCollectionRequestTiming::AtSoftThreshold,
            },
            request_to_collection_order_delay_ns: protocol.delay.ns,
            begins_joint_collection_when_idle: protocol.at_idle,
            repeats_cycle_for_requests_during_it: protocol.during_cycle == RequestsDuringCycle::Repeat,
            all_dies_of_forced_member_collect: protocol.across_dies,
            controller_answers_gc_requests: protocol.answer == ControllerAnswerToForcedGcRequest::Prompt,
            coordinated_members: ggc_aware,
            message_latency_ns: {
                let mut by_kind = [0; coordination::MESSAGE_KINDS];
                by_kind[MessageKind::GcRequest as usize] = latency.gc_request.ns;
                by_kind[MessageKind::AskGc as usize] = latency.gc_request.ns;
                by_kind[MessageKind::Participate as usize] = latency.participate.ns;
                for kind in [MessageKind::ForceGc, MessageKind::StopGc, MessageKind::Grant, MessageKind::Deny] {
                    by_kind[kind as usize] = latency.force_gc.ns;
                }
                by_kind[MessageKind::GcState as usize] = latency.gc_state.ns;
                by_kind[MessageKind::GcDone as usize] = latency.gc_done.ns;
                by_kind
            },
        })
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
