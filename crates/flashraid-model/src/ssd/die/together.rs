//! Host operations and a step of a clean done together (PGC III.C; rules 37 and 103).
//!
//! All of one kind, in the order of the queue, the clean's step last; behind it, if the setting says so, operations that join it while
//! it is in flight. Each is a *mate*: it passes two barriers, where it waits for those before it.
//!
//! ```text
//!   read:     overhead ─┤ plane is free ├─ array ─┤ others have transferred ├─ transfer
//!   program:  overhead ─┤ others have transferred, plane's register is free ├─ transfer ─┤ plane is free ├─ array
//! ```
//!
//! A lazy die computes the ends instead ([`Course`]).

use std::collections::BTreeSet;

use super::super::{NONE, Outbox, Pipeline, Ssd, Waiting};
use super::course::Course;
use super::queue::Admitted;
use super::work::{Step, Work};
use super::{Die, NO_PAGE, Phase, SlotPhase, State, Worker};
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;
use crate::ssd::job::NEVER;

/// What is done together in a die.
#[derive(Debug, Clone)]
pub(super) struct Together {
    /// Reads or writes.
    kind: OpKind,
    /// Where the clean works.
    scope: u32,
    /// In order.
    mates: Vec<Mate>,
    /// Which of them is the clean's step.
    clean: usize,
    /// How many are not over.
    left: usize,
    /// By plane: the last mate on it.
    last_on_plane: Vec<Option<usize>>,
}

/// One of those that are done together.
#[derive(Debug, Clone)]
struct Mate {
    /// The operation; [`NONE`] for the clean's step, whose work is the clean's.
    id: u32,
    work: Work,
    /// The ones before and behind it on its plane.
    before_on_plane: Option<usize>,
    next_on_plane: Option<usize>,
    /// Barriers that it has reached and passed.
    reached: u8,
    passed: u8,
    over: bool,
}

/// When a mate is expected to reach its second barrier, to pass it, and to be over; 0 for what is past.
type Expected = [TimeNs; 3];

impl Together {
    fn new(kind: OpKind, scope: u32, planes: u32) -> Self {
        Self { kind, scope, mates: Vec::new(), clean: usize::MAX, left: 0, last_on_plane: vec![None; planes as usize] }
    }

    /// Adds the next one; it has reached and passed `barriers`.
    fn push(&mut self, id: u32, plane: Option<u32>, [reached, passed]: [u8; 2]) -> usize {
        let number = self.mates.len();
        let last = plane.map(|plane| &mut self.last_on_plane[plane as usize]);
        let before_on_plane = last.and_then(|last| last.replace(number));
        if let Some(before) = before_on_plane {
            self.mates[before].next_on_plane = Some(number);
        }
        if id == NONE {
            self.clean = number;
        }
        self.mates.push(Mate { id, work: Work::default(), before_on_plane, next_on_plane: None, reached, passed, over: false });
        self.left += 1;
        number
    }

    /// The clean's own part is over.
    fn clean_is_over(&self) -> bool {
        self.mates[self.clean].over
    }

    /// The one before that takes the pins for a page of the host.
    fn transfers_before(&self, number: usize) -> Option<usize> {
        let before = number.checked_sub(1)?;
        if self.kind == OpKind::Write && before == self.clean { before.checked_sub(1) } else { Some(before) }
    }

    /// Whether a mate that has reached its barrier may pass it.
    fn may_pass(&self, number: usize) -> bool {
        let mate = &self.mates[number];
        let before_on_plane = mate.before_on_plane.map(|before| &self.mates[before]);
        match (self.kind, mate.passed) {
            (OpKind::Read, 0) => before_on_plane.is_none_or(|before| before.reached >= 2),
            (OpKind::Read, _) => number == 0 || self.mates[number - 1].over,
            (_, 0) => {
                self.transfers_before(number).is_none_or(|before| self.mates[before].reached >= 2)
                    && before_on_plane.is_none_or(|before| before.passed >= 2)
            }
            (_, _) => before_on_plane.is_none_or(|before| before.over),
        }
    }

    /// Whom what has happened to a mate may let go on.
    fn followers(&self, number: usize) -> impl Iterator<Item = usize> + use<> {
        let behind = number + 1;
        let after_clean = (behind == self.clean).then_some(behind + 1);
        let count = self.mates.len();
        [Some(behind), after_clean, self.mates[number].next_on_plane].into_iter().flatten().filter(move |&next| next < count)
    }

