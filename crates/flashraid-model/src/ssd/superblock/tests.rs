//! A tiny drive to the nanosecond, computed by hand.

use super::*;
use crate::coordination::ToController;
use crate::events::TimeParts;
use crate::request::OpKind;
use crate::rng;
use crate::space::Space;
use crate::space::superblocks::{PlacementHandles, SlcRoom, State, UpkeepParams};
use crate::ssd::{BufferParams, FirmwareParams, FrontCounters, Pipeline, Preemption, QueueParams, SsdWake, tiny};
use std::collections::BTreeMap;

/// One die of one plane; superpages of two units on one flash page, four rows, twenty superblocks, eight of which are exported.
///
/// A read command costs 5 on the core, a write 7, then 20 pass; an array read takes 100, a unit on the wires 10, a page on the link 4, a
/// program 1000, an erase 5000, `ack` 3; the buffer holds four units.
fn params() -> SsdParams {
    let mut params = tiny::ssd(1, 20, 12);
    params.geometry.pages_per_block = 8;
    (params.timing.page_program_ns, params.timing.block_erase_ns) = (1000, 5000);
    params.link = Some(super::super::LinkParams { page_ns: 4, full_duplex: true });
    params.superblock = Some(SuperblockParams {
        unit_pages: 1,
        flash_page_units: 2,
        pages_per_cell: 1,
        page_read_ns: vec![100],
        unit_transfer_ns: 10,
        plane_reads: PlaneReads::Independent,
        cache_read: false,
        reads_ahead: 2,
        programs_at_once: 1,
        rain: false,
        placement: PlacementHandles::ONE,
        slc: None,
        buffer: BufferParams { units: 4, ack_ns: 3, is_protected: true, linger_ns: None },
        queues: None,
        firmware: FirmwareParams { cores: 1, read_ns: 5, write_ns: 7, move_ns: 0, trim_ns: 6, trim_unit_ns: 1, latency_ns: 20 },
        collection: SuperblockCollection { target: 4, span: 2, floor: 2, debt_units: 8 },
        upkeep: UpkeepParams::default(),
        suspension: None,
        fresh: false,
    });
    params
}

fn changed(change: impl FnOnce(&mut SuperblockParams)) -> SsdParams {
    let mut params = params();
    change(params.superblock.as_mut().expect("it has superblocks"));
    params
}

/// Two dies with parity: rows of two superpages, one of which takes units.
fn with_parity(change: impl FnOnce(&mut SuperblockParams)) -> SsdParams {
    let mut params = changed(|superblock| {
        (superblock.rain, superblock.fresh, superblock.programs_at_once) = (true, true, 2);
        change(superblock);
    });
    (params.geometry.dies, params.geometry.blocks_per_plane, params.geometry.reserved_blocks_per_plane) = (2, 30, 22);
    params
}

/// Two placement handles, and nothing mapped.
fn with_handles(is_persistent: bool, change: impl FnOnce(&mut SuperblockParams)) -> SsdParams {
    let mut params = changed(|superblock| {
        (superblock.placement, superblock.fresh) = (PlacementHandles { handles: 2, is_persistent }, true);
        superblock.buffer.units = 6;
        (superblock.collection.target, superblock.collection.floor) = (5, 3);
        change(superblock);
    });
    (params.geometry.blocks_per_plane, params.geometry.reserved_blocks_per_plane) = (28, 20);
    params
}

/// A drive and its agenda.
struct Bench {
    drive: Drive,
    out: Outbox,
    agenda: BTreeMap<(TimeNs, u64), SsdWake>,
    scheduled: u64,
    /// By completion: when the last page was done.
    done: BTreeMap<u32, TimeNs>,
    /// By completion: where the time of the page that was told last has gone.
    parts: BTreeMap<u32, TimeParts>,
}

impl Bench {
    fn new(params: &SsdParams) -> Self {
        let superblock = params.superblock.as_ref().expect("it has superblocks");
        let space = Space::filled(&params.space(), 1, 0).superblocks().unwrap();
        let drive = Drive::new(params, superblock, space, MemberId(0));
        Self { drive, out: Outbox::default(), agenda: BTreeMap::new(), scheduled: 0, done: BTreeMap::new(), parts: BTreeMap::new() }
    }

    fn gather(&mut self) {
        for (at, wake) in std::mem::take(&mut self.out.wakes) {
            self.agenda.insert((at, self.scheduled), wake);
            self.scheduled += 1;
        }
        for end in std::mem::take(&mut self.out.ends) {
            let done = self.done.entry(end.completion).or_insert(0);
            *done = end.at.max(*done);
            self.parts.insert(end.completion, end.time);
        }
    }

    /// A command for `pages`; what comes before it happens first.
    fn command(&mut self, at: TimeNs, completion: u32, kind: OpKind, pages: std::ops::Range<u32>) {
        self.run_before(at);
        self.submit(at, completion, 0, kind, pages, false);
    }

    /// A write of that part of a mix.
    fn write_of(&mut self, source: u8, at: TimeNs, completion: u32, pages: std::ops::Range<u32>) {
        self.run_before(at);
        self.submit(at, completion, source, OpKind::Write, pages, false);
    }

    /// A write that is to survive a loss of power.
    fn forced_write(&mut self, at: TimeNs, completion: u32, pages: std::ops::Range<u32>) {
        self.forced_write_of(0, at, completion, pages);
    }

