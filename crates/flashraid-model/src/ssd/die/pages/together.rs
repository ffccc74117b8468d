//! Host operations and a step of a clean done together (PGC III.C; rules 37 and 103).
//!
//! They are all of one kind, in the order of the queue, and the clean's step is the last. If the setting says so, operations that join it
//! while it is in flight come behind it. Each is a *companion*: it passes two barriers, where it waits for those before it.
//!
//! ```text
//!   read:     overhead ─┤ plane is free ├─ array ─┤ others have transferred ├─ transfer
//!   program:  overhead ─┤ others have transferred, plane's register is free ├─ transfer ─┤ plane is free ├─ array
//! ```
//!
//! A lazy die computes the ends instead ([`JointEnds`]).

use std::collections::BTreeSet;

use super::joint_ends::JointEnds;
use super::queue::Admitted;
use super::waiting::{NONE, Waiting};
use super::work::{Step, Work};
use super::{Die, NO_PAGE, PageTurn, Phase, SlotPhase, State};
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;
use crate::ssd::job::{NEVER, Worker};
use crate::ssd::params::Pipeline;

/// Operations that are done together in a die.
#[derive(Debug, Clone)]
pub(super) struct Together {
    /// All of them are reads, or all are writes.
    kind: OpKind,
    /// The scope in which the clean works.
    scope: u32,
    /// The operations in their order.
    companions: Vec<Companion>,
    /// Number of the clean's step among them.
    clean: usize,
    /// Number of those that are not over.
    left: usize,
    /// The last companion on each plane.
    last_on_plane: Vec<Option<usize>>,
}

/// One of those that are done together.
#[derive(Debug, Clone)]
struct Companion {
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

/// The moments at which a companion is expected to reach its second barrier, to pass it, and to be over; 0 for the past.
type Expected = [TimeNs; 3];

impl Together {
    fn new(kind: OpKind, scope: u32, planes: u32) -> Self {
        Self { kind, scope, companions: Vec::new(), clean: usize::MAX, left: 0, last_on_plane: vec![None; planes as usize] }
    }

    /// Adds the next one; it has reached and passed `barriers`.
    fn push(&mut self, id: u32, plane: Option<u32>, [reached, passed]: [u8; 2]) -> usize {
        let number = self.companions.len();
        let last = plane.map(|plane| &mut self.last_on_plane[plane as usize]);
        let before_on_plane = last.and_then(|last| last.replace(number));
        if let Some(before) = before_on_plane {
            self.companions[before].next_on_plane = Some(number);
        }
        if id == NONE {
            self.clean = number;
        }
        self.companions.push(Companion { id, work: Work::default(), before_on_plane, next_on_plane: None, reached, passed, over: false });
        self.left += 1;
        number
    }

    /// The clean's own part is over.
    fn clean_is_over(&self) -> bool {
        self.companions[self.clean].over
    }

    /// The one before that takes the pins for a page of the host.
    fn transfers_before(&self, number: usize) -> Option<usize> {
        let before = number.checked_sub(1)?;
        if self.kind == OpKind::Write && before == self.clean { before.checked_sub(1) } else { Some(before) }
    }

    /// Returns true if a companion that has reached its barrier may pass it.
    fn may_pass(&self, number: usize) -> bool {
        let companion = &self.companions[number];
        let before_on_plane = companion.before_on_plane.map(|before| &self.companions[before]);
        match (self.kind, companion.passed) {
            (OpKind::Read, 0) => before_on_plane.is_none_or(|before| before.reached >= 2),
            (OpKind::Read, _) => number == 0 || self.companions[number - 1].over,
            (_, 0) => {
                self.transfers_before(number).is_none_or(|before| self.companions[before].reached >= 2)
                    && before_on_plane.is_none_or(|before| before.passed >= 2)
            }
            (_, _) => before_on_plane.is_none_or(|before| before.over),
        }
    }

    /// Returns the companions that may continue after something has happened to this one.
    fn followers(&self, number: usize) -> impl Iterator<Item = usize> + use<> {
        let behind = number + 1;
        let after_clean = (behind == self.clean).then_some(behind + 1);
        let count = self.companions.len();
        [Some(behind), after_clean, self.companions[number].next_on_plane].into_iter().flatten().filter(move |&next| next < count)
    }