    /// As [`Self::may_pass`], when that will be.
    fn expected_to_pass(&self, number: usize, barrier: u8, expected: &[Expected]) -> TimeNs {
        let before_on_plane = |which: usize| self.mates[number].before_on_plane.map_or(0, |before| expected[before][which]);
        match (self.kind, barrier) {
            (OpKind::Read, 0) => before_on_plane(0),
            (OpKind::Read, _) => number.checked_sub(1).map_or(0, |before| expected[before][2]),
            (_, 0) => self.transfers_before(number).map_or(0, |before| expected[before][0]).max(before_on_plane(1)),
            (_, _) => before_on_plane(2),
        }
    }

    /// When all are over if they wait for no transfer but those that they have asked for and those of each other (rule 101).
    pub fn plain_end(&self, clean: &Work) -> TimeNs {
        let mut expected: Vec<Expected> = Vec::with_capacity(self.mates.len());
        for (number, mate) in self.mates.iter().enumerate() {
            let mut moments = [0; 3];
            if !mate.over {
                let work = if number == self.clean { clean } else { &mate.work };
                let mut barrier = mate.passed;
                moments[2] = work.ends_with_barriers(|at| {
                    let passes = at.max(self.expected_to_pass(number, barrier, &expected));
                    if barrier == 1 {
                        (moments[0], moments[1]) = (at, passes);
                    }
                    barrier += 1;
                    passes
                });
            }
            expected.push(moments);
        }
        expected.iter().map(|moments| moments[2]).max().unwrap_or(0)
    }
}

impl Die {
    /// Which of those that are done together a worker is.
    pub(super) fn mate_of(&self, worker: Worker) -> Option<usize> {
        let together = self.together.as_ref()?;
        worker.mate().or_else(|| (worker.scope() == Some(together.scope)).then_some(together.clean))
    }

    pub(super) fn work_of_mate(&self, number: usize) -> Option<&Work> {
        self.together.as_ref()?.mates.get(number).map(|mate| &mate.work)
    }

    pub(super) fn work_of_mate_mut(&mut self, number: usize) -> &mut Work {
        &mut self.together.as_mut().expect("a mate works").mates[number].work
    }
}

// At a point.
impl Ssd {
    /// All operations that may go in, in order, if all of them can be done together with a step of this kind.
    pub(super) fn all_of_kind(&self, die: DieId, scope: u32, admitted: Admitted, kind: OpKind) -> Option<Vec<u32>> {
        if kind == OpKind::Read && admitted.writes {
            // Found without walking past all reads.
            let writes = Admitted { reads: false, writes: true };
            if self.first_candidate(die, scope, writes).is_some() {
                return None;
            }
        }
        self.candidates(die, scope, admitted).map(|id| self.can_go_together(id, kind).then_some(id)).collect()
    }

    /// Host reads together with the clean's read of the page `lpn`.
    pub(super) fn read_all(&mut self, at: TimeNs, ids: &[u32], die: DieId, scope: u32, lpn: Lpn, out: &mut Outbox) {
        for &id in ids {
            self.goes_beside_clean(at, id, OpKind::Read, false, out);
        }
        let plane = self.ftl.plane_of(lpn);
        let clean = self.die(die).clean_mut(scope);
        (clean.register, clean.plane) = (lpn, plane);
        let planes: Vec<_> = ids.iter().map(|&id| (id, self.plane_of_read(die, self.waiting[id].lpn))).collect();
        if self.lazy {
            let t = self.params.timing;
            let from = at + t.command_overhead_ns;
            let mut course = Course::new(self.params.geometry.planes);
            for (id, plane) in planes {
                let ends = course.read(from, plane, t.page_read_ns, t.page_transfer_ns);
                self.finish(id, ends, out);
            }
            course.read_of_clean(from, plane, t.page_read_ns, self.durations.transfers_of_move_ns());
            self.begin_phase(at, die, scope, Phase::Read, std::iter::empty(), course.over() - at, out);
            self.die(die).course = Some(course);
            return;
        }
        let mut together = Together::new(OpKind::Read, scope, self.params.geometry.planes);
        for (id, plane) in planes {
            let number = together.push(id, plane, [0, 0]);
            together.mates[number].work.prepare(at, self.durations.read_steps_of_mate(), self.channels.is_empty());
        }
        together.push(NONE, Some(plane), [0, 0]);
        let clean = self.durations.read_of_clean_steps_of_mate();
        self.begin_together(at, die, together, Phase::Read, clean, out);
    }