    fn forced_write_of(&mut self, source: u8, at: TimeNs, completion: u32, pages: std::ops::Range<u32>) {
        self.run_before(at);
        self.submit(at, completion, source, OpKind::Write, pages, true);
    }

    fn submit(&mut self, at: TimeNs, completion: u32, source: u8, kind: OpKind, pages: std::ops::Range<u32>, fua: bool) {
        for page in pages {
            self.drive.submit(at, PageOp { page, kind, fua, high_priority: false, source, completion }, &mut self.out);
        }
        self.gather();
    }

    /// A command of another source than the first.
    fn command_of(&mut self, source: u8, at: TimeNs, completion: u32, kind: OpKind, pages: std::ops::Range<u32>) {
        self.run_before(at);
        self.submit(at, completion, source, kind, pages, false);
    }

    fn run_before(&mut self, end: TimeNs) {
        while let Some(entry) = self.agenda.first_entry().filter(|entry| entry.key().0 < end) {
            let ((at, _), wake) = entry.remove_entry();
            match wake {
                SsdWake::Drive(wake) => self.drive.wake(at, wake, &mut self.out),
                SsdWake::Front(wake) => self.drive.wake_front(at, wake, &mut self.out),
                other => panic!("a drive has no other wake-ups: {other:?}"),
            }
            self.gather();
        }
    }

    fn run(mut self) -> (BTreeMap<u32, TimeNs>, Drive) {
        self.run_before(TimeNs::MAX);
        self.drive.media.verify().unwrap();
        (self.done, self.drive)
    }
}

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
    assert_eq!((drive.drive_counters.array_reads, drive.drive_counters.joined), (4, 1));
}

#[test]
fn a_write_is_done_in_the_buffer_and_waits_for_room() {
    let mut bench = Bench::new(&params());
    // Six units, four of which fit: the first two begin their program at once and free their room at its end.
    bench.command(0, 0, OpKind::Write, 0..6);
    let crossed = 7 + 20 + 6 * 4;
    let first_ends = crossed + 2 * 10 + 1000;
    let (done, drive) = bench.run();
    assert_eq!(done[&0], first_ends + 3);
    assert_eq!((drive.front.counters.room_waits, drive.front.counters.room_wait_ns), (1, 1020));
    assert_eq!(drive.drive_counters.units_programmed, 6);

    let mut bench = Bench::new(&params());
    bench.command(0, 0, OpKind::Write, 0..1);
    bench.command(100, 1, OpKind::Write, 0..1);
    bench.command(200, 2, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&0], done[&1]), (7 + 20 + 4 + 3, 100 + 34), "the second replaces the first");
    assert_eq!(done[&2], 200 + 5 + 20 + 4, "a hit touches no flash");
    assert_eq!((drive.front.counters.overwritten, drive.drive_counters.units_programmed), (1, 0));
}

#[test]
fn a_flush_waits_only_for_a_buffer_that_forgets() {
    let flush = |params: &SsdParams| {
        let mut bench = Bench::new(params);
        bench.command(0, 0, OpKind::Write, 0..1);
        bench.command(100, 1, OpKind::Flush, 0..1);
        let (done, drive) = bench.run();
        (done[&1], drive.drive_counters.units_padded)
    };
    assert_eq!(flush(&params()), (100 + 7 + 20, 0));
    let forgets = changed(|superblock| superblock.buffer.is_protected = false);
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
        ([done[&0], done[&1], done[&2]], drive.drive_counters.units_padded)
    };
    let acknowledged = |at: TimeNs, pages: TimeNs| at + 7 + 20 + pages * 4 + 3;
    assert_eq!(write(&params()), ([acknowledged(0, 2), acknowledged(500, 1), acknowledged(600, 1)], 0));
    let forgets = changed(|superblock| superblock.buffer.is_protected = false);
    // The first program begins at 35, the second after it; what comes later waits for neither.
    let first_ends = 35 + 20 + 1000;
    assert_eq!(write(&forgets), ([acknowledged(0, 2), first_ends + 20 + 1000, acknowledged(600, 1)], 1));

    // Of a unit whose program runs already the new data wait for the next one; one that is replaced waits in its superpage, which is closed.
    let mut bench = Bench::new(&forgets);
    bench.command(0, 0, OpKind::Write, 0..1);
    bench.forced_write(100, 1, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&1], drive.front.counters.overwritten), (100 + 7 + 20 + 4 + 20 + 1000, 1));
}

#[test]
fn a_superpage_lingers_no_longer_than_it_may() {
    let mut bench = Bench::new(&changed(|superblock| superblock.buffer.linger_ns = Some(50)));
    bench.command(0, 0, OpKind::Write, 0..1);
    bench.run_before(31 + 50 + 20 + 1000);
    assert_eq!(bench.drive.drive_counters.units_programmed, 0);
    bench.run_before(31 + 50 + 20 + 1000 + 1);
    assert_eq!((bench.drive.drive_counters.units_programmed, bench.drive.drive_counters.units_padded), (1, 1));
}

#[test]
fn a_part_of_a_unit_reads_the_rest_first() {
    // Units of two pages.
    let mut params = changed(|superblock| superblock.unit_pages = 2);
    params.geometry.pages_per_block = 16;
    let mut bench = Bench::new(&params);
    bench.command(0, 0, OpKind::Write, 0..3);
    // Unit 0 is whole; of unit 1 the rest is read: 39 to 139, out by 149; then both are programmed.
    bench.run_before(39 + 100 + 10 + 20 + 1000);
    assert_eq!(bench.drive.drive_counters.units_programmed, 0);
    let (done, drive) = bench.run();
    assert_eq!(done[&0], 7 + 20 + 3 * 4 + 3, "the command does not wait for it");
    assert_eq!((drive.drive_counters.rmw_reads, drive.drive_counters.units_programmed, drive.drive_counters.array_reads), (1, 2, 1));
}

