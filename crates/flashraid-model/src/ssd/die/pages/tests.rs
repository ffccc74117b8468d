//! Every rule of preemption on a tiny die, to the nanosecond.
//!
//! Read 20, program 200, erase 1000, transfer 7, command 1, poll 5; so a read takes 28 and a write 208. Blocks of four pages, no
//! summary. Five writes bring a pool to its start threshold with pages 6 and 7 left in the victim. From `T` on, when a read (of 28)
//! starts the collection, it goes like this if nothing else happens:
//!
//! ```text
//! poll 0–5, the read 5–33, poll –38, read of 6 –58, poll –63, program –263, poll –268, read of 7 –288, poll –293, program –493,
//! poll –498, erase –1498
//! ```

use crate::TimeNs;
use crate::array::{Array, ArrayEvent, ArrayExecutionOptions, ArrayParams, RaidLevel, ReadPlan, RequestDone, RequestInPages, RunMilestone};
use crate::events::VictimBlockCollection;
use crate::request::OpKind;
use crate::ssd::mechanism::ReadRetry;
use crate::ssd::{ExactFastPaths, GcPreemption, HostOverlapWithMoves, MemberCounters, ProgramEraseSuspension, tiny};
use crate::units::{Duration, Fraction};

const T: TimeNs = 10_000;
const SEMI: GcPreemption = GcPreemption {
    poll: Duration { ns: 5 },
    t_hard: Fraction(0.0),
    pipeline: HostOverlapWithMoves::NoOverlap,
    merge: false,
    reorder: false,
    suspension: None,
};

#[derive(Clone, Copy)]
enum Op {
    Read(u64),
    Write(u64),
    Urgent(u64),
}
use Op::{Read, Urgent, Write};

struct Outcome {
    /// Time from which times are counted.
    from: TimeNs,
    /// End of each operation.
    done: Vec<i64>,
    met: Vec<u32>,
    cleans: Vec<VictimBlockCollection>,
    counters: MemberCounters,
}

impl Outcome {
    fn clean_end(&self) -> i64 {
        self.cleans[0].end_ns as i64 - self.from as i64
    }
}

fn params(planes: u32, spare_blocks: u32, preemption: Option<GcPreemption>) -> ArrayParams {
    let mut ssd = tiny::ssd(1, 6 + spare_blocks, 3 + spare_blocks);
    ssd.geometry.planes = planes;
    (ssd.gc.start_threshold_free_blocks, ssd.gc.stop_threshold_free_blocks) = (1 + spare_blocks, 2 + spare_blocks);
    ssd.gc.preemption = preemption;
    ArrayParams {
        level: RaidLevel::Single,
        members: 1,
        stripe_unit_pages: 1,
        parity_handle: Default::default(),
        ssd,
        coordination: None,
        failures: Vec::new(),
        rebuild: None,
        read_plan: ReadPlan::default(),
        slow: Vec::new(),
        cache: None,
        host_port: None,
    }
}

/// Runs operations at times counted from `T`, after writes that bring a pool to its start threshold.
fn run(params: &ArrayParams, operations: &[(i64, Op)]) -> Outcome {
    let writes: &[u64] = if params.ssd.geometry.planes == 1 { &[0, 1, 4, 5, 8] } else { &[0, 4, 1, 5, 8, 12, 9, 13, 16] };
    run_after(params, ExactFastPaths::default(), writes, T, operations)
}

/// Runs operations after other writes, with times counted from `from`.
fn run_after(params: &ArrayParams, shortcuts: ExactFastPaths, writes: &[u64], from: TimeNs, operations: &[(i64, Op)]) -> Outcome {
    let members = u64::from(params.members);
    let mut array = Array::new(params, 1, ArrayExecutionOptions { shortcuts, ..ArrayExecutionOptions::default() });
    let mut arrivals: Vec<(TimeNs, Op)> = writes.iter().map(|&page| (0, Write(page))).collect();
    arrivals.extend(operations.iter().map(|&(at, op)| ((from as i64 + at) as TimeNs, op)));
    let mut events: Vec<ArrayEvent> = Vec::new();
    let mut now = 0;
    for (tag, &(at, op)) in arrivals.iter().enumerate() {
        while let Some(event) = array.next_time().filter(|&event| event < at) {
            now = event;
            array.advance(event, &mut events);
            array.verify().expect("the state is consistent at any moment");
        }
        let (kind, page, high_priority) = match op {
            Read(page) => (OpKind::Read, page, false),
            Write(page) => (OpKind::Write, page, false),
            Urgent(page) => (OpKind::Write, page, true),
        };
        // The same page of every member, so that an array does on each what a single one does.
        let (first_page, pages) = (page * members, members as u32);
        let request = RequestInPages {
            tag: tag as u64,
            first_page,
            pages,
            kind,
            fua: false,
            must_not_wait_for_gc: high_priority,
            stream: 0,
            contiguous_on_one_member: false,
        };
        array.submit(at, &request).expect("it fits");
    }
    while let Some(event) = array.next_time() {
        now = event;
        array.advance(event, &mut events);
        array.verify().expect("the state is consistent at any moment");
        if events.iter().filter(|event| matches!(event, ArrayEvent::RequestDone(_))).count() == arrivals.len() {
            array.announce_milestone(now, RunMilestone::LastRequestDone, &mut events);
        }
    }
    assert!(now > 0);
    array.verify().expect("the state is consistent");
    array.announce_milestone(now, RunMilestone::RunEnds, &mut events);
    let (mut done, mut cleans): (Vec<RequestDone>, Vec<VictimBlockCollection>) = Default::default();
    for event in events {
        match event {
            ArrayEvent::RequestDone(one) => done.push(one),
            ArrayEvent::VictimCollectionEnded(clean) => cleans.push(clean),
            other => unreachable!("{other:?}: there is no cache, no drive with superblocks, and nothing fails"),
        }
    }
    done.sort_by_key(|done| done.tag);
    let done = &done[writes.len()..];
    assert_eq!(done.len(), operations.len(), "every operation is done");
    Outcome {
        from,
        done: done.iter().map(|done| done.at as i64 - from as i64).collect(),
        met: done.iter().map(|done| done.gc_members_met).collect(),
        cleans,
        counters: *array.members()[0].counters(),
    }
}

