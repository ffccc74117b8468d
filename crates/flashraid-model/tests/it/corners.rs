//! The random cases reach every corner of the rules, and nothing is lost in any of them.

use std::collections::BTreeMap;

use flashraid_model::array::{
    HedgeDelay, HostKnowledgeOfCollection, HostKnowledgeOfRemainingCollection, RaidLevel, ReadPlan, SlowMemberPeriod, WarmUpPattern,
};
use flashraid_model::cache::CachePolicy;
use flashraid_model::coordination::{
    CoordinationPolicy, ForcedCollectionAmount, JointCollectionRequestTiming, MessageKind, MessageLatency,
};
use flashraid_model::policy::PolicyEnum;
use flashraid_model::request::{HostLoop, OpKind, Request};
use flashraid_model::space::superblocks::CollectionCourse;
use flashraid_model::ssd::{
    BlockPoolScope, CollectionBlockingScope, DieChoiceForWrites, Duplex, FrontEndCounters, GcAlgorithm, HostOverlapWithMoves,
    MemberCounters, SuperblockDriveParams, VictimPolicy,
};

use crate::agreement::{cases, seeds};
use crate::cases::PAGE_BYTES;
use crate::draw::has_rule;
use crate::draw::{
    draw_cached_case, draw_case, draw_case_of_stripes, draw_coordinated_case, draw_fronted_case, draw_interruptible_case, draw_mixed_case,
};
use crate::draw_drives::draw_drive_case;
use crate::outcome::{Case, Outcome, PhysicalPage, RequestOutcome};
use crate::reference;

/// Number of cases of each kind that reach every corner often enough.
const ENOUGH_FOR_CORNERS: usize = 2500;

/// Without these tests the model could agree with the reference on cases in which nothing happens.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        let case = draw_case(seed);
        let outcome = reference::simulate(&case);
        check_conservation(&case, &outcome);
        let ssd = &case.params.ssd;
        let collected = !outcome.gc_intervals.is_empty();
        let met = outcome.requests.iter().any(|request| request.gc_members_met > 0);
        count("collection", collected);
        count("requests that met it", met);
        count("met on several members", outcome.requests.iter().any(|request| request.gc_members_met > 1));
        count("collections of several victims", outcome.gc_intervals.iter().any(|gc| gc.victims > 1));
        count("one plane blocked", ssd.gc.rules.blocking == CollectionBlockingScope::Plane && met);
        count("instantaneous", ssd.gc.collection_takes_no_time && collected);
        count("die-wide pool", ssd.gc.rules.pool == BlockPoolScope::Die && collected);
        let reference = ssd.gc.gc_algorithm == GcAlgorithm::LikeDiskSimWithoutCopyBack && collected;
        count("procedure of the reference", reference);
        count("procedure of the reference, several planes", reference && ssd.geometry.planes > 1);
        count("procedure of the reference, channel", reference && ssd.channel.is_some() && ssd.geometry.planes > 1);
        count("separate open block", ssd.gc.rules.separate_open_block && collected);
        count("dynamic", ssd.writes.allocation == DieChoiceForWrites::Dynamic && collected);
        count(
            "dynamic, channel, no copy-back",
            ssd.writes.allocation == DieChoiceForWrites::Dynamic && ssd.channel.is_some() && !ssd.gc.rules.copy_back && met,
        );
        count("last block left unsealed", !ssd.writes.fill_seals_last_block && collected);
        count("channel", ssd.channel.is_some() && met);
        count("last block left unsealed", !ssd.writes.fill_seals_last_block && collected);
        count(
            "dynamic, one plane blocked",
            ssd.writes.allocation == DieChoiceForWrites::Dynamic && ssd.gc.rules.blocking == CollectionBlockingScope::Plane && met,
        );
        count("half-duplex link", ssd.link.is_some_and(|link| link.duplex == Duplex::Half));
        count("full-duplex link", ssd.link.is_some_and(|link| link.duplex == Duplex::Full));
        for name in VictimPolicy::NAMES {
            count(name, ssd.gc.victim.name() == *name && collected);
        }
        count("warm-up by the workload", case.warm_up.pattern == WarmUpPattern::Workload && collected);
        count("raid1", case.params.level == RaidLevel::Raid1);
        count("raid10", case.params.level == RaidLevel::Raid10);
        count("closed loop", case.host != HostLoop::Open && met);
    }
    assert_often_enough(&seen, cases() / 50);
}

/// Asserts that enough cases together have come by every corner so often.
fn assert_often_enough(seen: &BTreeMap<&str, u64>, least: u64) {
    if seeds().len() >= ENOUGH_FOR_CORNERS {
        let rare: Vec<_> = seen.iter().filter(|&(_, &cases)| cases < least).collect();
        assert!(rare.is_empty(), "too rare: {rare:?} of {seen:?}");
    }
}

/// Counts the corners that cases with preemption reach.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_preemption_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        let case = draw_interruptible_case(seed);
        let outcome = reference::simulate(&case);
        check_conservation(&case, &outcome);
        let ssd = &case.params.ssd;
        let sum = |figure: fn(&MemberCounters) -> u64| outcome.members.iter().map(|member| figure(&member.counters)).sum::<u64>() > 0;
        let preemption = ssd.gc.preemption;
        count("preempted", sum(|c| c.preemptions));
        count("merged", sum(|c| c.operations_served_from_move_register));
        count("merged writes", sum(|c| c.moves_replaced_by_host_writes));
        count("reordered", preemption.is_some_and(|preemption| preemption.reorder) && sum(|c| c.operations_served_from_move_register));
        count("pipelined", sum(|c| c.pipelined_operations));
        let joins = preemption.is_some_and(|preemption| preemption.pipeline == HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep);
        count("pipelined with steps in flight", joins && sum(|c| c.pipelined_operations));
        count("suspended", sum(|c| c.suspensions));
        count("dropped", sum(|c| c.gc_pages_read_in_vain));
        count("exhausted", sum(|c| c.writes_that_waited_for_room));
        count("state 2", preemption.is_some() && sum(|c| c.gc_preemptible_by_reads_only_ns));
        count(
            "state 3",
            preemption.is_some() && sum(|c| c.gc_time_ns - c.gc_preemptible_by_all_requests_ns - c.gc_preemptible_by_reads_only_ns),
        );
        count("idle", sum(|c| c.idle_cleans));
        count("idle without preemption", preemption.is_none() && sum(|c| c.idle_cleans));
        count("preemption in an array with a link", sum(|c| c.preemptions) && case.params.members > 1 && ssd.link.is_some());
        count("preemption in a closed loop", sum(|c| c.preemptions) && case.host != HostLoop::Open);
    }
    assert_often_enough(&seen, cases() / 100);
}