#[test]
fn trimmed_units_are_nowhere() {
    let mut bench = Bench::new(&params());
    bench.command(0, 0, OpKind::Trim, 0..2);
    bench.command(1000, 1, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&0], done[&1]), (6 + 2 + 20, 1000 + 5 + 20 + 4));
    assert_eq!((drive.media.location(0), drive.media.superblocks[0].valid), (None, 6));
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
    // The program is there at 2035 while the die reads from 2025 on: it comes after two reads begun since, and the last one after it.
    bench.command(2000, 1, OpKind::Read, 0..8);
    bench.command(2002, 0, OpKind::Write, 60..62);
    let (done, _) = bench.run();
    // Reads of the first flash page begin before anything else waits.
    assert_eq!(done[&1], 2000 + 25 + 3 * 120 + 1020 + 120 + 8);
}

#[test]
fn collection_keeps_superblocks_free_while_the_host_writes() {
    for (level, instantaneous) in [("timed", false), ("ideal", true)] {
        let mut params = params();
        params.gc.instantaneous = instantaneous;
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
        assert!(drive.drive_counters.foreground <= waits, "{level}: the host hardly waits for a superblock");
        assert!(drive.media.free() > 2 && drive.media.free() <= 8, "{level}: {} free", drive.media.free());
        let waf = drive.drive_counters.write_amplification(1).unwrap();
        assert!((1.0..2.0).contains(&waf), "{level}: {waf}");
        if instantaneous {
            assert_eq!((drive.drive_counters.erase_ns, drive.drive_counters.collection_read_ns), (0, 0));
        } else {
            assert!(drive.drive_counters.erase_ns > 0);
        }
    }
}

#[test]
fn a_member_that_is_coordinated_collects_when_it_is_forced() {
    use crate::coordination::{MemberRole, Need, News, Notify, ToMember, Work};
    let mut bench = Bench::new(&params());
    let role = MemberRole { t_soft_free_blocks: 5, registers: true, notify: Notify::AtStart, across_dies: true };
    bench.drive.become_ggc_aware(0, role, &mut bench.out);
    let asks = News::Sends(ToController::GcRequest(Need::AT_LIMIT));
    let mut stream = rng::stream(7, "coordinated", 0);
    let mut write = 0;
    while !bench.out.notices.iter().any(|notice| notice.news == asks) {
        let page = rng::below(&mut stream, 64) as u32;
        bench.command(u64::from(write) * 3000, write, OpKind::Write, page..page + 1);
        write += 1;
    }
    assert_eq!(bench.drive.drive_counters.victims, 0, "not granted, it keeps still");
    assert_eq!(bench.drive.media.free(), 4, "it asks at its target");
    assert_eq!(bench.out.notices.iter().filter(|notice| notice.news == News::Sends(ToController::Participate)).count(), 1);
    bench.drive.receive(10_000_000, ToMember::Force(Work::OneVictim), &mut bench.out);
    bench.gather();
    bench.run_before(TimeNs::MAX);
    assert_eq!(bench.out.notices.last().map(|notice| notice.news), Some(News::Sends(ToController::GcDone)));
    assert!(bench.drive.media.free() >= 6, "until target and span are reached");
    assert_eq!(bench.out.collections.iter().filter(|interval| interval.forced).count(), 1);
    bench.drive.media.verify().unwrap();
}

/// What is collected at the controller's word is not owed for the writes that come meanwhile: with no debt allowed, none waits for a move.
#[test]
fn a_drive_that_is_forced_does_not_hold_the_host_back_for_moves() {
    use crate::coordination::{MemberRole, News, Notify, ToMember, Work};
    let mut bench = Bench::new(&changed(|superblock| {
        superblock.buffer.units = 8;
        superblock.collection.debt_units = 0;
    }));
    bench.drive.become_ggc_aware(
        0,
        MemberRole { t_soft_free_blocks: 5, registers: true, notify: Notify::AtStart, across_dies: true },
        &mut bench.out,
    );
    let mut stream = rng::stream(7, "forced", 0);
    let (mut now, mut written, mut fullest) = (0, 0, 0);
    let mut write = |bench: &mut Bench, now: TimeNs| {
        let page = rng::below(&mut stream, 64) as u32;
        bench.command(now, written, OpKind::Write, page..page + 1);
        written += 1;
    };
    for _ in 0..40 {
        while bench.drive.media.free() > 4 {
            now += 3_000;
            write(&mut bench, now);
        }
        now += 20_000;
        bench.run_before(now);
        bench.drive.receive(now, ToMember::Force(Work::OneVictim), &mut bench.out);
        bench.gather();
        while bench.drive.collects_since().is_some() {
            now += 800;
            write(&mut bench, now);
            fullest = fullest.max(bench.drive.front.buffer.used());
        }
    }
    let done = bench.out.notices.iter().filter(|notice| notice.news == News::Sends(ToController::GcDone)).count();
    assert_eq!(done, 40, "every forced collection comes to its end");
    assert!(fullest >= 6, "three superpages waited for the die, not for moves: {fullest}");
    assert_eq!(bench.drive.drive_counters.debt_waits, 0);
    bench.run();
}

