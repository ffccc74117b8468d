//! Collection of superblocks, timed and forced.

use super::*;

#[test]
fn collection_keeps_superblocks_free_while_the_host_writes() {
    for (level, instantaneous) in [("timed", false), ("ideal", true)] {
        let mut params = params();
        params.gc.collection_takes_no_time = instantaneous;
        let mut bench = Bench::new(&params);
        let mut stream = rng::stream(7, level, 0);
        for write in 0..2000 {
            let page = rng::below(&mut stream, 64) as u32;
            bench.command(u64::from(write) * 3000, write, OpKind::Write, page..page + 1);
        }
        let (done, drive) = bench.run();
        assert_eq!(done.len(), 2000, "{level}");
        // In superblocks of eight units those of a victim that wait for the next one's weigh enough to delay the host now and then.
        let waits = if instantaneous { 0 } else { 20 };
        assert!(drive.parts.drive_counters.waits_for_free_superblock <= waits, "{level}: the host hardly waits for a superblock");
        assert!(drive.media().free() > 2 && drive.media().free() <= 8, "{level}: {} free", drive.media().free());
        let waf = drive.parts.drive_counters.write_amplification(1).unwrap();
        assert!((1.0..2.0).contains(&waf), "{level}: {waf}");
        if instantaneous {
            assert_eq!((drive.parts.drive_counters.erase_ns, drive.parts.drive_counters.collection_read_ns), (0, 0));
        } else {
            assert!(drive.parts.drive_counters.erase_ns > 0);
        }
    }
}

#[test]
fn a_member_that_is_coordinated_collects_when_it_is_forced() {
    use crate::coordination::{CollectionUrgency, ForcedCollectionAmount, MemberEvent, ToMember, tiny as schemes};
    let mut bench = Bench::new(&params());
    bench.drive.become_ggc_aware(0, schemes::duty_in_cycles(5, true), &mut bench.out);
    let asks = MemberEvent::Sends(ToController::GcRequest(CollectionUrgency::AT_LIMIT));
    let mut stream = rng::stream(7, "coordinated", 0);
    let mut write = 0;
    while !bench.out.notices.iter().any(|notice| notice.event == asks) {
        let page = rng::below(&mut stream, 64) as u32;
        bench.command(u64::from(write) * 3000, write, OpKind::Write, page..page + 1);
        write += 1;
    }
    assert_eq!(bench.drive.parts.drive_counters.victims_begun, 0, "not granted, it keeps still");
    assert_eq!(bench.drive.media().free(), 4, "it asks at its target");
    assert_eq!(bench.out.notices.iter().filter(|notice| notice.event == MemberEvent::Sends(ToController::RegisterForCycle)).count(), 1);
    bench.drive.receive(10_000_000, ToMember::ForceCollection(ForcedCollectionAmount::OneVictimPerDie), &mut bench.out);
    bench.gather();
    bench.run_before(TimeNs::MAX);
    assert_eq!(bench.out.notices.last().map(|notice| notice.event), Some(MemberEvent::Sends(ToController::GcDone)));
    assert!(bench.drive.media().free() >= 6, "until target and span are reached");
    assert_eq!(bench.out.collections.iter().filter(|interval| interval.is_caused_by_coordination).count(), 1);
    bench.drive.media().verify().unwrap();
}

/// Frees one superblock whatever is free (rule 123), and more if the work goes on to the goal.
#[test]
fn a_drive_can_be_forced_to_free_one_superblock() {
    use crate::coordination::{ForcedCollectionAmount, MemberEvent, ToMember, tiny as schemes};
    let freed_by = |work: ForcedCollectionAmount, times: u64| {
        let mut bench = Bench::new(&params());
        bench.drive.become_ggc_aware(0, schemes::duty_in_cycles(5, false), &mut bench.out);
        let mut stream = rng::stream(7, "coordinated", 0);
        let mut write = 0;
        while bench.drive.media().free() > 4 {
            let page = rng::below(&mut stream, 64) as u32;
            bench.command(u64::from(write) * 3000, write, OpKind::Write, page..page + 1);
            write += 1;
        }
        for time in 1..=times {
            bench.drive.receive(time * 10_000_000, ToMember::ForceCollection(work), &mut bench.out);
            bench.gather();
            bench.run_before((time + 1) * 10_000_000);
        }
        let done = bench.out.notices.iter().filter(|notice| notice.event == MemberEvent::Sends(ToController::GcDone)).count();
        assert_eq!(done as u64, times);
        bench.drive.media().verify().unwrap();
        bench.drive.parts.drive_counters.victims_begun
    };
    // The way from 4 free superblocks to the 6 of target and span takes two victims or more.
    let to_goal = freed_by(ForcedCollectionAmount::ToWatermark, 1);
    assert!(to_goal >= 2);
    assert_eq!(freed_by(ForcedCollectionAmount::OneVictimPerPool, 1), 1);
    assert_eq!(freed_by(ForcedCollectionAmount::OneVictimPerPool, 3), 3);
    assert_eq!(freed_by(ForcedCollectionAmount::OneVictimPerPoolThenWatermark, 1), to_goal);
    // Above its goal the drive still frees one. Without that work it frees none.
    assert_eq!(freed_by(ForcedCollectionAmount::OneVictimPerPoolThenWatermark, 2), to_goal + 1);
    assert_eq!(freed_by(ForcedCollectionAmount::ToWatermark, 2), to_goal);
}