/// Counts the corners that cases with coordination reach.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_coordination_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        let case = draw_coordinated_case(seed);
        let outcome = reference::simulate(&case);
        check_conservation(&case, &outcome);
        let coordination = case.params.coordination.as_ref().expect("the case is coordinated");
        let sent = outcome.messages.expect("the case is coordinated");
        let is_sent = |kind: MessageKind| sent[kind as usize] > 0;
        let forced = outcome.gc_intervals.iter().any(|gc| gc.forced);
        let several = outcome.gc_intervals.iter().filter(|gc| gc.forced).any(|gc| gc.victims > 1);
        let scheme = &coordination.scheme;
        let name = scheme.name();
        for policy in CoordinationPolicy::all_with_default_parameters()
            .iter()
            .filter(|policy| policy.has_coordinating_controller() && has_rule(policy))
        {
            count(policy.name(), policy.name() == name && (forced || collects_in_turns(&outcome)));
        }
        count("denied", is_sent(MessageKind::Deny));
        count("collected without leave", name == "stagger" && is_sent(MessageKind::GcRequest) && is_sent(MessageKind::AskGc));
        let few_operations = name == "stagger" && is_sent(MessageKind::GcRequest) && !is_sent(MessageKind::AskGc) && forced;
        count("collected because of few operations", few_operations);
        count("cleans out of turn", outcome.rotation.is_some_and(|rotation| rotation.cleans_out_of_turn > 0));
        count("waited for a turn to collect", outcome.rotation.is_some_and(|rotation| rotation.waited_ns > 0));
        count("broken contracts", outcome.turns.is_some_and(|(broken, _)| broken > 0));
        count("overruns", outcome.turns.is_some_and(|(_, overruns)| overruns > 0));
        count("turns without broken contracts", collects_in_turns(&outcome) && outcome.turns.is_some_and(|(broken, _)| broken == 0));
        let windows = outcome.windows.unwrap_or_default();
        let ended = windows.ended_by_attribute;
        count("DTWINs ended by reads", ended[0] > 0);
        count("DTWINs ended by writes", ended[1] > 0);
        count("DTWINs ended by time", ended[2] > 0);
        count("DTWINs ended by excursions", windows.ended_by_excursion > 0);
        count("DTWINs that were all ended by orders", windows.ended_by_order() > 1 && windows.autonomous_transitions() == 0);
        count("DTWINs with warnings", windows.warnings.iter().any(|&warnings| warnings > 0));
        count("reads in both windows", windows.reads_in_dtwin.reads > 0 && windows.reads_in_ndwin.reads > 0);
        let unasked = name == "proactive-idle" && is_sent(MessageKind::ForceGc) && !is_sent(MessageKind::GcRequest);
        count("idle time used", unasked || is_sent(MessageKind::StopGc));
        count("idle time over", is_sent(MessageKind::StopGc));
        count("soft limit without being asked", name == "proactive-soft-limit" && forced && !is_sent(MessageKind::GcRequest));
        count("one victim", coordination.force_until == ForcedCollectionAmount::OneVictimPerDie && forced);
        count("up to a watermark", coordination.force_until == ForcedCollectionAmount::ToWatermark && several);
        count(
            "one victim, then up to a watermark",
            coordination.force_until == ForcedCollectionAmount::OneVictimThenUntilStopThreshold && several,
        );
        count("a victim of each pool", coordination.force_until == ForcedCollectionAmount::OneVictimPerPool && forced);
        count(
            "a victim of each pool, then up to a watermark",
            coordination.force_until == ForcedCollectionAmount::OneVictimPerPoolThenWatermark && several,
        );
        count("no answer", !coordination.answers() && is_sent(MessageKind::GcRequest));
        count("held back", coordination.delay.ns > 0 && forced);
        count("slow messages", coordination.latency != MessageLatency::default() && forced);
        let unaware = coordination.coordinated_members.len() < case.params.members;
        count("not all GGC-aware", unaware && forced);
        let sum = |figure: fn(&MemberCounters) -> u64| outcome.members.iter().map(|member| figure(&member.counters)).sum::<u64>() > 0;
        count("forced and preempted", forced && sum(|c| c.preemptions));
        count("forced and suspended", forced && sum(|c| c.suspensions));
        count("closed loop", case.host != HostLoop::Open && forced);
        let soft = coordination.notify() == JointCollectionRequestTiming::AtSoftThreshold && forced;
        count("soft", soft);
        count("soft and at idle", soft && coordination.at_idle && coordination.delay.ns > 0);
        count("soft and slow messages", soft && coordination.latency != MessageLatency::default());
        count("soft with a link", soft && case.params.ssd.link.is_some());
        let (during_cycles, unanswered) = outcome.uncoordinated_cleans.unwrap_or_default();
        count("uncoordinated during cycles of others", during_cycles > 0);
        count("uncoordinated", unanswered > 0);
        count("not across dies", !coordination.across_dies && forced);
        check_uncoordinated(&case, &outcome);
    }
    assert_often_enough(&seen, cases() / 100);
}

