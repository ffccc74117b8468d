//! Reads that go round strips that collect (rules 240 to 246).
//!
//! Three members have a die each. Stripe 0 has its columns on members 0 and 1, and P on member 2. Earlier writes leave three valid pages in
//! the first block of member 1, and one in that of member 2. Forced cleans of these take 1660 and 1220.

use super::*;
use crate::coordination::ToMember;

/// Duration of a clean of member 1.
pub(super) const CLEAN: TimeNs = 3 * 220 + 1000;

/// Writes that invalidate pages of members 1 and 2.
pub(super) const WORN: [Asked; 4] = [(0, 0, 1, true), (1000, 5, 1, true), (2000, 6, 1, true), (3000, 3, 1, true)];

/// Time at which member 1 begins to clean.
pub(super) const T: TimeNs = 10_000;

pub(super) fn planned(plan: impl Into<ReadPlan>) -> ArrayParams {
    let coordination = CoordinationParams {
        scheme: schemes::inclusive(),
        t_soft: GcStopThreshold::FreeBlocks(2),
        notify: Some(JointCollectionRequestTiming::AtStartThreshold),
        answer: ControllerAnswer::Never,
        coordinated_members: MemberSet::first_members(3),
        ..CoordinationParams::default()
    };
    ArrayParams { read_plan: plan.into(), coordination: Some(coordination), ..params(RaidLevel::Raid5, 3, 1) }
}

pub(super) fn soon(fast_fail_ns: u64) -> Avoid {
    Avoid { fast_fail: Duration { ns: fast_fail_ns }, ..Avoid::default() }
}

/// Ends and parts of requests, the array's counts of their reads, and the pages that each member has read for them.
pub(super) type Ran<Counters> = (Vec<TimeNs>, Vec<OperationTimeParts>, Counters, Vec<u64>);

/// Runs `asked` behind the earlier writes, with collection forced on members at some times.
pub(super) fn run_behind_writes<Counters>(
    params: &ArrayParams,
    forced: &[(TimeNs, u32)],
    asked: &[Asked],
    counters: impl Fn(&Outcome) -> Counters,
) -> Ran<Counters> {
    let array = |forced: &[(TimeNs, u32)]| {
        let mut array = Array::new(params, 1, ArrayExecutionOptions::default());
        forced
            .iter()
            .for_each(|&(at, member)| array.deliver(at, member, ToMember::ForceCollection(ForcedCollectionAmount::OneVictimPerDie)));
        array
    };
    let before = run_on(array(&[]), &WORN);
    let got = run_on(array(forced), &[&WORN, asked].concat());
    let pages = got.pages.iter().zip(&before.pages).map(|(all, before)| all.0 - before.0).collect();
    (got.done[WORN.len()..].to_vec(), got.parts[WORN.len()..].to_vec(), counters(&got), pages)
}

fn run_planned(params: &ArrayParams, forced: &[(TimeNs, u32)], asked: &[Asked]) -> Ran<PlannedReads> {
    run_behind_writes(params, forced, asked, |got| got.planned)
}

/// A read of column 1 of stripe 0.
pub(super) const READ_OF_1: Asked = (T + 500, 1, 1, false);

#[test]
fn a_read_goes_round_a_member_that_collects() {
    let (done, parts, counts, pages) = run_planned(&planned(soon(0)), &[(T, 1)], &[READ_OF_1]);
    assert_eq!((done, pages), (vec![T + 500 + READ_NS], vec![1, 0, 1]));
    assert_eq!(
        counts,
        PlannedReads {
            stripe_reads_with_one_strip_collecting: 1,
            stripe_reads_that_avoided_collection: 1,
            pages_added_to_read_around: 1,
            ..PlannedReads::default()
        }
    );
    assert_eq!(parts[0].parity_ns, 0);
    // Without the plan it waits.
    let home = ArrayParams { read_plan: ReadPlan::default(), ..planned(soon(0)) };
    let (done, parts, counts, pages) = run_planned(&home, &[(T, 1)], &[READ_OF_1]);
    assert_eq!((done, pages, counts), (vec![T + CLEAN + READ_NS], vec![0, 1, 0], PlannedReads::default()));
    assert_eq!(parts[0].collection_ns, CLEAN - 500);
}