fn semi(preemption: GcPreemption, operations: &[(i64, Op)]) -> Outcome {
    run(&params(1, 0, Some(preemption)), operations)
}

/// Whoever stops a run with `--check` may stop it there: writes between the steps of a clean have filled the open block.
#[test]
fn a_clean_may_hold_the_last_free_block() {
    let ran = run(&params(1, 0, Some(SEMI)), &[(0, Read(6)), (6, Write(0)), (7, Write(1)), (8, Write(4)), (9, Read(7))]);
    assert_eq!(ran.cleans[0].pool_free_blocks_min, 0, "its moves opened the last free block");
}

#[test]
fn a_clean_that_nothing_disturbs_costs_a_poll_at_every_point() {
    let outcome = semi(SEMI, &[(0, Read(9))]);
    assert_eq!((outcome.done, outcome.cleans[0].end_ns), (vec![33], T + 1498));
    assert_eq!((outcome.counters.preemptions, outcome.counters.gc_pages_moved, outcome.counters.erases), (1, 2, 1));
    assert_eq!((outcome.counters.gc_time_ns, outcome.counters.gc_preemptible_by_all_requests_ns), (1498, 1498));
    assert_eq!(outcome.met, [1]);
    let without_polling = semi(GcPreemption { poll: Duration { ns: 0 }, ..SEMI }, &[(0, Read(9))]);
    assert_eq!((without_polling.done, without_polling.cleans[0].end_ns), (vec![28], T + 1498 - 6 * 5));
    let without_preemption = run(&params(1, 0, None), &[(0, Read(9))]);
    assert_eq!((without_preemption.done, without_preemption.cleans[0].end_ns), (vec![1468], T + 1440));
}

#[test]
fn a_read_waits_for_the_next_point_2() {
    let phases = [
        (36, 66, "poll at point 2"),
        (38, 66, "its very end"),
        (39, 296, "read of a move"),
        (60, 296, "poll at point 1"),
        (100, 296, "program"),
        (268, 296, "the next poll"),
        (269, 526, "the read behind it"),
        (495, 526, "poll before the erase"),
        (499, 1526, "erase"),
    ];
    for (at, expected, phase) in phases {
        let outcome = semi(SEMI, &[(0, Read(9)), (at, Read(10))]);
        assert_eq!((outcome.done[1], outcome.met[1]), (expected, 1), "{phase}");
        // Each admitted operation delays the end by its duration and a poll.
        assert_eq!(outcome.clean_end(), if phase == "erase" { 1498 } else { 1498 + 28 + 5 }, "{phase}");
    }
    let later = semi(SEMI, &[(0, Read(9)), (1498, Read(10))]);
    assert_eq!((later.done[1], later.met[1]), (1526, 0), "the end of the erase");
}

#[test]
fn a_write_also_goes_in_at_point_1() {
    let outcome = semi(SEMI, &[(0, Read(9)), (45, Write(10)), (46, Read(11))]);
    // Write 63–271, poll –276, program of 6 –476, poll –481, the read –509, poll –514.
    assert_eq!(outcome.done, [33, 271, 509]);
    assert_eq!(outcome.clean_end(), 1498 + 208 + 28 + 2 * 5);
    assert_eq!(outcome.counters.preemptions, 3);
}

#[test]
fn no_operation_overtakes_an_earlier_one_on_its_page() {
    // At point 1 the write of 10 might go in, but a read of 10 came before it.
    let outcome = semi(SEMI, &[(0, Read(9)), (45, Read(10)), (46, Write(10)), (47, Write(11))]);
    assert_eq!(outcome.done[3], 63 + 208);
    assert_eq!(outcome.done[1], 481 + 28);
    assert_eq!(outcome.done[2], 514 + 208);
}

