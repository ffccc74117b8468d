//! Reads, and what they interrupt, merge with or overlap.

use super::*;
use crate::ssd::mechanism::ReadRetry;
use crate::units::Fraction;

#[test]
fn a_read_takes_core_latency_array_wires_and_link() {
    let mut bench = Bench::new(&params());
    bench.command(0, 0, OpKind::Read, 0..1);
    // Both units of one flash page: one array read, two transfers, two pages on the link.
    bench.command(1000, 1, OpKind::Read, 2..4);
    // Two commands for units of one page: the second finds the plane at work and reads again.
    bench.command(2000, 2, OpKind::Read, 4..5);
    bench.command(2000, 3, OpKind::Read, 5..6);
    let (done, drive) = bench.run();
    assert_eq!(done[&0], 5 + 20 + 100 + 10 + 4);
    assert_eq!(done[&1], 1000 + 5 + 20 + 100 + 20 + 4 + 4);
    assert_eq!(done[&2], 2000 + 139);
    assert_eq!(done[&3], 2000 + 5 + 20 + 100 + 10 + 100 + 10 + 4);
    assert_eq!((drive.parts.drive_counters.flash_page_reads_for_host, drive.parts.drive_counters.page_reads_sharing_flash_read), (4, 1));
}

/// The array reads each page of the host four times (rule 232).
#[test]
fn a_page_that_needs_retries_keeps_its_plane() {
    let mut params = params();
    params.die_delay_mechanisms.read_retry = Some(ReadRetry { share: Fraction(1.0), times: 3 });
    let mut bench = Bench::new(&params);
    bench.command(0, 0, OpKind::Read, 0..1);
    // The second command finds the plane at work, and waits until it is free.
    bench.command(2000, 1, OpKind::Read, 4..5);
    bench.command(2000, 2, OpKind::Read, 5..6);
    let (done, drive) = bench.run();
    assert_eq!(done[&0], 5 + 20 + 400 + 10 + 4);
    assert_eq!(done[&1], 2000 + 5 + 20 + 400 + 10 + 4);
    assert_eq!(done[&2], 2000 + 5 + 20 + 410 + 410 + 4);
    let counted = drive.die_delay_counters().read_retry;
    assert_eq!((counted.retried_reads, counted.retry_array_reads_ns, drive.parts.drive_counters.flash_page_reads_for_host), (3, 900, 3));
}

#[test]
fn reads_let_something_else_in_between() {
    // A superpage is ready while three flash pages wait: two of them go first.
    let mut bench = Bench::new(&params());
    bench.command(0, 0, OpKind::Write, 60..62);
    bench.command(2000, 1, OpKind::Read, 0..8);
    let (done, _) = bench.run();
    assert_eq!(done[&0], 7 + 20 + 8 + 3);
    assert_eq!(done[&1], 2000 + 25 + 4 * 120 + 8);

    let mut bench = Bench::new(&params());
    // The program is there at 2035 while the die reads from 2025 on. It comes after two reads begun since, and the last one after it.
    bench.command(2000, 1, OpKind::Read, 0..8);
    bench.command(2002, 0, OpKind::Write, 60..62);
    let (done, _) = bench.run();
    // Reads of the first flash page begin before anything else waits.
    assert_eq!(done[&1], 2000 + 25 + 3 * 120 + 1020 + 120 + 8);
}

/// Reads interrupt at a cost of 30 and 40; programs twice and after 200 again, erases once.
fn suspending(reads_ahead: u32) -> SsdParams {
    let of = |times_max| OperationSuspension {
        suspend: Some(Duration { ns: 30 }),
        resume: Duration { ns: 40 },
        suspensions_max: times_max,
        progress: Some(Duration { ns: 200 }),
    };
    changed(|superblock| {
        superblock.suspension = Some(Suspension { program: of(2), erase: of(1) });
        superblock.reads.reads_ahead = reads_ahead;
    })
}

#[test]
fn a_read_interrupts_a_program_and_waits_for_its_progress() {
    let mut bench = Bench::new(&suspending(2));
    // On the wires from 35 on, in the array from 55 to 1055.
    bench.command(0, 0, OpKind::Write, 60..62);
    // At the die at 125, when 930 are left; done at 125 + 30 + 100 + 10, when the link takes 4.
    bench.command(100, 1, OpKind::Read, 0..1);
    // The program goes on at 265 + 40. This read is there 20 later, waits until the program has worked for 200, and halts it with 730
    // left.
    bench.command(300, 2, OpKind::Read, 2..3);
    // It goes on at 535 + 110 + 40 and is not suspended a third time.
    bench.command(700, 3, OpKind::Read, 4..5);
    let (done, drive) = bench.run();
    assert_eq!(done[&1], 125 + 30 + 110 + 4);
    assert_eq!(done[&2], 505 + 30 + 110 + 4);
    assert_eq!(done[&3], 685 + 730 + 110 + 4);
    assert_eq!(drive.parts.counters.suspensions, 2);
    assert_eq!(drive.parts.drive_counters.host_program_ns, 20 + 1000 + 2 * (30 + 40), "its own time, without the reads'");
}

