//! Each rule on a tiny cache, with the exact sequence.

use super::*;

// These tests show LAWC Fig. 4 on RAID-4 with three data members. Two writes go to one stripe: A (columns 0, 1) and A' (columns 1, 2).
// Meanwhile, destages of an earlier full stripe keep the caches busy.

#[test]
fn figure_4_four_writes_with_a_cache_of_write_groups() {
    let mut bench = Bench::new(params(WowCache::STRIPE_AND_MEMBER_CACHES, 8, 0), RaidLevel::Raid4, 4, 1);
    bench.write(1, 3, 3);
    bench.write(2, 0, 2);
    bench.write(3, 1, 2);
    bench.finish();
    assert_eq!(bench.writes(), ["3+3", "0+3"]);
    assert_eq!((bench.pages_written, bench.pages_read), (4 + 4, 0));
    assert_eq!(
        bench.counters().host_admissions,
        CacheWriteHitsAndMisses { replaced_pages: 1, pages_admitted_to_existing_entries: 1, pages_admitted_with_their_entry: 5 }
    );
}

/// Uses the sizes of LAWC 4.1. With strips of 32 pages on eight SSDs "the 1 MB request constitutes a write group". The cache has 64 pages.
#[test]
fn a_write_of_a_whole_group_is_one_destage_to_all_members() {
    let destages = |room, pages, first: u64| {
        let mut bench = Bench::new(
            WriteCacheParams { capacity_unit: room, ..params(WowCache::STRIPE_AND_MEMBER_CACHES, 64, 0) },
            RaidLevel::Raid0,
            8,
            32,
        );
        (0..5).for_each(|tag| bench.write(tag, tag * 256 + first, pages));
        bench.finish();
        bench.writes().iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()
    };
    let groups: Vec<String> = (0..5).map(|group| format!("{}+256", group * 256)).collect();
    assert_eq!(destages(CapacityUnit::PagesAdmittingWholeWrites, 256, 0), groups);
    assert_eq!(destages(CapacityUnit::DirtyStripesOrStrips, 256, 0), groups);
    // Page by page a write comes in four pieces of two strips each.
    let pieces: Vec<String> = (0..20).map(|piece| format!("{}+64", piece * 64)).collect();
    assert_eq!(destages(CapacityUnit::Pages, 256, 0), pieces);
    // Unaligned, each write brings half a group to two entries.
    assert_eq!(destages(CapacityUnit::PagesAdmittingWholeWrites, 256, 128)[..2], ["128+128", "256+128"]);
}

/// Checks that a write that is longer than its cache enters as soon as a page of room is left, and not before (rule 89).
#[test]
fn what_takes_room() {
    // Stripes of four pages; the first write keeps the cache busy until 100.
    let done = |room| {
        let mut bench = Bench::new(
            WriteCacheParams { capacity_unit: room, ..params(WowCache::STRIPE_AND_MEMBER_CACHES, 2, 0) },
            RaidLevel::Raid0,
            2,
            2,
        );
        for (tag, stripe) in [(0, 0), (1, 1), (2, 2)] {
            bench.write(tag, stripe * 4, 4);
        }
        bench.finish();
        (bench.done.clone(), bench.writes().len(), bench.counters().occupancy_max_pages.0)
    };
    // The first write takes its two pages and two that it does not have. Each of the others finds room when the one before has left.
    assert_eq!(done(CapacityUnit::PagesAdmittingWholeWrites), (vec![(0, 0), (1, 100), (2, 200)], 3, 4));
    // Two entries: the third write waits for the first destage.
    assert_eq!(done(CapacityUnit::DirtyStripesOrStrips), (vec![(0, 0), (1, 0), (2, 100)], 3, 8));
    // Page by page each write is two destages; the last is in when the fifth is done.
    let (ends, destages, most) = done(CapacityUnit::Pages);
    assert_eq!((ends.last(), destages, most), (Some(&(2, 500)), 6, 2));
}