#[test]
fn a_page_overwritten_while_it_is_in_the_register_is_dropped() {
    let outcome = semi(SEMI, &[(0, Read(9)), (45, Write(6))]);
    assert_eq!(outcome.done[1], 271);
    // After the poll at point 1 (–276) the one at point 2 (–281), then page 7.
    assert_eq!(outcome.clean_end(), 281 + 20 + 5 + 200 + 5 + 1000);
    assert_eq!((outcome.counters.gc_pages_read_in_vain, outcome.counters.gc_pages_moved), (1, 1));
    assert_eq!(outcome.counters.flash_page_ops(), 1 + 6 + 2 + 1);
}

#[test]
fn a_page_overwritten_before_its_read_is_not_moved() {
    let outcome = semi(SEMI, &[(0, Write(7))]);
    assert_eq!(outcome.done, [213]);
    assert_eq!(outcome.clean_end(), 218 + 20 + 5 + 200 + 5 + 1000);
    assert_eq!(outcome.counters.gc_pages_moved, 1);
}

#[test]
fn reads_and_writes_of_the_page_in_the_register_are_merged() {
    let merge = GcPreemption { merge: true, ..SEMI };
    let outcome = semi(merge, &[(0, Read(9)), (45, Read(6))]);
    assert_eq!((outcome.done[1], outcome.clean_end()), (63 + 7, 1498 + 7 + 5));
    assert_eq!(
        (
            outcome.counters.operations_served_from_move_register,
            outcome.counters.moves_replaced_by_host_writes,
            outcome.counters.gc_pages_moved
        ),
        (1, 0, 2)
    );

    let outcome = semi(merge, &[(0, Read(9)), (45, Write(6)), (46, Write(6)), (47, Read(6))]);
    // Merged one by one: –70, poll –75, –82, poll –87, –94, poll –99, then the program for both writes.
    assert_eq!(outcome.done, [33, 299, 299, 94]);
    assert_eq!(outcome.clean_end(), 1498 + 3 * (7 + 5));
    assert_eq!(
        (
            outcome.counters.operations_served_from_move_register,
            outcome.counters.moves_replaced_by_host_writes,
            outcome.counters.gc_pages_moved
        ),
        (3, 1, 1)
    );
    assert_eq!((outcome.counters.host_pages_written, outcome.cleans[0].pages_moved), (7, 1));
    // Five writes before, the first read, two pages moved.
    assert_eq!(outcome.counters.flash_page_ops(), 5 + 1 + 4);
}

#[test]
fn the_page_that_is_wanted_moves_first() {
    let reorder = GcPreemption { merge: true, reorder: true, ..SEMI };
    let outcome = semi(reorder, &[(0, Read(9)), (36, Read(7))]);
    assert_eq!(outcome.done[1], 63 + 7);
    assert_eq!((outcome.clean_end(), outcome.counters.operations_served_from_move_register), (1498 + 7 + 5, 1));
    let in_order = semi(GcPreemption { reorder: false, ..reorder }, &[(0, Read(9)), (36, Read(7))]);
    assert_eq!((in_order.done[1], in_order.counters.operations_served_from_move_register), (66, 0));
}

#[test]
fn a_read_overlaps_with_the_read_of_a_move() {
    let pipeline = Some(GcPreemption { pipeline: HostOverlapWithMoves::RequestsWaitingAtStepStart, ..SEMI });
    // The same plane: the second array read begins when the first has ended, 5 + 1 + 2 × 20.
    let same = run(&params(1, 0, pipeline), &[(0, Read(9))]);
    assert_eq!((same.done[0], same.clean_end()), (33, 46 + 1498 - 58));
    assert_eq!((same.counters.pipelined_operations, same.counters.preemptions), (1, 0));
    let same = run(&params(2, 0, pipeline), &[(0, Read(2))]);
    assert_eq!((same.done[0], same.clean_end()), (33, 46 + 1498 - 58));
    // Different planes: only the transfer separates them.
    let different = run(&params(2, 0, pipeline), &[(0, Read(6))]);
    assert_eq!((different.done[0], different.clean_end()), (33, 33 + 1498 - 58));
    // Without copy-back the clean's transfers follow the host's.
    let mut transfers = params(2, 0, pipeline);
    transfers.ssd.gc.rules.copy_back = false;
    assert_eq!(run(&transfers, &[(0, Read(6))]).clean_end(), 33 + 14 + 1498 - 58 + 14);
    // Two at a time: array reads –26, –46 and the clean's –66, transfers –33 and –53.
    let two = run(&params(1, 0, pipeline), &[(0, Read(9)), (1, Read(10))]);
    assert_eq!((two.clean_end(), two.counters.preemptions, two.counters.pipelined_operations), (66 + 1498 - 58, 0, 2));
    assert_eq!(two.done, [33, 53]);
    // If a write may also be admitted, the reads are not done together with the step.
    let mixed = run(&params(1, 0, pipeline), &[(0, Read(9)), (1, Read(10)), (2, Write(11))]);
    assert_eq!((mixed.done[..2].to_vec(), mixed.counters.pipelined_operations), (vec![33, 66], 0));
}

