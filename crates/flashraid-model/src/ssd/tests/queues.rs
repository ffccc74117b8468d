//! Submission queues (rule 219).

use super::*;

fn with_queues(queues: u32, burst: u32, commands: u32) -> SsdParams {
    changed(|superblock| superblock.submission_queues = Some(SubmissionQueues { queues, burst, commands }))
}

/// Six reads of different flash pages come while a seventh is in flight: three of source 0, then three of `other`.
fn two_sources(params: &SsdParams, other: u8) -> (BTreeMap<u32, TimeNs>, FrontEndCounters) {
    let mut bench = Bench::new(params);
    bench.command(0, 0, OpKind::Read, 0..1);
    for number in 1..=6 {
        let page = 2 * number;
        bench.command_of(if number <= 3 { 0 } else { other }, 1, number, OpKind::Read, page..page + 1);
    }
    let (done, drive) = bench.run();
    (done, drive.front.counters)
}

#[test]
fn queues_have_their_turns_in_bursts() {
    // One at a time, each takes 5 + 20 + 100 + 10 + 4. The first one has emptied its queue, so that the other queue has its turn.
    for (burst, other, order) in [
        (1, 1, [0, 4, 1, 5, 2, 6, 3]),
        (2, 1, [0, 4, 5, 1, 2, 6, 3]),
        (3, 1, [0, 4, 5, 6, 1, 2, 3]),
        (9, 1, [0, 4, 5, 6, 1, 2, 3]),
        // Sources 0 and 2 share a queue of two, in order of arrival.
        (1, 2, [0, 1, 2, 3, 4, 5, 6]),
        (1, 3, [0, 4, 1, 5, 2, 6, 3]),
    ] {
        let (done, counters) = two_sources(&with_queues(2, burst, 1), other);
        let expected: BTreeMap<u32, TimeNs> = order.into_iter().zip((1..).map(|nth| 139 * nth)).collect();
        assert_eq!(done, expected, "bursts of {burst}, sources 0 and {other}");
        // Each but the first, from 1 on.
        assert_eq!((counters.commands, counters.fetch_waits, counters.fetch_wait_ns), (7, 6, 139 * 21 - 6));
    }
}

#[test]
fn queues_change_nothing_while_all_may_be_in_flight() {
    let without = two_sources(&params(), 1);
    let with = two_sources(&with_queues(2, 1, 7), 1);
    assert_eq!(with, without);
    // Two in flight: the second is fetched when it comes, as nothing waits in the other queue yet; then that has its turn.
    let (done, counters) = two_sources(&with_queues(2, 1, 2), 1);
    assert_eq!(counters.fetch_waits, 5);
    assert!(done[&1] < done[&4] && done[&4] < done[&2], "{done:?}");
}

#[test]
fn a_command_is_in_flight_until_its_last_page_is_with_the_host() {
    let mut bench = Bench::new(&with_queues(1, 1, 1));
    // Acknowledged at 34, though all is in the buffer at 31.
    bench.command(0, 0, OpKind::Write, 0..1);
    bench.command(0, 1, OpKind::Read, 0..1);
    bench.command(0, 2, OpKind::Trim, 0..1);
    bench.command(0, 3, OpKind::Flush, 0..1);
    // Two flash pages of one plane, one after the other, two units each.
    bench.command(0, 4, OpKind::Read, 4..8);
    bench.command(0, 5, OpKind::Read, 10..11);
    let (done, drive) = bench.run();
    let mut at = 0;
    for (completion, takes) in [(0, 7 + 20 + 4 + 3), (1, 5 + 20 + 4), (2, 6 + 1 + 20), (3, 7 + 20), (4, 5 + 20 + 2 * 120 + 8), (5, 139)] {
        at += takes;
        assert_eq!(done[&completion], at, "{completion}");
    }
    assert_eq!(drive.front.counters.fetch_waits, 5);
}