#[test]
fn strips_enter_member_caches_as_a_whole() {
    let writes = |room| {
        let mut bench = Bench::new(WriteCacheParams { capacity_unit: room, ..params(IWC, 0, 2) }, RaidLevel::Raid0, 2, 4);
        bench.write(0, 0, 8);
        bench.finish();
        bench.writes().iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(writes(CapacityUnit::PagesAdmittingWholeWrites), ["m0:0+4", "m1:0+4"]);
    assert_eq!(writes(CapacityUnit::Pages), ["m0:0+2", "m1:0+2", "m0:2+2", "m1:2+2"]);
}

#[test]
fn figure_4_four_writes_and_a_read_with_independent_caches() {
    let mut bench = Bench::new(params(IWC, 0, 2), RaidLevel::Raid4, 4, 1);
    bench.duration_ns = Box::new(|order| if matches!(order, Command::AccessMembers { kind: OpKind::Write, .. }) { 1000 } else { 100 });
    bench.write(1, 3, 3);
    bench.write(2, 0, 2);
    bench.run_until(500);
    assert_eq!(bench.log.last().unwrap().1, "read m2:0+1", "what is missing for the parity of A");
    bench.write(3, 1, 2);
    bench.finish();
    assert_eq!(bench.pages_read, 1, "A' finds all of the stripe in the caches");
    assert_eq!(bench.writes()[4..], ["m0:0+1", "m1:0+1", "m2:0+1", "m3:0+1"]);
    assert_eq!(bench.pages_written, 4 + 4);
    let counters = bench.counters();
    assert_eq!(
        (counters.pages_read_for_parity, counters.host_admissions.replaced_pages, counters.member_cache_admissions.replaced_pages),
        (1, 1, 1)
    );
}

#[test]
fn groups_that_were_hit_survive_a_round_of_the_pointer_but_sequential_writes_do_not_count() {
    let mut bench = Bench::new(params(WowCache::STRIPE_AND_MEMBER_CACHES, 32, 0), RaidLevel::Raid0, 2, 2);
    // Stripes have four pages. The first destage keeps the cache busy until 100.
    bench.write(0, 0, 1);
    for stripe in 1..=4 {
        bench.write(stripe, stripe * 4, 1);
    }
    bench.write(5, 4, 1); // It hits the page of stripe 1.
    bench.write(6, 10, 1); // It hits the group of stripe 2.
    bench.write(7, 13, 1); // It continues the write of stripe 3, so it is sequential.
    bench.finish();
    assert_eq!(bench.writes(), ["0+1", "12+2", "16+1", "4+1", "8+1 10+1"]);
    assert_eq!(bench.log.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 100, 200, 300, 400]);
    assert_eq!(
        bench.counters().host_admissions,
        CacheWriteHitsAndMisses { replaced_pages: 1, pages_admitted_to_existing_entries: 2, pages_admitted_with_their_entry: 5 }
    );
}

#[test]
fn destages_go_upwards_from_the_pointer_and_round() {
    let mut bench = Bench::new(params(WowCache::STRIPE_AND_MEMBER_CACHES, 32, 0), RaidLevel::Raid0, 2, 1);
    bench.write(0, 10, 1);
    for page in [2, 30, 14, 10] {
        bench.write(page, page, 1);
    }
    bench.finish();
    assert_eq!(bench.writes(), ["10+1", "14+1", "30+1", "2+1", "10+1"]);
}

#[test]
fn pages_written_while_they_are_destaged_are_kept_in_two_versions() {
    let mut bench = Bench::new(params(WowCache::STRIPE_AND_MEMBER_CACHES, 2, 0), RaidLevel::Raid0, 2, 1);
    bench.write(0, 6, 1);
    bench.run_until(50);
    bench.write(1, 6, 1);
    assert_eq!(bench.cache.common.occupancy.pages(), 2);
    bench.write(2, 8, 1);
    bench.read(3, 6, 4);
    assert_eq!(bench.log.last().unwrap(), &(50, "read 7+1 9+1".to_string()), "page 8 waits for room and hits all the same");
    bench.finish();
    assert_eq!(bench.done, [(0, 0), (1, 50), (2, 100), (3, 150)]);
    assert_eq!(bench.writes(), ["6+1", "8+1", "6+1"]);
    let counters = bench.counters();
    assert_eq!(
        (counters.writes_that_waited_for_room, counters.writes_waiting_for_room_ns, counters.reads_partly_hit, counters.read_pages_hit),
        (1, 50, 1, 2)
    );
    // The cache holds 1 page until 50, 2 until 200, and 1 until 300.
    assert_eq!((counters.occupancy_max_pages.0, counters.occupancy_integral_page_ns), (2, 50 + 2 * 150 + 100));
}

/// A random case of the soak overflowed here: each wait fits into the time of a run, their sum does not.
#[test]
fn waits_of_centuries_add_up() {
    let mut bench = Bench::new(params(WowCache::STRIPE_AND_MEMBER_CACHES, 2, 0), RaidLevel::Raid0, 2, 1);
    let centuries = TimeNs::MAX - 1;
    for host in [0, 1] {
        bench.write(u64::from(host), 6 + 2 * u64::from(host), 1);
        bench.cache.common.waits(0, host);
        bench.cache.common.host_write_is_admitted(centuries, host);
    }
    assert_eq!(bench.counters().writes_waiting_for_room_ns, 2 * u128::from(centuries));
}

