//! Rules of coordination on tiny arrays, checked to the nanosecond.
//!
//! Operations take these times: read 20, program 200, erase 1000, transfer 7, command 1. A read therefore takes 28, a write 208, and a
//! clean 220 for each valid page and 1000.
//!
//! Each die has one plane with blocks of four pages. The first three blocks are full, the fourth is open, two are free; start is 1, stop is
//! 2. Five writes bring a die to its start threshold with two valid pages in the best victim (1440). After one write, the best victim has
//! three (1660).

use super::{
    BlockPoolSizeAndThresholds, CollectingMembersLimit, CollectionTimeWindows, CollectionUrgency, Controller, ControllerAction,
    CoordinatedArray, CoordinationParams, CoordinationPolicy, Cycle, ForcedCollectionAmount, JoinsCycles, JointCollectionRequestTiming,
    MESSAGE_KINDS, Mail, MemberState, MessageKind, OutOfTurnCollectionCounters, PredictableLatencyCounters, RotatingCollection, Scheme,
    StaggeredCollection, StatedCount, StatedTime, ToController, ToMember, TurnEndMargin, UncoordinatedCleans, WindowProtocol,
    message_counts_by_name,
};
use super::{ControllerAnswer, tiny as schemes};
use crate::TimeNs;
use crate::array::{
    Array, ArrayEvent, ArrayExecutionOptions, ArrayParams, Avoid, HostKnowledgeOfCollection, RaidLevel, ReadPlan, RequestDone,
    RequestInPages, RunMilestone,
};
use crate::events::VictimBlockCollection;
use crate::ids::MemberSet;
use crate::request::OpKind;
use crate::ssd::{GcPreemption, HostOverlapWithMoves, MemberCounters, tiny};
use crate::units::{Duration, Fraction, GcStopThreshold};

const T: TimeNs = 10_000;

/// Time, member, page of the member, and true for a write.
type Op = (TimeNs, u32, u64, bool);

fn params(members: u32, dies: u32, mut coordination: CoordinationParams) -> ArrayParams {
    coordination.coordinated_members.0 &= MemberSet::first_members(members).0;
    let ssd = tiny::ssd(dies, 6, 3);
    ArrayParams {
        level: RaidLevel::Raid0,
        members,
        stripe_unit_pages: 1,
        parity_handle: Default::default(),
        ssd,
        coordination: Some(coordination),
        failures: Vec::new(),
        rebuild: None,
        read_plan: ReadPlan::default(),
        slow: Vec::new(),
        cache: None,
        host_port: None,
    }
}

fn scheme(scheme: CoordinationPolicy) -> CoordinationParams {
    CoordinationParams {
        scheme,
        t_soft: GcStopThreshold::FreeBlocks(2),
        notify: Some(JointCollectionRequestTiming::AtStartThreshold),
        coordinated_members: MemberSet(u128::MAX),
        ..CoordinationParams::default()
    }
}

/// Returns the writes that bring the first die of a member to its start threshold.
fn worn(member: u32) -> Vec<Op> {
    [0, 1, 4, 5, 8].iter().map(|&page| (0, member, page, true)).collect()
}

fn touched(member: u32) -> Vec<Op> {
    vec![(0, member, 0, true)]
}

struct Outcome {
    /// Messages that were sent, each with its time.
    log: Vec<String>,
    mail: Vec<Mail>,
    done: Vec<TimeNs>,
    cleans: Vec<VictimBlockCollection>,
    counters: Vec<MemberCounters>,
    uncoordinated: Option<UncoordinatedCleans>,
    turns: Option<OutOfTurnCollectionCounters>,
    windows: Option<PredictableLatencyCounters>,
    /// Number of forced cycles, permissions or turns in which each member collected something.
    cycles: Vec<Option<u64>>,
}

fn run(params: &ArrayParams, operations: &[Op]) -> Outcome {
    run_told(params, operations, &[])
}

/// Runs it with additional messages that arrive at members, whatever the controller does.
fn run_told(params: &ArrayParams, operations: &[Op], told: &[(TimeNs, u32, ToMember)]) -> Outcome {
    let mut array = Array::new(params, 1, ArrayExecutionOptions::default());
    for &(at, member, message) in told {
        array.deliver(at, member, message);
    }
    let mut events: Vec<ArrayEvent> = Vec::new();
    for (tag, &(at, member, page, write)) in operations.iter().enumerate() {
        while let Some(event) = array.next_time().filter(|&event| event < at) {
            array.advance(event, &mut events);
        }
        let first_page = page * u64::from(params.members) + u64::from(member);
        array
            .submit(
                at,
                &RequestInPages {
                    tag: tag as u64,
                    first_page,
                    pages: 1,
                    kind: OpKind::from_is_write(write),
                    fua: false,
                    must_not_wait_for_gc: false,
                    stream: 0,
                    contiguous_on_one_member: false,
                },
            )
            .unwrap();
    }
    while let Some(event) = array.next_time() {
        array.advance(event, &mut events);
        if events.iter().filter(|event| matches!(event, ArrayEvent::RequestDone(_))).count() == operations.len() {
            array.announce_milestone(event, RunMilestone::LastRequestDone, &mut events);
        }
    }
    array.verify().expect("the state is consistent");
    array.announce_milestone(0, RunMilestone::RunEnds, &mut events);
    let (mut done, mut cleans): (Vec<RequestDone>, Vec<VictimBlockCollection>) = Default::default();
    for event in events {
        match event {
            ArrayEvent::RequestDone(one) => done.push(one),
            ArrayEvent::VictimCollectionEnded(clean) => cleans.push(clean),
            other => unreachable!("{other:?}: there is no cache, no drive with superblocks, and nothing fails"),
        }
    }
    done.sort_by_key(|done| done.tag);
    let log = array.message_log().into_iter().map(|(at, mail)| {
        let (member, kind) = match mail {
            Mail::ToController(member, message) => (member, message.kind()),
            Mail::ToMember(member, message) => (member, message.kind().expect("it was sent")),
            _ => unreachable!("is not sent"),
        };
        format!("{at} {kind:?} {member}")
    });
    Outcome {
        log: log.collect(),
        mail: array.message_log().into_iter().map(|(_, mail)| mail).collect(),
        done: done.iter().map(|done| done.at).collect(),
        cleans,
        counters: array.members().iter().map(|member| *member.counters()).collect(),
        uncoordinated: array.counters(TimeNs::MAX).uncoordinated_cleans,
        cycles: array.counters(TimeNs::MAX).collecting_cycles_by_member,
        turns: array.counters(TimeNs::MAX).scheme.turns,
        windows: array.counters(TimeNs::MAX).predictable_latency,
    }
}

/// Brings member 0 to its threshold, gives members 1 and 2 one victim each, and reads member 0 at `T`.
fn one_asks() -> Vec<Op> {
    [worn(0), touched(1), touched(2), vec![(T, 0, 11, false)]].concat()
}

/// Sizes of pools whose longest collection of a block takes 1660 ns, in arrays that a test builds without members.
const POOLS: BlockPoolSizeAndThresholds = BlockPoolSizeAndThresholds {
    blocks_per_pool: 6,
    reserved_blocks: 3,
    start_threshold_free_blocks: 1,
    most_free_blocks: 3,
    longest_victim_collection_ns: 1660,
};