#[test]
fn a_write_overlaps_with_the_program_of_a_move() {
    let pipeline = Some(GcPreemption { pipeline: HostOverlapWithMoves::RequestsWaitingAtStepStart, ..SEMI });
    // The same plane: read of both –46, poll –51, program of the write 59–259, of the move –459.
    let same = run(&params(1, 0, pipeline), &[(0, Read(9)), (48, Write(10))]);
    assert_eq!((same.done[1], same.clean_end()), (259, 459 + 1498 - 263));
    // Different planes: poll –38, the write's program after its transfer, –246.
    let different = run(&params(2, 0, pipeline), &[(0, Read(6)), (36, Write(7))]);
    assert_eq!((different.done[1], different.counters.pipelined_operations), (246, 2));
    assert_eq!(different.clean_end(), 246 + 1498 - 263);
    // A write of the page in the register replaces it.
    let replaced = run(&params(1, 0, pipeline), &[(0, Read(9)), (48, Write(6))]);
    assert_eq!((replaced.done[1], replaced.counters.pipelined_operations, replaced.counters.gc_pages_read_in_vain), (51 + 208, 1, 1));
}

#[test]
fn writes_wait_when_free_blocks_fall_below_t_hard() {
    // T_soft is 2 and T_hard 1.8. Three writes fill the open block, the fourth opens another: one block is left.
    let params = params(1, 1, Some(GcPreemption { t_hard: Fraction(0.9), ..SEMI }));
    let writes: Vec<_> = [9, 10, 11, 0, 1].iter().map(|&page| (0, Write(page))).collect();
    let outcome = run(&params, &writes);
    assert_eq!(outcome.done[..4], [213, 426, 639, 852]);
    let clean = outcome.cleans[0];
    assert_eq!((clean.free_blocks_before, clean.pool_free_blocks_min), (2, 1));
    assert_eq!((clean.writes_blocked_from_ns, clean.all_requests_blocked_from_ns), (T + 857, clean.end_ns));
    // Pages 6 and 7 move, then the erase.
    assert_eq!(clean.end_ns, T + 857 + 1460);
    // The next clean begins with two free blocks, in state 1, and lets the last write in at its first poll.
    assert_eq!((outcome.cleans[1].start_ns, outcome.cleans[1].writes_blocked_from_ns), (clean.end_ns, outcome.cleans[1].end_ns));
    assert_eq!(outcome.done[4], 857 + 1460 + 5 + 208);
    assert_eq!(outcome.counters.writes_that_waited_for_room, 0);
    // A read is admitted in state 2 nevertheless, at the next point 2.
    let with_read: Vec<_> = writes.into_iter().chain([(860, Read(3))]).collect();
    assert_eq!(run(&params, &with_read).done[5], 857 + 20 + 5 + 200 + 5 + 28);
    // With T_hard equal to the free blocks the state is still 1: they have to fall below it.
    let equal = run(&self::params(1, 1, Some(GcPreemption { t_hard: Fraction(1.0), ..SEMI })), &[(0, Write(9))]);
    assert_eq!(equal.done, [213]);
}

#[test]
fn a_clean_that_begins_below_t_hard_begins_in_state_2() {
    // T_soft is 3 and T_hard 2.7. The fourth write opens a block and the first move another: two are left after the erase.
    let mut params = params(1, 2, Some(GcPreemption { t_hard: Fraction(0.9), ..SEMI }));
    params.ssd.gc.rules.separate_open_block = true;
    let writes: Vec<_> = [9, 10, 11, 0, 1].iter().map(|&page| (0, Write(page))).collect();
    let outcome = run(&params, &writes);
    assert_eq!((outcome.cleans[0].writes_blocked_from_ns, outcome.cleans[0].end_ns), (T + 857, T + 857 + 1460));
    // The last write waits from the begin of the second clean, whose victim has no valid page, until the third. This begins with three
    // free blocks and admits it at its first poll.
    let second = outcome.cleans[1];
    assert_eq!((second.free_blocks_before, second.start_ns, second.writes_blocked_from_ns), (2, T + 2317, T + 2317));
    assert_eq!((second.pages_moved, second.end_ns, second.all_requests_blocked_from_ns), (0, T + 3322, T + 3322));
    assert_eq!((outcome.cleans[2].free_blocks_before, outcome.done[4]), (3, 3322 + 5 + 208));
    assert_eq!((outcome.counters.gc_preemptible_by_reads_only_ns, outcome.counters.writes_that_waited_for_room), (1460 + 1005, 0));
    // A read is admitted at the first poll of the second clean.
    let with_read: Vec<_> = writes.iter().copied().chain([(2320, Read(3))]).collect();
    let with_read = run(&params, &with_read);
    assert_eq!(with_read.done[4..], [3322 + 33 + 5 + 208, 2322 + 28]);
    // A high-priority write ends the polls: state 3 from the first of them on, and the write right after the erase.
    let urgent: Vec<_> = writes[..4].iter().copied().chain([(2320, Urgent(1)), (2321, Read(3))]).collect();
    let urgent = run(&params, &urgent);
    assert_eq!((urgent.cleans[1].writes_blocked_from_ns, urgent.cleans[1].all_requests_blocked_from_ns), (T + 2317, T + 2322));
    assert_eq!(urgent.done[4], 3322 + 208);
}