#[test]
fn a_write_larger_than_the_cache_enters_as_room_appears() {
    let mut bench = Bench::new(params(WowCache::STRIPE_AND_MEMBER_CACHES, 3, 0), RaidLevel::Raid0, 2, 8);
    bench.write(0, 0, 8);
    bench.write(1, 0, 1);
    bench.finish();
    assert_eq!(bench.writes(), ["0+3", "3+3", "0+1 6+2"]);
    assert_eq!(bench.done, [(0, 200), (1, 200)]);

    let mut bench = Bench::new(params(IWC, 0, 3), RaidLevel::Raid0, 2, 8);
    bench.write(0, 0, 12);
    bench.finish();
    assert_eq!(bench.writes(), ["m0:0+3", "m1:0+3", "m0:3+3", "m1:3+1", "m0:6+2"]);
    assert_eq!(bench.done, [(0, 200)]);
}

#[test]
fn the_memory_takes_its_time() {
    let times = WriteCacheParams { nvm_page_read_ns: 5, nvm_page_write_ns: 20, ..params(WowCache::STRIPE_AND_MEMBER_CACHES, 8, 0) };
    let mut bench = Bench::new(times, RaidLevel::Raid0, 2, 2);
    bench.write(0, 0, 3);
    bench.read(1, 2, 1);
    bench.read(2, 3, 1);
    bench.run_until(1000);
    bench.read(3, 0, 1);
    bench.finish();
    // Three pages are written until 60 and read until 75, and the hit is read until 80. The read of the array is done at 100.
    assert_eq!(bench.done, [(0, 60), (1, 80), (2, 100), (3, 1100)]);
    assert_eq!(bench.log, [(0, "read 3+1".into()), (75, "write 0+3".into()), (1000, "read 0+1".into())]);
    assert_eq!(bench.counters().occupancy_integral_page_ns, 3 * 175);
}

#[test]
fn caches_of_members_destage_together_or_when_the_time_is_up() {
    let mut bench = Bench::new(params(IWC_SYNC, 0, 4), RaidLevel::Raid0, 3, 1);
    bench.write(0, 0, 1);
    bench.run_until(300);
    bench.write(1, 1, 1);
    bench.run_until(600);
    assert!(bench.log.is_empty());
    bench.write(2, 3, 1);
    bench.write(3, 2, 1);
    assert_eq!(
        bench.log.iter().map(|(at, text)| (*at, text.as_str())).collect::<Vec<_>>(),
        [(600, "write m0:0+1"), (600, "write m1:0+1"), (600, "write m2:0+1")]
    );
    // Stripe 1 of member 0 is ready at 700, when its first destage is done, and waits a whole time-out.
    bench.finish();
    assert_eq!(bench.log[3], (1700, "write m0:1+1".into()));
    let counters = bench.counters();
    assert_eq!(
        (
            counters.synchronised_destages_with_all_ready,
            counters.synchronised_destages_by_timeout,
            counters.member_caches_in_synchronised_destages
        ),
        (1, 1, 4)
    );
    assert_eq!(bench.now, 1800, "nothing is waited for at the end");
}

#[test]
fn a_candidate_grows_while_it_waits() {
    let mut bench = Bench::new(params(IWC_SYNC, 0, 8), RaidLevel::Raid0, 2, 4);
    bench.write(0, 0, 1);
    bench.write(1, 8, 1);
    bench.write(2, 2, 2);
    bench.write(3, 0, 1);
    bench.finish();
    assert_eq!(bench.writes(), ["m0:0+1 m0:2+2", "m0:4+1"]);
    assert_eq!(bench.log[0].0, 1000);
    assert_eq!(bench.log[1].0, 2100);
}

