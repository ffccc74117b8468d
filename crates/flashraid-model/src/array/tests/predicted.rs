//! Reads that are made elsewhere at once if they are called slow (rules 253 to 255).
//!
//! The arrays and the collection in them are those of the tests of planned reads.

use super::hedged::late_after;
use super::planned::{CLEAN, READ_OF_1, Ran, T, planned, run_behind_writes, soon};
use super::*;

/// A predictor that never errs and costs nothing, for which each wait is slow.
fn exact() -> Predict {
    let nothing = Duration { ns: 0 };
    Predict { slow: nothing, false_accept: Fraction(0.0), false_reject: Fraction(0.0), cost: nothing, ..Predict::default() }
}

fn run_predicted(params: &ArrayParams, forced: &[(TimeNs, u32)], asked: &[Asked]) -> Ran<PredictedReads> {
    run_behind_writes(params, forced, asked, |got| got.predicted)
}

#[test]
fn an_exact_predictor_does_as_the_plan_that_goes_round() {
    let (done, parts, counts, pages) = run_predicted(&planned(exact()), &[(T, 1)], &[READ_OF_1]);
    assert_eq!((done, pages), (vec![T + 500 + READ_NS], vec![1, 0, 1]));
    assert_eq!(parts[0], OperationTimeParts { transfer_ns: 7, flash_ns: 20, other_ns: 1, ..OperationTimeParts::default() });
    assert_eq!(
        counts,
        PredictedReads {
            slow_reads_called_slow: 1,
            fast_reads_called_fast: 2,
            stripe_reads: 1,
            stripe_reads_called_slow: 1,
            stripe_reads_made_elsewhere: 1,
            pages_added: 1,
            ..PredictedReads::default()
        }
    );
    for asked in [READ_OF_1, (T + 500, 0, 2, false), (T + 500, 0, 4, false)] {
        let avoid = planned(soon(0));
        let (expected, expected_parts, counts, expected_pages) = run_behind_writes(&avoid, &[(T, 1)], &[asked], |got| got.planned);
        let (done, parts, predicted, pages) = run_predicted(&planned(exact()), &[(T, 1)], &[asked]);
        assert_eq!((done, parts, pages), (expected, expected_parts, expected_pages));
        assert_eq!(
            (predicted.stripe_reads_made_elsewhere, predicted.pages_added),
            (counts.stripe_reads_that_avoided_collection, counts.pages_added_to_read_around)
        );
    }
}

#[test]
fn waits_up_to_the_threshold_are_not_slow() {
    let left = CLEAN - 500;
    let is_made_elsewhere = |slow_ns| {
        let (done, _, counts, _) = run_predicted(&planned(Predict { slow: Duration { ns: slow_ns }, ..exact() }), &[(T, 1)], &[READ_OF_1]);
        assert_eq!(counts.stripe_reads, 1);
        (done[0], counts.stripe_reads_made_elsewhere > 0)
    };
    assert_eq!(is_made_elsewhere(left - 1), (T + 500 + READ_NS, true));
    assert_eq!(is_made_elsewhere(left), (T + CLEAN + READ_NS, false));
}

#[test]
fn a_prediction_costs_time_and_errs() {
    let (done, parts, ..) = run_predicted(&planned(Predict { cost: Duration { ns: 30 }, ..exact() }), &[(T, 1)], &[READ_OF_1]);
    assert_eq!((done, parts[0].parity_ns), (vec![T + 530 + READ_NS], 30));
    // It is called fast, and waits.
    let (done, _, counts, pages) = run_predicted(&planned(Predict { false_accept: Fraction(1.0), ..exact() }), &[(T, 1)], &[READ_OF_1]);
    assert_eq!((done, pages, counts.slow_reads_called_fast), (vec![T + CLEAN + READ_NS], vec![0, 1, 0], 1));
    // All fast ones are called slow, so that there is no other way.
    let (done, _, counts, pages) = run_predicted(&planned(Predict { false_reject: Fraction(1.0), ..exact() }), &[], &[READ_OF_1]);
    assert_eq!((done, pages), (vec![T + 500 + READ_NS], vec![0, 1, 0]));
    assert_eq!((counts.fast_reads_called_slow, counts.stripe_reads_called_slow, counts.stripe_reads_made_elsewhere), (3, 1, 0));
}