/// Reads interrupt at a cost of 30 and 40; programs twice and after 200 again, erases once.
fn suspending(reads_ahead: u32) -> SsdParams {
    let of = |times_max| OperationSuspension { suspend_ns: 30, resume_ns: 40, times_max, progress_ns: 200 };
    changed(|superblock| {
        superblock.suspension = Some(SuperblockSuspension { program: of(2), erase: of(1) });
        superblock.reads_ahead = reads_ahead;
    })
}

#[test]
fn a_read_interrupts_a_program_and_waits_for_its_progress() {
    let mut bench = Bench::new(&suspending(2));
    // On the wires from 35 on, in the array from 55 to 1055.
    bench.command(0, 0, OpKind::Write, 60..62);
    // At the die at 125, when 930 are left; done at 125 + 30 + 100 + 10, when the link takes 4.
    bench.command(100, 1, OpKind::Read, 0..1);
    // The program goes on at 265 + 40; this read is there 20 later, waits until the program has worked for 200, and halts it with 730 left.
    bench.command(300, 2, OpKind::Read, 2..3);
    // It goes on at 535 + 110 + 40 and is not suspended a third time.
    bench.command(700, 3, OpKind::Read, 4..5);
    let (done, drive) = bench.run();
    assert_eq!(done[&1], 125 + 30 + 110 + 4);
    assert_eq!(done[&2], 505 + 30 + 110 + 4);
    assert_eq!(done[&3], 685 + 730 + 110 + 4);
    assert_eq!(drive.counters.suspensions, 2);
    assert_eq!(drive.drive_counters.program_ns, 20 + 1000 + 2 * (30 + 40), "its own time, without the reads'");
}

#[test]
fn what_ends_sooner_than_it_could_halt_is_not_interrupted() {
    let mut bench = Bench::new(&suspending(2));
    bench.command(0, 0, OpKind::Write, 60..62);
    // At the die 30 before the program ends; one earlier it would halt it.
    bench.command(1000, 1, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&1], drive.counters.suspensions), (1055 + 110 + 4, 0));

    let mut bench = Bench::new(&suspending(2));
    bench.command(0, 0, OpKind::Write, 60..62);
    bench.command(999, 1, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&1], drive.counters.suspensions), (1024 + 30 + 110 + 4, 1));
}

#[test]
fn what_is_suspended_has_its_turn_after_some_reads() {
    let mut bench = Bench::new(&suspending(1));
    bench.command(0, 0, OpKind::Write, 60..62);
    // Three flash pages: one goes in; the others halt the program once more, and wait for its end in turn.
    bench.command(100, 1, OpKind::Read, 0..6);
    let (done, drive) = bench.run();
    let second = 125 + 30 + 120 + 40 + 200;
    // With nothing else to do, the last one follows the program: 930 − 200 are left after the second suspension.
    assert_eq!(done[&1], second + 30 + 120 + 40 + 730 + 120 + 4 + 4);
    assert_eq!(drive.counters.suspensions, 2);
}

#[test]
fn parity_follows_the_last_superpage_of_its_row() {
    // The first superpage goes to row 1 of die 0, whose parity die 1 programs from the same moment on.
    let mut bench = Bench::new(&with_parity(|_| {}));
    bench.command(0, 0, OpKind::Write, 0..2);
    let begins = 7 + 20 + 2 * 4;
    bench.run_before(begins + 20 + 1000);
    assert_eq!((bench.drive.drive_counters.units_programmed, bench.drive.drive_counters.units_parity), (0, 0));
    bench.run_before(begins + 20 + 1000 + 1);
    let counters = bench.drive.drive_counters;
    assert_eq!((counters.units_programmed, counters.units_parity, counters.units_padded), (2, 2, 0));
    assert_eq!((counters.program_ns, counters.parity_program_ns), (1020, 1020));
    assert_eq!(counters.write_amplification(1), Some(2.0));
    assert_eq!(counters.write_amplification_of_parity(1), Some(1.0));
    let (place, shape) = (bench.drive.media.location(0).unwrap(), bench.drive.shape);
    assert_eq!((shape.row_of(place), shape.place(place).die, shape.parity_die(1)), (1, 0, Some(1)));

    // With power for one program it comes after it, and takes no room in the buffer.
    let mut bench = Bench::new(&with_parity(|superblock| superblock.programs_at_once = 1));
    bench.command(0, 0, OpKind::Write, 0..2);
    bench.run_before(begins + 2 * 1020);
    assert_eq!(
        (bench.drive.drive_counters.units_programmed, bench.drive.drive_counters.units_parity, bench.drive.front.buffer.used()),
        (2, 0, 0)
    );
    bench.run_before(begins + 2 * 1020 + 1);
    assert_eq!(bench.drive.drive_counters.units_parity, 2);
}