#[test]
fn the_substitute_that_collects_is_waited_for_if_that_is_sooner() {
    let (done, parts, counts, pages) = run_planned(&planned(soon(0)), &[(T, 1), (T, 2)], &[READ_OF_1]);
    assert_eq!((done, pages), (vec![T + 1220 + READ_NS], vec![1, 0, 1]));
    assert_eq!(
        (counts.stripe_reads_with_two_busy_strips, counts.stripe_reads_that_avoided_collection, counts.stripe_reads_that_waited),
        (1, 1, 0)
    );
    assert_eq!(parts[0].collection_ns, 720);
    // If it collects as long, one read is better than two.
    let (done, _, counts, pages) = run_planned(&planned(soon(0)), &[(T, 1), (T + 440, 2)], &[READ_OF_1]);
    assert_eq!((done, pages), (vec![T + CLEAN + READ_NS], vec![0, 1, 0]));
    assert_eq!(
        (counts.stripe_reads_with_two_busy_strips, counts.stripe_reads_that_avoided_collection, counts.stripe_reads_that_waited),
        (1, 0, 1)
    );
}

#[test]
fn a_refusal_takes_its_time() {
    let (done, parts, ..) = run_planned(&planned(soon(5)), &[(T, 1)], &[READ_OF_1]);
    assert_eq!((done, parts[0].parity_ns), (vec![T + 505 + READ_NS], 5));
    // A substitute refuses, too. It collects until 1220, and the other column is read 10 after the plan.
    let (done, parts, ..) = run_planned(&planned(soon(5)), &[(T, 1), (T, 2)], &[READ_OF_1]);
    assert_eq!((done, parts[0].parity_ns, parts[0].collection_ns), (vec![T + 1220 + READ_NS], 10, 710));
    // Collection would be over sooner.
    let (done, ..) = run_planned(&planned(soon(CLEAN)), &[(T, 1)], &[READ_OF_1]);
    assert_eq!(done, [T + CLEAN + READ_NS]);
    // A wanted column that does not collect is read at once, and P later.
    let (done, parts, counts, pages) = run_planned(&planned(soon(5)), &[(T, 1)], &[(T + 500, 0, 2, false)]);
    assert_eq!((done, pages, counts.pages_added_to_read_around), (vec![T + 505 + READ_NS], vec![1, 0, 1], 0));
    assert_eq!(parts[0], OperationTimeParts { parity_ns: 5, transfer_ns: 7, flash_ns: 20, other_ns: 1, ..OperationTimeParts::default() });
}

#[test]
fn a_stripe_that_is_being_written_locks_reads_out() {
    // The write would read the other column, but that collects, so it reads its own and P. It holds the lock until its writes end.
    let write = (T + 490, 0, 1, true);
    let (done, _, counts, _) = run_planned(&planned(soon(0)), &[(T, 1)], &[write, READ_OF_1]);
    assert_eq!(done, [T + 490 + READ_WRITE, T + CLEAN + READ_NS]);
    assert_eq!((counts.stripe_reads_locked_out, counts.stripe_reads_that_waited, counts.writes_with_switched_parity_method), (1, 1, 1));
    // With a refusal it reads later.
    let (done, ..) = run_planned(&planned(soon(7)), &[(T, 1)], &[write]);
    assert_eq!(done, [T + 497 + READ_WRITE]);
    // Reads before writes can be left as they are.
    let planning = Avoid { pre_reads: false, ..soon(0) };
    let (done, _, counts, _) = run_planned(&planned(planning), &[(T, 1)], &[write]);
    assert_eq!((done, counts.writes_with_switched_parity_method), (vec![T + CLEAN + READ_WRITE], 0));
}