#[test]
fn a_substitute_that_is_slow_is_not_taken_and_hedging_follows() {
    let (done, _, counts, pages) = run_predicted(&planned(exact()), &[(T, 1), (T, 2)], &[READ_OF_1]);
    assert_eq!((done, pages), (vec![T + CLEAN + READ_NS], vec![0, 1, 0]));
    assert_eq!((counts.slow_reads_called_slow, counts.stripe_reads_called_slow, counts.stripe_reads_made_elsewhere), (2, 1, 0));
    // Then it is late, and P comes when it has collected.
    let params = planned(Predict { then_hedge: true, hedge: late_after(100), ..exact() });
    let (done, _, hedged, _) = run_behind_writes(&params, &[(T, 1), (T, 2)], &[READ_OF_1], |got| got.hedged);
    assert_eq!((done, hedged.hedged_stripe_reads, hedged.stripe_reads_answered_by_hedge), (vec![T + 1220 + READ_NS], 1, 1));
    // What is read elsewhere at once is not late.
    let (done, _, hedged, pages) = run_behind_writes(&params, &[(T, 1)], &[READ_OF_1], |got| got.hedged);
    assert_eq!((done, hedged.hedged_stripe_reads, pages), (vec![T + 500 + READ_NS], 0, vec![1, 0, 1]));
}

#[test]
fn a_stripe_that_is_being_written_locks_predicted_reads_out() {
    let write = (T + 490, 0, 1, true);
    let (done, _, counts, _) = run_predicted(&planned(exact()), &[(T, 1)], &[write, READ_OF_1]);
    // The write reads the other column first.
    assert_eq!(done[1], T + CLEAN + 2 * READ_NS);
    assert_eq!((counts.stripe_reads_locked_out, counts.stripe_reads_made_elsewhere), (1, 0));
}

#[test]
fn the_first_copy_that_is_called_fast_is_read() {
    let mut mirror = planned(exact());
    (mirror.level, mirror.members) = (RaidLevel::Raid1, 2);
    mirror.coordination.as_mut().expect("it has one").coordinated_members = MemberSet::first_members(2);
    let read = [(T + 500, 0, 1, false)];
    let (done, _, counts, pages) = run_predicted(&mirror, &[(T, 0)], &read);
    assert_eq!((done, pages, counts.stripe_reads_made_elsewhere), (vec![T + 500 + READ_NS], vec![0, 1], 1));
    // Both copies collect, so that none is called fast.
    let (done, _, counts, pages) = run_predicted(&mirror, &[(T, 0), (T, 1)], &read);
    let home = ArrayParams { read_plan: ReadPlan::default(), ..mirror };
    let (expected, ..) = run_predicted(&home, &[(T, 0), (T, 1)], &read);
    assert_eq!((done, pages, counts.stripe_reads_made_elsewhere), (expected, vec![1, 0], 0));
}

#[test]
fn lost_columns_and_slow_ones_are_replaced_together() {
    let failed = |level, members| ArrayParams {
        failures: vec![MemberFailure { member: 0, at: Duration { ns: 5000 } }],
        level,
        members,
        ..planned(exact())
    };
    // With one parity strip, the other column is waited for.
    let (done, _, counts, _) = run_predicted(&failed(RaidLevel::Raid5, 3), &[(T, 1)], &[(T + 500, 0, 1, false)]);
    assert_eq!((done, counts.stripe_reads_made_elsewhere), (vec![T + CLEAN + READ_NS], 0));
}

proptest! {
    /// Whenever members fail, every request ends once, and no lock remains.
    #[test]
    fn nothing_is_lost_whenever_members_fail(
        level in prop::sample::select(vec![RaidLevel::Raid1, RaidLevel::Raid5, RaidLevel::Raid6]),
        mut asked in prop::collection::vec((0_u64..2000, 0_u64..10, 1_u32..4, any::<bool>()), 1..40),
        at_ns in 0_u64..2500,
        (slow_ns, false_accept, false_reject) in (0_u64..300, 0.0..1.0, 0.0..1.0),
        rebuilds in any::<bool>(),
        then_hedge in any::<bool>(),
    ) {
        asked.sort_unstable();
        let mut params = failing(level, 4, 2, 1, at_ns);
        if rebuilds {
            params = rebuilt(params, 100, 20, 2);
        }
        let home = run(&params, &asked);
        params.read_plan = Predict {
            slow: Duration { ns: slow_ns },
            false_accept: Fraction(false_accept),
            false_reject: Fraction(false_reject),
            then_hedge,
            hedge: late_after(60),
            ..exact()
        }.into();
        let got = run(&params, &asked);
        prop_assert_eq!(got.done.len(), asked.len());
        prop_assert_eq!(&got.lost, &home.lost);
        let PredictedReads { stripe_reads, stripe_reads_called_slow, stripe_reads_made_elsewhere, stripe_reads_locked_out, .. } = got.predicted;
        prop_assert!(stripe_reads_called_slow <= stripe_reads);
        prop_assert!(stripe_reads_made_elsewhere + stripe_reads_locked_out <= stripe_reads_called_slow);
    }
}