#[test]
fn parity_is_made_of_what_can_be_replaced_no_more() {
    // Three dies: rows of two superpages with data. That of the first row is begun once both are in their programs.
    let mut params = with_parity(|superblock| superblock.programs_at_once = 1);
    params.geometry.dies = 3;
    let mut bench = Bench::new(&params);
    // Die 0 takes row 1, die 1 row 0, die 2 row 0: the third superpage completes row 0, and waits for the power of two others.
    bench.command(0, 0, OpKind::Write, 0..4);
    bench.command(100, 1, OpKind::Write, 4..6);
    let begins = 7 + 20 + 4 * 4;
    bench.run_before(begins + 3 * 1020);
    assert_eq!((bench.drive.drive_counters.units_programmed, bench.drive.drive_counters.units_parity), (4, 0));
    bench.run_before(begins + 4 * 1020);
    assert_eq!((bench.drive.drive_counters.units_programmed, bench.drive.drive_counters.units_parity), (6, 0));
    bench.run_before(begins + 4 * 1020 + 1);
    assert_eq!((bench.drive.drive_counters.units_programmed, bench.drive.drive_counters.units_parity), (6, 2));
    assert_eq!(bench.drive.shape.parity_die(0), Some(0));
}

#[test]
fn a_flush_waits_for_data_and_not_for_parity() {
    let mut bench = Bench::new(&with_parity(|superblock| (superblock.buffer.is_protected, superblock.programs_at_once) = (false, 1)));
    bench.command(0, 0, OpKind::Write, 0..1);
    bench.command(100, 1, OpKind::Flush, 0..1);
    let (done, drive) = bench.run();
    assert_eq!(done[&1], 100 + 27 + 1020);
    assert_eq!((drive.drive_counters.units_padded, drive.drive_counters.units_parity), (1, 2));
}

/// Every die has its share of parity, also with fewer rows in a superblock than dies.
#[test]
fn parity_goes_round_over_all_superblocks() {
    for (dies, rows) in [(2, 1), (3, 2), (4, 4), (5, 3), (4, 9)] {
        let shape = Shape {
            dies,
            planes: 1,
            flash_page_units: 2,
            pages_per_cell: 1,
            rows,
            superblocks: 2 * dies,
            exported_units: 1,
            rain: true,
            placement: PlacementHandles::ONE,
            slc: None,
        };
        for die in 0..dies {
            let by_row = |block: u32, from: u32| (from..rows).filter(|row| shape.parity_die(block * rows + row) != Some(die)).collect();
            let mut all = 0;
            for block in 0..2 * dies {
                for from in 0..=rows {
                    let expected: Vec<u32> = by_row(block, from);
                    assert_eq!(shape.data_rows(block, die, from), expected.len() as u32, "{dies} dies, {rows} rows");
                    assert_eq!(shape.data_row(block, die, from), expected.first().copied().unwrap_or(rows));
                }
                all += shape.data_rows(block, die, 0);
            }
            assert_eq!(all, 2 * rows * (dies - 1), "{dies} dies, {rows} rows: die {die} takes as much as the others");
        }
        assert_eq!(shape.data_superpages(), rows * (dies - 1));
    }
}

#[test]
fn collection_pays_for_what_superblocks_take_beside_parity() {
    for instantaneous in [false, true] {
        let mut params = with_parity(|superblock| superblock.fresh = false);
        params.gc.instantaneous = instantaneous;
        let mut bench = Bench::new(&params);
        let mut stream = rng::stream(7, "parity", 0);
        for write in 0..4000 {
            let page = rng::below(&mut stream, 128) as u32;
            bench.command(u64::from(write) * 4000, write, OpKind::Write, page..page + 1);
        }
        let (done, drive) = bench.run();
        assert_eq!(done.len(), 4000);
        assert!(drive.media.free() > 2 && drive.media.free() <= 8, "{} free", drive.media.free());
        let counters = drive.drive_counters;
        let of_data = counters.units_programmed + counters.units_moved + counters.units_padded;
        // A row of each two superpages; some may lack theirs at the end. What moves without time pads nothing before the end.
        assert!(counters.units_parity.abs_diff(of_data) <= 4, "{counters:?}");
        assert!(counters.victims > 300, "{counters:?}");
    }
}

#[test]
fn what_is_written_with_different_handles_lies_apart() {
    let mut bench = Bench::new(&with_handles(false, |_| {}));
    // Part 2 of a mix has the handle of part 0.
    for (at, source, page) in [(0, 0, 0), (100, 1, 8), (200, 2, 1), (300, 1, 9)] {
        bench.write_of(source, at, page, page..page + 1);
    }
    // The superpage of handle 0 is full when its second unit comes, that of handle 1 has to wait for the die.
    let first_ends = 200 + 7 + 20 + 4 + 1020;
    let second_ends = first_ends + 1020;
    for (end, programmed) in [(first_ends, 0), (first_ends + 1, 2), (second_ends, 2), (second_ends + 1, 4)] {
        bench.run_before(end);
        assert_eq!(bench.drive.drive_counters.units_programmed, programmed, "before {end}");
    }
    let (_, drive) = bench.run();
    // Superblocks of eight units: the second is handle 1's.
    assert_eq!([0, 1, 8, 9].map(|unit| drive.media.location(unit)), [Some(0), Some(1), Some(8), Some(9)]);
    let of = drive.drive_counters.by_handle;
    assert_eq!((&of.pages_received[..3], &of.host_units[..3]), (&[2, 2, 0][..], &[2, 2, 0][..]));

    // With one handle they share superpages in the order in which they come.
    let mut bench = Bench::new(&with_handles(false, |superblock| superblock.placement = PlacementHandles::ONE));
    for (at, source, page) in [(0, 0, 0), (100, 1, 8)] {
        bench.write_of(source, at, page, page..page + 1);
    }
    let (_, drive) = bench.run();
    assert_eq!([0, 8].map(|unit| drive.media.location(unit)), [Some(0), Some(1)]);
}

