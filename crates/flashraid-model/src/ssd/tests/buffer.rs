//! Writes, flushes and trims at the buffer.

use super::*;

#[test]
fn a_write_is_done_in_the_buffer_and_waits_for_room() {
    let mut bench = Bench::new(&params());
    // Six units, four of which fit: the first two begin their program at once and free their room at its end.
    bench.command(0, 0, OpKind::Write, 0..6);
    let crossed = 7 + 20 + 6 * 4;
    let first_ends = crossed + 2 * 10 + 1000;
    let (done, drive) = bench.run();
    assert_eq!(done[&0], first_ends + 3);
    assert_eq!((drive.front.counters.buffer_room_waits, drive.front.counters.buffer_room_wait_ns), (1, 1020));
    assert_eq!(drive.parts.drive_counters.host_units_programmed, 6);

    let mut bench = Bench::new(&params());
    bench.command(0, 0, OpKind::Write, 0..1);
    bench.command(100, 1, OpKind::Write, 0..1);
    bench.command(200, 2, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&0], done[&1]), (7 + 20 + 4 + 3, 100 + 34), "the second replaces the first");
    assert_eq!(done[&2], 200 + 5 + 20 + 4, "a hit touches no flash");
    assert_eq!((drive.front.counters.units_overwritten_in_buffer, drive.parts.drive_counters.host_units_programmed), (1, 0));
}

#[test]
fn a_flush_waits_only_for_a_buffer_that_forgets() {
    let flush = |params: &SsdParams| {
        let mut bench = Bench::new(params);
        bench.command(0, 0, OpKind::Write, 0..1);
        bench.command(100, 1, OpKind::Flush, 0..1);
        let (done, drive) = bench.run();
        (done[&1], drive.parts.drive_counters.padding_units_programmed)
    };
    assert_eq!(flush(&params()), (100 + 7 + 20, 0));
    let forgets = changed(|superblock| superblock.buffer.settings.protected = false);
    assert_eq!(flush(&forgets), (100 + 27 + 20 + 1000, 1), "the superpage is closed, padded and programmed");
}

#[test]
fn a_write_with_force_unit_access_waits_for_its_own_programs_only() {
    let write = |params: &SsdParams| {
        let mut bench = Bench::new(params);
        // A superpage of another command is on its way, when the write comes for a unit of it and one more.
        bench.command(0, 0, OpKind::Write, 0..2);
        bench.forced_write(500, 1, 2..3);
        bench.command(600, 2, OpKind::Write, 4..5);
        let (done, drive) = bench.run();
        ([done[&0], done[&1], done[&2]], drive.parts.drive_counters.padding_units_programmed)
    };
    let acknowledged = |at: TimeNs, pages: TimeNs| at + 7 + 20 + pages * 4 + 3;
    assert_eq!(write(&params()), ([acknowledged(0, 2), acknowledged(500, 1), acknowledged(600, 1)], 0));
    let forgets = changed(|superblock| superblock.buffer.settings.protected = false);
    // The first program begins at 35, the second after it; what comes later waits for neither.
    let first_ends = 35 + 20 + 1000;
    assert_eq!(write(&forgets), ([acknowledged(0, 2), first_ends + 20 + 1000, acknowledged(600, 1)], 1));

    // New data of a unit whose program runs already wait for the next program. A unit that is replaced waits in its superpage, which is
    // closed.
    let mut bench = Bench::new(&forgets);
    bench.command(0, 0, OpKind::Write, 0..1);
    bench.forced_write(100, 1, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&1], drive.front.counters.units_overwritten_in_buffer), (100 + 7 + 20 + 4 + 20 + 1000, 1));
}

#[test]
fn a_superpage_lingers_no_longer_than_it_may() {
    let mut bench = Bench::new(&changed(|superblock| superblock.buffer.settings.linger = Some(Duration { ns: 50 })));
    bench.command(0, 0, OpKind::Write, 0..1);
    bench.run_before(31 + 50 + 20 + 1000);
    assert_eq!(bench.drive.parts.drive_counters.host_units_programmed, 0);
    bench.run_before(31 + 50 + 20 + 1000 + 1);
    assert_eq!((bench.drive.parts.drive_counters.host_units_programmed, bench.drive.parts.drive_counters.padding_units_programmed), (1, 1));
}

#[test]
fn a_part_of_a_unit_reads_the_rest_first() {
    // Units of two pages.
    let mut params = changed(|superblock| superblock.pages_per_mapping_unit = 2);
    params.geometry.pages_per_block = 16;
    let mut bench = Bench::new(&params);
    bench.command(0, 0, OpKind::Write, 0..3);
    // Unit 0 is whole; of unit 1 the rest is read: 39 to 139, out by 149; then both are programmed.
    bench.run_before(39 + 100 + 10 + 20 + 1000);
    assert_eq!(bench.drive.parts.drive_counters.host_units_programmed, 0);
    let (done, drive) = bench.run();
    assert_eq!(done[&0], 7 + 20 + 3 * 4 + 3, "the command does not wait for it");
    assert_eq!(
        (
            drive.parts.drive_counters.units_read_for_partial_writes,
            drive.parts.drive_counters.host_units_programmed,
            drive.parts.drive_counters.flash_page_reads_for_host
        ),
        (1, 2, 1)
    );
}

#[test]
fn trimmed_units_are_nowhere() {
    let mut bench = Bench::new(&params());
    bench.command(0, 0, OpKind::Trim, 0..2);
    bench.command(1000, 1, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&0], done[&1]), (6 + 2 + 20, 1000 + 5 + 20 + 4));
    assert_eq!((drive.media().physical_slot_of_mapping_unit(0), drive.media().superblocks[0].valid), (None, 6));
}

#[test]
fn a_wait_for_room_behind_a_program_of_collection_is_booked_as_collection() {
    let mut bench = Bench::new(&changed(|superblock| superblock.upkeep.reads_before_refresh = Some(4)));
    for (number, page) in [0, 2, 4, 4].into_iter().enumerate() {
        bench.command(if number == 3 { 20_001 } else { 10_000 * number as u64 }, number as u32, OpKind::Read, page..page + 1);
    }
    // The fourth read leaves the die at 20,245; then a part is read until 20,365 and programmed until 21,385.
    let crossed = 20_500;
    bench.command(crossed - 24 - 20 - 7, 4, OpKind::Write, 50..56);
    bench.run_before(100_000);
    // Four of six units fit; the first two have been programmed at 22,405.
    assert_eq!(bench.done[&4], 21_385 + 1020 + 3);
    let parts = OperationTimeParts {
        collection_ns: 21_385 - crossed,
        cache_ns: 1020 + 3,
        transfer_ns: 24,
        other_ns: 27,
        ..OperationTimeParts::default()
    };
    assert_eq!(bench.parts[&4], parts);
}