/// Returns true if members take turns, and collect.
fn collects_in_turns(outcome: &Outcome) -> bool {
    outcome.turns.is_some() && !outcome.gc_intervals.is_empty()
}

/// Checks members that ask in time. If messages take no time and the controller answers, they collect only together (rule 121).
fn check_uncoordinated(case: &Case, outcome: &Outcome) {
    let Some(coordination) = &case.params.coordination else { return };
    if coordination.answers() && coordination.latency == MessageLatency::default() {
        assert_eq!(outcome.uncoordinated_cleans.unwrap_or_default().1, 0, "seed {}", case.seed);
    }
}

/// Counts the corners that cases with parity, failure, and rebuilding reach.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_parity_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        let case = draw_case_of_stripes(seed);
        let outcome = reference::simulate(&case);
        check_conservation(&case, &outcome);
        check_uncoordinated(&case, &outcome);
        let counters = outcome.stripe_counters.expect("the case has stripes");
        let params = &case.params;
        let met = outcome.requests.iter().any(|request| request.gc_members_met > 0);
        let rebuilt = counters.rebuild_pages_written > 0;
        let mirrors = matches!(params.level, RaidLevel::Raid1 | RaidLevel::Raid10);
        count("raid4", params.level == RaidLevel::Raid4 && met);
        count("raid5", params.level == RaidLevel::Raid5 && met);
        count("raid6", params.level == RaidLevel::Raid6 && met);
        count("full-stripe writes", counters.full_stripe_writes > 0);
        count("reconstruct-writes", counters.reconstruct_writes > 0);
        count("read-modify-writes", counters.read_modify_writes > 0);
        count("writes without parity", counters.no_parity_writes > 0);
        // Without preemption nothing but such a wait is collection that was not met (rule 56).
        let behind_holders = |request: &RequestOutcome| request.parts.collection_ns > 0 && request.gc_members_met == 0;
        count("waits for locks whose holders wait for collection", outcome.requests.iter().any(behind_holders));
        count("waits for locks", counters.lock_waits > 0);
        count("reads of a lost strip", counters.pages_reconstructed > 0);
        count("rebuilt with parity", rebuilt && !mirrors);
        count("rebuilt mirrors", rebuilt && mirrors);
        let lost = counters.pages_lost > 0;
        count("lost on raid4 and raid5", lost && matches!(params.level, RaidLevel::Raid4 | RaidLevel::Raid5));
        count("lost on mirrors", lost && mirrors);
        let several = params.failures.len() > 1;
        count("several failures on raid6", several && params.level == RaidLevel::Raid6 && counters.pages_reconstructed > 0);
        count("several failures on raid10", several && params.level == RaidLevel::Raid10);
        let second = outcome.members.get(params.members as usize + 1).map(|spare| spare.counters.host_pages_written);
        count("rebuilt on a second spare", second.is_some_and(|pages| pages > 0));
        let spare = outcome.members.get(params.members as usize).map(|spare| spare.counters);
        count("reads of what has been rebuilt", spare.is_some_and(|spare| spare.host_pages_read > 0));
        count("collection on the spare", spare.is_some_and(|spare| spare.erases > 0));
        count("coordinated", params.coordination.is_some() && outcome.gc_intervals.iter().any(|gc| gc.forced));
        count("coordinated with the spare", outcome.gc_intervals.iter().any(|gc| gc.forced && gc.member == params.members));
        count("dynamic", params.ssd.writes.allocation == DieChoiceForWrites::Dynamic && met);
        count("closed loop", case.host != HostLoop::Open && met);
    }
    assert_often_enough(&seen, cases() / 200);
}

/// Counts the corners that cases with caches reach.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_caches_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        let case = draw_cached_case(seed);
        let outcome = reference::simulate(&case);
        check_conservation(&case, &outcome);
        let params = &case.params;
        let cache = params.cache.expect("the case has a cache");
        let counters = outcome.cache_counters.expect("the case has a cache");
        let stripes = outcome.stripe_counters.unwrap_or_default();
        let met = outcome.requests.iter().any(|request| request.gc_members_met > 0);
        let hits = counters.host_admissions.replaced_pages + counters.host_admissions.pages_admitted_to_existing_entries > 0;
        for policy in CachePolicy::all_with_default_parameters().iter().filter(|policy| !policy.stripe_and_member_caches().has_no_cache()) {
            count(policy.name(), cache.stripe_and_member_caches == policy.stripe_and_member_caches() && hits);
        }
        count("reads that hit", counters.reads_fully_hit > 0);
        count("reads that hit in part", counters.reads_partly_hit > 0);
        count("waits for room", counters.writes_that_waited_for_room > 0);
        count("trims that drop dirty pages", counters.pages_trimmed > 0);
        count("bypasses", counters.writes_bypassing_first_level > 0);
        count("dependent writes", counters.writes_waiting_for_first_level > 0);
        count("pre-parity reads", counters.pages_read_for_parity > 0);
        count("first level", counters.first_level_destages.entries > 0);
        count("common destages", counters.synchronised_destages_with_all_ready > 0);
        count("common destages by the timer", counters.synchronised_destages_by_timeout > 0);
        count("rates", cache.full_speed_destage_fill_fraction > cache.destage_start_fill && counters.destages.entries > 0);
        count("several slots", cache.destages_in_flight_max > 1 && counters.destages.entries > 0);
        count("rebuilt", stripes.rebuild_pages_written > 0);
        count("reconstructed", stripes.pages_reconstructed > 0);
        count("met collection", met);
        count("forced collection", outcome.gc_intervals.iter().any(|gc| gc.forced));
        count("one member", case.requests.iter().any(|request| request.contiguous_on_one_member));
        count("closed loop", case.host != HostLoop::Open && hits);
    }
    assert_often_enough(&seen, cases() / 200);
}

