//! Waits for collection in phases and locks.

use super::*;

#[test]
fn collections_met_in_any_phase_count() {
    // Twelve pages lie in three full blocks, and two blocks are free. Member 4 collects when it writes parity.
    let mut params = params(RaidLevel::Raid4, 5, 1);
    params.ssd.geometry.blocks_per_plane = 6;
    params.ssd.geometry.overprovisioned_blocks_per_plane = 3;
    let worn: Vec<Asked> = [0, 1, 4, 5, 8].iter().enumerate().map(|(i, &row)| (i as u64 * 1000, row * 4 + i as u64 % 3, 1, true)).collect();
    let asked: Vec<Asked> = worn.into_iter().chain([(10_000, 3, 1, true)]).collect();
    let got = run(&params, &asked);
    assert_eq!(got.met, [0, 0, 0, 0, 0, 1]);
    assert_eq!(got.members[4].erases, 1);
    // P is read behind the clean of two valid pages (2 · 220 + 1000).
    assert_eq!(got.done[5], 10_000 + 1440 + READ_WRITE);
}

/// Duration of a clean that moves two pages.
const CLEAN: TimeNs = 2 * 220 + 1000;

/// Parts of the time of a write that reads old data and parity and waits for nothing.
const READ_WRITE_PARTS: OperationTimeParts =
    OperationTimeParts { collection_ns: 0, queue_ns: 0, parity_ns: READ_NS, cache_ns: 0, transfer_ns: 7, flash_ns: 200, other_ns: 1 };

/// Runs five small writes that use up member 4, which holds P of their stripes, so that its next operation waits for a clean. Then it runs
/// `asked`, to stripe 0.
fn run_on_a_worn_member(asked: &[Asked]) -> (Vec<TimeNs>, Vec<OperationTimeParts>) {
    let mut params = params(RaidLevel::Raid5, 5, 1);
    params.ssd.geometry.blocks_per_plane = 6;
    params.ssd.geometry.overprovisioned_blocks_per_plane = 3;
    let worn = [0, 5, 10, 0, 5].iter().zip(0..).map(|(stripe, i)| (i * 1000, stripe * 4 + i % 3, 1, true));
    let got = run(&params, &worn.chain(asked.iter().copied()).collect::<Vec<Asked>>());
    assert_eq!(got.parts[..5], [READ_WRITE_PARTS; 5]);
    (got.done[5..].to_vec(), got.parts[5..].to_vec())
}

#[test]
fn a_read_of_parity_that_waits_for_collection_is_booked_as_collection() {
    let (done, parts) = run_on_a_worn_member(&[(10_000, 3, 1, true)]);
    assert_eq!(done, [10_000 + CLEAN + READ_WRITE]);
    assert_eq!(parts, [OperationTimeParts { collection_ns: CLEAN, ..READ_WRITE_PARTS }]);
}

#[test]
fn a_wait_for_a_lock_is_booked_as_what_its_holders_wait_for() {
    // One write holds the lock and waits for a clean from 10,000 on, and two more wait for the lock. The first two use up member 4 again,
    // so that the last one meets its own clean.
    let (done, parts) = run_on_a_worn_member(&[(10_000, 3, 1, true), (10_500, 2, 1, true), (11_000, 1, 1, true)]);
    let first = 10_000 + CLEAN + READ_WRITE;
    assert_eq!(done, [first, first + READ_WRITE, first + 2 * READ_WRITE + CLEAN]);
    let waits = |collection_ns, parity_ns| OperationTimeParts { collection_ns, parity_ns: parity_ns + READ_NS, ..READ_WRITE_PARTS };
    assert_eq!(parts, [waits(CLEAN, 0), waits(CLEAN - 500, READ_WRITE), waits(CLEAN - 1000 + CLEAN, 2 * READ_WRITE)]);
}