    /// Host writes together with the program of the page in the register; those that find no room are refused.
    pub(super) fn program_all(&mut self, at: TimeNs, ids: &[u32], die: DieId, scope: u32, out: &mut Outbox) {
        let pool = self.dies[die.index()].clean(scope).pool;
        let mut writes = Vec::with_capacity(ids.len());
        for &id in ids {
            match self.pool_at_point(die, self.waiting[id].lpn, pool) {
                Some(pool) => writes.push((id, self.write_beside_clean(at, id, pool, out))),
                None => self.waiting[id].refuse(at),
            }
        }
        let moved = self.place_moved_page(die, scope);
        if self.lazy {
            let t = self.params.timing;
            let mut course = Course::new(self.params.geometry.planes);
            for (id, (plane, sealed)) in writes {
                let from = at + t.command_overhead_ns;
                let ends = course.program(from, plane, t.page_transfer_ns, self.durations.program_ns(sealed));
                self.finish(id, ends, out);
            }
            let clean_ends = course.program_of_clean(at, moved.plane, self.durations.program_ns(moved.sealed));
            let merged = std::mem::take(&mut self.die(die).clean_mut(scope).merged);
            self.begin_phase(at, die, scope, Phase::Program, std::iter::empty(), course.over() - at, out);
            let state = self.die(die);
            state.course = Some(course);
            // Programs done together are not interrupted.
            state.clean_mut(scope).work.flight_from = NEVER;
            return self.finish_all(merged, clean_ends, out);
        }
        let clean = self.die(die).clean_mut(scope);
        clean.ends_with_phase = std::mem::take(&mut clean.merged);
        let mut together = Together::new(OpKind::Write, scope, self.params.geometry.planes);
        for (id, (plane, sealed)) in writes {
            let number = together.push(id, Some(plane), [0, 0]);
            together.mates[number].work.prepare(at, self.durations.write_steps_of_mate(sealed), self.channels.is_empty());
        }
        // It has nothing to transfer.
        together.push(NONE, Some(moved.plane), [1, 1]);
        let clean = self.durations.program_of_clean_steps_of_mate(moved.sealed);
        self.begin_together(at, die, together, Phase::Program, clean, out);
        self.place_waiting(at, out);
    }

    /// The plane of this die on which a page lies that is to be read; under dynamic allocation it may be none by now.
    fn plane_of_read(&self, die: DieId, lpn: Lpn) -> Option<u32> {
        self.ftl.holds(die, lpn).then(|| self.ftl.plane_of(lpn))
    }

    /// Takes an operation out of the queue that goes beside a step of a clean.
    fn goes_beside_clean(&mut self, at: TimeNs, id: u32, kind: OpKind, sealed: bool, out: &mut Outbox) {
        self.take_waiting(at, id, true, out);
        self.counters.pipelined += 1;
        match kind {
            OpKind::Write => self.counters.host_pages_written += 1,
            _ => self.counters.host_pages_read += 1,
        }
        let operation = &mut self.waiting[id];
        // What it waits for is those before it.
        operation.starts(at, false);
        self.durations.spend(kind, true, sealed, &mut operation.time);
    }

    /// The same for a write; returns the plane of its new place, and whether it seals a block.
    fn write_beside_clean(&mut self, at: TimeNs, id: u32, pool: u32, out: &mut Outbox) -> (u32, bool) {
        let Waiting { lpn, die, .. } = self.waiting[id];
        let sealed = self.write(die, pool, lpn);
        self.goes_beside_clean(at, id, OpKind::Write, sealed, out);
        self.note_write(at, die, pool, out);
        (self.ftl.plane_of(lpn), sealed)
    }

    /// Begins all of them, in order.
    fn begin_together(
        &mut self,
        at: TimeNs,
        die: DieId,
        together: Together,
        phase: Phase,
        clean: impl Iterator<Item = Step>,
        out: &mut Outbox,
    ) {
        let pins = self.channels.is_empty();
        let (scope, count) = (together.scope, together.mates.len());
        let state = self.die(die);
        state.slot.phase = SlotPhase::Together;
        state.slot.let_in_by = Some(scope);
        state.clean_mut(scope).phase = phase;
        state.clean_mut(scope).work.prepare(at, clean, pins);
        state.together = Some(together);
        for number in 0..count {
            self.next_step_of_mate(at, die, number, out);
        }
        self.settle(at, die, None, out);
    }
}

