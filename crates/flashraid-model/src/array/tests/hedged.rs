//! Reads that are also made elsewhere when they take long (rules 247 to 249).
//!
//! The arrays and the collection in them are those of the tests of planned reads.

use super::planned::{CLEAN, READ_OF_1, Ran, T, planned, run_behind_writes};
use super::*;

/// RAID-5 of three members, of which reads are late after so many nanoseconds.
fn hedging(after_ns: u64) -> ArrayParams {
    planned(late_after(after_ns))
}

pub(super) fn late_after(after_ns: u64) -> Hedge {
    Hedge { after: HedgeDelay::Time(Duration { ns: after_ns }), ..Hedge::default() }
}

fn run_hedged(params: &ArrayParams, forced: &[(TimeNs, u32)], asked: &[Asked]) -> Ran<HedgedReads> {
    run_behind_writes(params, forced, asked, |got| got.hedged)
}

#[test]
fn a_late_read_is_made_elsewhere_and_the_first_answer_counts() {
    let (done, parts, counts, pages) = run_hedged(&hedging(100), &[(T, 1)], &[READ_OF_1]);
    assert_eq!((done, pages), (vec![T + 600 + READ_NS], vec![1, 1, 1]));
    assert_eq!(
        counts,
        HedgedReads {
            stripe_reads: 1,
            hedged_stripe_reads: 1,
            stripe_reads_answered_by_hedge: 1,
            pages_read_elsewhere: 2,
            pages_read_in_vain: 1,
            ..HedgedReads::default()
        }
    );
    assert_eq!(parts[0], OperationTimeParts { parity_ns: 100, transfer_ns: 7, flash_ns: 20, other_ns: 1, ..OperationTimeParts::default() });
    // It is nearly over: what is read elsewhere comes too late.
    let (done, parts, counts, pages) = run_hedged(&hedging(CLEAN - 500), &[(T, 1)], &[READ_OF_1]);
    assert_eq!((done, pages), (vec![T + CLEAN + READ_NS], vec![1, 1, 1]));
    assert_eq!(
        (counts.hedged_stripe_reads, counts.stripe_reads_answered_by_hedge, counts.pages_read_in_vain),
        (1, 0, 2),
        "both end at the same nanosecond"
    );
    assert_eq!((parts[0].collection_ns, parts[0].parity_ns), (CLEAN - 500, 0));
}

#[test]
fn a_read_that_ends_at_that_nanosecond_is_not_late() {
    let read: Asked = (T, 1, 1, false);
    let (done, _, counts, pages) = run_hedged(&hedging(READ_NS), &[], &[read]);
    assert_eq!((done, counts.hedged_stripe_reads, pages), (vec![T + READ_NS], 0, vec![0, 1, 0]));
    let (done, _, counts, pages) = run_hedged(&hedging(READ_NS - 1), &[], &[read]);
    assert_eq!((done, counts.hedged_stripe_reads, counts.stripe_reads_answered_by_hedge, pages), (vec![T + READ_NS], 1, 0, vec![1, 1, 1]));
    assert_eq!(counts.pages_read_in_vain, 2);
}

#[test]
fn what_has_ended_is_not_read_again() {
    // Both columns are wanted, and only member 1 is late, so that P alone is read elsewhere.
    let (done, _, counts, pages) = run_hedged(&hedging(100), &[(T, 1)], &[(T + 500, 0, 2, false)]);
    assert_eq!((done, pages), (vec![T + 600 + READ_NS], vec![1, 1, 1]));
    assert_eq!((counts.pages_read_elsewhere, counts.pages_read_in_vain), (1, 1));
    // Two late columns are more than P replaces. Stripe 1 has its columns on members 2 and 0, and P on member 1.
    let (done, _, counts, _) = run_hedged(&hedging(10), &[], &[(T, 0, 2, false)]);
    assert_eq!((done, counts.stripe_reads_without_other_way, counts.hedged_stripe_reads), (vec![T + READ_NS], 1, 0));
}

#[test]
fn a_stripe_that_is_being_written_locks_late_reads_out() {
    let write = (T + 590, 0, 1, true);
    let (done, _, counts, _) = run_hedged(&hedging(100), &[(T, 1)], &[READ_OF_1, write]);
    // The write reads the other column, which collects.
    assert_eq!(done[0], T + CLEAN + READ_NS);
    assert_eq!((counts.stripe_reads_locked_out, counts.hedged_stripe_reads), (1, 0));
    // A read elsewhere has a share of the lock until the part is over, also if it is read in vain.
    let write = (T + 605, 0, 1, true);
    let (done, parts, counts, _) = run_hedged(&hedging(100), &[(T, 1)], &[READ_OF_1, write]);
    assert_eq!((done[0], counts.stripe_reads_answered_by_hedge), (T + 600 + READ_NS, 1));
    assert_eq!(parts[1].parity_ns + parts[1].collection_ns, done[1] - write.0 - WRITE_NS);
}