#[test]
fn writes_go_past_a_full_front_unless_they_depend_on_it() {
    // The first level has two pages, each member cache four.
    let mut bench = Bench::new(params(LayoutAwareWriteCache::STRIPE_AND_MEMBER_CACHES, 2, 4), RaidLevel::Raid0, 2, 1);
    let pages = |bench: &mut Bench| {
        let counters = bench.counters();
        (counters.writes_bypassing_first_level, counters.writes_waiting_for_first_level)
    };
    // The memory takes no time, so the first level has destaged everything when the nanosecond is over.
    bench.write(0, 0, 1);
    bench.write(1, 2, 1);
    assert_eq!(pages(&mut bench), (0, 0));
    bench.write(2, 5, 1);
    assert_eq!(pages(&mut bench), (1, 0), "full, and nothing of page 5 in the first level");
    bench.write(3, 0, 1);
    assert_eq!(pages(&mut bench), (1, 1), "page 0 is in the first level");
    bench.write(4, 7, 2);
    bench.write(5, 0, 2);
    assert_eq!(pages(&mut bench), (2, 2), "pages that wait for the first level count, too");
    bench.finish();
    assert_eq!(bench.done.iter().map(|(tag, _)| *tag).collect::<Vec<_>>().len(), 6);
    let counters = bench.counters();
    assert_eq!(counters.first_level_destages.entries, 3, "page 0, page 2, and what page 0 and 1 became");
}

#[test]
fn a_write_too_large_for_the_room_of_the_front_goes_past_it() {
    let mut bench = Bench::new(params(LayoutAwareWriteCache::STRIPE_AND_MEMBER_CACHES, 4, 8), RaidLevel::Raid0, 2, 2);
    bench.write(0, 0, 5);
    let counters = bench.counters();
    assert_eq!((counters.writes_bypassing_first_level, counters.first_level_destages.entries), (1, 0));
    bench.finish();
    assert_eq!(bench.done, [(0, 0)]);
}

#[test]
fn parts_of_a_stripe_take_turns() {
    let mut bench = Bench::new(params(IWC, 0, 8), RaidLevel::Raid5, 4, 2);
    // Stripe 0 has P on member 3. The second write can use the pages of the first, but only after they have entered.
    bench.write(0, 0, 1);
    bench.write(1, 2, 1);
    assert_eq!(bench.log, [(0, "read m1:0+1 m2:0+1".into())]);
    bench.read(2, 2, 1);
    bench.run_until(100);
    assert_eq!(bench.log[1], (100, "read m2:0+1".into()), "the next turn; the page of member 0 is cached and known");
    assert_eq!(bench.log[2..], [(100, "write m0:0+1".into()), (100, "write m3:0+1".into())]);
    bench.finish();
    assert_eq!(bench.done, [(2, 0), (0, 100), (1, 200)]);
    assert_eq!(bench.counters().pages_read_for_parity, 3);
}

#[test]
fn two_parities_follow_the_data() {
    let mut bench = Bench::new(params(IWC, 0, 8), RaidLevel::Raid6, 5, 2);
    bench.write(0, 0, 6);
    assert_eq!(bench.pages_read, 0, "a full stripe needs nothing");
    bench.finish();
    let layout = bench.layout;
    let mut expected: Vec<String> = (0..5).map(|role| format!("m{}:0+2", layout.member_of_strip(0, role))).collect();
    expected.sort();
    assert_eq!(bench.writes(), expected);
}

#[test]
fn a_cache_of_mirrors_holds_every_copy() {
    let mut bench = Bench::new(params(IWC, 0, 1), RaidLevel::Raid10, 4, 1);
    bench.write(0, 1, 1);
    bench.write(1, 1, 1);
    bench.finish();
    assert_eq!(bench.writes(), ["m2:0+1", "m3:0+1", "m2:0+1", "m3:0+1"]);
    assert_eq!(bench.done, [(0, 0), (1, 100)]);
}

#[test]
fn nothing_is_destaged_below_the_low_threshold_and_at_a_part_of_the_rate_above() {
    let slow = WriteCacheParams {
        destage_start_fill: 0.25,
        full_speed_destage_fill_fraction: 0.75,
        ..params(WowCache::STRIPE_AND_MEMBER_CACHES, 8, 0)
    };
    let mut bench = Bench::new(slow, RaidLevel::Raid0, 2, 1);
    bench.write(0, 0, 1);
    bench.write(1, 2, 1);
    bench.run_until(1000);
    assert!(bench.log.is_empty());
    bench.write(2, 4, 1);
    bench.write(3, 6, 1);
    // The first slot has not been used, so the first destage begins at 1000. Three pages stay, which means a quarter of the rate.
    bench.run_until(1200);
    assert_eq!(bench.log, [(1000, "write 0+1".into())]);
    bench.finish();
    assert_eq!(bench.log[1..], [(1100 + 300, "write 2+1".to_string())]);
    assert_eq!(bench.now, 1500, "two pages stay");
    // Waiting writes destage at full rate, whatever the thresholds are.
    bench.write(4, 8, 8);
    assert_eq!(bench.log.len(), 3);
    bench.finish();
    assert_eq!(bench.done.last().unwrap().0, 4);
}