#[test]
fn inclusive_forces_all_at_once_and_a_clean_in_progress_counts() {
    let outcome = run(&params(3, 1, scheme(schemes::inclusive())), &one_asks());
    let expected = [
        "10000 GcRequest 0",
        "10000 ForceGc 0",
        "10000 ForceGc 1",
        "10000 ForceGc 2",
        "11440 GcDone 0",
        "11660 GcDone 1",
        "11660 GcDone 2",
    ];
    assert_eq!(outcome.log, expected);
    assert_eq!(outcome.done.last(), Some(&(T + 1468)));
    let cleans: Vec<_> = outcome.cleans.iter().map(|c| (c.member, c.start_ns, c.end_ns, c.is_caused_by_coordination)).collect();
    assert_eq!(cleans, [(0, T, T + 1440, false), (1, T, T + 1660, true), (2, T, T + 1660, true)]);
    let collections: Vec<_> = outcome.counters.iter().map(|c| (c.collections, c.forced_collections)).collect();
    assert_eq!(collections, [(1, 0), (1, 1), (1, 1)]);
}

#[test]
fn messages_take_their_time() {
    let mut slow = scheme(schemes::inclusive());
    slow.latency.gc_request.ns = 100;
    slow.latency.force_gc.ns = 50;
    let outcome = run(&params(3, 1, slow), &one_asks());
    assert_eq!(outcome.log[..2], ["10000 GcRequest 0", "10100 ForceGc 0"]);
    assert_eq!(outcome.log[4..], ["11440 GcDone 0", "11810 GcDone 1", "11810 GcDone 2"]);
}

#[test]
fn requests_are_absorbed_while_a_cycle_is_held_back_or_in_progress() {
    let mut delayed = scheme(schemes::inclusive());
    delayed.delay.ns = 500;
    let operations = [worn(0), worn(1), touched(2), vec![(T, 0, 11, false), (T + 100, 1, 11, false)]].concat();
    let outcome = run(&params(3, 1, delayed), &operations);
    assert_eq!(outcome.log[..3], ["10000 GcRequest 0", "10100 GcRequest 1", "10500 ForceGc 0"]);
    assert_eq!(outcome.log[5..], ["11440 GcDone 0", "11540 GcDone 1", "12160 GcDone 2"]);

    // The controller hears late that the cycle is over: three more writes of member 0 open a block and ask in vain.
    let mut slow = scheme(schemes::inclusive());
    slow.latency.gc_done.ns = 10_000;
    let more = vec![(T + 2000, 0, 0, true), (T + 2000, 0, 1, true), (T + 2000, 0, 4, true)];
    let outcome = run(&params(3, 1, slow), &[one_asks(), more].concat());
    assert_eq!(outcome.log[7..], ["12416 GcRequest 0"]);
}

#[test]
fn members_that_do_not_know_the_protocol_collect_by_themselves() {
    let mut two = scheme(schemes::inclusive());
    two.coordinated_members = MemberSet(0b011);
    let outcome = run(&params(3, 1, two.clone()), &one_asks());
    assert_eq!(outcome.log, ["10000 GcRequest 0", "10000 ForceGc 0", "10000 ForceGc 1", "11440 GcDone 0", "11660 GcDone 1"]);
    let outcome = run(&params(3, 1, two), &[worn(2), vec![(T, 2, 11, false)]].concat());
    assert!(outcome.log.is_empty());
    assert_eq!(outcome.done.last(), Some(&(T + 1468)));
}

#[test]
fn no_request_waits_for_a_controller_that_never_answers() {
    for kind in schemes::all() {
        let mut silent = scheme(kind.clone());
        silent.answer = ControllerAnswer::Never;
        silent.t_soft = GcStopThreshold::FreeBlocks(0);
        let outcome = run(&params(3, 1, silent), &one_asks());
        assert_eq!(outcome.log, ["10000 GcRequest 0"], "{kind:?}");
        assert_eq!(outcome.done.last(), Some(&(T + 1468)));
        assert_eq!(outcome.counters.iter().map(|c| c.erases).sum::<u64>(), 1);
    }
}

#[test]
fn a_busy_die_collects_before_its_next_operation() {
    let meanwhile = vec![(T - 100, 1, 1, true), (T - 50, 1, 11, false)];
    let operations = [worn(0), touched(1), meanwhile, vec![(T, 0, 11, false)]].concat();
    let outcome = run(&params(2, 1, scheme(schemes::inclusive())), &operations);
    assert_eq!(outcome.log[3..], ["11440 GcDone 0", "11548 GcDone 1"]);
    assert_eq!(outcome.done[6..], [T + 108, T + 1576, T + 1468]);
}

#[test]
fn a_forced_member_collects_in_all_its_dies() {
    let first_die = |member| worn(member).iter().map(|&(at, m, page, write)| (at, m, 2 * page, write)).collect::<Vec<_>>();
    let operations = [first_die(0), vec![(0, 1, 0, true), (0, 1, 1, true), (0, 1, 3, true), (T, 0, 22, false)]].concat();
    let outcome = run(&params(2, 2, scheme(schemes::inclusive())), &operations);
    // The second die of member 0 has no victim.
    assert_eq!(outcome.log[3..], ["11440 GcDone 0", "11660 GcDone 1"]);
    let cleans: Vec<_> = outcome.cleans.iter().map(|c| (c.member, c.die, c.end_ns - T)).collect();
    assert_eq!(cleans, [(0, 0, 1440), (1, 1, 1440), (1, 0, 1660)]);
}

#[test]
fn watermark_goes_on_until_free_blocks_exceed_stop() {
    let watermark = CoordinationParams { force_until: ForcedCollectionAmount::ToWatermark, ..scheme(schemes::inclusive()) };
    let operations = [worn(0), touched(1), vec![(T, 0, 11, false)]].concat();
    let outcome = run(&params(2, 1, watermark), &operations);
    // In member 0, two victims with two valid pages gain no free block beyond stop. The third has three and does.
    assert_eq!(outcome.log[3..], ["11660 GcDone 1", "14540 GcDone 0"]);
    assert_eq!(outcome.done.last(), Some(&(T + 4568)));
    // They form one collection, which the member began itself.
    assert_eq!((outcome.counters[0].collections, outcome.counters[0].forced_collections, outcome.counters[0].erases), (1, 0, 3));
}

#[test]
fn one_victim_and_then_up_to_the_watermark() {
    let both = CoordinationParams { force_until: ForcedCollectionAmount::OneVictimThenUntilStopThreshold, ..scheme(schemes::inclusive()) };
    let operations = [worn(0), touched(1), vec![(T, 0, 11, false)]].concat();
    // Stop is one free block, so the watermark alone asks nothing of member 1, which has two.
    let with_low_stop = |coordination: &CoordinationParams| {
        let mut params = params(2, 1, coordination.clone());
        (params.ssd.gc.start_threshold_free_blocks, params.ssd.gc.stop_threshold_free_blocks) = (0, 1);
        run_told(
            &params,
            &operations,
            &[(T, 0, ToMember::ForceCollection(coordination.force_until)), (T, 1, ToMember::ForceCollection(coordination.force_until))],
        )
    };
    let erases = |outcome: &Outcome| outcome.counters.iter().map(|counters| counters.erases).collect::<Vec<_>>();
    let watermark = with_low_stop(&CoordinationParams { force_until: ForcedCollectionAmount::ToWatermark, ..both.clone() });
    let one = with_low_stop(&CoordinationParams { force_until: ForcedCollectionAmount::OneVictimPerDie, ..both.clone() });
    let outcome = with_low_stop(&both);
    assert_eq!(erases(&watermark)[1], 0, "it has free blocks enough");
    assert_eq!(erases(&outcome)[1], 1, "one victim whatever the free blocks");
    assert_eq!(erases(&one), [1, 1]);
    assert_eq!(erases(&outcome)[0], erases(&watermark)[0], "the first of those up to the watermark is the one victim");
    // In a whole cycle, both continue until their free blocks exceed stop.
    let cycle = run(&params(2, 1, both), &operations);
    let watermark = run(
        &params(2, 1, CoordinationParams { force_until: ForcedCollectionAmount::ToWatermark, ..scheme(schemes::inclusive()) }),
        &operations,
    );
    assert_eq!(cycle.log, watermark.log);
}