/// Counts the corners that mixed cases reach, with both mappings.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_mixed_cases_reach_every_corner() {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for seed in seeds() {
        let case = draw_mixed_case(seed);
        let outcome = reference::simulate(&case);
        check_conservation(&case, &outcome);
        let params = &case.params;
        let with = [
            ("a cache", params.cache.is_some()),
            ("a limited host port", params.host_port.is_some()),
            ("a failure", !params.failures.is_empty()),
            ("parity", matches!(params.level, RaidLevel::Raid4 | RaidLevel::Raid5 | RaidLevel::Raid6)),
            ("channels", params.ssd.channel.is_some()),
            ("a link", params.ssd.link.is_some()),
            ("a scheme", params.coordination.is_some()),
            ("idle collection", params.ssd.gc.idle_collection_after_ns.is_some()),
            ("a closed loop", case.host != HostLoop::Open),
            ("background work", params.ssd.die_delay_mechanisms.background.is_some()),
            ("read retries", params.ssd.die_delay_mechanisms.read_retry.is_some()),
        ];
        let (mapping, happened, with_own) = match params.ssd.superblock {
            None => ("pools", pools_meet(&case, &outcome), with_pools(&case)),
            Some(_) => ("superblocks", drives_meet(&outcome), with_superblocks(&case)),
        };
        let mut count = |what: String, yes: bool| *seen.entry(format!("{mapping}: {what}")).or_default() += u64::from(yes);
        for &(what, yes) in &happened {
            for &(condition, holds) in with.iter().chain(&with_own) {
                count(format!("{what}, with {condition}"), yes && holds);
            }
        }
        let collected = happened.iter().any(|&(what, yes)| what == "collection" && yes);
        let victim = params.ssd.gc.victim.name();
        for name in VictimPolicy::NAMES {
            for scheme in CoordinationPolicy::all_with_default_parameters()
                .iter()
                .filter(|scheme| scheme.has_coordinating_controller() && has_rule(scheme))
            {
                let meet = params.coordination.as_ref().is_some_and(|coordination| coordination.scheme.name() == scheme.name());
                count(format!("victims of {name} under {}", scheme.name()), collected && victim == *name && meet);
            }
            for policy in
                CachePolicy::all_with_default_parameters().iter().filter(|policy| !policy.stripe_and_member_caches().has_no_cache())
            {
                let meet = params.cache.is_some_and(|cache| cache.stripe_and_member_caches == policy.stripe_and_member_caches());
                count(format!("victims of {name} behind {}", policy.name()), collected && victim == *name && meet);
            }
        }
        count_special(&case, &outcome, &mut |what, yes| count(what.to_owned(), yes));
    }
    for what in RARE {
        seen.remove(*what);
    }
    let seen = seen.iter().map(|(what, &cases)| (what.as_str(), cases)).collect();
    // Of so many meetings some are rare.
    assert_often_enough(&seen, 1);
}

/// Meetings that cannot be, or hardly can, and why.
const RARE: &[&str] = &[
    // Destages have no high priority (rule 82).
    "pools: state 3, with a cache",
    // A short case with long blocks seldom gets below T_hard (rule 33).
    "pools: state 3, with blocks of many pages",
    // What a cache writes need not survive a loss of power (rule 208).
    "superblocks: writes that wait for their programs, with a cache",
];

fn sum_of(outcome: &Outcome, figure: impl Fn(&MemberCounters) -> u64) -> bool {
    outcome.members.iter().map(|member| figure(&member.counters)).sum::<u64>() > 0
}

/// Returns the names of corners of members with pools, and true for those that a run reached.
fn pools_meet(case: &Case, outcome: &Outcome) -> Vec<(&'static str, bool)> {
    let preemption = case.params.ssd.gc.preemption;
    let sum = |figure: fn(&MemberCounters) -> u64| sum_of(outcome, figure);
    vec![
        ("collection", !outcome.gc_intervals.is_empty()),
        ("preempted", sum(|c| c.preemptions)),
        ("merged", sum(|c| c.operations_served_from_move_register)),
        ("merged writes", sum(|c| c.moves_replaced_by_host_writes)),
        ("pipelined", sum(|c| c.pipelined_operations)),
        ("suspended", sum(|c| c.suspensions)),
        ("dropped", sum(|c| c.gc_pages_read_in_vain)),
        ("exhausted", sum(|c| c.writes_that_waited_for_room)),
        ("state 2", preemption.is_some() && sum(|c| c.gc_preemptible_by_reads_only_ns)),
        (
            "state 3",
            preemption.is_some() && sum(|c| c.gc_time_ns - c.gc_preemptible_by_all_requests_ns - c.gc_preemptible_by_reads_only_ns),
        ),
        ("forced", outcome.gc_intervals.iter().any(|gc| gc.forced)),
        ("met", outcome.requests.iter().any(|request| request.gc_members_met > 0)),
    ]
}

fn with_pools(case: &Case) -> Vec<(&'static str, bool)> {
    let ssd = &case.params.ssd;
    let in_flight =
        ssd.gc.preemption.is_some_and(|preemption| preemption.pipeline == HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep);
    vec![
        ("plane blocking", ssd.gc.rules.blocking == CollectionBlockingScope::Plane),
        ("plane blocking and channels", ssd.gc.rules.blocking == CollectionBlockingScope::Plane && ssd.channel.is_some()),
        ("dynamic allocation", ssd.writes.allocation == DieChoiceForWrites::Dynamic),
        ("joining steps in flight", in_flight),
        ("blocks of many pages", ssd.geometry.pages_per_block > 64),
        ("a buffer", ssd.front_end.is_some_and(|front| front.write_buffer.is_some())),
        ("queues", ssd.front_end.is_some_and(|front| front.queues.is_some())),
    ]
}

/// Returns true if drives have counted something.
fn counted(outcome: &Outcome, what: &str) -> bool {
    outcome.members.iter().filter_map(|member| member.drive.as_ref()).any(|drive| drive.counts.contains_key(what))
}