#[test]
fn a_high_priority_write_stops_all_polls_until_the_erase() {
    // T_hard is 1.8. The fourth write leaves one free block: state 2 from 857 on. Page 6 is read –877, poll –882, program –1082. At the
    // next poll the state becomes 3: read –1107, program –1307, erase –2307, then the write.
    let params = params(1, 1, Some(GcPreemption { t_hard: Fraction(0.9), ..SEMI }));
    let mut operations: Vec<_> = [9, 10, 11, 0].iter().map(|&page| (0, Write(page))).collect();
    operations.extend([(900, Urgent(1)), (901, Read(3)), (902, Write(2))]);
    let outcome = run(&params, &operations);
    let clean = outcome.cleans[0];
    assert_eq!((clean.writes_blocked_from_ns, clean.all_requests_blocked_from_ns, clean.end_ns), (T + 857, T + 1087, T + 2307));
    assert_eq!(outcome.done[4], 2307 + 208);
    // A check follows; the next clean begins with two free blocks, in state 1, and lets the others in.
    assert_eq!(outcome.done[5..], [2515 + 5 + 28, 2548 + 5 + 208]);
}

#[test]
fn above_t_hard_a_high_priority_write_goes_in_like_any_other() {
    for t_hard in [0.0, 1.0] {
        // One free block is not less than one.
        let preemption = GcPreemption { t_hard: Fraction(t_hard), ..SEMI };
        let with = |write: fn(u64) -> Op| semi(preemption, &[(0, Read(9)), (45, write(10)), (46, Read(11)), (47, Write(0))]);
        let (urgent, plain) = (with(Urgent), with(Write));
        // At the poll 58–63 the write is admitted, at the next one the other; the read at point 2 after the program 489–689.
        assert_eq!(urgent.done, [33, 63 + 208, 694 + 28, 276 + 208]);
        assert_eq!((&urgent.done, urgent.clean_end(), urgent.counters), (&plain.done, plain.clean_end(), plain.counters));
        assert_eq!(urgent.cleans[0].all_requests_blocked_from_ns, urgent.cleans[0].end_ns);
        assert_eq!(semi(preemption, &[(0, Urgent(9))]).done, [5 + 208]);
    }
}

#[test]
fn an_exhausted_pool_makes_writes_wait_and_loses_nothing() {
    let writes: Vec<_> = [9, 10, 11, 2].iter().map(|&page| (0, Write(page))).collect();
    let outcome = semi(SEMI, &writes);
    // Three writes fill the open block; the poll that ends at 644 refuses the fourth. The clean takes the last free block and ends
    // 1460 later; the next one lets the write in at its first poll.
    assert_eq!(outcome.done, [213, 426, 639, 644 + 1460 + 5 + 208]);
    assert_eq!((outcome.counters.writes_that_waited_for_room, outcome.counters.writes_waiting_for_room_ns), (1, 1465));
    assert_eq!(outcome.cleans[0].pool_free_blocks_min, 0);
}

#[test]
fn idle_time_is_used_and_a_request_waits_for_the_victim_or_the_next_point() {
    // The writes are done at 1040; 500 later the clean begins.
    let at = |time: i64| time - T as i64;
    let mut alone = params(1, 0, None);
    alone.ssd.gc.idle_collection_after_ns = Some(500);
    let outcome = run(&alone, &[(at(1900), Read(9))]);
    assert_eq!((outcome.cleans[0].start_ns, outcome.cleans[0].end_ns), (1540, 1540 + 1440));
    assert_eq!((outcome.done[0], outcome.met[0]), (at(2980 + 28), 1));
    assert_eq!((outcome.counters.idle_cleans, outcome.counters.erases), (1, 1));

    let mut both = params(1, 0, Some(SEMI));
    both.ssd.gc.idle_collection_after_ns = Some(500);
    let outcome = run(&both, &[(at(1900), Read(9))]);
    // Poll –1545, read, poll –1570, program –1770, poll –1775, read, poll –1800, program –2000, poll –2005.
    assert_eq!(outcome.done[0], at(2005 + 28));
    assert_eq!(outcome.cleans[0].end_ns, 2005 + 28 + 5 + 1000);

    // Nothing begins while operations come sooner than that.
    let busy = run(&both, &[(at(1500), Read(9))]);
    assert_eq!((busy.done[0], busy.counters.idle_cleans, busy.counters.erases), (at(1533), 0, 1));
}