#[test]
fn with_one_pool_a_victim_of_each_pool_is_one_victim() {
    let operations = [worn(0), touched(1), vec![(T, 0, 11, false)]].concat();
    let cycle = |work| run(&params(2, 1, CoordinationParams { force_until: work, ..scheme(schemes::inclusive()) }), &operations).log;
    assert_eq!(cycle(ForcedCollectionAmount::OneVictimPerPool), cycle(ForcedCollectionAmount::OneVictimPerDie));
    assert_eq!(
        cycle(ForcedCollectionAmount::OneVictimPerPoolThenWatermark),
        cycle(ForcedCollectionAmount::OneVictimThenUntilStopThreshold)
    );
    assert_ne!(cycle(ForcedCollectionAmount::OneVictimPerPool), cycle(ForcedCollectionAmount::OneVictimPerPoolThenWatermark));
}

#[test]
fn selective_forces_those_that_have_registered() {
    let operations = [worn(0), touched(1), vec![(T, 0, 11, false)]].concat();
    let outcome = run(&params(3, 1, scheme(schemes::selective())), &operations);
    let expected = [
        "0 Participate 0",
        "0 Participate 1",
        "10000 GcRequest 0",
        "10000 ForceGc 0",
        "10000 ForceGc 1",
        "11440 GcDone 0",
        "11660 GcDone 1",
    ];
    assert_eq!(outcome.log, expected);
    // With T_soft one lower, only member 0 has come down to it.
    let low = CoordinationParams { t_soft: GcStopThreshold::FreeBlocks(1), ..scheme(schemes::selective()) };
    let outcome = run(&params(3, 1, low), &operations);
    assert_eq!(outcome.log, ["832 Participate 0", "10000 GcRequest 0", "10000 ForceGc 0", "11440 GcDone 0"]);
}

#[test]
fn idle_time_is_used_until_all_is_reserved() {
    // The last write ends at 1040, so the check at 4000 is the first to find 2000 ns without a request.
    let operations = [worn(0), vec![(20_000, 1, 11, false)]].concat();
    let outcome = run(&params(2, 1, scheme(schemes::idle())), &operations);
    assert_eq!(outcome.log, ["0 Participate 0", "4000 ForceGc 0", "5440 GcDone 0"]);
    assert_eq!(outcome.counters[0].forced_collections, 1);
}

#[test]
fn idle_collection_stops_when_a_request_comes_to_the_array() {
    // Nine writes leave only the last free block, so that two victims are needed.
    let pages = [0, 1, 4, 5, 8];
    let mut operations: Vec<Op> = pages.iter().map(|&page| (0, 0, page, true)).collect();
    operations.push((4500, 1, 11, false));
    operations.push((30_000, 1, 11, false));
    let roomy = |stop_at| {
        let mut params = params(2, 1, scheme(schemes::idle()));
        params.ssd.geometry.blocks_per_plane = 7;
        params.ssd.geometry.overprovisioned_blocks_per_plane = 4;
        let mut operations = operations.clone();
        operations.extend([(0, 0, 9, true), (0, 0, 2, true), (0, 0, 6, true), (0, 0, 10, true)]);
        operations.sort_by_key(|op| op.0);
        operations.retain(|op| op.0 != 4500 || stop_at);
        run(&params, &operations)
    };
    let (stopped, left_alone) = (roomy(true), roomy(false));
    // Nine writes end at 1872.
    assert_eq!(stopped.log, ["832 Participate 0", "4000 ForceGc 0", "4500 StopGc 0", "5220 GcDone 0"]);
    assert_eq!(stopped.cleans.iter().filter(|clean| clean.start_ns < 10_000).count(), 1);
    assert_eq!(left_alone.log[1..2], ["4000 ForceGc 0"]);
    assert!(left_alone.cleans.len() > 1, "{:?}", left_alone.log);
}

#[test]
fn a_soft_limit_is_polled_and_forces_when_little_waits() {
    let outcome = run(&params(2, 1, scheme(schemes::soft_limit(1, 0))), &worn(0));
    // The fifth write, from 832 to 1040, leaves member 0 one free block. It is outstanding at 1000, when the limit does not press yet. At
    // the second poll, nothing is outstanding.
    assert_eq!(outcome.log[..4], ["1000 GcState 0", "1000 GcState 1", "1000 GcState 0", "1000 GcState 1"]);
    let later = [worn(0), vec![(5_000, 1, 11, false)]].concat();
    let outcome = run(&params(2, 1, scheme(schemes::soft_limit(1, 0))), &later);
    assert_eq!(outcome.log[4..9], ["2000 GcState 0", "2000 GcState 1", "2000 GcState 0", "2000 GcState 1", "2000 ForceGc 0"]);
    assert!(outcome.log.contains(&"3440 GcDone 0".to_owned()));
}

#[test]
fn a_forced_clean_may_be_preempted() {
    let mut params = params(2, 1, scheme(schemes::inclusive()));
    params.ssd.gc.preemption = Some(GcPreemption {
        poll: Duration { ns: 5 },
        t_hard: Fraction(0.0),
        pipeline: HostOverlapWithMoves::NoOverlap,
        merge: false,
        reorder: false,
        suspension: None,
    });
    let operations = [worn(0), touched(1), vec![(T, 0, 11, false), (T + 300, 1, 11, false)]].concat();
    let outcome = run(&params, &operations);
    // Member 1 polls, reads, polls and programs until 230. It polls, reads and polls again until 260, and programs until 460. It polls
    // until 465, and the host's read is served until 493.
    assert_eq!(outcome.done[6..], [T + 33, T + 493]);
    // There are three moves with two polls each, one poll before the erase, one read and one more poll.
    assert_eq!(outcome.log.last().map(String::as_str), Some(format!("{} GcDone 1", T + 1660 + 7 * 5 + 28 + 5).as_str()));
    assert!(outcome.cleans.iter().any(|clean| clean.member == 1 && clean.is_caused_by_coordination));
    assert_eq!(outcome.counters[1].preemptions, 1);
}

#[test]
fn members_ask_and_tell_how_they_are() {
    let sent = |scheme_kind, operations: &[Op]| run(&params(2, 1, scheme(scheme_kind)), operations).mail;
    let asks = sent(schemes::inclusive(), &[worn(0), vec![(T, 0, 11, false)]].concat());
    assert!(asks.contains(&Mail::ToController(0, ToController::GcRequest(CollectionUrgency::AT_LIMIT))));
    let answers = sent(schemes::soft_limit(1, 0), &worn(0));
    let tells = |member, free_blocks_min, blocks_above_start| {
        let state = MemberState { free_blocks_min, blocks_above_start };
        answers.contains(&Mail::ToController(member, ToController::GcState(state)))
    };
    assert!(tells(0, 1, 0), "one free block, five used ones");
    assert!(tells(1, 2, 1), "two free blocks, four used ones");
}

#[test]
fn every_message_has_a_kind_of_its_own() {
    assert_eq!(ToController::GcDone.kind(), MessageKind::GcDone);
    assert_eq!(ToMember::StopIdleCollection.kind(), Some(MessageKind::StopGc));
    assert_eq!(super::MESSAGE_KIND_NAMES[MessageKind::GcDone as usize], "GcDone");
}