    /// Returns the moment at which [`Self::may_pass`] will be true.
    fn expected_to_pass(&self, number: usize, barrier: u8, expected: &[Expected]) -> TimeNs {
        let before_on_plane = |which: usize| self.companions[number].before_on_plane.map_or(0, |before| expected[before][which]);
        match (self.kind, barrier) {
            (OpKind::Read, 0) => before_on_plane(0),
            (OpKind::Read, _) => number.checked_sub(1).map_or(0, |before| expected[before][2]),
            (_, 0) => self.transfers_before(number).map_or(0, |before| expected[before][0]).max(before_on_plane(1)),
            (_, _) => before_on_plane(2),
        }
    }

    /// Returns the end of all if they wait only for transfers that they have asked for, and for each other (rule 101).
    pub fn plain_end(&self, clean: &Work) -> TimeNs {
        let mut expected: Vec<Expected> = Vec::with_capacity(self.companions.len());
        for (number, companion) in self.companions.iter().enumerate() {
            let mut moments = [0; 3];
            if !companion.over {
                let work = if number == self.clean { clean } else { &companion.work };
                let mut barrier = companion.passed;
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
    /// Returns the number of a worker among those that are done together.
    pub(super) fn companion_of(&self, worker: Worker) -> Option<usize> {
        let together = self.together.as_ref()?;
        worker.companion().or_else(|| (worker.scope() == Some(together.scope)).then_some(together.clean))
    }

    pub(super) fn work_of_companion(&self, number: usize) -> Option<&Work> {
        self.together.as_ref()?.companions.get(number).map(|companion| &companion.work)
    }

    pub(super) fn work_of_companion_mut(&mut self, number: usize) -> &mut Work {
        &mut self.together.as_mut().expect("a companion works").companions[number].work
    }
}

// Operations that go in together at a point.
impl PageTurn<'_> {
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
    pub(super) fn read_all(&mut self, at: TimeNs, ids: &[u32], die: DieId, scope: u32, lpn: Lpn) {
        for &id in ids {
            self.goes_beside_clean(at, id, OpKind::Read, false);
        }
        let plane = self.pools.plane_of(lpn);
        let clean = self.die(die).clean_mut(scope);
        (clean.register, clean.plane) = (lpn, plane);
        let planes: Vec<_> = ids.iter().map(|&id| (id, self.plane_of_read(die, self.own.waiting[id].lpn))).collect();
        if self.own.lazy {
            let t = self.parts.params.timing;
            let from = at + t.command_overhead_ns;
            let mut joint_ends = JointEnds::new(self.parts.params.geometry.planes);
            for (id, plane) in planes {
                let ends = joint_ends.read(from, plane, t.page_read_ns, t.page_transfer_ns);
                self.finish(id, ends);
            }
            joint_ends.read_of_clean(from, plane, t.page_read_ns, self.own.durations.transfers_of_move_ns());
            self.begin_phase(at, die, scope, Phase::Read, std::iter::empty(), joint_ends.over() - at);
            self.die(die).joint_ends = Some(joint_ends);
            return;
        }
        let mut together = Together::new(OpKind::Read, scope, self.parts.params.geometry.planes);
        for (id, plane) in planes {
            let number = together.push(id, plane, [0, 0]);
            together.companions[number].work.prepare(at, self.own.durations.read_steps_of_companion(), self.own.channels.is_empty());
        }
        together.push(NONE, Some(plane), [0, 0]);
        let clean = self.own.durations.read_of_clean_steps_of_companion();
        self.begin_together(at, die, together, Phase::Read, clean);
    }

    /// Host writes together with the program of the page in the register; those that find no room are refused.
    pub(super) fn program_all(&mut self, at: TimeNs, ids: &[u32], die: DieId, scope: u32) {
        let pool = self.own.dies[die.index()].clean(scope).pool;
        let mut writes = Vec::with_capacity(ids.len());
        for &id in ids {
            match self.pool_at_point(die, self.own.waiting[id].lpn, pool) {
                Some(pool) => writes.push((id, self.write_beside_clean(at, id, pool))),
                None => self.own.waiting[id].refuse(at),
            }
        }
        let moved = self.place_moved_page(die, scope);
        if self.own.lazy {
            let t = self.parts.params.timing;
            let mut joint_ends = JointEnds::new(self.parts.params.geometry.planes);
            for (id, (plane, sealed)) in writes {
                let from = at + t.command_overhead_ns;
                let ends = joint_ends.program(from, plane, t.page_transfer_ns, self.own.durations.program_ns(sealed));
                self.finish(id, ends);
            }
            let clean_ends = joint_ends.program_of_clean(at, moved.plane, self.own.durations.program_ns(moved.sealed));
            let merged = std::mem::take(&mut self.die(die).clean_mut(scope).merged);
            self.begin_phase(at, die, scope, Phase::Program, std::iter::empty(), joint_ends.over() - at);
            let state = self.die(die);
            state.joint_ends = Some(joint_ends);
            // Programs done together are not interrupted.
            state.clean_mut(scope).work.flight_from = NEVER;
            return self.finish_all(merged, clean_ends);
        }
        let clean = self.die(die).clean_mut(scope);
        clean.ends_with_phase = std::mem::take(&mut clean.merged);
        let mut together = Together::new(OpKind::Write, scope, self.parts.params.geometry.planes);
        for (id, (plane, sealed)) in writes {
            let number = together.push(id, Some(plane), [0, 0]);
            together.companions[number].work.prepare(at, self.own.durations.write_steps_of_companion(sealed), self.own.channels.is_empty());
        }
        // It has nothing to transfer.
        together.push(NONE, Some(moved.plane), [1, 1]);
        let clean = self.own.durations.program_of_clean_steps_of_companion(moved.sealed);
        self.begin_together(at, die, together, Phase::Program, clean);
        self.place_waiting(at);
    }

    /// The plane of this die on which a page lies that is to be read; under dynamic allocation it may be none by now.
    fn plane_of_read(&self, die: DieId, lpn: Lpn) -> Option<u32> {
        self.pools.holds(die, lpn).then(|| self.pools.plane_of(lpn))
    }

    /// Takes an operation self.out of the queue that goes beside a step of a clean.
    fn goes_beside_clean(&mut self, at: TimeNs, id: u32, kind: OpKind, sealed: bool) {
        self.take_waiting(at, id, true);
        self.parts.counters.pipelined += 1;
        match kind {
            OpKind::Write => self.parts.counters.host_pages_written += 1,
            _ => self.parts.counters.host_pages_read += 1,
        }
        let operation = &mut self.own.waiting[id];
        // What it waits for is those before it.
        operation.starts(at, false);
        self.own.durations.spend(kind, true, sealed, &mut operation.time);
    }

    /// The same for a write; returns the plane of its new place, and whether it seals a block.
    fn write_beside_clean(&mut self, at: TimeNs, id: u32, pool: u32) -> (u32, bool) {
        let Waiting { lpn, die, .. } = self.own.waiting[id];
        let sealed = self.write(die, pool, lpn);
        self.goes_beside_clean(at, id, OpKind::Write, sealed);
        self.note_write(at, die, pool);
        (self.pools.plane_of(lpn), sealed)
    }

    /// Begins all of them, in order.
    fn begin_together(&mut self, at: TimeNs, die: DieId, together: Together, phase: Phase, clean: impl Iterator<Item = Step>) {
        let pins = self.own.channels.is_empty();
        let (scope, count) = (together.scope, together.companions.len());
        let state = self.die(die);
        state.slot.phase = SlotPhase::Together;
        state.slot.let_in_by = Some(scope);
        state.clean_mut(scope).phase = phase;
        state.clean_mut(scope).work.prepare(at, clean, pins);
        state.together = Some(together);
        for number in 0..count {
            self.next_step_of_companion(at, die, number);
        }
        self.settle(at, die, None);
    }
}

// Operations that join a step in flight.
impl PageTurn<'_> {
    /// Lets an operation that has joined the queue, and waits, join a step in flight. The setting has to allow that, and the operation
    /// has to be of the kind of the step.
    pub(super) fn join_step(&mut self, now: TimeNs, scheduled: TimeNs, id: u32) {
        if self.parts.params.gc.preemption.is_none_or(|preemption| preemption.pipeline != Pipeline::InFlight) {
            return;
        }
        let Waiting { op, lpn, die, .. } = self.own.waiting[id];
        let Some(scope) = self.step_to_join(now, scheduled, die, lpn, op.kind) else { return };
        if self.own.dies[die.index()].queue.first_on(lpn, &self.own.waiting) != Some(id) {
            return;
        }
        let (plane, sealed) = match op.kind {
            OpKind::Write => {
                let pool = self.own.dies[die.index()].clean(scope).pool;
                let Some(pool) = self.pool_at_point(die, lpn, pool) else { return };
                let (plane, sealed) = self.write_beside_clean(now, id, pool);
                (Some(plane), sealed)
            }
            _ => {
                self.goes_beside_clean(now, id, OpKind::Read, false);
                (self.plane_of_read(die, lpn), false)
            }
        };
        // It may have to wait for the clean's step.
        self.own.waiting[id].beside_clean = true;
        if self.own.lazy {
            self.joins_joint_step(now, id, die, scope, plane, sealed);
        } else {
            self.joins_companions(now, id, die, scope, plane, sealed);
        }
        if op.kind == OpKind::Write {
            self.place_waiting(now);
        }
    }

    /// The scope of the clean whose step in flight an operation may join; what ends now is over if it began before `scheduled`.
    fn step_to_join(&self, now: TimeNs, scheduled: TimeNs, die: DieId, lpn: Lpn, kind: OpKind) -> Option<u32> {
        let state = &self.own.dies[die.index()];
        if !state.slot_is_free() && state.slot.phase != SlotPhase::Together {
            return None;
        }
        let wanted = match kind {
            OpKind::Read if self.pools.is_mapped(lpn) => Phase::Read,
            OpKind::Write => Phase::Program,
            _ => return None,
        };
        let mut scopes = 0..state.cleans.len() as u32;
        let scope = scopes.find(|&scope| {
            let concerned = !self.own.by_plane || kind == OpKind::Write || self.scope_of(die, lpn, kind) == Some(scope);
            let is_joined = state.slot.phase != SlotPhase::Together || state.slot.let_in_by == Some(scope);
            concerned && is_joined && state.cleans[scope as usize].as_ref().is_some_and(|clean| clean.phase == wanted)
        })?;
        let clean = state.clean(scope);
        let may = match kind {
            OpKind::Write => clean.state == State::AllMayGoIn,
            _ => clean.state != State::AllWait,
        };
        let is_over = state.together.as_ref().is_some_and(Together::clean_is_over)
            || state.joint_ends.as_ref().is_some_and(|joint_ends| {
                let ends = joint_ends.clean_ends();
                ends < now || (ends == now && clean.work.began < scheduled)
            });
        (may && !is_over && clean.register != lpn).then_some(scope)
    }

    fn joins_joint_step(&mut self, now: TimeNs, id: u32, die: DieId, scope: u32, plane: Option<u32>, sealed: bool) {
        let kind = self.own.waiting[id].op.kind;
        let t = self.parts.params.timing;
        let planes = self.parts.params.geometry.planes;
        let transfers_ns = if kind == OpKind::Read { self.own.durations.transfers_of_move_ns() } else { 0 };
        let program_ns = self.own.durations.program_ns(sealed);
        let state = self.die(die);
        let (plane_of_step, ends) = (state.clean(scope).plane, state.clean(scope).work.ends);
        let mut alone = None;
        let mut joint_ends = state.joint_ends.take().unwrap_or_else(|| {
            let mut joint_ends = JointEnds::new(planes);
            joint_ends.begin_with_step(plane_of_step, ends - transfers_ns, ends);
            alone = Some(ends);
            joint_ends
        });
        let from = now + t.command_overhead_ns;
        let done = match (kind, plane) {
            (OpKind::Write, Some(plane)) => joint_ends.program(from, plane, t.page_transfer_ns, program_ns),
            _ => joint_ends.read(from, plane, t.page_read_ns, t.page_transfer_ns),
        };
        let work = &mut state.clean_mut(scope).work;
        (work.ends, work.plain_end, work.flight_from) = (joint_ends.over(), joint_ends.over(), NEVER);
        state.joint_ends = Some(joint_ends);
        if let Some(ends) = alone {
            // The end of the clean's own program is known now.
            let merged = std::mem::take(&mut state.clean_mut(scope).ends_with_phase);
            self.finish_all(merged, ends);
        }
        self.finish(id, done);
    }

    fn joins_companions(&mut self, now: TimeNs, id: u32, die: DieId, scope: u32, plane: Option<u32>, sealed: bool) {
        let (pins, planes, kind) = (self.own.channels.is_empty(), self.parts.params.geometry.planes, self.own.waiting[id].op.kind);
        let mut work = Work::default();
        if kind == OpKind::Write {
            work.prepare(now, self.own.durations.write_steps_of_companion(sealed), pins);
        } else {
            work.prepare(now, self.own.durations.read_steps_of_companion(), pins);
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
        together.companions[number].work = work;
        state.together = Some(together);
        self.next_step_of_companion(now, die, number);
        self.settle(now, die, Some(number));
    }
}

// Steps and ends of companions.
impl PageTurn<'_> {
    fn next_step_of_companion(&mut self, at: TimeNs, die: DieId, number: usize) {
        let together = self.own.dies[die.index()].together.as_ref().expect("a companion works");
        let worker = if number == together.clean { Worker::clean(together.scope) } else { Worker::of_companion(number) };
        self.next_work_step(at, die, worker);
    }

    /// Something that a companion has waited for is over, and perhaps others go on with it.
    pub(super) fn companion_continues(&mut self, at: TimeNs, die: DieId, number: usize) {
        self.next_step_of_companion(at, die, number);
        self.settle(at, die, Some(number));
    }

    /// Lets companions continue after something has happened to one of them, the first in order first, again and again. When all are over
    /// the clean comes to a point.
    fn settle(&mut self, at: TimeNs, die: DieId, number: Option<usize>) {
        let together = self.own.dies[die.index()].together.as_ref().expect("they are done together");
        let mut next: BTreeSet<usize> = number.into_iter().flat_map(|number| together.followers(number)).collect();
        while let Some(number) = next.pop_first() {
            let state = &self.own.dies[die.index()];
            let together = state.together.as_ref().expect("they are done together");
            let work = if number == together.clean { &state.clean(together.scope).work } else { &together.companions[number].work };
            if work.is_at_barrier() && together.may_pass(number) {
                self.next_step_of_companion(at, die, number);
                let together = self.own.dies[die.index()].together.as_ref().expect("they are done together");
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
            self.slot_freed(at, die);
        }
    }

    /// A worker has come to a barrier: whether it goes on. A clean's step by itself waits for nobody.
    pub(super) fn passes_barrier(&mut self, die: DieId, worker: Worker) -> bool {
        let state = self.die(die);
        let Some(number) = state.companion_of(worker) else { return true };
        let together = state.together.as_mut().expect("a companion works");
        let companion = &mut together.companions[number];
        companion.reached = companion.passed + 1;
        let passes = together.may_pass(number);
        together.companions[number].passed += u8::from(passes);
        passes
    }

    /// A companion is over.
    pub(super) fn companion_over(&mut self, at: TimeNs, die: DieId, number: usize) {
        let channels = !self.own.channels.is_empty();
        let together = self.die(die).together.as_mut().expect("a companion works");
        together.left -= 1;
        let scope = together.scope;
        let companion = &mut together.companions[number];
        companion.over = true;
        let (id, transfers_ns) = (companion.id, companion.work.transfers_ns);
        if id == NONE {
            let all = std::mem::take(&mut self.die(die).clean_mut(scope).ends_with_phase);
            return self.finish_all(all, at);
        }
        if channels {
            self.own.waiting[id].time.transfer_ns = transfers_ns;
        }
        self.leaves_die(at, id);
    }
}