#[test]
fn a_read_begins_the_collection_that_it_goes_round() {
    // Twelve pages lie in three full blocks, and two blocks are free. Five writes of stripe 0 and others use them up on member 2.
    let mut params = ArrayParams { coordination: None, ..planned(soon(0)) };
    (params.ssd.geometry.blocks_per_plane, params.ssd.geometry.overprovisioned_blocks_per_plane) = (6, 3);
    let worn: Vec<Asked> = [0, 3, 6, 0, 3].iter().zip(0..).map(|(stripe, i)| (i * 1000, stripe * 2 + i % 2, 1, true)).collect();
    // Column 0 of stripe 1 lies on member 2, column 1 on member 0, and P on member 1.
    let read = [(20_000, 2, 1, false), (20_001, 2, 1, false)];
    let got = run(&params, &[worn.clone(), read.to_vec()].concat());
    assert_eq!((&got.done[5..], got.members[2].erases), (&[20_000 + READ_NS, 20_000 + 2 * READ_NS][..], 1));
    assert_eq!((got.planned.stripe_reads_that_avoided_collection, got.met[5..].to_vec()), (2, vec![0, 0]));
    let home = run(&ArrayParams { read_plan: ReadPlan::default(), ..params }, &[worn, read.to_vec()].concat());
    assert!(home.done[5] > 20_000 + 1000 && home.members[2].erases == 1, "{:?}", home.done);
}

#[test]
fn lost_strips_use_parity_up() {
    // Member 0 has failed, so that column 1 of stripe 0 has no substitute left.
    let failed = ArrayParams { failures: vec![MemberFailure { member: 0, at: Duration { ns: 5000 } }], ..planned(soon(0)) };
    let (done, _, counts, _) = run_planned(&failed, &[(T, 1)], &[READ_OF_1]);
    assert_eq!((done, counts.stripe_reads_that_waited, counts.stripe_reads_that_avoided_collection), (vec![T + CLEAN + READ_NS], 1, 0));
}

#[test]
fn another_copy_is_read_if_one_collects() {
    // Both members of a mirror hold each page, and stripe 0 is read on member 0.
    let mut mirror = planned(soon(3));
    (mirror.level, mirror.members) = (RaidLevel::Raid1, 2);
    mirror.coordination.as_mut().expect("it has one").coordinated_members = MemberSet::first_members(2);
    let run = |forced: &[(TimeNs, u32)]| run_planned(&mirror, forced, &[(T + 500, 0, 1, false)]);
    let (done, parts, counts, pages) = run(&[(T, 0)]);
    assert_eq!((done, parts[0].parity_ns, pages), (vec![T + 503 + READ_NS], 3, vec![0, 1]));
    assert_eq!(
        counts,
        PlannedReads { stripe_reads_with_one_strip_collecting: 1, stripe_reads_that_avoided_collection: 1, ..PlannedReads::default() }
    );
    // Both collect, the first one for less long.
    let (done, _, counts, pages) = run(&[(T, 0), (T + 400, 1)]);
    assert_eq!(
        (counts.stripe_reads_with_two_busy_strips, counts.stripe_reads_that_avoided_collection, counts.stripe_reads_that_waited, pages),
        (1, 0, 1, vec![1, 0])
    );
    let (later, _, counts, pages) = run(&[(T + 400, 0), (T, 1)]);
    assert_eq!((counts.stripe_reads_that_avoided_collection, counts.stripe_reads_that_waited, pages), (1, 1, vec![0, 1]));
    assert_eq!(done, later);
}

proptest! {
    /// Requests end as without the plan, as long as nothing collects.
    #[test]
    fn a_plan_changes_nothing_where_nothing_collects(
        level in prop::sample::select(vec![RaidLevel::Raid1, RaidLevel::Raid5, RaidLevel::Raid6]),
        mut asked in prop::collection::vec((0_u64..4000, 0_u64..10, 1_u32..4, any::<bool>()), 1..30),
    ) {
        asked.sort_unstable();
        // Times are multiples of a thousand, and no request arrives when another one does anything: there, reads may come later.
        asked.iter_mut().zip(0..).for_each(|(request, nth)| request.0 = request.0 * 1000 + nth);
        let mut params = params(level, 4, 2);
        let timing = &mut params.ssd.timing;
        for time in [&mut timing.page_read.ns, &mut timing.page_program.ns, &mut timing.page_transfer_ns, &mut timing.command_overhead.ns] {
            *time *= 1000;
        }
        let planned = ArrayParams { read_plan: Avoid::default().into(), ..params.clone() };
        let (home, avoid) = (run(&params, &asked), run(&planned, &asked));
        prop_assert_eq!(home.done, avoid.done);
        prop_assert_eq!(home.pages, avoid.pages);
        prop_assert_eq!(avoid.planned.stripe_reads_that_avoided_collection + avoid.planned.stripe_reads_that_waited, 0);
    }
}