/// Returns a member whose controller never answers, and whose collection continues from one free block to three.
fn on_its_own() -> ArrayParams {
    let mut params = params(
        1,
        1,
        CoordinationParams { answer: ControllerAnswer::Never, t_soft: GcStopThreshold::FreeBlocks(0), ..scheme(schemes::inclusive()) },
    );
    (params.ssd.geometry.blocks_per_plane, params.ssd.geometry.overprovisioned_blocks_per_plane) = (8, 5);
    params.ssd.gc.stop_threshold_free_blocks = 3;
    params
}

/// Writes the pages in turn until the pool has one free block; then a read finds it there.
fn low() -> Vec<Op> {
    let mut operations: Vec<Op> = [0, 1, 4, 5, 8, 0, 1, 4, 5, 8, 0, 1, 4].iter().map(|&page| (0, 0, page, true)).collect();
    operations.push((T, 0, 11, false));
    operations
}

#[test]
fn a_member_that_is_denied_collects_at_its_hard_limit_only() {
    let begun_at = |outcome: &Outcome| outcome.cleans.iter().map(|clean| clean.free_blocks_before).collect::<Vec<_>>();
    let free = run(&on_its_own(), &low());
    assert!(begun_at(&free).contains(&1) && begun_at(&free).contains(&2), "{:?}", begun_at(&free));
    let denied = run_told(&on_its_own(), &low(), &[(T - 1, 0, ToMember::Deny)]);
    assert!(!denied.cleans.is_empty() && begun_at(&denied).iter().all(|&free_blocks| free_blocks == 1), "{:?}", begun_at(&denied));
    assert!(denied.done.last() < free.done.last(), "the read waits for the cleans at the limit only");
    // A grant ends it: the granted work is done and reported, and the next collection is free again.
    let granted =
        run_told(&on_its_own(), &low(), &[(T - 1, 0, ToMember::Deny), (2 * T, 0, ToMember::Grant(ForcedCollectionAmount::ToWatermark))]);
    assert_eq!(granted.log.last().map(|line| line.ends_with("GcDone 0")), Some(true), "{:?}", granted.log);
    assert!(granted.cleans.iter().any(|clean| clean.is_caused_by_coordination && clean.start_ns >= 2 * T), "{:?}", begun_at(&granted));
    assert!(begun_at(&granted).iter().any(|&free_blocks| free_blocks > 1));
}

#[test]
fn a_member_that_is_denied_uses_no_idle_time() {
    let mut params = on_its_own();
    params.ssd.gc.idle_collection_after_ns = Some(500);
    let mut operations = low();
    operations.push((3 * T, 0, 11, false));
    let free = run(&params, &operations);
    let denied = run_told(&params, &operations, &[(0, 0, ToMember::Deny)]);
    assert!(free.cleans.iter().any(|clean| clean.free_blocks_before > 1));
    assert!(denied.cleans.iter().all(|clean| clean.free_blocks_before == 1), "{:?}", denied.log);
    // A forced collection ends the denial as well.
    let forced = run_told(
        &params,
        &operations,
        &[(0, 0, ToMember::Deny), (2 * T, 0, ToMember::ForceCollection(ForcedCollectionAmount::OneVictimPerDie))],
    );
    assert!(forced.cleans.iter().any(|clean| clean.free_blocks_before > 1));
}

/// A scheme with one member at a time: the first that asks is granted collection, and the others are denied it.
#[derive(Default)]
struct Token {
    holder: Option<u32>,
}

impl Scheme for Token {
    type Duty = JoinsCycles;

    fn receive(&mut self, now: TimeNs, from: u32, message: ToController, cycle: &mut Cycle) {
        match message {
            ToController::GcRequest(_) if self.holder.is_none() => {
                self.holder = Some(from);
                cycle.send(MemberSet::single(from), ToMember::Grant(ForcedCollectionAmount::OneVictimPerDie));
            }
            ToController::GcRequest(_) => cycle.send(MemberSet::single(from), ToMember::Deny),
            ToController::GcDone => self.holder = None,
            _ => cycle.receive(now, from, message),
        }
    }
}

#[test]
fn a_scheme_can_grant_and_deny() {
    let mut cycle = Cycle::new(&scheme(schemes::inclusive()));
    let mut token = Token::default();
    let mut told = |from, message| {
        token.receive(T, from, message, &mut cycle);
        let mut out = Vec::new();
        cycle.take_actions(&mut out);
        out
    };
    let asks = ToController::GcRequest(CollectionUrgency::AT_LIMIT);
    assert_eq!(told(2, asks), [ControllerAction::Message(2, ToMember::Grant(ForcedCollectionAmount::OneVictimPerDie))]);
    assert_eq!(told(0, asks), [ControllerAction::Message(0, ToMember::Deny)]);
    assert_eq!(told(2, ToController::GcDone), []);
    assert_eq!(told(0, asks), [ControllerAction::Message(0, ToMember::Grant(ForcedCollectionAmount::OneVictimPerDie))]);
    // Messages that do not belong to the scheme are left to the cycle.
    assert_eq!(told(1, ToController::RegisterForCycle), []);
    assert_eq!(cycle.registered(), MemberSet::single(1));
}

/// Members ask at two free blocks, which they have from the beginning. A cycle waits for `delay_ns`.
fn soft(delay_ns: u64) -> CoordinationParams {
    CoordinationParams {
        notify: Some(JointCollectionRequestTiming::AtSoftThreshold),
        delay: Duration { ns: delay_ns },
        ..scheme(schemes::inclusive())
    }
}

/// Returns the state of a member that has been given so many pages and was never forced.
fn need(pages_left: u64, at_limit: bool, pages_given: u64) -> CollectionUrgency {
    CollectionUrgency { page_writes_until_gc_start: pages_left, at_limit, pages_given, collection_orders_received: 0 }
}

/// Writes to the first die of a member, one after the other. The fifth takes the block that leaves one free.
fn one_by_one(member: u32, from: TimeNs) -> Vec<Op> {
    (0..).zip([0, 1, 4, 5, 8]).map(|(number, page)| (from + 300 * number, member, page, true)).collect()
}

#[test]
fn a_soft_request_lets_the_controller_wait_until_the_pages_are_used_up() {
    let outcome = run(&params(3, 1, soft(1_000_000)), &one_by_one(0, 0));
    // The fifth write leaves the pool at its hard limit, which the member reports. The cycle would begin without the report, too.
    assert_eq!(outcome.log[..5], ["0 GcRequest 0", "1200 GcRequest 0", "1200 ForceGc 0", "1200 ForceGc 1", "1200 ForceGc 2"]);
    assert_eq!(outcome.log[5..], ["1200 GcDone 1", "1200 GcDone 2", "2848 GcDone 0"]);
    // The open block has three pages left. The fourth write after them would leave one free block.
    assert_eq!(outcome.mail[0], Mail::ToController(0, ToController::GcRequest(need(3, false, 1))));
    // The clean begins when that write is done.
    assert_eq!((outcome.cleans[0].start_ns, outcome.cleans[0].is_caused_by_coordination), (1408, true));
    assert_eq!(outcome.uncoordinated, Some(UncoordinatedCleans::default()));
    // A member that asks only at its start collects unforced when a read finds it there.
    let late = run(
        &params(3, 1, CoordinationParams { notify: Some(JointCollectionRequestTiming::AtStartThreshold), ..soft(1_000_000) }),
        &one_by_one(0, 0),
    );
    assert!(late.log.is_empty() && late.uncoordinated.is_none());
}