#[test]
fn idle_collection_stops_at_the_blocks_of_the_fill_and_after_a_disturbed_victim() {
    // Four blocks to spare: the pool starts with six free ones and has five after the writes.
    let mut spare = params(1, 4, Some(SEMI));
    spare.ssd.gc.start_threshold_free_blocks = 1;
    spare.ssd.gc.stop_threshold_free_blocks = 2;
    spare.ssd.gc.idle_collection_after_ns = Some(500);
    let outcome = run(&spare, &[(0, Read(9))]);
    assert_eq!((outcome.counters.idle_cleans, outcome.done[0]), (1, 28));
    // Eight writes more take another two blocks; the read arrives during the first victim and no second one is begun before the end.
    let mut operations: Vec<_> = [9, 10, 11, 2, 3, 6, 7, 0].iter().map(|&page| (0, Write(page))).collect();
    operations.push((8 * 208 + 500 + 100, Read(4)));
    let outcome = run(&spare, &operations);
    assert_eq!(outcome.counters.idle_cleans, 2);
    assert_eq!(outcome.counters.erases, 2);
}

#[test]
fn reads_suspend_programs_and_erases() {
    let suspend = |times_max| {
        let suspension = Some(ProgramEraseSuspension { suspend_ns: 3, resume_ns: 4, suspensions_max: times_max });
        GcPreemption { suspension, ..SEMI }
    };
    // The program 63–263 is interrupted at 100: read 103–131, on from 135 with the rest of 163.
    let outcome = semi(suspend(1), &[(0, Read(9)), (100, Read(10)), (200, Read(11))]);
    assert_eq!(outcome.done, [33, 131, 298 + 5 + 28]);
    assert_eq!((outcome.counters.suspensions, outcome.clean_end()), (1, 1498 + 35 + 33));
    // A second interruption at 200, with 98 to go.
    let outcome = semi(suspend(2), &[(0, Read(9)), (100, Read(10)), (200, Read(11)), (250, Read(8))]);
    assert_eq!(outcome.done, [33, 131, 231, 333 + 5 + 28]);
    // A read that arrives while another is served is admitted, too.
    let outcome = semi(suspend(1), &[(0, Read(9)), (100, Read(10)), (120, Read(11))]);
    assert_eq!((outcome.done, outcome.counters.suspensions), (vec![33, 131, 159], 1));
    // The page that is being programmed has to wait.
    let outcome = semi(suspend(1), &[(0, Read(9)), (100, Read(6))]);
    assert_eq!((outcome.done[1], outcome.counters.suspensions), (296, 0));
    // The read interrupts an erase.
    let outcome = semi(suspend(1), &[(0, Read(9)), (600, Read(10))]);
    assert_eq!((outcome.done[1], outcome.clean_end()), (631, 1498 + 35));
}

#[test]
fn reads_suspend_host_programs_outside_of_cleans() {
    let preemption = GcPreemption { suspension: Some(ProgramEraseSuspension { suspend_ns: 3, resume_ns: 4, suspensions_max: 1 }), ..SEMI };
    let mut spare = params(1, 4, Some(preemption));
    (spare.ssd.gc.start_threshold_free_blocks, spare.ssd.gc.stop_threshold_free_blocks) = (1, 2);
    // Its program is in flight from 8 to 208.
    let outcome = run(&spare, &[(0, Write(9)), (50, Read(10))]);
    assert_eq!((outcome.done, outcome.met), (vec![208 + 35, 81], vec![0, 0]));
    // A read that arrives during the transfer interrupts it at 8.
    let outcome = run(&spare, &[(0, Write(9)), (7, Read(10))]);
    assert_eq!((outcome.done, outcome.counters.suspensions), (vec![8 + 35 + 200, 8 + 3 + 28], 1));
    // A read that arrives while it turns back, from 39 to 43, would interrupt it at 43, if that were allowed once more.
    let turning = [(0, Write(9)), (7, Read(10)), (41, Read(11))];
    assert_eq!(run(&spare, &turning).done, [243, 39, 243 + 28]);
    let suspension = Some(ProgramEraseSuspension { suspend_ns: 3, resume_ns: 4, suspensions_max: 2 });
    spare.ssd.gc.preemption = Some(GcPreemption { suspension, ..SEMI });
    assert_eq!(run(&spare, &turning).done, [243 + 35, 39, 43 + 3 + 28]);
    let outcome = run(&spare, &[(0, Write(9)), (50, Read(9))]);
    assert_eq!(outcome.done, [208, 208 + 28]);
}