// In flight.
impl Ssd {
    /// An operation has joined the queue and waits: if the setting says so and it is of the kind of the step that a clean has in flight,
    /// it joins that.
    pub(super) fn join_step(&mut self, now: TimeNs, scheduled: TimeNs, id: u32, out: &mut Outbox) {
        if self.params.gc.preemption.is_none_or(|preemption| preemption.pipeline != Pipeline::InFlight) {
            return;
        }
        let Waiting { op, lpn, die, .. } = self.waiting[id];
        let Some(scope) = self.step_to_join(now, scheduled, die, lpn, op.kind) else { return };
        if self.dies[die.index()].queue.first_on(lpn, &self.waiting) != Some(id) {
            return;
        }
        let (plane, sealed) = match op.kind {
            OpKind::Write => {
                let pool = self.dies[die.index()].clean(scope).pool;
                let Some(pool) = self.pool_at_point(die, lpn, pool) else { return };
                let (plane, sealed) = self.write_beside_clean(now, id, pool, out);
                (Some(plane), sealed)
            }
            _ => {
                self.goes_beside_clean(now, id, OpKind::Read, false, out);
                (self.plane_of_read(die, lpn), false)
            }
        };
        // It may have to wait for the clean's step.
        self.waiting[id].beside_clean = true;
        if self.lazy {
            self.joins_course(now, id, die, scope, plane, sealed, out);
        } else {
            self.joins_mates(now, id, die, scope, plane, sealed, out);
        }
        if op.kind == OpKind::Write {
            self.place_waiting(now, out);
        }
    }

    /// The scope of the clean whose step in flight an operation may join; what ends now is over if it began before `scheduled`.
    fn step_to_join(&self, now: TimeNs, scheduled: TimeNs, die: DieId, lpn: Lpn, kind: OpKind) -> Option<u32> {
        let state = &self.dies[die.index()];
        if !state.slot_is_free() && state.slot.phase != SlotPhase::Together {
            return None;
        }
        let wanted = match kind {
            OpKind::Read if self.ftl.is_mapped(lpn) => Phase::Read,
            OpKind::Write => Phase::Program,
            _ => return None,
        };
        let mut scopes = 0..state.cleans.len() as u32;
        let scope = scopes.find(|&scope| {
            let concerned = !self.by_plane || kind == OpKind::Write || self.scope_of(die, lpn, kind) == Some(scope);
            let is_joined = state.slot.phase != SlotPhase::Together || state.slot.let_in_by == Some(scope);
            concerned && is_joined && state.cleans[scope as usize].as_ref().is_some_and(|clean| clean.phase == wanted)
        })?;
        let clean = state.clean(scope);
        let may = match kind {
            OpKind::Write => clean.state == State::AllMayGoIn,
            _ => clean.state != State::AllWait,
        };
        let is_over = state.together.as_ref().is_some_and(Together::clean_is_over)
            || state.course.as_ref().is_some_and(|course| {
                let ends = course.clean_ends();
                ends < now || (ends == now && clean.work.began < scheduled)
            });
        (may && !is_over && clean.register != lpn).then_some(scope)
    }

    #[expect(clippy::too_many_arguments, reason = "what joins, where and when; a structure would only name them twice")]
    fn joins_course(&mut self, now: TimeNs, id: u32, die: DieId, scope: u32, plane: Option<u32>, sealed: bool, out: &mut Outbox) {
        let kind = self.waiting[id].op.kind;
        let t = self.params.timing;
        let planes = self.params.geometry.planes;
        let transfers_ns = if kind == OpKind::Read { self.durations.transfers_of_move_ns() } else { 0 };
        let program_ns = self.durations.program_ns(sealed);
        let state = self.die(die);
        let (plane_of_step, ends) = (state.clean(scope).plane, state.clean(scope).work.ends);
        let mut alone = None;
        let mut course = state.course.take().unwrap_or_else(|| {
            let mut course = Course::new(planes);
            course.begin_with_step(plane_of_step, ends - transfers_ns, ends);
            alone = Some(ends);
            course
        });
        let from = now + t.command_overhead_ns;
        let done = match (kind, plane) {
            (OpKind::Write, Some(plane)) => course.program(from, plane, t.page_transfer_ns, program_ns),
            _ => course.read(from, plane, t.page_read_ns, t.page_transfer_ns),
        };
        let work = &mut state.clean_mut(scope).work;
        (work.ends, work.plain_end, work.flight_from) = (course.over(), course.over(), NEVER);
        state.course = Some(course);
        if let Some(ends) = alone {
            // The end of the clean's own program is known now.
            let merged = std::mem::take(&mut state.clean_mut(scope).ends_with_phase);
            self.finish_all(merged, ends, out);
        }
        self.finish(id, done, out);
    }