#[test]
fn what_waits_in_the_member_counts() {
    let outcome = run(&params(1, 1, soft(1_000_000)), &worn(0));
    assert_eq!(outcome.mail[0], Mail::ToController(0, ToController::GcRequest(need(0, true, 5))));
    assert_eq!(outcome.log[..2], ["0 GcRequest 0", "0 ForceGc 0"]);
    let outcome = run(&params(1, 1, soft(1_000_000)), &worn(0)[..4]);
    assert_eq!(outcome.mail[0], Mail::ToController(0, ToController::GcRequest(need(0, false, 4))));
    assert_eq!(outcome.log[..2], ["0 GcRequest 0", "1000000 ForceGc 0"]);
}

#[test]
fn a_soft_cycle_waits_no_longer_than_its_delay_or_until_the_array_is_idle() {
    let outcome = run(&params(2, 1, soft(500)), &touched(0));
    assert_eq!(outcome.log[..3], ["0 GcRequest 0", "500 ForceGc 0", "500 ForceGc 1"]);
    let at_idle = CoordinationParams { at_idle: true, ..soft(500) };
    let outcome = run(&params(2, 1, at_idle.clone()), &touched(0));
    assert_eq!(outcome.log[..3], ["0 GcRequest 0", "208 ForceGc 0", "208 ForceGc 1"]);
    let outcome = run(&params(2, 1, at_idle), &[touched(0), vec![(200, 1, 3, false)]].concat());
    assert_eq!(outcome.log[..3], ["0 GcRequest 0", "228 ForceGc 0", "228 ForceGc 1"]);
}

#[test]
fn a_soft_request_during_a_cycle_waits_for_the_next() {
    let operations = [one_by_one(0, 0), vec![(1300, 1, 0, true)]].concat();
    let outcome = run(&params(2, 1, soft(5_000)), &operations);
    assert_eq!(outcome.log[2..7], ["1200 ForceGc 0", "1200 ForceGc 1", "1200 GcDone 1", "1300 GcRequest 1", "2848 GcDone 0"]);
    assert_eq!(outcome.log[7..9], ["6300 ForceGc 0", "6300 ForceGc 1"]);
    // The time came during the cycle, so the next cycle begins when this one ends.
    let outcome = run(&params(2, 1, soft(1_250)), &operations);
    assert_eq!(outcome.log[6..9], ["2848 GcDone 0", "2848 ForceGc 0", "2848 ForceGc 1"]);
}

#[test]
fn a_soft_request_is_void_if_its_member_is_forced_after_it() {
    let mut slow = soft(50);
    slow.latency.gc_request.ns = 10_000;
    let outcome = run(&params(2, 1, slow), &[touched(1), vec![(100, 0, 0, true)]].concat());
    let forced = ["10050 ForceGc 0", "10050 ForceGc 1"];
    assert_eq!(outcome.log[..4], ["0 GcRequest 1", "100 GcRequest 0", forced[0], forced[1]]);
    assert_eq!(outcome.log.iter().filter(|line| line.contains("ForceGc")).count(), 2, "{:?}", outcome.log);
}

#[test]
fn a_member_that_asks_holds_out_until_its_hard_limit() {
    // A collection continues from one free block to three.
    let quiet = |coordination| {
        let mut params = on_its_own();
        params.coordination = Some(coordination);
        run(&params, &low())
    };
    let begun_at = |outcome: &Outcome| outcome.cleans.iter().map(|clean| clean.free_blocks_before).collect::<Vec<_>>();
    let unanswered = CoordinationParams { answer: ControllerAnswer::Never, coordinated_members: MemberSet::single(0), ..soft(0) };
    let soft = quiet(unanswered.clone());
    assert!(!soft.cleans.is_empty() && begun_at(&soft).iter().all(|&free_blocks| free_blocks == 1), "{:?}", begun_at(&soft));
    let at_start = quiet(CoordinationParams { notify: Some(JointCollectionRequestTiming::AtStartThreshold), ..unanswered });
    assert!(begun_at(&at_start).contains(&2), "{:?}", begun_at(&at_start));
    // The member asks once, because the waiting writes bring it to its limit.
    assert_eq!(soft.log, ["1664 GcRequest 0"]);
    assert!(soft.uncoordinated.is_some_and(|cleans| cleans.unanswered > 0 && cleans.during_cycles == 0));
}

#[test]
fn cleans_that_the_controller_could_not_prevent_are_counted() {
    let mut slow = soft(1_000_000);
    slow.latency.force_gc.ns = 10_000;
    let late = run(&params(2, 1, slow), &[one_by_one(0, 0), vec![(1500, 0, 11, false)]].concat());
    assert_eq!(late.uncoordinated, Some(UncoordinatedCleans { unanswered: 1, during_cycles: 0 }));
    // Member 1 has no victim and is done at once. It asks again while member 0 collects until 2848.
    let of_one = (0..).zip([0, 1, 4, 5, 8]).map(|(number, page)| (1300 + 210 * number, 1, page, true)).collect();
    let waits = run(&params(2, 1, soft(1_000_000)), &[one_by_one(0, 0), of_one, vec![(2400, 1, 11, false)]].concat());
    assert_eq!(waits.uncoordinated, Some(UncoordinatedCleans { unanswered: 0, during_cycles: 1 }), "{:?}", waits.log);
    assert_eq!(waits.log[5..10], ["1300 GcRequest 1", "2140 GcRequest 1", "2848 GcDone 0", "2848 ForceGc 0", "2848 ForceGc 1"]);
}

#[test]
fn a_check_of_idle_time_answers_a_soft_request() {
    let idle = CoordinationParams { scheme: schemes::idle(), ..soft(1_000_000) };
    let outcome = run(&params(2, 1, idle), &[touched(0), vec![(20_000, 1, 11, false)]].concat());
    // The array is idle since 208, so the check at 3000 is the first to find 2000 ns without a request.
    assert_eq!(outcome.log[..3], ["0 Participate 0", "0 GcRequest 0", "3000 ForceGc 0"]);
    assert_eq!(outcome.log.iter().filter(|line| line.contains("ForceGc")).count(), 1, "{:?}", outcome.log);
}

#[test]
fn dies_with_free_blocks_enough_take_no_part() {
    let forced = |across_dies, t_soft_free_blocks| {
        let mut params = params(
            1,
            2,
            CoordinationParams { across_dies, t_soft: GcStopThreshold::FreeBlocks(t_soft_free_blocks), ..scheme(schemes::inclusive()) },
        );
        (params.ssd.geometry.blocks_per_plane, params.ssd.geometry.overprovisioned_blocks_per_plane) = (7, 4);
        // Five writes to the first die leave it two free blocks, and one to the second leaves it three.
        let operations: Vec<Op> = [0, 2, 8, 10, 16, 1].iter().map(|&page| (0, 0, page, true)).collect();
        let outcome = run_told(&params, &operations, &[(T, 0, ToMember::ForceCollection(ForcedCollectionAmount::OneVictimPerDie))]);
        let mut dies: Vec<u32> = outcome.cleans.iter().map(|clean| clean.die).collect();
        dies.sort_unstable();
        (dies, outcome.log)
    };
    assert_eq!(forced(true, 2).0, [0, 1]);
    assert_eq!(forced(false, 2), (vec![0], vec!["11440 GcDone 0".to_owned()]));
    assert_eq!(forced(false, 1), (vec![], vec!["10000 GcDone 0".to_owned()]));
}

