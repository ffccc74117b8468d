//! Reads and writes of stripes, and their locks.

use super::*;

#[test]
fn a_full_stripe_is_written_without_reading() {
    // There are two data columns of two pages, and their parity.
    let got = run(&params(RaidLevel::Raid5, 3, 2), &[(0, 0, 4, true)]);
    assert_eq!(got.done, [2 * WRITE_NS]);
    assert_eq!(got.pages, [(0, 2); 3]);
    assert_eq!((got.kinds(), got.traffic()), ([1, 0, 0, 0], [0, 0, 2]));
}

#[test]
fn small_writes_read_old_data_and_parity_large_ones_the_rest() {
    let small = run(&params(RaidLevel::Raid5, 5, 1), &[(0, 0, 1, true)]);
    assert_eq!(small.done, [READ_WRITE]);
    assert_eq!(small.pages, [(1, 1), (0, 0), (0, 0), (0, 0), (1, 1)]);
    assert_eq!((small.kinds(), small.traffic()), ([0, 0, 1, 0], [1, 1, 1]));

    let large = run(&params(RaidLevel::Raid5, 5, 1), &[(0, 0, 3, true)]);
    assert_eq!(large.done, [READ_WRITE]);
    assert_eq!(large.pages, [(0, 1), (0, 1), (0, 1), (1, 0), (0, 1)]);
    assert_eq!((large.kinds(), large.traffic()), ([0, 1, 0, 0], [1, 0, 1]));

    // RAID-4 always has parity on the last member, RAID-5 in stripe 1 on the one before.
    let second = |level| run(&params(level, 5, 1), &[(0, 4, 1, true)]).pages;
    assert_eq!(second(RaidLevel::Raid4), [(1, 1), (0, 0), (0, 0), (0, 0), (1, 1)]);
    assert_eq!(second(RaidLevel::Raid5), [(0, 0), (0, 0), (0, 0), (1, 1), (1, 1)]);
}

#[test]
fn without_parity_a_write_goes_to_its_own_strip_alone() {
    let without_parity = |level, asked: &[Asked]| {
        let mut array = Array::new(&params(level, 5, 1), 1, ArrayExecutionOptions::default());
        array.untimed_access().stop_keeping_parity();
        run_on(array, asked)
    };
    // The second write to the same stripe waits for no lock, because it goes to another member.
    let got = without_parity(RaidLevel::Raid5, &[(0, 0, 1, true), (0, 1, 1, true)]);
    assert_eq!(got.done, [WRITE_NS; 2]);
    assert_eq!(got.pages, [(0, 1), (0, 1), (0, 0), (0, 0), (0, 0)]);
    assert_eq!((got.kinds(), got.traffic()), ([0; 4], [0; 3]));
    // Data lie where they lay: stripe 1 of RAID-5 has its parity on member 3.
    assert_eq!(without_parity(RaidLevel::Raid5, &[(0, 4, 1, true)]).pages, [(0, 0), (0, 0), (0, 0), (0, 0), (0, 1)]);
    // An array without parity is as it was.
    assert_eq!(without_parity(RaidLevel::Raid0, &[(0, 0, 1, true)]).done, [WRITE_NS]);
}

#[test]
fn pages_of_several_strips_share_parity_by_offset() {
    // The second page of column 0 and the first of column 1 are two offsets, so two pages of parity.
    let got = run(&params(RaidLevel::Raid5, 5, 2), &[(0, 1, 2, true)]);
    assert_eq!((got.kinds(), got.traffic()), ([0, 0, 1, 0], [2, 2, 2]));
    assert_eq!(got.done, [2 * READ_NS + 2 * WRITE_NS]);
    // For both pages of column 0 and the first of column 1, read-modify-write reads 3 + 2 pages, and reconstruct 1 + 2 · 2.
    let got = run(&params(RaidLevel::Raid5, 5, 2), &[(0, 0, 3, true)]);
    assert_eq!((got.kinds(), got.traffic()), ([0, 1, 0, 0], [5, 0, 2]));
}

#[test]
fn a_request_over_stripes_is_done_with_its_last_part() {
    // The request has the last page of stripe 0, all of stripe 1, and the first page of stripe 2.
    let got = run(&params(RaidLevel::Raid5, 5, 1), &[(0, 3, 6, true)]);
    assert_eq!((got.kinds(), got.traffic()), ([1, 0, 2, 0], [2, 2, 3]));
    // Member 4 reads P of stripe 0 (28), writes column 0 of stripe 1 (236), then writes P of stripe 0, asked for by 56. Member 3 reads
    // column 3 of stripe 0 (28), writes P of stripe 1 (236), and reads column 0 of stripe 2 (264). Then it does both writes.
    assert_eq!(got.pages[3], (2, 3));
    assert_eq!(got.done, [READ_NS + WRITE_NS + READ_NS + 2 * WRITE_NS]);
}

#[test]
fn writes_to_a_stripe_go_one_after_another() {
    let asked = [(0, 0, 1, true), (0, 1, 1, true), (0, 4, 1, true), (10, 0, 1, true)];
    let got = run(&params(RaidLevel::Raid5, 9, 1), &asked);
    // The second waits for the first. The third is in the same stripe, and the fourth waits behind them all.
    assert_eq!(got.done, [READ_WRITE, 2 * READ_WRITE, 3 * READ_WRITE, 4 * READ_WRITE]);
    assert_eq!((got.counters.lock_waits, got.counters.lock_wait_ns), (3, u128::from(READ_WRITE * 6 - 10)));
    // Other stripes do not wait. Column 2 of stripe 1 lies on member 1, and P on member 7.
    let apart = run(&params(RaidLevel::Raid5, 9, 1), &[(0, 0, 1, true), (0, 10, 1, true)]);
    assert_eq!((apart.done, apart.counters.lock_waits), (vec![READ_WRITE; 2], 0));
}

#[test]
fn reads_need_no_lock() {
    let got = run(&params(RaidLevel::Raid5, 5, 1), &[(0, 0, 1, true), (10, 0, 1, false), (40, 0, 1, false)]);
    // The first read stands between the phases of the write, the second behind the write.
    assert_eq!(got.done, [2 * READ_NS + WRITE_NS, 2 * READ_NS, 3 * READ_NS + WRITE_NS]);
}

#[test]
fn raid6_keeps_two_parities() {
    let small = run(&params(RaidLevel::Raid6, 7, 1), &[(0, 0, 1, true)]);
    assert_eq!(small.done, [READ_WRITE]);
    // P lies on member 6, Q on member 0, column 0 on member 1.
    assert_eq!(small.pages, [(1, 1), (1, 1), (0, 0), (0, 0), (0, 0), (0, 0), (1, 1)]);
    assert_eq!((small.kinds(), small.traffic()), ([0, 0, 1, 0], [1, 2, 2]));
    // With four columns, both methods read three pages, so reconstruct is chosen.
    let tie = run(&params(RaidLevel::Raid6, 6, 1), &[(0, 0, 1, true)]);
    assert_eq!((tie.kinds(), tie.traffic()), ([0, 1, 0, 0], [3, 0, 2]));
    let full = run(&params(RaidLevel::Raid6, 6, 2), &[(0, 0, 8, true)]);
    assert_eq!((full.done[0], full.kinds(), full.traffic()), (2 * WRITE_NS, [1, 0, 0, 0], [0, 0, 4]));
}