#[test]
fn several_destages_at_a_time_never_two_of_one_stripe() {
    let two = WriteCacheParams { destages_in_flight_max: 2, ..params(WowCache::STRIPE_AND_MEMBER_CACHES, 8, 0) };
    let mut bench = Bench::new(two, RaidLevel::Raid0, 2, 1);
    for (tag, page) in [0, 0, 2, 4].into_iter().enumerate() {
        bench.write(tag as u64, page, 1);
    }
    bench.finish();
    assert_eq!(
        bench.log.iter().map(|(at, text)| (*at, text.as_str())).collect::<Vec<_>>(),
        [(0, "write 0+1"), (0, "write 2+1"), (100, "write 4+1"), (100, "write 0+1")]
    );
}

#[test]
fn a_failure_flushes_what_is_cached_and_no_more() {
    let mut bench = Bench::new(params(IWC_SYNC, 0, 4), RaidLevel::Raid5, 3, 1);
    // Stripe 0 has data on members 0 and 1, and P on 2. All members have a candidate at once, because the stripe is full, so these destage.
    bench.write(0, 0, 2);
    // Stripe 3 has the same offsets and waits behind.
    bench.write(1, 6, 2);
    bench.run_until(50);
    bench.cache.member_failed(50, 1);
    bench.perform_commands();
    assert!(!bench.cache.is_flushed());
    bench.run_until(100);
    assert_eq!(bench.log.last().unwrap().1, "write m2:3+1", "what was cached leaves at once");
    bench.write(2, 12, 1);
    bench.run_until(200);
    assert!(bench.cache.is_flushed());
    // In stripe 6 (P on member 2), the other column is lost. The new parity comes from the old one and the page that is overwritten.
    assert!(bench.log.contains(&(100, "read m0:6+1 m2:6+1".into())), "{:?}", bench.log);
    bench.finish();
    let to_lost = bench.log.iter().filter(|(at, text)| *at >= 50 && text.starts_with("write") && text.contains("m1:")).count();
    assert_eq!(to_lost, 0);
    assert_eq!(bench.done.len(), 3);
    // Rebuilt strips are cached again.
    (0..64).for_each(|stripe| bench.cache.strip_rebuilt(1, stripe));
    bench.write(3, 0, 2);
    bench.finish();
    assert_eq!(bench.log.iter().filter(|(at, text)| *at > 200 && text.contains("m1:0+1")).count(), 1);
}

#[test]
fn a_flush_takes_the_front_with_it() {
    let mut bench = Bench::new(
        WriteCacheParams { nvm_page_read_ns: 10, ..params(LayoutAwareWriteCache::STRIPE_AND_MEMBER_CACHES, 4, 4) },
        RaidLevel::Raid5,
        3,
        1,
    );
    bench.write(0, 0, 1);
    bench.write(1, 2, 1);
    bench.cache.member_failed(0, 1);
    bench.perform_commands();
    assert!(!bench.cache.is_flushed());
    bench.finish();
    assert!(bench.cache.is_flushed());
    assert_eq!(bench.cache.common.occupancy.pages(), 0);
    assert!(bench.now < 1000, "no time-out is waited for: {}", bench.now);
}

#[test]
fn sequential_groups_have_a_circle_of_their_own_under_stow() {
    let mut bench = Bench::new(params(StowCache::STRIPE_AND_MEMBER_CACHES, 16, 0), RaidLevel::Raid0, 2, 2);
    bench.write(0, 60, 1); // It is random, and in progress until 100.
    bench.write(1, 0, 4); // It is random, of stripe 0.
    bench.write(2, 4, 4); // Writes are sequential from here on, to stripes 1 to 3.
    bench.write(3, 8, 4);
    bench.write(4, 40, 1); // This write is random again.
    bench.finish();
    // The share of sequential writes is eight pages, and eight are there, so the random ring destages first, upwards from its pointer.
    assert_eq!(bench.writes(), ["60+1", "0+4", "40+1", "4+4", "8+4"]);
    let mut bench = Bench::new(params(StowCache::STRIPE_AND_MEMBER_CACHES, 16, 0), RaidLevel::Raid0, 2, 2);
    bench.write(0, 60, 1);
    bench.write(1, 0, 2);
    bench.write(2, 2, 10); // It is sequential: two pages enter stripe 0, eight make stripes 1 and 2.
    bench.write(3, 40, 1);
    bench.write(4, 40, 1); // It hits in the random ring, so that seven pages are enough.
    bench.finish();
    assert_eq!(bench.writes()[..2], ["60+1", "4+4"]);
}
