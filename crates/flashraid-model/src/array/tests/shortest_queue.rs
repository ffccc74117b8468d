//! Reads of the copy with the shortest queue (rules 281 and 282).

use super::*;

fn balancing(level: RaidLevel, members: u32) -> ArrayParams {
    ArrayParams { read_plan: ShortestQueue::default().into(), ..params(level, members, 1) }
}

#[test]
fn reads_go_where_fewest_operations_are_in_progress() {
    // Stripe 0 has its turn on member 0, and so has stripe 2. The second read finds one read there and none on member 1.
    let got = run(&balancing(RaidLevel::Raid1, 2), &[(1000, 0, 1, false), (1001, 2, 1, false)]);
    assert_eq!((got.done, got.pages), (vec![1000 + READ_NS, 1001 + READ_NS], vec![(1, 0), (1, 0)]));
    assert_eq!(got.balanced, BalancedReads { strip_reads: 2, strip_reads_made_elsewhere: 1, strip_reads_with_equal_queues: 1 });
    // Without the plan it waits.
    let home = run(&params(RaidLevel::Raid1, 2, 1), &[(1000, 0, 1, false), (1001, 2, 1, false)]);
    assert_eq!((home.done[1], home.pages), (1000 + 2 * READ_NS, vec![(2, 0), (0, 0)]));
}

#[test]
fn reads_of_one_nanosecond_see_each_other_and_what_has_just_ended_is_gone() {
    let got = run(&balancing(RaidLevel::Raid1, 3), &[(1000, 0, 1, false), (1000, 0, 1, false), (1000, 0, 1, false)]);
    assert_eq!((got.done, got.pages), (vec![1000 + READ_NS; 3], vec![(1, 0); 3]));
    // The first read has ended at the nanosecond at which the second arrives.
    let got = run(&balancing(RaidLevel::Raid1, 2), &[(1000, 0, 1, false), (1000 + READ_NS, 0, 1, false)]);
    assert_eq!((got.pages, got.balanced.strip_reads_with_equal_queues), (vec![(2, 0), (0, 0)], 2));
}

#[test]
fn a_write_that_takes_longer_on_one_copy_keeps_reads_away() {
    let mut slow = balancing(RaidLevel::Raid1, 2);
    slow.slow = vec![SlowMemberPeriod {
        member: 0,
        from: Duration { ns: 0 },
        until: None,
        factor: 1.0,
        add: Duration { ns: 5000 },
        share: Fraction(1.0),
        stall: None,
        every: None,
    }];
    let got = run(&slow, &[(0, 4, 1, true), (1000, 0, 1, false)]);
    assert_eq!((got.done[1], got.pages), (1000 + READ_NS, vec![(0, 1), (1, 1)]));
}

#[test]
fn pairs_choose_among_themselves_and_parity_leaves_no_choice() {
    // Strips 0 and 1 of stripe 0 lie on members 0 and 1, and on members 2 and 3.
    let got = run(&balancing(RaidLevel::Raid10, 4), &[(1000, 0, 2, false), (1001, 0, 2, false)]);
    assert_eq!(got.pages, [(1, 0); 4]);
    let got = run(&balancing(RaidLevel::Raid5, 3), &[(1000, 0, 1, false), (1001, 0, 1, false)]);
    assert_eq!((got.done[1], got.balanced), (1000 + 2 * READ_NS, BalancedReads::default()));
}