#[test]
fn a_flush_closes_the_superpages_of_all_handles_and_a_forced_write_its_own() {
    let forgets = with_handles(false, |superblock| superblock.buffer.is_protected = false);
    let mut bench = Bench::new(&forgets);
    bench.write_of(1, 0, 0, 8..9);
    bench.write_of(0, 100, 1, 0..1);
    bench.command(200, 2, OpKind::Flush, 0..1);
    let (done, drive) = bench.run();
    // One after the other, handle 0 first.
    assert_eq!(done[&2], 200 + 27 + 2 * 1020);
    assert_eq!((drive.media.location(0), drive.media.location(8), drive.drive_counters.units_padded), (Some(0), Some(8), 2));

    let mut bench = Bench::new(&forgets);
    bench.write_of(0, 0, 0, 0..1);
    bench.forced_write_of(1, 100, 1, 8..9);
    let (done, drive) = bench.run();
    assert_eq!(done[&1], 100 + 31 + 1020);
    assert_eq!((drive.drive_counters.units_programmed, drive.drive_counters.units_padded, drive.media.location(0)), (1, 1, None));

    // A unit that replaces one of another handle stays where that was, which is closed.
    let mut bench = Bench::new(&forgets);
    bench.write_of(0, 0, 0, 0..1);
    bench.forced_write_of(1, 100, 1, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&1], drive.front.counters.overwritten), (100 + 31 + 1020, 1));
    let of = drive.drive_counters.by_handle;
    assert_eq!((&of.pages_received[..2], &of.host_units[..2]), (&[1, 1][..], &[2, 0][..]));
}

#[test]
fn a_superpage_of_each_handle_lingers() {
    let mut bench = Bench::new(&with_handles(false, |superblock| superblock.buffer.linger_ns = Some(50)));
    bench.write_of(0, 0, 0, 0..1);
    bench.write_of(1, 10, 1, 8..9);
    // Closed 50 after 31 and 41; the second waits for the die.
    let first_ends = 31 + 50 + 1020;
    for (end, programmed) in [(first_ends, 0), (first_ends + 1, 1), (first_ends + 1020, 1), (first_ends + 1020 + 1, 2)] {
        bench.run_before(end);
        assert_eq!(bench.drive.drive_counters.units_programmed, programmed, "before {end}");
    }
}

/// Two tenants, each with its half of the addresses and its handle: whether superblocks hold units of both.
#[test]
fn what_is_moved_stays_apart_only_with_persistent_isolation() {
    let mut padded = Vec::new();
    for is_persistent in [false, true] {
        for (dies, instantaneous, rain) in [(1, false, false), (2, false, false), (2, false, true), (2, true, false), (2, true, true)] {
            let mut params = with_handles(is_persistent, |superblock| superblock.rain = rain);
            params.geometry.dies = dies;
            params.gc.instantaneous = instantaneous;
            // With parity half of each row of two takes units.
            params.geometry.blocks_per_plane = 60;
            params.geometry.reserved_blocks_per_plane = if rain { 44 } else { 25 };
            assert!(params.superblock.as_ref().unwrap().shape(&params.geometry).never_stops(3));
            let mut bench = Bench::new(&params);
            let half = bench.drive.shape.exported_units / 2;
            let mut stream = rng::stream(7, "tenants", u64::from(dies));
            for write in 0..6000 {
                let source = rng::below(&mut stream, 2) as u32;
                let page = source * half + rng::below(&mut stream, u64::from(half)) as u32;
                bench.write_of(source as u8, u64::from(write) * 4000, write, page..page + 1);
            }
            let (done, drive) = bench.run();
            assert_eq!(done.len(), 6000);
            let media = &drive.media;
            let per_block = drive.shape.superblock_units();
            let mixed = (0..drive.shape.superblocks).filter(|block| {
                let valid = (block * per_block..(block + 1) * per_block).filter(|&place| media.is_valid(place));
                let of_second: Vec<bool> = valid.map(|place| media.unit_at(place) >= half).collect();
                of_second.contains(&true) && of_second.contains(&false)
            });
            let case = format!("persistent {is_persistent}, {dies} dies, ideal {instantaneous}, parity {rain}");
            assert_eq!(mixed.count() > 0, !is_persistent, "{case}");
            let counters = &drive.drive_counters;
            let of = &counters.by_handle;
            assert!(counters.victims > 200 && counters.units_moved > 200, "{case}: {counters:?}");
            assert_eq!(of.host_units.iter().chain(&of.collection_units).sum::<u64>(), counters.programmed_units(), "{case}");
            assert_eq!(of.pages_received.iter().sum::<u64>(), 6000, "{case}");
            assert_eq!(of.collection_units[1] > 0, is_persistent, "{case}");
            if (dies, instantaneous, rain) == (2, false, false) {
                padded.push(counters.units_padded);
            }
        }
    }
    // The last units of a victim don't wait when the next one is another handle's.
    assert!(padded[0] == 0 && padded[1] > 50, "{padded:?}");
}

/// Two bits per cell, so that a superpage has four units on four rows; with one bit per cell a program takes 300 and a read 40.
fn with_slc(room: SlcRoom, change: impl FnOnce(&mut SuperblockParams)) -> SsdParams {
    let mut params = changed(|superblock| {
        (superblock.pages_per_cell, superblock.fresh) = (2, true);
        superblock.buffer = BufferParams { units: 16, ack_ns: 3, is_protected: false, linger_ns: None };
        superblock.slc = Some(SlcParams { room, program_ns: 300, read_ns: 40 });
        change(superblock);
    });
    params.geometry.pages_per_block = 16;
    params
}