/// Returns the names of corners of drives with superblocks, and true for those that a run reached.
fn drives_meet(outcome: &Outcome) -> Vec<(&'static str, bool)> {
    let front =
        |figure: fn(&FrontEndCounters) -> u64| outcome.members.iter().filter_map(|member| member.front.as_ref()).any(|c| figure(c) > 0);
    vec![
        ("collection", counted(outcome, "victims")),
        ("moves", counted(outcome, "units_moved")),
        ("merged", counted(outcome, "merges")),
        ("pipelined", counted(outcome, "pipelined")),
        ("suspended", counted(outcome, "suspensions")),
        ("dropped", counted(outcome, "units_dropped")),
        ("foreground", counted(outcome, "foreground")),
        ("refreshed", counted(outcome, "refreshed")),
        ("levelled", counted(outcome, "levelled")),
        ("joined", counted(outcome, "joined")),
        ("stalled", counted(outcome, "stalls")),
        ("parts of units", counted(outcome, "rmw_reads")),
        ("found in the buffer", front(|c| c.pages_read_from_buffer)),
        ("waits for room", front(|c| c.buffer_room_waits)),
        ("writes that wait for their programs", front(|c| c.fua_write_waits)),
        ("forced", outcome.gc_intervals.iter().any(|gc| gc.forced)),
        ("met", outcome.requests.iter().any(|request| request.gc_members_met > 0)),
    ]
}

/// Returns true if most members begin with open superblocks (rule 215).
fn has_open_superblocks(case: &Case, own: &SuperblockDriveParams) -> bool {
    let shape = own.shape(&case.params.ssd.geometry);
    let is_large = shape.exported_mapping_units >= 4 * u64::from(shape.data_mapping_units_per_superblock());
    case.warm_up.pattern == WarmUpPattern::SteadyStateWithoutWrites && is_large && shape.superpages_of_superblock_per_die > 1
}

fn with_superblocks(case: &Case) -> Vec<(&'static str, bool)> {
    let ssd = &case.params.ssd;
    let Some(own) = &ssd.superblock else { return Vec::new() };
    let course = case.params.point_of_cycle(0).course;
    vec![
        ("queues", own.submission_queues.is_some()),
        ("one bit per cell", own.slc.is_some()),
        ("placement handles", own.placement_handles.count > 1),
        ("parity in each row", own.has_parity_superpages),
        ("suspension", own.suspension.is_some()),
        ("a fresh drive", own.starts_empty),
        ("the steady state", case.warm_up.pattern == WarmUpPattern::SteadyStateWithoutWrites),
        ("open superblocks in the steady state", has_open_superblocks(case, own)),
        ("a victim in progress in the steady state", has_open_superblocks(case, own) && course == CollectionCourse::WithHostWrites),
        (
            "a steady state of a member that is told to collect",
            has_open_superblocks(case, own) && matches!(course, CollectionCourse::WhenTold { .. }),
        ),
        ("a warm-up by the workload", case.warm_up.pattern == WarmUpPattern::Workload),
    ]
}

/// Meetings of more than two.
fn count_special(case: &Case, outcome: &Outcome, count: &mut dyn FnMut(&str, bool)) {
    let (params, ssd) = (&case.params, &case.params.ssd);
    let asked = outcome.messages.is_some_and(|sent| sent[MessageKind::GcRequest as usize] > 0);
    let soft =
        params.coordination.as_ref().is_some_and(|coordination| coordination.notify() == JointCollectionRequestTiming::AtSoftThreshold)
            && asked;
    count("soft requests with a failure", soft && !params.failures.is_empty());
    let port = outcome.host_port_counters.unwrap_or_default();
    let collected = !outcome.gc_intervals.is_empty();
    count("waits for a turn", port.0 > 0 && collected);
    count("data that pass", port.2 > 0 && collected);
    count("waits for a core or its lock", port.4 > 0 && collected);
    count("waits for a core or its lock, with parity", port.4 > 0 && params.level.parity_strips() > 0);
    count("waits for a turn, before a cache", port.0 > 0 && params.cache.is_some());
    count("data that pass, before a cache", port.2 > 0 && params.cache.is_some());
    count("waits for a turn, coordinated", port.0 > 0 && outcome.gc_intervals.iter().any(|gc| gc.forced));
    count("several streams", case.requests.iter().any(|request| request.stream > 0) && collected);
    let stripes = outcome.stripe_counters.unwrap_or_default();
    count("rebuilt", stripes.rebuild_pages_written > 0);
    count("pages reconstructed", stripes.pages_reconstructed > 0);
    count("destages", outcome.cache_counters.is_some_and(|cache| cache.destages.entries > 0));
    if ssd.superblock.is_some() {
        count("folded", counted(outcome, "units_folded"));
        count("parity of rows with parity of stripes", counted(outcome, "units_parity") && stripes.parity_pages_written > 0);
        count("uncoordinated", outcome.uncoordinated_cleans.is_some_and(|(during, others)| during + others > 0));
        count("coordinated with the spare", outcome.gc_intervals.iter().any(|gc| gc.forced && gc.member >= params.members));
        return;
    }
    let sum = |figure: fn(&MemberCounters) -> u64| sum_of(outcome, figure);
    let dynamic = ssd.writes.allocation == DieChoiceForWrites::Dynamic;
    check_uncoordinated(case, outcome);
    count("soft requests with plane blocking", soft && ssd.gc.rules.blocking == CollectionBlockingScope::Plane);
    count("soft requests with dynamic allocation", soft && dynamic);
    count("idle", sum(|c| c.idle_cleans));
    count("idle collection with a scheme", params.coordination.is_some() && sum(|c| c.idle_cleans));
    let both = ssd.gc.preemption.is_some() && ssd.gc.idle_collection_after_ns.is_some();
    count("preemption and idle collection set, but ideal", ssd.gc.collection_takes_no_time && both);
    count(
        "merging with dynamic allocation and channels",
        sum(|c| c.operations_served_from_move_register) && ssd.channel.is_some() && dynamic,
    );
}

