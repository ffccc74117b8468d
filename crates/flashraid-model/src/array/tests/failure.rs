//! Lost members, one or several.

use super::*;

#[test]
fn a_read_of_a_lost_page_costs_the_reads_of_its_stripe() {
    let got = run(
        &failing(RaidLevel::Raid5, 5, 1, 0, 1000),
        &[(999, 0, 1, false), (2000, 0, 1, false), (3000, 0, 3, false), (4000, 1, 3, false)],
    );
    assert_eq!(got.done, [1027, 2028, 3028, 4028]);
    // One read comes before the failure. The next reads the other columns and P, and so does the third, each page once. The last has no
    // lost page, so three reads.
    assert_eq!(got.pages, [(1, 0), (3, 0), (3, 0), (3, 0), (2, 0)]);
    assert_eq!((got.counters.pages_reconstructed, got.counters.pages_read_to_reconstruct), (2, 4 + 2));
    // RAID-6 does not need Q (on member 0, for member 1).
    let got = run(&failing(RaidLevel::Raid6, 6, 1, 1, 1000), &[(2000, 0, 1, false)]);
    assert_eq!(got.pages, [(0, 0), (0, 0), (1, 0), (1, 0), (1, 0), (1, 0)]);
    assert_eq!(got.health, ArrayHealth::Degraded);
}

#[test]
fn reads_that_reconstruct_share_the_lock_and_wait_for_writes() {
    let asked = [(2000, 1, 1, true), (2001, 0, 1, false), (2002, 0, 1, false), (2003, 1, 1, true)];
    let got = run(&failing(RaidLevel::Raid5, 5, 1, 0, 1000), &asked);
    // The first write reads member 1 and P. Both reads begin when it is done and read the members in turn. Then the second write follows.
    let reads_from = 2000 + READ_WRITE;
    assert_eq!(got.done, [reads_from, reads_from + READ_NS, reads_from + 2 * READ_NS, reads_from + 2 * READ_NS + READ_WRITE]);
    assert_eq!(got.counters.lock_waits, 3);
}

#[test]
fn writes_with_a_lost_strip() {
    let write = |member, first_page, pages| run(&failing(RaidLevel::Raid5, 5, 1, member, 1000), &[(2000, first_page, pages, true)]);
    // For the lost column, the other columns are read and P is written.
    let lost = write(0, 0, 1);
    assert_eq!(lost.pages, [(0, 0), (1, 0), (1, 0), (1, 0), (0, 1)]);
    assert_eq!((lost.done.as_slice(), lost.kinds()), ([2000 + READ_WRITE].as_slice(), [0, 1, 0, 0]));
    // For another column, old data and P are read.
    assert_eq!(write(0, 1, 1).pages, [(0, 0), (1, 1), (0, 0), (0, 0), (1, 1)]);
    // If P is lost, nothing is read.
    let bare = write(4, 0, 1);
    assert_eq!((bare.pages[0], bare.done[0], bare.kinds()), ((0, 1), 2000 + WRITE_NS, [0, 0, 0, 1]));
    assert_eq!(bare.traffic(), [0, 0, 0]);
    // A full stripe leaves the lost strip out.
    let full = write(0, 0, 4);
    assert_eq!((full.pages.clone(), full.kinds()), (vec![(0, 0), (0, 1), (0, 1), (0, 1), (0, 1)], [1, 0, 0, 0]));
    // RAID-6 with Q left reads and writes Q.
    let q = run(&failing(RaidLevel::Raid6, 7, 1, 6, 1000), &[(2000, 0, 1, true)]);
    assert_eq!((q.pages.clone(), q.traffic()), (vec![(1, 1), (1, 1), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)], [1, 1, 1]));
}

#[test]
fn what_was_issued_before_the_failure_is_served() {
    // Member 0 fails between the phases of a write. The read is served, and the write is left out.
    let got = run(&failing(RaidLevel::Raid5, 5, 1, 0, 10), &[(0, 0, 1, true), (5, 0, 1, false)]);
    assert_eq!(got.done, [READ_WRITE, 2 * READ_NS]);
    assert_eq!(got.pages, [(2, 0), (0, 0), (0, 0), (0, 0), (1, 1)]);
    // An arrival at the moment of the failure comes before it, and so does the end of a phase.
    let at = |failure| run(&failing(RaidLevel::Raid5, 5, 1, 0, failure), &[(0, 0, 1, true), (READ_NS, 0, 1, false)]).pages[0];
    assert_eq!((at(READ_NS - 1), at(READ_NS)), ((1, 0), (2, 1)));
}

fn failing_all(level: RaidLevel, members: u32, failures: &[(u32, TimeNs)]) -> ArrayParams {
    let failures = failures.iter().map(|&(member, at_ns)| MemberFailure { member, at: Duration { ns: at_ns } }).collect();
    ArrayParams { failures, ..params(level, members, 1) }
}