#[test]
fn one_bit_per_cell_holds_less_and_takes_its_own_times() {
    let mut bench = Bench::new(&with_slc(SlcRoom::Superblocks(1), |_| {}));
    // Four superpages of two units fill the superblock; each takes 7 + 20 + 8, then 20 on the channel and the program.
    for number in 0..4 {
        let page = 2 * number;
        bench.forced_write(u64::from(number) * 10_000, number, page..page + 2);
    }
    bench.command(50_000, 10, OpKind::Read, 3..4);
    // There is no room any more: four units in a superpage, of which this fills two.
    bench.forced_write(60_000, 4, 20..22);
    bench.command(70_000, 11, OpKind::Read, 21..22);
    let (done, drive) = bench.run();
    for number in 0..4 {
        assert_eq!(done[&number], u64::from(number) * 10_000 + 35 + 20 + 300);
    }
    assert_eq!(done[&10], 50_000 + 25 + 40 + 10 + 4);
    assert_eq!(done[&4], 60_000 + 35 + 40 + 1000);
    assert_eq!(done[&11], 70_000 + 25 + 100 + 10 + 4);
    let counters = &drive.drive_counters;
    assert_eq!((counters.units_programmed, counters.units_slc, counters.units_padded), (10, 8, 2));
    assert_eq!((drive.media.slc_in_use, drive.media.superblocks[0].state), (1, State::Sealed));
    drive.media.verify().unwrap();
}

#[test]
fn idle_time_folds_what_one_bit_per_cell_holds() {
    let mut params = with_slc(SlcRoom::Superblocks(1), |_| {});
    params.gc.idle_ns = Some(50_000);
    let mut bench = Bench::new(&params);
    for number in 0..4 {
        let page = 2 * number;
        bench.command(u64::from(number) * 1000, number, OpKind::Write, page..page + 2);
    }
    // One of the eight is written again before it is folded, which takes a superpage that is not full.
    bench.forced_write(10_000, 4, 7..8);
    bench.run_before(10_000 + 50_000);
    assert_eq!((bench.drive.media.slc_in_use, bench.drive.drive_counters.units_folded), (1, 0));
    bench.run_before(1_000_000);
    let counters = &bench.drive.drive_counters;
    assert_eq!((counters.units_folded, counters.units_moved, bench.drive.media.slc_in_use), (7, 7, 0));
    // There is room again; and what was folded takes an array read of the second kind.
    bench.command(1_000_000, 5, OpKind::Read, 0..1);
    bench.forced_write(1_010_000, 6, 30..32);
    let (done, drive) = bench.run();
    assert_eq!((done[&5], done[&6]), (1_000_000 + 139, 1_010_000 + 35 + 320));
    drive.media.verify().unwrap();
}

/// A share of what is free beyond the target: two bits per cell take over where that ends.
#[test]
fn a_full_drive_has_little_room_for_one_bit_per_cell() {
    let in_use = |millionths: u32, written: u32| {
        let mut bench = Bench::new(&with_slc(SlcRoom::ShareOfFree { millionths }, |_| {}));
        for number in 0..written {
            let page = 2 * number;
            bench.forced_write(u64::from(number) * 10_000, number, page..page + 2);
        }
        bench.run().1.media.slc_in_use
    };
    // Twenty are free, four of these the target; four superpages fill one.
    assert_eq!([1, 4, 5, 32, 33, 40].map(|written| in_use(500_000, written)), [1, 1, 2, 8, 8, 8]);
    assert_eq!([40, 44].map(|written| in_use(125_000, written)), [2, 2]);
    assert_eq!(in_use(60_000, 40), 0);
}

#[test]
fn what_is_read_often_is_moved() {
    let mut bench = Bench::new(&changed(|superblock| superblock.upkeep.refresh_reads = Some(4)));
    // Four flash pages of the first superblock; the third is read for two at a time.
    for (number, page) in [0, 2, 4, 4].into_iter().enumerate() {
        bench.command(if number == 3 { 20_001 } else { 10_000 * number as u64 }, number as u32, OpKind::Read, page..page + 1);
    }
    bench.run_before(100_000);
    assert_eq!((bench.drive.drive_counters.array_reads, bench.drive.drive_counters.joined), (4, 0));
    let counters = &bench.drive.drive_counters;
    assert_eq!((counters.refreshed, counters.victims, counters.units_moved), (1, 1, 8));
    assert_eq!((bench.drive.media.superblocks[0].erases, bench.drive.media.superblocks[0].reads), (1, 0));
    // Reads of others are their own; three are not enough.
    for (number, page) in [8, 10, 12].into_iter().enumerate() {
        bench.command(200_000 + 10_000 * number as u64, 10 + number as u32, OpKind::Read, page..page + 1);
    }
    let (_, drive) = bench.run();
    assert_eq!((drive.drive_counters.refreshed, drive.media.superblocks[1].reads), (1, 3));
}