/// Collection at the controller's word is not owed for the writes that come meanwhile. With no debt allowed, none waits for a move.
#[test]
fn a_drive_that_is_forced_does_not_hold_the_host_back_for_moves() {
    use crate::coordination::{ForcedCollectionAmount, MemberEvent, ToMember, tiny as schemes};
    let mut bench = Bench::new(&changed(|superblock| {
        superblock.buffer.capacity_mapping_units = 8;
        superblock.collection.move_backlog_max_mapping_units = 0;
    }));
    bench.drive.become_ggc_aware(0, schemes::duty_in_cycles(5, true), &mut bench.out);
    let mut stream = rng::stream(7, "forced", 0);
    let (mut now, mut written, mut fullest) = (0, 0, 0);
    let mut write = |bench: &mut Bench, now: TimeNs| {
        let page = rng::below(&mut stream, 64) as u32;
        bench.command(now, written, OpKind::Write, page..page + 1);
        written += 1;
    };
    for _ in 0..40 {
        while bench.drive.media().free() > 4 {
            now += 3_000;
            write(&mut bench, now);
        }
        now += 20_000;
        bench.run_before(now);
        bench.drive.receive(now, ToMember::ForceCollection(ForcedCollectionAmount::OneVictimPerDie), &mut bench.out);
        bench.gather();
        while bench.drive.oldest_open_clean().is_some() {
            now += 800;
            write(&mut bench, now);
            fullest = fullest.max(bench.drive.front.buffer.used());
        }
    }
    let done = bench.out.notices.iter().filter(|notice| notice.event == MemberEvent::Sends(ToController::GcDone)).count();
    assert_eq!(done, 40, "every forced collection comes to its end");
    assert!(fullest >= 6, "three superpages waited for the die, not for moves: {fullest}");
    assert_eq!(bench.drive.parts.drive_counters.superpages_that_waited_for_collection, 0);
    bench.run();
}

#[test]
fn what_is_read_often_is_moved() {
    let mut bench = Bench::new(&changed(|superblock| superblock.upkeep.reads_before_refresh = Some(4)));
    // Four flash pages of the first superblock; the third is read for two at a time.
    for (number, page) in [0, 2, 4, 4].into_iter().enumerate() {
        bench.command(if number == 3 { 20_001 } else { 10_000 * number as u64 }, number as u32, OpKind::Read, page..page + 1);
    }
    bench.run_before(100_000);
    assert_eq!(
        (bench.drive.parts.drive_counters.flash_page_reads_for_host, bench.drive.parts.drive_counters.page_reads_sharing_flash_read),
        (4, 0)
    );
    let counters = &bench.drive.parts.drive_counters;
    assert_eq!((counters.victims_for_refresh, counters.victims_begun, counters.units_moved_by_collection), (1, 1, 8));
    assert_eq!((bench.drive.media().superblocks[0].erases, bench.drive.media().superblocks[0].reads), (1, 0));
    // Reads of others are their own; three are not enough.
    for (number, page) in [8, 10, 12].into_iter().enumerate() {
        bench.command(200_000 + 10_000 * number as u64, 10 + number as u32, OpKind::Read, page..page + 1);
    }
    let (_, drive) = bench.run();
    assert_eq!((drive.parts.drive_counters.victims_for_refresh, drive.media().superblocks[1].reads), (1, 3));
}

#[test]
fn what_is_erased_seldom_is_moved_in_turn_with_others() {
    let mut bench = Bench::new(&changed(|superblock| superblock.upkeep.erase_difference_to_level = Some(2)));
    bench.drive.mapping_mut().superblocks().unwrap().superblocks[15].erases = 1;
    bench.forced_write(0, 0, 0..2);
    bench.run_before(100_000);
    assert_eq!(bench.drive.parts.drive_counters.victims_for_wear_levelling, 0, "one erase is no difference of two");
    bench.drive.mapping_mut().superblocks().unwrap().superblocks[15].erases = 2;
    bench.command(100_000, 1, OpKind::Write, 2..4);
    bench.command(200_000, 2, OpKind::Write, 4..6);
    let (_, drive) = bench.run();
    // The one with the highest number of those that are full; then it would be another one's turn, but nothing needs collecting.
    let counters = &drive.parts.drive_counters;
    assert_eq!((counters.victims_for_wear_levelling, counters.victims_begun, counters.units_moved_by_collection), (1, 1, 8));
    assert_eq!((drive.media().superblocks[7].erases, drive.media().superblocks[6].erases), (1, 0));
}