/// Free blocks that fall from answer to answer press the controller to force (rule 47), but not those of a failed member (rule 65).
#[test]
fn answers_of_a_failed_member_press_nobody() {
    let state = |free_blocks_min| ToController::GcState(MemberState { free_blocks_min, blocks_above_start: free_blocks_min - 1 });
    let forced = |fails: bool| {
        let params = CoordinationParams { coordinated_members: MemberSet::first_members(2), ..scheme(schemes::soft_limit(2, 0)) };
        let pools = BlockPoolSizeAndThresholds {
            blocks_per_pool: 6,
            reserved_blocks: 3,
            start_threshold_free_blocks: 1,
            most_free_blocks: 3,
            longest_victim_collection_ns: 1660,
        };
        let mut controller = Controller::new(&params, &CoordinatedArray { pools, members: 2, copies: 1, parity_strips: 0, seed: 1 });
        // A request is outstanding, so that few free blocks alone are no reason to force.
        controller.request_arrives(0);
        for (now, free_blocks) in [(1000, 4), (2000, 2)] {
            controller.tick(now);
            controller.receive(now, 0, state(free_blocks));
            if fails && now == 2000 {
                controller.member_failed(0);
            }
            controller.receive(now, 1, state(2));
        }
        let mut actions = Vec::new();
        controller.take_actions(&mut actions);
        let is_forced = |member: u32| {
            actions.contains(&ControllerAction::Message(member, ToMember::ForceCollection(ForcedCollectionAmount::OneVictimPerDie)))
        };
        [0, 1].map(is_forced)
    };
    assert_eq!(forced(false), [true, true]);
    assert_eq!(forced(true), [false, false]);
}

#[test]
fn uncoordinated_cleans_are_counted_from_a_moment_on() {
    let earlier = UncoordinatedCleans { during_cycles: 2, unanswered: 3 };
    let later = UncoordinatedCleans { during_cycles: 7, unanswered: 4 };
    assert_eq!(later.since(&earlier), UncoordinatedCleans { during_cycles: 5, unanswered: 1 });
}

#[test]
fn answers_of_the_controller_are_named_only_if_there_were_some() {
    let (none, mut some) = ([0; MESSAGE_KINDS], [0; MESSAGE_KINDS]);
    assert_eq!(message_counts_by_name(none, none).len(), MESSAGE_KINDS - 3);
    some[MessageKind::Grant as usize] = 3;
    some[MessageKind::GcDone as usize] = 5;
    let named = message_counts_by_name(some, none);
    assert_eq!((named.len(), named.values().sum::<u64>()), (MESSAGE_KINDS - 2, 8));
}

#[test]
fn a_limit_lies_above_the_start_and_within_the_reserve() {
    let pools = BlockPoolSizeAndThresholds {
        blocks_per_pool: 100,
        reserved_blocks: 15,
        start_threshold_free_blocks: 5,
        most_free_blocks: 15,
        longest_victim_collection_ns: 1660,
    };
    let is_wrong = |above| pools.stop_threshold_problem("soft_limit", GcStopThreshold::AboveStart(above)).is_some();
    assert!(is_wrong(0) && !is_wrong(1) && !is_wrong(10) && is_wrong(11));
}

/// A mirror whose members come down to the number of free blocks at which they ask, both at the same time.
fn staggered_pair(retry_ns: u64) -> (ArrayParams, Vec<Op>) {
    let stagger = StaggeredCollection { ask_at: 2.0, idle_at: 0.0, retry: Duration { ns: retry_ns }, ..StaggeredCollection::default() };
    let mut params = params(2, 1, scheme(stagger.into()));
    params.level = RaidLevel::Raid1;
    (params, vec![(0, 0, 0, true)])
}

#[test]
fn one_copy_has_leave_and_the_other_is_denied_until_it_has_done() {
    // The write of both copies ends at 208. The clean of three valid pages then takes 1660.
    let (params, operations) = staggered_pair(100);
    let outcome = run(&params, &operations);
    let times = |what: &str| {
        let of = outcome.log.iter().filter_map(|line| line.split_once(' ').filter(|(_, rest)| rest.starts_with(what)));
        of.map(|(at, rest)| (at.parse::<TimeNs>().unwrap(), rest.rsplit(' ').next().unwrap().to_owned())).collect::<Vec<_>>()
    };
    let grants = times("Grant");
    assert_eq!(grants.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 1900]);
    assert_ne!(grants[0].1, grants[1].1);
    let denials = times("Deny");
    assert!(denials.iter().all(|(_, member)| *member == grants[1].1), "{denials:?}");
    assert_eq!(denials.iter().map(|(at, _)| *at).collect::<Vec<_>>(), (0..19).map(|nth| nth * 100).collect::<Vec<_>>());
    assert_eq!(times("GcDone"), [(1868, grants[0].1.clone()), (1900 + 1660, grants[1].1.clone())]);
    let cleans: Vec<_> = outcome.cleans.iter().map(|clean| (clean.start_ns, clean.end_ns, clean.is_caused_by_coordination)).collect();
    assert_eq!(cleans, [(208, 1868, true), (1900, 3560, true)]);
    assert!(outcome.log.iter().all(|line| !line.contains("GcRequest")), "nobody collects unasked");
}

#[test]
fn the_copy_without_leave_answers_reads_at_once() {
    let (mut params, mut operations) = staggered_pair(100);
    params.read_plan = Avoid { knowledge: HostKnowledgeOfCollection::Member, fast_fail: Duration { ns: 0 }, ..Avoid::default() }.into();
    // Pages of both members' turns: one of them would have to wait for the clean.
    operations.extend([(1000, 0, 1, false), (1100, 0, 2, false)]);
    let outcome = run(&params, &operations);
    assert_eq!(outcome.done[1..], [1028, 1128]);
}

#[test]
fn a_member_at_its_limit_collects_unasked_and_delays_the_others() {
    // Asks of member 1 come while member 0 collects because it must. Both have a pool each.
    let stagger = StaggeredCollection {
        ask_at: 2.0,
        idle_at: 0.0,
        retry: Duration { ns: 1000 },
        together: CollectingMembersLimit::Members(1),
        ..StaggeredCollection::default()
    };
    let mut slow = scheme(stagger.into());
    // The controller hears of asks so late that member 0 comes down to its limit.
    slow.latency.gc_request.ns = 20_000;
    let outcome = run(&params(2, 1, slow), &[worn(0), vec![(T, 0, 11, false)], vec![(T + 100, 1, 0, true)]].concat());
    let of_messages: Vec<&str> = outcome.log.iter().map(String::as_str).take(6).collect();
    assert_eq!(of_messages, ["0 AskGc 0", "10000 GcRequest 0", "10100 AskGc 1", "11440 GcDone 0", "20000 Grant 0", "21440 GcDone 0"]);
    assert_eq!(outcome.log[6], "30100 Grant 1");
}

#[test]
fn a_member_with_few_operations_collects_before_it_must_ask() {
    let stagger = StaggeredCollection { ask_at: 1.0, idle_at: 2.0, idle_gap: Duration { ns: 3000 }, ..StaggeredCollection::default() };
    // The gaps are 10000 and 2000, and their mean is 5000 and then 3500.
    let operations = [(0, 0, 0, true), (10_000, 0, 11, false), (12_000, 0, 11, false)];
    let outcome = run(&params(2, 1, scheme(stagger.into())), &operations);
    assert_eq!(outcome.log, ["10000 GcRequest 0", "11688 GcDone 0"]);
    assert_eq!(outcome.cleans.len(), 1);
}

