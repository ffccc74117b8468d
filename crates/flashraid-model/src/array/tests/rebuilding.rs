//! Rebuilding of lost members.

use super::*;

#[test]
fn strips_are_rebuilt_in_order_at_the_rate() {
    // Twelve strips of one page are rebuilt in 236 each.
    let rebuild = |strip_ns, in_flight| {
        let got =
            run(&rebuilt(failing(RaidLevel::Raid5, 3, 1, 1, 1000), 500, strip_ns, in_flight), &[(0, 0, 1, false), (1400, 0, 1, false)]);
        let progress = got.progress.unwrap();
        assert_eq!((progress.failed_at_ns, progress.rebuild_began_ns, progress.spare_member), (Some(1000), Some(1500), Some(3)));
        assert_eq!((progress.strips_rebuilt, progress.strips_of_member, got.health), (12, 12, ArrayHealth::Rebuilt));
        assert_eq!((got.counters.rebuild_pages_read, got.counters.rebuild_pages_written), (24, 12));
        assert_eq!((got.pages[1], got.pages[3]), ((0, 0), (0, 12)));
        progress.rebuild_ended_ns.unwrap() - 1500
    };
    assert_eq!(rebuild(300, 1), 11 * 300 + READ_WRITE);
    assert_eq!(rebuild(100, 1), 12 * READ_WRITE);
    // With two at a time, all members read both, and the spare writes all.
    assert_eq!(rebuild(0, 12), 12 * WRITE_NS + READ_NS);
    // The second reads behind the first and ends a write later. Then the next two follow.
    assert_eq!(rebuild(150, 2), READ_NS + 12 * WRITE_NS);
}

#[test]
fn during_rebuilding_each_stripe_is_served_by_what_it_has() {
    // Strips begin at 1000, 2000, …, and stripe 1 is rebuilt at 2236. Member 2 holds column 1 of stripe 1 (page 3) and P of stripe 0.
    let params = rebuilt(failing(RaidLevel::Raid4, 3, 1, 1, 1000), 0, 1000, 1);
    let got = run(&params, &[(2100, 3, 1, false), (2500, 3, 1, false), (2600, 5, 1, false), (2700, 1, 1, true), (3050, 5, 1, true)]);
    // The first read waits for the stripe being rebuilt and reads the spare. The second reads the spare at once. The third reads member 0
    // and P.
    assert_eq!(got.done[..3], [2236 + READ_NS, 2500 + READ_NS, 2600 + READ_NS]);
    // Stripe 0 is rebuilt: column 0 is read (a tie of two reads), the spare and P are written. Stripe 2 is being rebuilt.
    assert_eq!(got.done[3..], [2700 + READ_WRITE, 3236 + READ_WRITE]);
    assert_eq!(got.counters.lock_waits, 2);
    // The spare has twelve pages from rebuilding and two from the writes.
    assert_eq!(got.pages[3], (2, 14));
    assert_eq!(got.pages[1], (0, 0));
}

#[test]
fn without_finish_rebuilding_ends_with_the_load() {
    let mut params = rebuilt(failing(RaidLevel::Raid5, 3, 1, 1, 1000), 0, 1000, 1);
    let finish = |params: &mut ArrayParams, finish| {
        params.rebuild.as_mut().unwrap().settings.finish = finish;
        run(params, &[(3500, 0, 1, false)]).progress.unwrap().strips_rebuilt
    };
    assert_eq!((finish(&mut params, false), finish(&mut params, true)), (3, 12));
    // A failure after the last request does not happen.
    let late = run(&rebuilt(failing(RaidLevel::Raid5, 3, 1, 1, 1000), 0, 1000, 1), &[(0, 0, 1, false)]);
    assert_eq!((late.health, late.progress.unwrap().failed_at_ns), (ArrayHealth::Normal, None));
}

#[test]
fn mirrors_fail_and_are_rebuilt() {
    let asked = [(2000, 0, 1, false), (2000, 1, 1, false), (2000, 2, 1, true)];
    let mirror = run(&failing(RaidLevel::Raid1, 3, 1, 1, 1000), &asked);
    // The read of strip 1 goes to the copy behind the lost one.
    assert_eq!(mirror.done, [2000 + READ_NS, 2000 + READ_NS, 2000 + READ_NS + WRITE_NS]);
    assert_eq!(mirror.pages, [(1, 1), (0, 0), (1, 1)]);

    // Member 2 belongs to the second of two pairs, which holds strips 1, 3, …. Reads of odd rows go to copy 1 in any case.
    let params = rebuilt(failing(RaidLevel::Raid10, 4, 1, 2, 1000), 0, 1000, 1);
    let got = run(&params, &[(3100, 5, 1, true), (3100, 4, 1, true), (3500, 5, 1, true), (3600, 5, 1, false), (20_000, 7, 1, false)]);
    // Row 2 is being rebuilt at 3100, which does not concern the other pair.
    assert_eq!(got.done, [3236 + WRITE_NS, 3100 + WRITE_NS, 3500 + WRITE_NS, 3708 + READ_NS, 20_000 + READ_NS]);
    assert_eq!(got.pages[..2], [(0, 1), (0, 1)]);
    // Twelve pages are rebuilt, and two written. The read of row 2 goes to the spare instead of copy 0.
    assert_eq!((got.pages[2], got.pages[3], got.pages[4]), ((0, 0), (13, 2), (1, 14)));
    assert_eq!((got.counters.lock_waits, got.counters.lock_wait_ns), (1, 136));
}

/// Requests that come after the rebuild take as long as if nothing had ever failed.
#[test]
fn after_rebuilding_the_array_is_what_it_was() {
    for (level, members) in
        [(RaidLevel::Raid1, 2), (RaidLevel::Raid10, 4), (RaidLevel::Raid4, 4), (RaidLevel::Raid5, 5), (RaidLevel::Raid6, 6)]
    {
        let later: Vec<Asked> = (0..60).map(|i| (50_000 + i * 97, i * 7 % 10, 1 + (i % 3) as u32, i % 2 == 0)).collect();
        let plain = run(&params(level, members, 2), &later);
        for member in 0..members {
            let params = rebuilt(failing(level, members, 2, member, 0), 0, 10, 2);
            let asked: Vec<Asked> = std::iter::once((0, 0, 1, false)).chain(later.iter().copied()).collect();
            let got = run(&params, &asked);
            assert!(got.progress.unwrap().rebuild_ended_ns.unwrap() < 50_000);
            assert_eq!(got.done[1..], plain.done, "{level:?}, member {member}");
            assert_eq!((got.kinds(), got.traffic()), (plain.kinds(), plain.traffic()), "{level:?}, member {member}");
        }
    }
}