#[test]
fn members_of_an_array_preempt_on_their_own() {
    let preemption = GcPreemption { merge: true, pipeline: HostOverlapWithMoves::RequestsWaitingAtStepStart, reorder: true, ..SEMI };
    let operations = [(0, Read(9)), (45, Read(6)), (100, Write(10)), (300, Read(7)), (600, Read(11))];
    let single = run(&params(1, 0, Some(preemption)), &operations);
    let mut array = params(1, 0, Some(preemption));
    (array.level, array.members) = (RaidLevel::Raid0, 3);
    let striped = run(&array, &operations);
    assert_eq!(striped.done, single.done);
    assert_eq!(striped.counters, single.counters);
    assert_eq!((striped.cleans.len(), striped.met[0]), (3 * single.cleans.len(), 3));
}

/// pgc2011: PGC Table II.
fn as_pgc2011(planes: u32, pipeline: HostOverlapWithMoves) -> ArrayParams {
    let mut params = params(planes, 0, Some(GcPreemption { poll: Duration { ns: 600 }, pipeline, ..SEMI }));
    let timing = &mut params.ssd.timing;
    (timing.page_read.ns, timing.page_program.ns, timing.block_erase.ns) = (25_000, 200_000, 1_500_000);
    (timing.page_transfer_ns, timing.command_overhead.ns) = (105_600, 0);
    params
}

/// Ends of host operations, and of the clean's step that overlaps with them.
type Measured = (Vec<i64>, i64);

/// Measures both ends from the end of the poll that admits the operations. Arrivals count from there, too, unless they come before it.
fn at_a_step(params: &ArrayParams, collapsed: bool, operations: &[(i64, Op)]) -> Measured {
    // After these a pool is at its threshold, and its victim has two valid pages: two reads, two programs.
    let writes: Vec<u64> = match params.ssd.geometry.planes {
        1 => vec![0, 1, 4, 5, 8],
        _ => (0..2).chain(4..16).chain(20..23).collect(),
    };
    let preemption = params.ssd.gc.preemption.expect("there are points");
    let t = params.ssd.timing;
    let transfers_ns = if params.ssd.gc.rules.copy_back { 0 } else { 2 * t.page_transfer_ns };
    let (read, program, look) = ((t.page_read.ns + transfers_ns) as i64, t.page_program.ns as i64, preemption.poll.ns as i64);
    let rest_behind_program = read + program + t.block_erase.ns as i64 + 3 * look;
    let shortcuts = ExactFastPaths { computes_operation_ends_on_arrival: true, skips_operation_end_events: collapsed };
    let run = |operations: &[(i64, Op)]| run_after(params, shortcuts, &writes, 10_000_000, operations);
    if matches!(operations[0].1, Read(_)) {
        // They come during the first look.
        let outcome = run(&operations.iter().map(|&(at, op)| (at.max(0), op)).collect::<Vec<_>>());
        let rest = look + program + rest_behind_program;
        return (outcome.done.iter().map(|done| done - look).collect(), outcome.clean_end() - look - rest);
    }
    // A read begins the collection; the look behind the clean's read is the one.
    let begin = [(0, Read(if params.ssd.geometry.planes == 1 { 9 } else { 40 }))];
    let alone = run(&begin);
    let at_look = alone.clean_end() - rest_behind_program - program;
    let later = operations.iter().map(|&(at, op)| (at_look + if at < 0 { -look - 1 } else { at }, op));
    let outcome = run(&begin.into_iter().chain(later).collect::<Vec<_>>());
    (outcome.done[1..].iter().map(|done| done - at_look).collect(), outcome.clean_end() - rest_behind_program - at_look)
}

#[test]
fn pipelining_of_pgc2011_in_nanoseconds() {
    let before = |ops: &[Op]| -> Vec<(i64, Op)> { ops.iter().map(|&op| (-1, op)).collect() };
    // Planes, operations; done and the step over, pipelined and serially with looks of 600.
    let cases: [(u32, &[Op], Measured, Measured); 7] = [
        (1, &[Read(9)], (vec![130_600], 130_600), (vec![130_600], 156_200)),
        (4, &[Read(40)], (vec![130_600], 130_600), (vec![130_600], 156_200)),
        (1, &[Read(9), Read(10)], (vec![130_600, 236_200], 236_200), (vec![130_600, 261_800], 287_400)),
        (4, &[Write(41)], (vec![305_600], 305_600), (vec![305_600], 506_200)),
        (1, &[Write(9)], (vec![305_600], 505_600), (vec![305_600], 506_200)),
        (1, &[Write(9), Write(10)], (vec![305_600, 505_600], 705_600), (vec![305_600, 611_800], 812_400)),
        (4, &[Write(41), Write(42)], (vec![305_600, 411_200], 411_200), (vec![305_600, 611_800], 812_400)),
    ];
    for collapsed in [true, false] {
        for (planes, operations, pipelined, serially) in &cases {
            let measured = |pipeline| at_a_step(&as_pgc2011(*planes, pipeline), collapsed, &before(operations));
            assert_eq!(
                measured(HostOverlapWithMoves::RequestsWaitingAtStepStart),
                *pipelined,
                "{planes} planes, {} operations",
                operations.len()
            );
            assert_eq!(measured(HostOverlapWithMoves::NoOverlap), *serially, "{planes} planes, {} operations, serially", operations.len());
        }
        // A write that comes 50,000 into the program joins it; with points only it waits for the next one.
        let in_flight = |planes| {
            at_a_step(
                &as_pgc2011(planes, HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep),
                collapsed,
                &[(50_000, Write(if planes == 1 { 9 } else { 41 }))],
            )
        };
        assert_eq!(in_flight(4), (vec![355_600], 355_600), "another plane");
        assert_eq!(in_flight(1), (vec![400_000], 400_000), "the same plane");
        let at_points = at_a_step(&as_pgc2011(4, HostOverlapWithMoves::RequestsWaitingAtStepStart), collapsed, &[(50_000, Write(41))]);
        assert_eq!(at_points.0, [506_200]);
    }
}