#[test]
fn a_failed_member_leaves_and_the_next_may_collect_with_one_fewer() {
    let array = CoordinatedArray { pools: POOLS, members: 4, copies: 1, parity_strips: 2, seed: 1 };
    let mut controller = Controller::new(&scheme(StaggeredCollection::default().into()), &array);
    let granted = |controller: &mut Controller, now: TimeNs, asking: &[u32]| {
        for &member in asking {
            controller.receive(now, member, ToController::AskGc { least_free_blocks: member });
        }
        controller.tick(now);
        let mut actions = Vec::new();
        controller.take_actions(&mut actions);
        let grants = |action: &ControllerAction| match action {
            ControllerAction::Message(member, ToMember::Grant(_)) => Some(*member),
            _ => None,
        };
        actions.iter().filter_map(grants).collect::<Vec<_>>()
    };
    assert_eq!(granted(&mut controller, 10, &[2, 0, 1]), [0, 1], "those with the fewest free blocks, two as there are two parities");
    controller.member_failed(0);
    assert_eq!(granted(&mut controller, 20, &[2]), [0; 0], "member 1 collects, and one member fewer may");
    controller.receive(30, 1, ToController::GcDone);
    assert_eq!(granted(&mut controller, 30, &[2, 3]), [2]);
    controller.receive(40, 2, ToController::GcDone);
    assert!(controller.replace(0, 4).is_some(), "the spare knows the protocol");
    controller.receive(50, 4, ToController::AskGc { least_free_blocks: 1 });
    assert_eq!(granted(&mut controller, 50, &[3]), [4]);
}

/// No more members collect at a time than may, as long as none collects unasked (rule 263).
#[test]
fn no_more_collect_together_than_may() {
    for (together, members) in [(1, 3), (2, 4)] {
        let stagger = StaggeredCollection {
            ask_at: 3.0,
            idle_at: 0.0,
            retry: Duration { ns: 150 },
            together: CollectingMembersLimit::Members(together),
            ..StaggeredCollection::default()
        };
        let mut params = params(members, 2, scheme(stagger.into()));
        (params.ssd.geometry.blocks_per_plane, params.ssd.geometry.overprovisioned_blocks_per_plane) = (10, 5);
        (params.ssd.gc.start_threshold_free_blocks, params.ssd.gc.stop_threshold_free_blocks) = (1, 2);
        let mut draws = crate::rng::stream(u64::from(members), "test", 0);
        let mut operations: Vec<Op> = Vec::new();
        for nth in 0..600 {
            let member = crate::rng::below(&mut draws, u64::from(members)) as u32;
            operations.push((nth * 900, member, crate::rng::below(&mut draws, 40), true));
        }
        let outcome = run(&params, &operations);
        let unasked = outcome.log.iter().filter(|line| line.contains("GcRequest")).count();
        assert_eq!(unasked, 0, "the load is low enough");
        let begins = outcome.cleans.iter().map(|clean| clean.start_ns);
        let most = begins.map(|at| {
            let collecting: std::collections::BTreeSet<u32> =
                outcome.cleans.iter().filter(|clean| clean.start_ns <= at && at < clean.end_ns).map(|clean| clean.member).collect();
            collecting.len() as u32
        });
        assert_eq!(most.max(), Some(together), "{} cleans", outcome.cleans.len());
    }
}

const MS: TimeNs = 1_000_000;

fn turns(window_ns: u64, buffer_ns: u64) -> CoordinationParams {
    let buffer = TurnEndMargin::Time(Duration { ns: buffer_ns });
    scheme(CollectionTimeWindows { window: Duration { ns: window_ns }, buffer, ..CollectionTimeWindows::default() }.into())
}

/// The second of four members has its turns from 100 ms and from 500 ms on. It may begin to clean in the first 50 ms of them.
#[test]
fn a_member_cleans_in_its_turn() {
    // A write leaves the pool of member 1 with two free blocks, which is twice the start. It looks again after a read.
    let first_clean = |at: TimeNs| {
        let outcome = run(&params(4, 1, turns(100 * MS, 50 * MS)), &[(at, 1, 0, true), (700 * MS, 1, 11, false)]);
        assert!(outcome.log.is_empty(), "nobody sends anything");
        assert_eq!(outcome.turns, Some(OutOfTurnCollectionCounters::default()));
        outcome.cleans.first().map(|clean| (clean.start_ns, clean.end_ns, clean.is_caused_by_coordination))
    };
    let clean_from = |at: TimeNs| Some((at, at + 1660, false));
    assert_eq!(first_clean(30 * MS), clean_from(100 * MS));
    // A write takes 208.
    assert_eq!(first_clean(120 * MS), clean_from(120 * MS + 208));
    assert_eq!(first_clean(150 * MS - 209), clean_from(150 * MS - 1));
    assert_eq!(first_clean(150 * MS - 208), clean_from(500 * MS));
    assert_eq!(first_clean(200 * MS), clean_from(500 * MS));
}

/// Nobody collects. Copies take turns by page, and a read takes 28.
#[test]
fn a_host_that_goes_by_the_clock_keeps_away_from_a_member_in_its_turn() {
    let mut params = params(2, 1, turns(1000, 10));
    let avoid = |knowledge| Avoid { knowledge, fast_fail: Duration { ns: 5 }, ..Avoid::default() };
    (params.level, params.read_plan) = (RaidLevel::Raid1, avoid(HostKnowledgeOfCollection::Turn).into());
    let (of_copy_0, of_copy_1) = (0, 1);
    let reads = [(100, of_copy_0), (200, of_copy_1), (999, of_copy_0), (1100, of_copy_0), (1200, of_copy_1), (1999, of_copy_1)];
    let outcome = run(&params, &reads.map(|(at, copy)| (at, copy, 3, false)));
    assert_eq!(outcome.done, [133, 228, 1032, 1128, 1233, 2032]);
    assert!(outcome.cleans.is_empty());
    // At the nanosecond at which turns change the first is over, and the second has not begun.
    for copy in [of_copy_0, of_copy_1] {
        assert_eq!(run(&params, &[(1000, copy, 3, false)]).done, [1028]);
    }
    params.read_plan = avoid(HostKnowledgeOfCollection::Member).into();
    assert_eq!(run(&params, &[(100, of_copy_0, 3, false)]).done, [128]);
}

#[test]
fn a_pool_at_its_limit_breaks_the_contract() {
    // Member 0 has its turn. A read of member 1 finds its pool at the limit.
    let outcome = run(&params(2, 1, turns(100 * MS, 50 * MS)), &[worn(1), vec![(T, 1, 11, false)]].concat());
    assert_eq!(outcome.cleans.iter().map(|clean| clean.start_ns).collect::<Vec<_>>(), [T]);
    assert_eq!(outcome.turns, Some(OutOfTurnCollectionCounters { broken_contracts: 1, overruns: 0 }));
    assert_eq!(outcome.cycles, [Some(0), Some(0)], "it was not its turn");
}

fn nvme(window_ns: u64, buffer_ns: u64, low_ns: u64, reads: Option<u64>) -> CoordinationParams {
    let windows = CollectionTimeWindows {
        window: Duration { ns: window_ns },
        buffer: TurnEndMargin::Time(Duration { ns: buffer_ns }),
        protocol: WindowProtocol::Nvme,
        ndwin_time_minimum_low: StatedTime(Some(Duration { ns: low_ns })),
        dtwin_reads_typical: StatedCount(reads),
        ..CollectionTimeWindows::default()
    };
    scheme(windows.into())
}