    #[expect(clippy::too_many_arguments, reason = "what joins, where and when; a structure would only name them twice")]
    fn joins_mates(&mut self, now: TimeNs, id: u32, die: DieId, scope: u32, plane: Option<u32>, sealed: bool, out: &mut Outbox) {
        let (pins, planes, kind) = (self.channels.is_empty(), self.params.geometry.planes, self.waiting[id].op.kind);
        let mut work = Work::default();
        if kind == OpKind::Write {
            work.prepare(now, self.durations.write_steps_of_mate(sealed), pins);
        } else {
            work.prepare(now, self.durations.read_steps_of_mate(), pins);
        }
        let state = self.die(die);
        let mut together = state.together.take().unwrap_or_else(|| {
            let mut together = Together::new(kind, scope, planes);
            let barriers = if state.clean(scope).work.has_barrier() { 1 } else { 2 };
            together.push(NONE, Some(state.clean(scope).plane), [barriers; 2]);
            state.slot.phase = SlotPhase::Together;
            state.slot.let_in_by = Some(scope);
            together
        });
        let number = together.push(id, plane, [0, 0]);
        together.mates[number].work = work;
        state.together = Some(together);
        self.next_step_of_mate(now, die, number, out);
        self.settle(now, die, Some(number), out);
    }
}

// Mates.
impl Ssd {
    fn next_step_of_mate(&mut self, at: TimeNs, die: DieId, number: usize, out: &mut Outbox) {
        let together = self.dies[die.index()].together.as_ref().expect("a mate works");
        let worker = if number == together.clean { Worker::clean(together.scope) } else { Worker::of_mate(number) };
        self.next_work_step(at, die, worker, out);
    }

    /// Something that a mate has waited for is over, and perhaps others go on with it.
    pub(super) fn mate_goes_on(&mut self, at: TimeNs, die: DieId, number: usize, out: &mut Outbox) {
        self.next_step_of_mate(at, die, number, out);
        self.settle(at, die, Some(number), out);
    }

    /// Of those that may go on after what has happened to a mate, the first in order goes on first, again and again; when all are over
    /// the clean comes to a point.
    fn settle(&mut self, at: TimeNs, die: DieId, number: Option<usize>, out: &mut Outbox) {
        let together = self.dies[die.index()].together.as_ref().expect("they are done together");
        let mut next: BTreeSet<usize> = number.into_iter().flat_map(|number| together.followers(number)).collect();
        while let Some(number) = next.pop_first() {
            let state = &self.dies[die.index()];
            let together = state.together.as_ref().expect("they are done together");
            let work = if number == together.clean { &state.clean(together.scope).work } else { &together.mates[number].work };
            if work.is_at_barrier() && together.may_pass(number) {
                self.next_step_of_mate(at, die, number, out);
                let together = self.dies[die.index()].together.as_ref().expect("they are done together");
                next.extend(together.followers(number));
            }
        }
        let state = self.die(die);
        if state.together.as_ref().is_some_and(|together| together.left == 0) {
            let scope = state.together.take().map_or(0, |together| together.scope);
            let clean = state.clean_mut(scope);
            if clean.phase == Phase::Program {
                clean.register = NO_PAGE;
            }
            self.slot_freed(at, die, out);
        }
    }

    /// A worker has come to a barrier: whether it goes on. A clean's step by itself waits for nobody.
    pub(super) fn passes_barrier(&mut self, die: DieId, worker: Worker) -> bool {
        let state = self.die(die);
        let Some(number) = state.mate_of(worker) else { return true };
        let together = state.together.as_mut().expect("a mate works");
        let mate = &mut together.mates[number];
        mate.reached = mate.passed + 1;
        let passes = together.may_pass(number);
        together.mates[number].passed += u8::from(passes);
        passes
    }

    /// A mate is over.
    pub(super) fn mate_over(&mut self, at: TimeNs, die: DieId, number: usize, out: &mut Outbox) {
        let channels = !self.channels.is_empty();
        let together = self.die(die).together.as_mut().expect("a mate works");
        together.left -= 1;
        let scope = together.scope;
        let mate = &mut together.mates[number];
        mate.over = true;
        let (id, transfers_ns) = (mate.id, mate.work.transfers_ns);
        if id == NONE {
            let all = std::mem::take(&mut self.die(die).clean_mut(scope).ends_with_phase);
            return self.finish_all(all, at, out);
        }
        if channels {
            self.waiting[id].time.transfer_ns = transfers_ns;
        }
        self.leaves_die(at, id, out);
    }
}