#[test]
fn raid6_goes_on_without_two_members() {
    // The strips of stripe 0 are Q 0 1 2 3 P.
    let two_columns = |asked: Asked| run(&failing_all(RaidLevel::Raid6, 6, &[(1, 1000), (2, 1000)]), &[asked]);
    let reads = |members: [u64; 6]| members.map(|pages| (pages, 0)).to_vec();
    let one = two_columns((2000, 0, 1, false));
    assert_eq!((one.done[0], one.pages.clone()), (2000 + READ_NS, reads([1, 0, 0, 1, 1, 1])));
    assert_eq!((one.counters.pages_reconstructed, one.counters.pages_read_to_reconstruct), (1, 4));
    let both = two_columns((2000, 0, 2, false));
    assert_eq!((both.pages.clone(), both.counters.pages_reconstructed), (reads([1, 0, 0, 1, 1, 1]), 2));
    // If a column and P are lost, the other columns and Q are read.
    let got = run(&failing_all(RaidLevel::Raid6, 6, &[(5, 900), (1, 1000)]), &[(2000, 0, 1, false)]);
    assert_eq!(got.pages, reads([1, 0, 1, 1, 1, 0]));
    // A write to one of two lost columns reads everything that is left of the stripe.
    let write = two_columns((2000, 0, 1, true));
    assert_eq!((write.done[0], write.kinds(), write.traffic()), (2000 + READ_WRITE, [0, 1, 0, 0], [2, 2, 2]));
    assert_eq!((write.pages[0], write.pages[3], write.pages[5]), ((1, 1), (1, 0), (1, 1)));
    // Without P and Q, only data are written.
    let bare = run(&failing_all(RaidLevel::Raid6, 6, &[(5, 1000), (0, 1000)]), &[(2000, 0, 1, true)]);
    assert_eq!((bare.done[0], bare.kinds(), bare.lost[0]), (2000 + WRITE_NS, [0, 0, 0, 1], 0));
}

#[test]
fn what_too_many_failures_take_is_lost_and_not_served() {
    // The strips of stripe 0 are 0 1 2 3 P. Two columns are lost, and a parity is left.
    let params = failing_all(RaidLevel::Raid5, 5, &[(0, 1000), (1, 1500)]);
    let asked = [(1200, 0, 1, false), (2000, 0, 1, false), (2000, 0, 4, false), (3000, 2, 1, true), (4000, 0, 1, true), (5000, 1, 2, true)];
    let got = run(&params, &asked);
    assert_eq!(got.done, [1200 + READ_NS, 2000, 2000 + READ_NS, 3000 + WRITE_NS, 4000, 5000 + WRITE_NS]);
    assert_eq!((got.lost.clone(), got.counters.pages_lost), (vec![0, 1, 2, 0, 1, 1], 5));
    assert_eq!((got.kinds(), got.traffic()), ([0, 0, 0, 3], [0, 0, 0]));
    // Data that are left are read and written, and parity is not.
    assert_eq!(got.pages, [(0, 0), (1, 0), (2, 2), (2, 0), (1, 0)]);
    // Both copies of a mirror are lost.
    let got = run(&failing_all(RaidLevel::Raid1, 2, &[(0, 1000), (1, 1000)]), &[(0, 0, 1, true), (2000, 0, 2, false), (2000, 0, 3, true)]);
    assert_eq!((got.lost.clone(), got.health), (vec![0, 2, 3], ArrayHealth::Degraded));
    assert_eq!(got.done, [WRITE_NS, 2000, 2000]);
}

#[test]
fn one_of_each_pair_may_fail() {
    let mut params = failing_all(RaidLevel::Raid10, 4, &[(0, 1000), (3, 1000)]);
    let got = run(&params, &[(2000, 0, 4, false), (3000, 0, 4, true)]);
    assert_eq!((got.lost, got.pages), (vec![0, 0], vec![(0, 0), (2, 2), (2, 2), (0, 0)]));
    // Both are rebuilt at a time, each from its copy. The second of a stripe waits for the first, which holds the stripe's lock. With one
    // spare, only the first of the list is rebuilt.
    params = rebuilt(params, 0, 1000, 1);
    let got = run(&params, &[(0, 0, 1, false), (1100, 0, 1, false)]);
    assert_eq!(
        got.failures.iter().map(|f| (f.spare_member, f.rebuild_ended_ns)).collect::<Vec<_>>(),
        [(Some(4), Some(12_236)), (Some(5), Some(12_236 + 236))]
    );
    assert_eq!(got.pages[4..], [(0, 12), (0, 12)]);
    params.rebuild.as_mut().unwrap().settings.spares = 1;
    let got = run(&params, &[(0, 0, 1, false), (1100, 0, 1, false)]);
    assert_eq!((got.failures[0].strips_rebuilt, got.failures[1].spare_member, got.health), (12, None, ArrayHealth::Degraded));
    assert_eq!(got.pages.len(), 5);
}

#[test]
fn a_second_failure_during_rebuilding_takes_what_is_not_rebuilt() {
    // The strips of member 1 begin at 1000, 2000, …. Three are there when member 0 fails. Their column 0 is rebuilt from the first spare
    // and P.
    let params = rebuilt(failing_all(RaidLevel::Raid4, 3, &[(1, 1000), (0, 3500)]), 0, 1000, 1);
    let got = run(&params, &[(0, 0, 1, false), (3600, 4, 2, false), (3600, 6, 2, false)]);
    let progress = |at: usize| (got.failures[at].strips_rebuilt, got.failures[at].strips_lost, got.failures[at].rebuild_ended_ns);
    // Strips that are given up take no time except the time from one begin to the next.
    assert_eq!((progress(0), progress(1)), ((3, 9, Some(12_000)), (3, 9, Some(14_500))));
    assert_eq!((got.health, got.lost.clone()), (ArrayHealth::Rebuilt, vec![0, 0, 2]));
    assert_eq!(got.done[1..], [3600 + READ_NS, 3600]);
    assert_eq!((got.pages[3].1, got.pages[4].1), (3, 3));
    assert_eq!((got.counters.rebuild_pages_read, got.counters.rebuild_pages_written), (12, 6));
}