#[test]
fn a_pool_at_its_limit_ends_a_deterministic_window() {
    // Member 0 has its turn. A read of member 1 finds its pool at the limit. The window that begins lets nothing begin after 10 ms.
    let operations = [worn(1), vec![(T, 1, 11, false), (T + 50 * MS, 1, 11, false)]].concat();
    let outcome = run(&params(2, 1, nvme(100 * MS, 50 * MS, 60 * MS, None)), &operations);
    let windows = outcome.windows.expect("members have windows");
    assert_eq!((windows.ended_by_excursion, windows.ended_by_attribute), (1, [0; 3]));
    assert_eq!(outcome.turns, Some(OutOfTurnCollectionCounters { broken_contracts: 1, overruns: 0 }));
    assert_eq!(outcome.cycles[1], Some(1), "a non-deterministic window is like a turn");
    // In this window, victims follow until the pool has more than twice the free blocks of the start. None of them takes 1660.
    assert_eq!(outcome.cleans.iter().map(|clean| clean.start_ns).collect::<Vec<_>>(), [T, T + 1440, T + 2880]);
}

/// Three copies take turns by page, and a read takes 28. Member 0 has its turn.
#[test]
fn a_host_keeps_away_from_a_member_that_has_left_its_deterministic_window() {
    let mut params = params(3, 1, nvme(1000, 10, 100, Some(1)));
    let avoid = Avoid { knowledge: HostKnowledgeOfCollection::Turn, fast_fail: Duration { ns: 5 }, ..Avoid::default() };
    (params.level, params.read_plan) = (RaidLevel::Raid1, avoid.into());
    let reads = [100, 150, 200, 251];
    let outcome = run(&params, &reads.map(|at| (at, 1, 3, false)));
    assert_eq!(outcome.done, [128, 178, 233, 279], "the second read was one too many, and the third went elsewhere");
    let windows = outcome.windows.expect("members have windows");
    assert_eq!((windows.dtwins, windows.ended_by_attribute), (1, [1, 0, 0]));
    assert_eq!((windows.reads_in_dtwin.reads, windows.reads_in_ndwin.reads), (4, 0));
}

#[test]
fn a_clean_that_lasts_longer_than_its_turn_is_counted() {
    // The clean of 1660 begins at 208 and ends after the turn, which lasts until 1000.
    let outcome = run(&params(2, 1, turns(1000, 1)), &[(0, 0, 0, true), (5000, 0, 11, false)]);
    assert_eq!(outcome.cleans[0].start_ns, 208);
    assert_eq!(outcome.turns, Some(OutOfTurnCollectionCounters { broken_contracts: 0, overruns: 1 }));
    assert_eq!(outcome.cycles, [Some(1), Some(0)], "a turn without a collection does not count");
}

#[test]
fn a_spare_has_the_turns_of_the_member_that_it_replaces() {
    let array = CoordinatedArray { pools: POOLS, members: 2, copies: 1, parity_strips: 1, seed: 1 };
    let mut controller =
        Controller::new(&CoordinationParams { coordinated_members: MemberSet::first_members(2), ..turns(1000, 10) }, &array);
    let next_turn = |controller: &mut Controller| {
        let at = controller.next_tick();
        controller.tick(at);
        let mut actions = Vec::new();
        controller.take_actions(&mut actions);
        (at, actions.first().copied())
    };
    let begins = |at, member, begin_cleans_until, end| {
        (at, Some(ControllerAction::TellAt(at, member, ToMember::BeginTurn { begin_cleans_until, end })))
    };
    assert_eq!(next_turn(&mut controller), begins(0, 0, 990, 1000));
    assert_eq!(next_turn(&mut controller), begins(1000, 1, 1990, 2000));
    controller.member_failed(0);
    assert_eq!(next_turn(&mut controller), (2000, None));
    controller.replace(0, 2);
    assert_eq!(next_turn(&mut controller), begins(3000, 1, 3990, 4000));
    assert_eq!(next_turn(&mut controller), begins(4000, 2, 4990, 5000));
}

/// The turn goes to the next member in the round that waits, after the pause, and never to one that has failed (rule 291).
#[test]
fn turns_go_round_among_the_members_that_wait() {
    let array = CoordinatedArray { pools: POOLS, members: 4, copies: 1, parity_strips: 1, seed: 1 };
    let rotate = RotatingCollection { pause: Duration { ns: 5 }, ..Default::default() };
    let mut controller =
        Controller::new(&CoordinationParams { coordinated_members: MemberSet::first_members(4), ..scheme(rotate.into()) }, &array);
    let next = |controller: &mut Controller| {
        let at = controller.next_tick();
        controller.tick(at);
        let mut actions = Vec::new();
        controller.take_actions(&mut actions);
        match actions[..] {
            [ControllerAction::Message(member, ToMember::ForceCollection(_))] => (at, member),
            _ => panic!("one member has the turn: {actions:?}"),
        }
    };
    [(10, 2), (10, 1), (12, 0), (12, 3)].iter().for_each(|&(at, member)| controller.receive(at, member, ToController::RegisterForCycle));
    assert_eq!(next(&mut controller), (12, 0));
    controller.receive(20, 0, ToController::GcDone);
    controller.receive(21, 0, ToController::RegisterForCycle);
    assert_eq!(next(&mut controller), (25, 1), "not the first again, which has registered meanwhile");
    controller.member_failed(2);
    controller.receive(30, 1, ToController::GcDone);
    assert_eq!(next(&mut controller), (35, 3));
    assert_eq!(controller.next_tick(), TimeNs::MAX, "nobody has a turn while another has one");
    controller.receive(40, 3, ToController::GcDone);
    assert_eq!(next(&mut controller), (45, 0));
    let counters = controller.scheme_counters().rotation.unwrap();
    assert_eq!((counters.turns, counters.waited_ns), (4, (25 - 10) + (35 - 12) + (45 - 21)));
}

/// Without broken contracts and overruns no two members collect at a time (rule 266).
#[test]
fn members_that_keep_to_their_turns_never_collect_together() {
    let buffer = TurnEndMargin::Time(Duration { ns: 2000 });
    let windows = CollectionTimeWindows { window: Duration { ns: 20_000 }, buffer, clean_at: 5.0, ..CollectionTimeWindows::default() };
    let mut params = params(3, 2, scheme(windows.into()));
    (params.ssd.geometry.blocks_per_plane, params.ssd.geometry.overprovisioned_blocks_per_plane) = (12, 6);
    let mut draws = crate::rng::stream(3, "test", 0);
    let mut operations: Vec<Op> = Vec::new();
    for nth in 0..600 {
        let member = crate::rng::below(&mut draws, 3) as u32;
        operations.push((nth * 900, member, crate::rng::below(&mut draws, 40), crate::rng::below(&mut draws, 3) > 0));
    }
    let outcome = run(&params, &operations);
    // Without limits and excursions, NVMe's windows are turns.
    let CoordinationPolicy::CollectionTimeWindows(windows) = &mut params.coordination.as_mut().unwrap().scheme else { unreachable!() };
    windows.protocol = WindowProtocol::Nvme;
    let of_nvme = run(&params, &operations);
    assert_eq!((&of_nvme.done, &of_nvme.cleans), (&outcome.done, &outcome.cleans));
    assert_eq!(of_nvme.windows.map(|windows| windows.autonomous_transitions()), Some(0));
    assert_eq!(outcome.turns, Some(OutOfTurnCollectionCounters::default()));
    assert!(outcome.cleans.len() > 50, "{} cleans", outcome.cleans.len());
    for clean in &outcome.cleans {
        let turn = u64::from(clean.member) * 20_000;
        let (begins, ends) = ((clean.start_ns + 60_000 - turn) % 60_000, (clean.end_ns + 60_000 - turn) % 60_000);
        assert!(begins < 18_000 && ends <= 20_000, "{clean:?}");
    }
}