#[test]
fn with_pipelining_none_ends_later() {
    let reads = [Read(40), Read(7), Read(33), Read(3), Read(18), Read(35)];
    let writes = [Write(41), Write(42), Write(43), Write(28), Write(44)];
    let (reads_of_one, writes_of_one) = ([Read(9), Read(10), Read(7), Read(3), Read(11)], [Write(9), Write(10), Write(11)]);
    for (planes, operations) in [(4, &reads[..]), (4, &writes[..]), (1, &reads_of_one[..]), (1, &writes_of_one[..])] {
        for count in 1..=operations.len() {
            for (overhead_ns, read_ns, transfer_ns, copy_back) in
                [(0, 25_000, 105_600, true), (3_000, 90_000, 7_000, false), (1, 20, 7, true)]
            {
                let measured = |pipeline| {
                    let mut params = as_pgc2011(planes, pipeline);
                    let timing = &mut params.ssd.timing;
                    (timing.command_overhead.ns, timing.page_read.ns, timing.page_transfer_ns) = (overhead_ns, read_ns, transfer_ns);
                    params.ssd.gc.rules.copy_back = copy_back;
                    let operations: Vec<_> = operations[..count].iter().map(|&op| (-1, op)).collect();
                    at_a_step(&params, true, &operations)
                };
                let ((pipelined, over), (serially, over_serially)) =
                    (measured(HostOverlapWithMoves::RequestsWaitingAtStepStart), measured(HostOverlapWithMoves::NoOverlap));
                assert!(pipelined.iter().zip(&serially).all(|(one, other)| one <= other), "{pipelined:?} {serially:?}");
                assert!(pipelined[1..].iter().zip(&serially[1..]).all(|(one, other)| one < other), "{pipelined:?} {serially:?}");
                assert!(over <= over_serially, "{over} {over_serially}");
            }
        }
    }
}

/// The array reads each page of the host three times, so that a read takes 68 (rule 232).
#[test]
fn pages_that_need_retries_keep_the_array_longer() {
    let retrying = |planes, preemption: Option<GcPreemption>| {
        let mut params = params(planes, 0, preemption);
        params.ssd.die_delay_mechanisms.read_retry = Some(ReadRetry { share: Fraction(1.0), times: 2 });
        params
    };
    let alone = run_after(&retrying(1, None), ExactFastPaths::default(), &[], 0, &[(0, Read(0)), (0, Write(1)), (0, Read(2))]);
    assert_eq!(alone.done, [68, 68 + 208, 68 + 208 + 68]);
    // A page in the register of a move needs no array read: the clean reads page 6 once, from 78 to 98.
    let merge = GcPreemption { merge: true, ..SEMI };
    let merged = run(&retrying(1, Some(merge)), &[(0, Read(9)), (80, Read(6))]);
    assert_eq!((merged.done[0], merged.done[1], merged.counters.operations_served_from_move_register), (73, 103 + 7, 1));
    // Together with the read of a move, the array reads for the host from 6 to 66. The clean reads behind it, or on another plane.
    let pipeline = Some(GcPreemption { pipeline: HostOverlapWithMoves::RequestsWaitingAtStepStart, ..SEMI });
    let same = run(&retrying(1, pipeline), &[(0, Read(9))]);
    assert_eq!((same.done[0], same.clean_end()), (73, 86 + 1498 - 58));
    let different = run(&retrying(2, pipeline), &[(0, Read(6))]);
    assert_eq!((different.done[0], different.clean_end()), (73, 73 + 1498 - 58));
    // A read that suspends the program of a move, which began at 103.
    let suspension = Some(ProgramEraseSuspension { suspend_ns: 3, resume_ns: 4, suspensions_max: 1 });
    let suspended = run(&retrying(1, Some(GcPreemption { suspension, ..SEMI })), &[(0, Read(9)), (140, Read(10))]);
    assert_eq!((suspended.done[1], suspended.counters.suspensions), (143 + 68, 1));
}