/// Counts the corners that cases with drives of superblocks reach.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_drives_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        let case = draw_drive_case(seed);
        let outcome = reference::simulate(&case);
        check_conservation(&case, &outcome);
        for (what, yes) in drives_meet(&outcome) {
            count(what, yes);
        }
        for what in ["units_slc", "units_folded", "units_padded", "units_parity"] {
            count(what, counted(&outcome, what));
        }
        let front = outcome.members[0].front.unwrap_or_default();
        count("waits to be fetched", front.fetch_waits > 0);
        count("overwritten", front.units_overwritten_in_buffer > 0);
        for name in VictimPolicy::NAMES {
            count(name, case.params.ssd.gc.victim.name() == *name && counted(&outcome, "victims"));
        }
        let placement = case.params.ssd.superblock.as_ref().expect("it is a drive").placement_handles;
        let handles = &outcome.members[0].drive.as_ref().expect("it is a drive").handles;
        let moves_of = handles.iter().filter(|[.., moved]| *moved > 0).count();
        let owners = case.owners.iter().map(|owned| u32::from(owned.stream) % placement.count).collect::<std::collections::BTreeSet<_>>();
        let begins_apart = placement.collection_separates_handles() && owners.len() > 1;
        let is_steady = case.warm_up.pattern == WarmUpPattern::SteadyStateWithoutWrites;
        count("owners that stay apart, steady", begins_apart && is_steady && moves_of > 1);
        count("owners that stay apart, filled", begins_apart && !is_steady && moves_of > 1);
        count("moved together", placement.count > 1 && !placement.collection_separates_handles() && moves_of > 0);
        count("moved apart", moves_of > 1);
    }
    assert_often_enough(&seen, cases() / 50);
}

/// Counts the corners of queues, cores, and buffers before dies with pools.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_what_stands_before_dies_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        let case = draw_fronted_case(seed);
        let outcome = reference::simulate(&case);
        let ssd = &case.params.ssd;
        let sum = |figure: fn(&FrontEndCounters) -> u64| {
            outcome.members.iter().filter_map(|member| member.front.as_ref()).map(figure).sum::<u64>() > 0
        };
        let of_dies = |figure: fn(&MemberCounters) -> u64| outcome.members.iter().map(|member| figure(&member.counters)).sum::<u64>() > 0;
        let dynamic = ssd.writes.allocation == DieChoiceForWrites::Dynamic;
        count("overwritten in the buffer", sum(|c| c.units_overwritten_in_buffer));
        count("overwritten in the buffer, dynamic", sum(|c| c.units_overwritten_in_buffer) && dynamic);
        count("read from the buffer", sum(|c| c.pages_read_from_buffer));
        count("read from the buffer, link", sum(|c| c.pages_read_from_buffer) && ssd.link.is_some());
        count("trimmed in the buffer", sum(|c| c.units_trimmed_in_buffer));
        count("waits for room", sum(|c| c.buffer_room_waits));
        count("waits for room, dynamic", sum(|c| c.buffer_room_waits) && dynamic);
        count("waits for room, coordinated", sum(|c| c.buffer_room_waits) && outcome.gc_intervals.iter().any(|gc| gc.forced));
        count("waits to be fetched", sum(|c| c.fetch_waits));
        count("writes that wait for their programs", sum(|c| c.fua_write_waits));
        count("no buffer, link", ssd.link.is_some() && ssd.front_end.is_some_and(|front| front.write_buffer.is_none()));
        count("pages of a buffer go in", sum(|c| c.units_overwritten_in_buffer) && of_dies(|c| c.preemptions));
        count(
            "pages of a buffer are merged",
            sum(|c| c.units_overwritten_in_buffer) && of_dies(|c| c.operations_served_from_move_register),
        );
        count("pages of a buffer are pipelined", sum(|c| c.units_overwritten_in_buffer) && of_dies(|c| c.pipelined_operations));
        count("a buffer behind a cache", sum(|c| c.pages_read_from_buffer) && case.params.cache.is_some());
        count("a buffer with parity", sum(|c| c.units_overwritten_in_buffer) && outcome.stripe_counters.is_some());
    }
    assert_often_enough(&seen, cases() / 250);
}

