//! Members whose answers come late (rules 250 to 252), in arrays with parity, copies and failures.

use super::hedged::late_after;
use super::planned::{READ_OF_1, T, planned, run_behind_writes, soon};
use super::*;

/// RAID-5 of three members, of which member 1 is slow from 500 to before 20000: its flash takes ten times as long.
fn slow() -> ArrayParams {
    let slow = SlowMemberPeriod {
        member: 1,
        from: Duration { ns: 500 },
        until: Some(Duration { ns: 20_000 }),
        factor: 10.0,
        add: Duration { ns: 0 },
        share: Fraction(1.0),
        stall: None,
        every: None,
    };
    ArrayParams { slow: vec![slow], ..params(RaidLevel::Raid5, 3, 1) }
}

/// Nine further array reads of 20.
const LATE_READ_NS: u64 = READ_NS + 9 * 20;
/// Nine further programs of 200.
const LATE_WRITE_NS: u64 = WRITE_NS + 9 * 200;

#[test]
fn its_reads_and_writes_come_late_and_those_of_others_do_not() {
    // Stripe 0 has its columns on members 0 and 1.
    let asked = [(0, 1, 1, false), (600, 1, 1, false), (700, 0, 1, false), (800, 0, 2, false), (1000, 0, 2, true), (20_000, 1, 1, false)];
    let got = run(&slow(), &asked);
    let took: Vec<u64> = got.done.iter().zip(&asked).map(|(done, asked)| done - asked.0).collect();
    assert_eq!(took, [READ_NS, LATE_READ_NS, READ_NS, LATE_READ_NS, LATE_WRITE_NS, READ_NS]);
    assert_eq!(got.parts[1], OperationTimeParts { transfer_ns: 7, flash_ns: 200, other_ns: 1, ..OperationTimeParts::default() });
    let late = |late_answers, late_ns| InjectedSlownessCounters { late_answers, late_ns };
    assert_eq!(got.slow, [late(0, 0), late(3, 180 + 180 + 1800), late(0, 0)]);
}

#[test]
fn nothing_waits_in_the_member_for_a_late_answer() {
    let got = run(&slow(), &[(1000, 1, 1, false), (1000, 1, 1, false)]);
    assert_eq!(got.done, [1000 + LATE_READ_NS, 1000 + READ_NS + LATE_READ_NS]);
    assert_eq!(got.parts[1].queue_ns, READ_NS);
}

#[test]
fn a_write_waits_for_the_late_read_before_it() {
    // It reads column 1, then writes column 0 and P.
    let got = run(&slow(), &[(1000, 0, 1, true), (1001, 0, 1, true)]);
    assert_eq!(got.done, [1000 + LATE_READ_NS + WRITE_NS, 1000 + 2 * (LATE_READ_NS + WRITE_NS)]);
    assert_eq!(got.parts[0].parity_ns, LATE_READ_NS);
}

#[test]
fn answers_wait_for_the_end_of_a_stall() {
    let mut params = slow();
    params.slow[0] =
        SlowMemberPeriod { factor: 1.0, stall: Some(Duration { ns: 100 }), every: Some(Duration { ns: 1000 }), ..params.slow[0] };
    // Stalls begin at 500, 1500 and so on.
    let asked = [(400, 1, 1, false), (480, 1, 1, false), (1450, 0, 2, false), (1572, 1, 1, false)];
    assert_eq!(run(&params, &asked).done, [400 + READ_NS, 600, 1450 + READ_NS, 1600]);
    let got = run(&params, &[(1490, 0, 2, false)]);
    assert_eq!((got.done[0], got.parts[0].other_ns), (1600, 1 + 1600 - 1490 - READ_NS));
}

#[test]
fn a_late_answer_is_read_elsewhere_and_collection_alone_is_gone_round() {
    let hedge = ArrayParams { read_plan: late_after(40).into(), ..slow() };
    let got = run(&hedge, &[(1000, 1, 1, false)]);
    assert_eq!((got.done[0], got.hedged.stripe_reads_answered_by_hedge, got.hedged.pages_read_in_vain), (1040 + READ_NS, 1, 1));
    let avoid = ArrayParams { slow: slow().slow, ..planned(soon(0)) };
    let (done, _, counts, pages) = run_behind_writes(&avoid, &[], &[READ_OF_1], |got| got.planned);
    assert_eq!((done, pages, counts.stripe_reads_that_avoided_collection), (vec![T + 500 + LATE_READ_NS], vec![0, 1, 0], 0));
}

#[test]
fn mirrors_and_rebuilding_meet_it() {
    let mirror = ArrayParams { level: RaidLevel::Raid1, members: 2, ..slow() };
    // Stripe 0 is read from member 0, stripe 1 from member 1, and both are written.
    let got = run(&mirror, &[(1000, 0, 1, false), (2000, 1, 1, false), (5000, 0, 1, true)]);
    assert_eq!(got.done, [1000 + READ_NS, 2000 + LATE_READ_NS, 5000 + LATE_WRITE_NS]);
    // Member 1 fails, and its spare is not slow. Nor are the others, which are read to rebuild it.
    let failed = ArrayParams { failures: vec![MemberFailure { member: 1, at: Duration { ns: 1000 } }], ..slow() };
    let rebuilt = rebuilt(failed, 0, 0, 1);
    let got = run(&rebuilt, &[(15_000, 1, 1, false)]);
    assert_eq!((got.done[0], got.slow.iter().map(|slow| slow.late_answers).sum::<u64>()), (15_000 + READ_NS, 0));
}