#[test]
fn a_wait_for_room_behind_a_program_of_collection_is_booked_as_collection() {
    let mut bench = Bench::new(&changed(|superblock| superblock.upkeep.refresh_reads = Some(4)));
    for (number, page) in [0, 2, 4, 4].into_iter().enumerate() {
        bench.command(if number == 3 { 20_001 } else { 10_000 * number as u64 }, number as u32, OpKind::Read, page..page + 1);
    }
    // The fourth read leaves the die at 20,245; then a part is read until 20,365 and programmed until 21,385.
    let crossed = 20_500;
    bench.command(crossed - 24 - 20 - 7, 4, OpKind::Write, 50..56);
    bench.run_before(100_000);
    // Four of six units fit; the first two have been programmed at 22,405.
    assert_eq!(bench.done[&4], 21_385 + 1020 + 3);
    let parts = TimeParts { collection_ns: 21_385 - crossed, cache_ns: 1020 + 3, transfer_ns: 24, other_ns: 27, ..TimeParts::default() };
    assert_eq!(bench.parts[&4], parts);
}

/// A drive that moves its first superblock after four reads of it.
fn preempting(preemption: Preemption, cache_read: bool) -> Bench {
    let mut params = changed(|superblock| (superblock.upkeep.refresh_reads, superblock.cache_read) = (Some(4), cache_read));
    params.gc.preemption = Some(preemption);
    let mut bench = Bench::new(&params);
    for (number, page) in [0, 2, 4, 4].into_iter().enumerate() {
        bench.command(if number == 3 { 20_001 } else { 10_000 * number as u64 }, number as u32, OpKind::Read, page..page + 1);
    }
    bench
}

const SEMI: Preemption = Preemption { poll_ns: 0, t_hard: 0.0, pipeline: Pipeline::Off, merge: false, reorder: false, suspension: None };

#[test]
fn reads_find_what_collection_has_just_read() {
    let of = |merge| {
        let mut bench = preempting(Preemption { merge, ..SEMI }, false);
        // Units 0 and 1 are read from 20,245 on, and are with the controller at 20,365. This read is at the die at 20,300.
        bench.command(20_275, 4, OpKind::Read, 1..2);
        bench.run_before(100_000);
        bench
    };
    assert_eq!(of(false).done[&4], 20_365 + 110 + 4);
    let mut bench = of(true);
    assert_eq!(bench.done[&4], 20_365 + 4);
    let parts = TimeParts { collection_ns: 65, transfer_ns: 4, other_ns: 25, ..TimeParts::default() };
    assert_eq!(bench.parts[&4], parts);
    assert_eq!((bench.drive.counters.merges, bench.drive.drive_counters.array_reads), (1, 4));
    // They have been programmed elsewhere by now: a read needs the flash again.
    bench.command(200_000, 5, OpKind::Read, 1..2);
    assert_eq!(bench.run().0[&5], 200_000 + 139);

    // The program of units 0 and 1 ends at 21,385: until then the controller has them.
    let mut bench = preempting(Preemption { merge: true, ..SEMI }, false);
    bench.command(20_475, 4, OpKind::Read, 0..1);
    let (done, drive) = bench.run();
    assert_eq!((done[&4], drive.counters.merges), (20_504, 1));
}

#[test]
fn array_reads_overlap_with_data_that_leave_the_die() {
    let of = |pipeline| {
        let mut bench = preempting(Preemption { pipeline, ..SEMI }, true);
        // With a second register the array is done with the fourth read at 20,225, and its data leave until 20,235. The next one is at the die at
        // 20,340.
        bench.command(20_315, 4, OpKind::Read, 8..9);
        let (done, drive) = bench.run();
        (done[&4], drive.counters.pipelined)
    };
    // A step for collection takes the die from 20,235 on.
    assert_eq!(of(Pipeline::Off), (20_235 + 120 + 110 + 4, 0));
    // It begins while the data leave.
    assert_eq!(of(Pipeline::AtPoints), (20_225 + 120 + 110 + 4, 1));
    // Its own data leave from 20,325 on, and the next read need not wait for their end.
    assert_eq!(of(Pipeline::InFlight), (20_340 + 110 + 4, 2));
}

#[test]
fn what_is_erased_seldom_is_moved_in_turn_with_others() {
    let mut bench = Bench::new(&changed(|superblock| superblock.upkeep.wear_difference = Some(2)));
    bench.drive.media.superblocks[15].erases = 1;
    bench.forced_write(0, 0, 0..2);
    bench.run_before(100_000);
    assert_eq!(bench.drive.drive_counters.levelled, 0, "one erase is no difference of two");
    bench.drive.media.superblocks[15].erases = 2;
    bench.command(100_000, 1, OpKind::Write, 2..4);
    bench.command(200_000, 2, OpKind::Write, 4..6);
    let (_, drive) = bench.run();
    // The one with the highest number of those that are full; then it would be another one's turn, but nothing needs collecting.
    let counters = &drive.drive_counters;
    assert_eq!((counters.levelled, counters.victims, counters.units_moved), (1, 1, 8));
    assert_eq!((drive.media.superblocks[7].erases, drive.media.superblocks[6].erases), (1, 0));
}

fn with_queues(queues: u32, burst: u32, commands: u32) -> SsdParams {
    changed(|superblock| superblock.queues = Some(QueueParams { queues, burst, commands }))
}

/// Six reads of different flash pages come while a seventh is in flight: three of source 0, then three of `other`.
fn two_sources(params: &SsdParams, other: u8) -> (BTreeMap<u32, TimeNs>, FrontCounters) {
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
    // One at a time, each takes 5 + 20 + 100 + 10 + 4; the first one has emptied its queue, so that the other queue has its turn.
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