#[test]
fn what_ends_sooner_than_it_could_halt_is_not_interrupted() {
    let mut bench = Bench::new(&suspending(2));
    bench.command(0, 0, OpKind::Write, 60..62);
    // At the die 30 before the program ends; one earlier it would halt it.
    bench.command(1000, 1, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&1], drive.parts.counters.suspensions), (1055 + 110 + 4, 0));

    let mut bench = Bench::new(&suspending(2));
    bench.command(0, 0, OpKind::Write, 60..62);
    bench.command(999, 1, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&1], drive.parts.counters.suspensions), (1024 + 30 + 110 + 4, 1));
}

#[test]
fn what_is_suspended_has_its_turn_after_some_reads() {
    let mut bench = Bench::new(&suspending(1));
    bench.command(0, 0, OpKind::Write, 60..62);
    // Three flash pages: one begins; the others halt the program once more, and wait for its end in turn.
    bench.command(100, 1, OpKind::Read, 0..6);
    let (done, drive) = bench.run();
    let second = 125 + 30 + 120 + 40 + 200;
    // With nothing else to do, the last one follows the program: 930 − 200 are left after the second suspension.
    assert_eq!(done[&1], second + 30 + 120 + 40 + 730 + 120 + 4 + 4);
    assert_eq!(drive.parts.counters.suspensions, 2);
}

/// A drive that moves its first superblock after four reads of it.
fn preempting(preemption: GcPreemption, cache_read: bool) -> Bench {
    let mut params = changed(|superblock| (superblock.upkeep.reads_before_refresh, superblock.reads.cache_read) = (Some(4), cache_read));
    params.gc.preemption = Some(preemption);
    let mut bench = Bench::new(&params);
    for (number, page) in [0, 2, 4, 4].into_iter().enumerate() {
        bench.command(if number == 3 { 20_001 } else { 10_000 * number as u64 }, number as u32, OpKind::Read, page..page + 1);
    }
    bench
}

const SEMI: GcPreemption = GcPreemption {
    poll: Duration { ns: 0 },
    t_hard: Fraction(0.0),
    pipeline: HostOverlapWithMoves::NoOverlap,
    merge: false,
    reorder: false,
    suspension: None,
};

#[test]
fn reads_find_what_collection_has_just_read() {
    let of = |merge| {
        let mut bench = preempting(GcPreemption { merge, ..SEMI }, false);
        // Units 0 and 1 are read from 20,245 on, and are with the controller at 20,365. This read is at the die at 20,300.
        bench.command(20_275, 4, OpKind::Read, 1..2);
        bench.run_before(100_000);
        bench
    };
    assert_eq!(of(false).done[&4], 20_365 + 110 + 4);
    let mut bench = of(true);
    assert_eq!(bench.done[&4], 20_365 + 4);
    let parts = OperationTimeParts { collection_ns: 65, transfer_ns: 4, other_ns: 25, ..OperationTimeParts::default() };
    assert_eq!(bench.parts[&4], parts);
    assert_eq!(
        (bench.drive.parts.counters.operations_served_from_move_register, bench.drive.parts.drive_counters.flash_page_reads_for_host),
        (1, 4)
    );
    // They have been programmed elsewhere by now: a read needs the flash again.
    bench.command(200_000, 5, OpKind::Read, 1..2);
    assert_eq!(bench.run().0[&5], 200_000 + 139);

    // The program of units 0 and 1 ends at 21,385: until then the controller has them.
    let mut bench = preempting(GcPreemption { merge: true, ..SEMI }, false);
    bench.command(20_475, 4, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&4], drive.parts.counters.operations_served_from_move_register), (20_504, 1));
}

#[test]
fn array_reads_overlap_with_data_that_leave_the_die() {
    let of = |pipeline| {
        let mut bench = preempting(GcPreemption { pipeline, ..SEMI }, true);
        // With a second register the array is done with the fourth read at 20,225, and its data leave until 20,235. The next one is at
        // the die at 20,340.
        bench.command(20_315, 4, OpKind::Read, 8..9);
        let (done, drive) = bench.run();
        (done[&4], drive.parts.counters.pipelined_operations)
    };
    // A step for collection takes the die from 20,235 on.
    assert_eq!(of(HostOverlapWithMoves::NoOverlap), (20_235 + 120 + 110 + 4, 0));
    // It begins while the data leave.
    assert_eq!(of(HostOverlapWithMoves::RequestsWaitingAtStepStart), (20_225 + 120 + 110 + 4, 1));
    // Its own data leave from 20,325 on, and the next read need not wait for their end.
    assert_eq!(of(HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep), (20_340 + 110 + 4, 2));
}