#[test]
fn the_other_copy_is_read() {
    let mut mirror = hedging(50);
    (mirror.level, mirror.members) = (RaidLevel::Raid1, 2);
    mirror.coordination.as_mut().expect("it has one").coordinated_members = MemberSet::first_members(2);
    let (done, parts, counts, pages) = run_hedged(&mirror, &[(T, 0)], &[(T + 500, 0, 1, false)]);
    assert_eq!((done, parts[0].parity_ns, pages), (vec![T + 550 + READ_NS], 50, vec![1, 1]));
    assert_eq!((counts.stripe_reads_answered_by_hedge, counts.pages_read_elsewhere, counts.pages_read_in_vain), (1, 1, 1));
    // Both collect, and the first one is over sooner.
    let (done, _, counts, pages) = run_hedged(&mirror, &[(T, 0), (T + 400, 1)], &[(T + 500, 0, 1, false)]);
    assert_eq!(
        (counts.hedged_stripe_reads, counts.stripe_reads_answered_by_hedge, counts.pages_read_in_vain, pages),
        (1, 0, 1, vec![1, 1])
    );
    let (home, ..) =
        run_hedged(&ArrayParams { read_plan: ReadPlan::default(), ..mirror.clone() }, &[(T, 0), (T + 400, 1)], &[(T + 500, 0, 1, false)]);
    assert_eq!(done, home);
    // No copy is left.
    let failed = ArrayParams { failures: vec![MemberFailure { member: 1, at: Duration { ns: 5000 } }], ..mirror };
    let (_, _, counts, _) = run_hedged(&failed, &[(T, 0)], &[(T + 500, 0, 1, false)]);
    assert_eq!((counts.stripe_reads_without_other_way, counts.hedged_stripe_reads), (1, 0));
}

#[test]
fn without_enough_reads_nothing_is_late() {
    let mut params = planned(Hedge { learn: 3, ..Hedge::default() });
    let reads: Vec<Asked> = (0..4).map(|nth| (T - 4000 + nth * 1000, 1, 1, false)).collect();
    let late = [&reads[..], &[READ_OF_1]].concat();
    // Its three last reads took 28 each.
    let (done, _, counts, _) = run_hedged(&params, &[(T, 1)], &late);
    assert_eq!((done[4], counts.stripe_reads_answered_by_hedge), (T + 500 + 2 * READ_NS, 1));
    params.read_plan = Hedge { learn: 5, ..Hedge::default() }.into();
    let (done, _, counts, _) = run_hedged(&params, &[(T, 1)], &late);
    assert_eq!((done[4], counts.hedged_stripe_reads), (T + CLEAN + READ_NS, 0));
}

/// The first copy collects, so that its read waits until the other copy has answered. A write to both copies then waits for collection, and
/// for that read only if it is still there.
#[test]
fn a_waiting_read_that_nobody_needs_leaves_the_queue() {
    // The earlier writes have left two valid pages in the first block of both copies.
    const CLEAN_OF_TWO: TimeNs = 2 * 220 + 1000;
    let mut mirror = hedging(50);
    (mirror.level, mirror.members) = (RaidLevel::Raid1, 2);
    mirror.coordination.as_mut().expect("it has one").coordinated_members = MemberSet::first_members(2);
    let asked: [Asked; 2] = [(T + 500, 0, 1, false), (T + 700, 0, 1, true)];
    let (done, _, counts, pages) = run_hedged(&mirror, &[(T, 0)], &asked);
    assert_eq!((done, pages), (vec![T + 550 + READ_NS, T + CLEAN_OF_TWO + READ_NS + WRITE_NS], vec![1, 1]));
    assert_eq!(counts.pages_read_in_vain, 1);
    mirror.read_plan = Hedge { cancel: UnneededReadCancellation::Queued, ..late_after(50) }.into();
    let (done, _, counts, pages) = run_hedged(&mirror, &[(T, 0)], &asked);
    assert_eq!((done, pages), (vec![T + 550 + READ_NS, T + CLEAN_OF_TWO + WRITE_NS], vec![0, 1]));
    assert_eq!((counts.stripe_reads_answered_by_hedge, counts.pages_read_in_vain), (1, 1), "what was cancelled counts as read in vain");
}

#[test]
fn a_read_in_work_is_not_cancelled() {
    let params = planned(Hedge { cancel: UnneededReadCancellation::Queued, ..late_after(READ_NS - 1) });
    // The dies of the other members are idle, so that the reads there begin at once, one nanosecond before the first answer.
    let (done, _, counts, pages) = run_hedged(&params, &[], &[(T, 1, 1, false)]);
    assert_eq!((done, pages), (vec![T + READ_NS], vec![1, 1, 1]));
    assert_eq!((counts.hedged_stripe_reads, counts.stripe_reads_answered_by_hedge, counts.pages_read_in_vain), (1, 0, 2));
}

proptest! {
    /// Whenever members fail, every request ends once, by the first of its two sets of reads, and no lock remains.
    #[test]
    fn nothing_is_lost_whenever_members_fail(
        level in prop::sample::select(vec![RaidLevel::Raid1, RaidLevel::Raid5, RaidLevel::Raid6]),
        mut asked in prop::collection::vec((0_u64..2000, 0_u64..10, 1_u32..4, any::<bool>()), 1..40),
        at_ns in 0_u64..2500,
        after_ns in 1_u64..300,
        rebuilds in any::<bool>(),
    ) {
        asked.sort_unstable();
        let mut params = failing(level, 4, 2, 1, at_ns);
        if rebuilds {
            params = rebuilt(params, 100, 20, 2);
        }
        let home = run(&params, &asked);
        params.read_plan = late_after(after_ns).into();
        let got = run(&params, &asked);
        prop_assert_eq!(got.done.len(), asked.len());
        prop_assert_eq!(&got.lost, &home.lost);
        prop_assert!(got.hedged.stripe_reads_answered_by_hedge <= got.hedged.hedged_stripe_reads
            && got.hedged.pages_read_in_vain >= got.hedged.stripe_reads_answered_by_hedge);
    }
}