/// Every request is done once, every page lies in one place, and what was counted adds up.
pub(crate) fn check_conservation(case: &Case, outcome: &Outcome) {
    let mut read = 0;
    let mut written = 0;
    for (member, result) in outcome.members.iter().enumerate() {
        let counters = result.counters;
        read += counters.host_pages_read;
        written += counters.host_pages_written;
        if let Some(drive) = &result.drive {
            let mut places: Vec<u32> = drive.places.iter().copied().flatten().collect();
            let all = places.len();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), all, "every unit lies in a place of its own");
            continue;
        }
        // What is found in a buffer before pools comes to no die.
        read += result.front.map_or(0, |front| front.pages_read_from_buffer);
        let collections: Vec<_> = outcome.gc_intervals.iter().filter(|gc| gc.member as usize == member).collect();
        assert_eq!(counters.erases, collections.iter().map(|gc| u64::from(gc.victims)).sum::<u64>());
        assert_eq!(counters.gc_pages_moved, collections.iter().map(|gc| u64::from(gc.pages_moved)).sum::<u64>());
        // Pages that were trimmed and not written again lie nowhere.
        let (trimmed, placed): (Vec<&PhysicalPage>, Vec<&PhysicalPage>) = result.pages.iter().partition(|page| page.die == u32::MAX);
        let mut places: Vec<_> = placed.iter().map(|page| (page.die, page.plane, page.block, page.page)).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(
            (places.len() + trimmed.len()) as u64,
            u64::from(case.params.ssd.geometry.dies * case.params.ssd.geometry.exported_pages_per_die()),
            "every page lies in a place of its own"
        );
    }
    let page_operations = |direction| {
        let pages =
            |request: &Request| (request.offset_bytes + request.length_bytes - 1) / PAGE_BYTES - request.offset_bytes / PAGE_BYTES + 1;
        case.requests.iter().filter(|request| request.kind == direction).map(pages).sum::<u64>()
    };
    let copies = match case.params.level {
        RaidLevel::Single | RaidLevel::Raid0 => 1,
        RaidLevel::Raid1 => u64::from(case.params.members),
        RaidLevel::Raid10 => 2,
        RaidLevel::Raid4 | RaidLevel::Raid5 | RaidLevel::Raid6 => 1,
    };
    if case.params.cache.is_some() {
        return;
    }
    let stripes = outcome.stripe_counters.unwrap_or_default();
    let added = outcome.read_plan.planned_reads.map_or(0, |counters| counters.pages_added_to_read_around);
    let added = added + outcome.read_plan.hedged_reads.map_or(0, |counters| counters.pages_read_elsewhere);
    let added = added + outcome.read_plan.predicted_reads.map_or(0, |counters| counters.pages_added);
    // A drive with superblocks counts the pages of a read when it begins with the command.
    let abandoned = match case.params.ssd.superblock {
        None => outcome.read_plan.hedged_reads.map_or(0, |counters| counters.pages_abandoned),
        Some(_) => 0,
    };
    let read_besides =
        stripes.data_pages_read + stripes.parity_pages_read + stripes.rebuild_pages_read + stripes.pages_read_to_reconstruct + added;
    let lost_to = |kind| {
        let lost = case.requests.iter().zip(&outcome.requests).filter(|(request, _)| request.kind == kind);
        lost.map(|(_, outcome)| u64::from(outcome.pages_lost)).sum::<u64>()
    };
    assert_eq!(stripes.pages_lost, lost_to(OpKind::Read) + lost_to(OpKind::Write));
    assert_eq!(read, page_operations(OpKind::Read) - lost_to(OpKind::Read) - stripes.pages_reconstructed + read_besides - abandoned);
    let most_written = copies * page_operations(OpKind::Write) + stripes.parity_pages_written + stripes.rebuild_pages_written;
    if case.params.failures.is_empty() && case.params.ssd.front_end.is_none() {
        assert_eq!(written, most_written);
    } else {
        assert!(written <= most_written);
    }
    for (request, outcome) in case.requests.iter().zip(&outcome.requests) {
        // Flushes, and what nothing is left of, take no time; nor does what a buffer answers.
        let may_be_buffered = case.params.ssd.front_end.is_some() || case.params.ssd.superblock.is_some();
        let may_take_none = may_be_buffered || matches!(request.kind, OpKind::Trim | OpKind::Flush) || outcome.pages_lost > 0;
        assert!(outcome.done_ns > outcome.arrival_ns || (may_take_none && outcome.done_ns == outcome.arrival_ns));
    }
}

/// Counts the corners that planned reads reach.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_planned_reads_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        for draw in [draw_case_of_stripes, draw_mixed_case, draw_cached_case] {
            let case = draw(seed);
            let ReadPlan::Avoid(avoid) = &case.params.read_plan else { continue };
            let outcome = reference::simulate(&case);
            check_conservation(&case, &outcome);
            let Some(counts) = outcome.read_plan.planned_reads else { continue };
            let (fast_fail_ns, knowledge) = (avoid.fast_fail.ns, avoid.knowledge);
            let knows_remaining = avoid.remaining == HostKnowledgeOfRemainingCollection::Known;
            let mirrors = matches!(case.params.level, RaidLevel::Raid1 | RaidLevel::Raid10);
            let (avoided, ssd) = (counts.stripe_reads_that_avoided_collection > 0, &case.params.ssd);
            count("parity", avoided && !mirrors);
            count("two parities", avoided && case.params.level == RaidLevel::Raid6);
            count("mirrors", avoided && mirrors);
            count("superblocks", avoided && ssd.superblock.is_some());
            count("one plane blocked", avoided && ssd.gc.rules.blocking == CollectionBlockingScope::Plane);
            count("dynamic", avoided && ssd.writes.allocation == DieChoiceForWrites::Dynamic);
            count("preemption", avoided && ssd.gc.preemption.is_some());
            count("a cache", avoided && case.params.cache.is_some());
            count("a front", avoided && ssd.front_end.is_some());
            count("lost members", avoided && !case.params.failures.is_empty());
            count("a controller", avoided && case.params.coordination.is_some());
            count("a refusal that takes time", avoided && fast_fail_ns > 0);
            count("knowledge of members", avoided && knowledge == HostKnowledgeOfCollection::Member);
            count("knowledge of turns", avoided && knowledge == HostKnowledgeOfCollection::Turn);
            count("unknown times", avoided && !knows_remaining);
            count("one busy", counts.stripe_reads_with_one_strip_collecting > 0);
            count("two busy", counts.stripe_reads_with_two_busy_strips > 0);
            count("more busy", counts.stripe_reads_with_three_or_more_busy_strips > 0);
            count("pages added", counts.pages_added_to_read_around > 0);
            count("locked out", counts.stripe_reads_locked_out > 0);
            count("waited", counts.stripe_reads_that_waited > 0);
            count("reads before writes", counts.writes_with_switched_parity_method > 0);
            count("reads before writes, later", counts.writes_with_switched_parity_method > 0 && fast_fail_ns > 0);
        }
    }
    assert_often_enough(&seen, cases() / 160);
}

/// Counts the corners that predicted reads reach.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_predicted_reads_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        for draw in [draw_case_of_stripes, draw_mixed_case, draw_cached_case] {
            let case = draw(seed);
            let ReadPlan::Predict(prediction) = &case.params.read_plan else { continue };
            let outcome = reference::simulate(&case);
            check_conservation(&case, &outcome);
            let Some(counts) = outcome.read_plan.predicted_reads else { continue };
            let mirrors = matches!(case.params.level, RaidLevel::Raid1 | RaidLevel::Raid10);
            let (elsewhere, ssd) = (counts.stripe_reads_made_elsewhere > 0, &case.params.ssd);
            count("parity", elsewhere && !mirrors);
            count("two parities", elsewhere && case.params.level == RaidLevel::Raid6);
            count("mirrors", elsewhere && mirrors);
            count("superblocks", elsewhere && ssd.superblock.is_some());
            count("preemption", elsewhere && ssd.gc.preemption.is_some());
            count("a cache", elsewhere && case.params.cache.is_some());
            count("a front", elsewhere && ssd.front_end.is_some());
            count("lost members", elsewhere && !case.params.failures.is_empty());
            count("a controller", elsewhere && case.params.coordination.is_some());
            count("a cost", elsewhere && prediction.cost.ns > 0);
            count("true calls only", elsewhere && (prediction.false_accept.0, prediction.false_reject.0) == (0.0, 0.0));
            count(
                "each kind of call",
                counts.slow_reads_called_fast.min(counts.fast_reads_called_slow).min(counts.slow_reads_called_slow) > 0,
            );
            count("locked out", counts.stripe_reads_locked_out > 0);
            count("nothing called fast", counts.stripe_reads_called_slow > counts.stripe_reads_made_elsewhere);
            count(
                "hedged, too",
                elsewhere && outcome.read_plan.hedged_reads.is_some_and(|hedged| hedged.stripe_reads_answered_by_hedge > 0),
            );
        }
    }
    assert_often_enough(&seen, cases() / 125);
}

/// Counts the corners that slow members reach.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_slow_members_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        for draw in [draw_case_of_stripes, draw_mixed_case, draw_cached_case, draw_interruptible_case] {
            let case = draw(seed);
            if case.params.slow.is_empty() {
                continue;
            }
            let outcome = reference::simulate(&case);
            check_conservation(&case, &outcome);
            let late = outcome.members.iter().any(|member| member.slow.late_answers > 0);
            let of = |what: fn(&SlowMemberPeriod) -> bool| late && case.params.slow.iter().any(what);
            let ssd = &case.params.ssd;
            count("flash times", of(|slow| slow.factor > 1.0));
            count("added times", of(|slow| slow.add.ns > 0));
            count("a share", of(|slow| slow.share.0 < 1.0));
            count("stalls", of(|slow| slow.stall.is_some()));
            count("several times", late && case.params.slow.len() > 1);
            count("several members", outcome.members.iter().filter(|member| member.slow.late_answers > 0).count() > 1);
            count("for a time", of(|slow| slow.from.ns > 0 && slow.until.is_some()));
            count("superblocks", late && ssd.superblock.is_some());
            count("a front", late && ssd.front_end.is_some());
            count("preemption", late && ssd.gc.preemption.is_some());
            count("a cache", late && case.params.cache.is_some());
            count("a controller", late && case.params.coordination.is_some());
            count("a failure", late && !case.params.failures.is_empty());
            count("rebuilding", late && case.params.rebuild.is_some() && !case.params.failures.is_empty());
            count(
                "reads around",
                late && outcome.read_plan.planned_reads.is_some_and(|plan| plan.stripe_reads_that_avoided_collection > 0),
            );
            count("hedged reads", late && outcome.read_plan.hedged_reads.is_some_and(|hedged| hedged.stripe_reads_answered_by_hedge > 0));
        }
    }
    assert_often_enough(&seen, cases() / 125);
}

/// Counts the corners that hedged reads reach.
#[test]
#[ignore = "needs all random cases: make test-long"]
fn the_cases_of_hedged_reads_reach_every_corner() {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |what, yes: bool| *seen.entry(what).or_default() += u64::from(yes);
    for seed in seeds() {
        for draw in [draw_case_of_stripes, draw_mixed_case, draw_cached_case] {
            let case = draw(seed);
            let ReadPlan::Hedge(hedge) = &case.params.read_plan else { continue };
            let outcome = reference::simulate(&case);
            check_conservation(&case, &outcome);
            let Some(counts) = outcome.read_plan.hedged_reads else { continue };
            let mirrors = matches!(case.params.level, RaidLevel::Raid1 | RaidLevel::Raid10);
            let (hedged, won, ssd) = (counts.hedged_stripe_reads > 0, counts.stripe_reads_answered_by_hedge > 0, &case.params.ssd);
            count("parity", won && !mirrors);
            count("two parities", won && case.params.level == RaidLevel::Raid6);
            count("mirrors", won && mirrors);
            count("superblocks", won && ssd.superblock.is_some());
            count("preemption", won && ssd.gc.preemption.is_some());
            count("a cache", won && case.params.cache.is_some());
            count("a front", won && ssd.front_end.is_some());
            count("lost members", won && !case.params.failures.is_empty());
            count("a controller", won && case.params.coordination.is_some());
            count("a percentile", won && hedge.after == HedgeDelay::P95OfReads);
            count("in vain", hedged && counts.stripe_reads_answered_by_hedge < counts.hedged_stripe_reads);
            count("all won", hedged && counts.stripe_reads_answered_by_hedge == counts.hedged_stripe_reads);
            count("abandoned", counts.pages_abandoned > 0);
            count("abandoned by superblocks", counts.pages_abandoned > 0 && ssd.superblock.is_some());
            count("locked out", counts.stripe_reads_locked_out > 0);
            count("without another way", counts.stripe_reads_without_other_way > 0);
            count("never late", counts.hedged_stripe_reads + counts.stripe_reads_locked_out + counts.stripe_reads_without_other_way == 0);
        }
    }
    assert_often_enough(&seen, cases() / 160);
}
