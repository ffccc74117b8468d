//! Host operations that overlap with a step of a clean (PGC III.C; rules 37 and 103).
//!
//! All of them are of one kind, in the order of the queue, and the clean's step is the last. If the settings allow it, operations that
//! arrive during the step follow it. Each of these is a *companion*. It passes two barriers, at which it waits for the companions before
//! it.
//!
//! ```text
//! read:     overhead ─┤ plane is free ├─ array ─┤ others have transferred ├─ transfer
//! program:  overhead ─┤ others have transferred, plane's register is free ├─ transfer ─┤ plane is free ├─ array
//! ```
//!
//! A lazy die computes the ends instead ([`JointEnds`]).

use std::collections::BTreeSet;

use super::joint_ends::JointEnds;
use super::queue::Admitted;
use super::waiting::{NONE, Waiting};
use super::work::{Step, Work};
use super::{Die, NO_PAGE, PageContext, Phase, SlotPhase, State};
use crate::events::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;
use crate::ssd::job::{DieExecutionUnitId, NEVER};
use crate::ssd::params::HostOverlapWithMoves;

/// Host operations of one die that overlap with a step of a clean.
#[derive(Debug, Clone)]
pub(super) struct JointStep {
    /// Kind of the operations: all are reads, or all are writes.
    kind: OpKind,
    /// Blocking scope of the clean.
    scope: u32,
    /// The operations and the clean's step, in order.
    companions: Vec<Companion>,
    /// Position of the clean's step in that order.
    clean: usize,
    /// Number of operations and steps that have not ended.
    left: usize,
    /// Position of the last operation on each plane.
    last_on_plane: Vec<Option<usize>>,
}

/// One of the operations that overlap with each other.
#[derive(Debug, Clone)]
struct Companion {
    /// Number of the operation. It is [`NONE`] for the clean's step, whose progress is kept in the clean.
    id: u32,
    work: Work,
    /// Positions of the previous and the next operation on the same plane.
    before_on_plane: Option<usize>,
    next_on_plane: Option<usize>,
    /// Number of barriers that it has reached, and number that it has passed.
    reached: u8,
    passed: u8,
    over: bool,
}

/// Expected times at which a companion reaches its second barrier, passes it, and ends. A time in the past is 0.
type Expected = [TimeNs; 3];

impl JointStep {
    fn new(kind: OpKind, scope: u32, planes: u32) -> Self {
        Self { kind, scope, companions: Vec::new(), clean: usize::MAX, left: 0, last_on_plane: vec![None; planes as usize] }
    }

    /// Adds an operation that has already reached and passed some barriers. Returns its position.
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

    /// Returns true if the clean's own step has ended.
    fn clean_is_over(&self) -> bool {
        self.companions[self.clean].over
    }

    /// Returns the position of the last operation before this one that transfers a host page.
    fn transfers_before(&self, number: usize) -> Option<usize> {
        let before = number.checked_sub(1)?;
        if self.kind == OpKind::Write && before == self.clean { before.checked_sub(1) } else { Some(before) }
    }

    /// Returns true if a companion may pass the barrier that it has reached.
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

    /// Returns the companions that may be able to continue after this one has made progress.
    fn followers(&self, number: usize) -> impl Iterator<Item = usize> + use<> {
        let behind = number + 1;
        let after_clean = (behind == self.clean).then_some(behind + 1);
        let count = self.companions.len();
        [Some(behind), after_clean, self.companions[number].next_on_plane].into_iter().flatten().filter(move |&next| next < count)
    }

    /// Returns the time at which [`Self::may_pass`] is expected to become true.
    fn expected_to_pass(&self, number: usize, barrier: u8, expected: &[Expected]) -> TimeNs {
        let before_on_plane = |which: usize| self.companions[number].before_on_plane.map_or(0, |before| expected[before][which]);
        match (self.kind, barrier) {
            (OpKind::Read, 0) => before_on_plane(0),
            (OpKind::Read, _) => number.checked_sub(1).map_or(0, |before| expected[before][2]),
            (_, 0) => self.transfers_before(number).map_or(0, |before| expected[before][0]).max(before_on_plane(1)),
            (_, _) => before_on_plane(2),
        }
    }

    /// Returns the end of all operations, if they wait only for each other and for transfers that have already been requested (rule 101).
    pub(crate) fn plain_end(&self, clean: &Work) -> TimeNs {
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
    /// Returns the position of a worker among the overlapping operations, if it takes part.
    pub(super) fn companion_of(&self, worker: DieExecutionUnitId) -> Option<usize> {
        let joint_step = self.joint_step.as_ref()?;
        worker.companion().or_else(|| (worker.scope() == Some(joint_step.scope)).then_some(joint_step.clean))
    }

    pub(super) fn work_in_joint_step(&self, number: usize) -> Option<&Work> {
        self.joint_step.as_ref()?.companions.get(number).map(|companion| &companion.work)
    }

    pub(super) fn work_in_joint_step_mut(&mut self, number: usize) -> &mut Work {
        &mut self.joint_step.as_mut().expect("a companion works").companions[number].work
    }
}

// Operations that go in together at a point.
impl PageContext<'_> {
    /// Returns the operations that may be served at this point, if all of them can overlap with a step of this kind. Otherwise it returns
    /// `None`.
    pub(super) fn all_of_kind(&self, die: DieId, scope: u32, admitted: Admitted, kind: OpKind) -> Option<Vec<u32>> {
        if kind == OpKind::Read && admitted.writes {
            // Found without walking past all reads.
            let writes = Admitted { reads: false, writes: true };
            if self.first_candidate(die, scope, writes).is_some() {
                return None;
            }
        }
        self.candidates(die, scope, admitted).map(|id| self.can_join(id, kind).then_some(id)).collect()
    }

    /// Begins host reads that overlap with the clean's read of the page `lpn`.
    pub(super) fn read_all(&mut self, at: TimeNs, ids: &[u32], die: DieId, scope: u32, lpn: Lpn) {
        let array_ns: Vec<u64> = ids.iter().map(|&id| self.read_beside_clean(at, id)).collect();
        let plane = self.pools.plane_of(lpn);
        let clean = self.die(die).clean_mut(scope);
        (clean.register, clean.plane) = (lpn, plane);
        let planes = ids.iter().map(|&id| self.plane_of_read(die, self.own.waiting[id].lpn));
        let reads: Vec<_> = ids.iter().zip(planes).zip(array_ns).map(|((&id, plane), array_ns)| (id, plane, array_ns)).collect();
        if self.own.lazy {
            let t = self.parts.params.timing;
            let from = at + t.command_overhead.ns;
            let mut joint_ends = JointEnds::new(self.parts.params.geometry.planes);
            for (id, plane, array_ns) in reads {
                let ends = joint_ends.read(from, plane, array_ns, t.page_transfer_ns);
                self.finish(id, ends);
            }
            joint_ends.clean_read(from, plane, t.page_read.ns, self.own.durations.move_transfers_ns());
            self.begin_phase(at, die, scope, Phase::Read, std::iter::empty(), joint_ends.over() - at);
            self.die(die).joint_ends = Some(joint_ends);
            return;
        }
        let mut joint_step = JointStep::new(OpKind::Read, scope, self.parts.params.geometry.planes);
        for (id, plane, array_ns) in reads {
            let number = joint_step.push(id, plane, [0, 0]);
            let steps = self.own.durations.joint_read_steps(array_ns);
            joint_step.companions[number].work.prepare(at, steps, self.own.channels.is_empty());
        }
        joint_step.push(NONE, Some(plane), [0, 0]);
        let clean = self.own.durations.joint_clean_read_steps();
        self.begin_joint_step(at, die, joint_step, Phase::Read, clean);
    }

    /// Begins host writes that overlap with the program of the page in the register. Writes without room remain in the queue.
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
                let from = at + t.command_overhead.ns;
                let ends = joint_ends.program(from, plane, t.page_transfer_ns, self.own.durations.program_ns(sealed));
                self.finish(id, ends);
            }
            let clean_ends = joint_ends.clean_program(at, moved.plane, self.own.durations.program_ns(moved.sealed));
            let merged = std::mem::take(&mut self.die(die).clean_mut(scope).merged);
            self.begin_phase(at, die, scope, Phase::Program, std::iter::empty(), joint_ends.over() - at);
            let state = self.die(die);
            state.joint_ends = Some(joint_ends);
            // Programs done together are not interrupted.
            state.clean_mut(scope).work.interruptible_from = NEVER;
            return self.finish_all(merged, clean_ends);
        }
        let clean = self.die(die).clean_mut(scope);
        clean.ends_with_phase = std::mem::take(&mut clean.merged);
        let mut joint_step = JointStep::new(OpKind::Write, scope, self.parts.params.geometry.planes);
        for (id, (plane, sealed)) in writes {
            let number = joint_step.push(id, Some(plane), [0, 0]);
            joint_step.companions[number].work.prepare(at, self.own.durations.joint_write_steps(sealed), self.own.channels.is_empty());
        }
        // It has nothing to transfer.
        joint_step.push(NONE, Some(moved.plane), [1, 1]);
        let clean = self.own.durations.joint_clean_program_steps(moved.sealed);
        self.begin_joint_step(at, die, joint_step, Phase::Program, clean);
        self.place_waiting(at);
    }

    /// Returns the plane of this die that holds the page of a read. Under dynamic allocation, the page may have moved to another die.
    fn plane_of_read(&self, die: DieId, lpn: Lpn) -> Option<u32> {
        self.pools.holds(die, lpn).then(|| self.pools.plane_of(lpn))
    }

    /// Removes an operation from the queue, because it starts to overlap with a step of a clean. For a read, `array_ns` is the time of the
    /// flash array.
    fn start_beside_clean(&mut self, at: TimeNs, id: u32, kind: OpKind, array_ns: Option<u64>, sealed: bool) {
        self.take_waiting(at, id, true);
        self.parts.counters.pipelined_operations += 1;
        match kind {
            OpKind::Write => self.parts.counters.host_pages_written += 1,
            _ => self.parts.counters.host_pages_read += 1,
        }
        let operation = &mut self.own.waiting[id];
        // What it waits for is those before it.
        operation.starts(at, false);
        self.own.durations.spend(kind, array_ns, sealed, &mut operation.time);
    }

    /// Starts a read that overlaps with a step of a clean. Returns the time of the flash array.
    fn read_beside_clean(&mut self, at: TimeNs, id: u32) -> u64 {
        let array_ns = self.array_ns(self.own.waiting[id].lpn).expect("a read of an unmapped page overlaps with nothing");
        self.start_beside_clean(at, id, OpKind::Read, Some(array_ns), false);
        array_ns
    }

    /// Starts a write that overlaps with a step of a clean. Returns the plane of its new page, and true if the write fills a block.
    fn write_beside_clean(&mut self, at: TimeNs, id: u32, pool: u32) -> (u32, bool) {
        let Waiting { lpn, die, .. } = self.own.waiting[id];
        let sealed = self.write(die, pool, lpn);
        self.start_beside_clean(at, id, OpKind::Write, None, sealed);
        self.note_write(at, die, pool);
        (self.pools.plane_of(lpn), sealed)
    }

    /// Begins overlapping operations, in order.
    fn begin_joint_step(&mut self, at: TimeNs, die: DieId, joint_step: JointStep, phase: Phase, clean: impl Iterator<Item = Step>) {
        let pins = self.own.channels.is_empty();
        let (scope, count) = (joint_step.scope, joint_step.companions.len());
        let state = self.die(die);
        state.slot.phase = SlotPhase::JointStep;
        state.slot.admitted_by = Some(scope);
        state.clean_mut(scope).phase = phase;
        state.clean_mut(scope).work.prepare(at, clean, pins);
        state.joint_step = Some(joint_step);
        for number in 0..count {
            self.next_step_of_companion(at, die, number);
        }
        self.continue_companions(at, die, None);
    }
}

// Operations that join a step in flight.
impl PageContext<'_> {
    /// Lets an operation that has just entered the queue overlap with the step in progress. The settings must allow it, and the operation
    /// must be of the same kind.
    pub(super) fn join_step(&mut self, now: TimeNs, scheduled: TimeNs, id: u32) {
        if self
            .parts
            .params
            .gc
            .preemption
            .is_none_or(|preemption| preemption.pipeline != HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep)
        {
            return;
        }
        let Waiting { op, lpn, die, .. } = self.own.waiting[id];
        let Some(scope) = self.step_to_join(now, scheduled, die, lpn, op.kind) else { return };
        if self.own.dies[die.index()].queue.first_on(lpn, &self.own.waiting) != Some(id) {
            return;
        }
        let (plane, array_ns, sealed) = match op.kind {
            OpKind::Write => {
                let pool = self.own.dies[die.index()].clean(scope).pool;
                let Some(pool) = self.pool_at_point(die, lpn, pool) else { return };
                let (plane, sealed) = self.write_beside_clean(now, id, pool);
                (Some(plane), 0, sealed)
            }
            _ => {
                let array_ns = self.read_beside_clean(now, id);
                (self.plane_of_read(die, lpn), array_ns, false)
            }
        };
        // It may have to wait for the clean's step.
        self.own.waiting[id].beside_clean = true;
        if self.own.lazy {
            self.join_lazily(now, id, scope, plane, array_ns, sealed);
        } else {
            self.join_as_companion(now, id, scope, plane, array_ns, sealed);
        }
        if op.kind == OpKind::Write {
            self.place_waiting(now);
        }
    }

    /// Returns the scope of the clean whose current step an operation may overlap with. A step that ends now has ended if it began before
    /// `scheduled`.
    fn step_to_join(&self, now: TimeNs, scheduled: TimeNs, die: DieId, lpn: Lpn, kind: OpKind) -> Option<u32> {
        let state = &self.own.dies[die.index()];
        if !state.slot_is_free() && state.slot.phase != SlotPhase::JointStep {
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
            let is_joined = state.slot.phase != SlotPhase::JointStep || state.slot.admitted_by == Some(scope);
            concerned && is_joined && state.cleans[scope as usize].as_ref().is_some_and(|clean| clean.phase == wanted)
        })?;
        let clean = state.clean(scope);
        let may = match kind {
            OpKind::Write => clean.state == State::AllMayGoIn,
            _ => clean.state != State::AllWait,
        };
        let is_over = state.joint_step.as_ref().is_some_and(JointStep::clean_is_over)
            || state.joint_ends.as_ref().is_some_and(|joint_ends| {
                let ends = joint_ends.clean_ends();
                ends < now || (ends == now && clean.work.began < scheduled)
            });
        (may && !is_over && clean.register != lpn).then_some(scope)
    }

    fn join_lazily(&mut self, now: TimeNs, id: u32, scope: u32, plane: Option<u32>, array_ns: u64, sealed: bool) {
        let (die, kind) = (self.own.waiting[id].die, self.own.waiting[id].op.kind);
        let t = self.parts.params.timing;
        let planes = self.parts.params.geometry.planes;
        let transfers_ns = if kind == OpKind::Read { self.own.durations.move_transfers_ns() } else { 0 };
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
        let from = now + t.command_overhead.ns;
        let done = match (kind, plane) {
            (OpKind::Write, Some(plane)) => joint_ends.program(from, plane, t.page_transfer_ns, program_ns),
            _ => joint_ends.read(from, plane, array_ns, t.page_transfer_ns),
        };
        let work = &mut state.clean_mut(scope).work;
        (work.ends, work.plain_end, work.interruptible_from) = (joint_ends.over(), joint_ends.over(), NEVER);
        state.joint_ends = Some(joint_ends);
        if let Some(ends) = alone {
            // The end of the clean's own program is known now.
            let merged = std::mem::take(&mut state.clean_mut(scope).ends_with_phase);
            self.finish_all(merged, ends);
        }
        self.finish(id, done);
    }

    fn join_as_companion(&mut self, now: TimeNs, id: u32, scope: u32, plane: Option<u32>, array_ns: u64, sealed: bool) {
        let (pins, planes, kind) = (self.own.channels.is_empty(), self.parts.params.geometry.planes, self.own.waiting[id].op.kind);
        let die = self.own.waiting[id].die;
        let mut work = Work::default();
        if kind == OpKind::Write {
            work.prepare(now, self.own.durations.joint_write_steps(sealed), pins);
        } else {
            work.prepare(now, self.own.durations.joint_read_steps(array_ns), pins);
        }
        let state = self.die(die);
        let mut joint_step = state.joint_step.take().unwrap_or_else(|| {
            let mut joint_step = JointStep::new(kind, scope, planes);
            let barriers = if state.clean(scope).work.has_barrier() { 1 } else { 2 };
            joint_step.push(NONE, Some(state.clean(scope).plane), [barriers; 2]);
            state.slot.phase = SlotPhase::JointStep;
            state.slot.admitted_by = Some(scope);
            joint_step
        });
        let number = joint_step.push(id, plane, [0, 0]);
        joint_step.companions[number].work = work;
        state.joint_step = Some(joint_step);
        self.next_step_of_companion(now, die, number);
        self.continue_companions(now, die, Some(number));
    }
}

// Steps and ends of companions.
impl PageContext<'_> {
    fn next_step_of_companion(&mut self, at: TimeNs, die: DieId, number: usize) {
        let joint_step = self.own.dies[die.index()].joint_step.as_ref().expect("a companion works");
        let worker =
            if number == joint_step.clean { DieExecutionUnitId::clean(joint_step.scope) } else { DieExecutionUnitId::of_companion(number) };
        self.next_work_step(at, die, worker);
    }

    /// Continues a companion whose wait has ended, and then others that waited for it.
    pub(super) fn companion_continues(&mut self, at: TimeNs, die: DieId, number: usize) {
        self.next_step_of_companion(at, die, number);
        self.continue_companions(at, die, Some(number));
    }

    /// Continues companions that may proceed, the first in order first, until none can. When all have ended, the clean reaches a preemption
    /// point.
    fn continue_companions(&mut self, at: TimeNs, die: DieId, number: Option<usize>) {
        let joint_step = self.own.dies[die.index()].joint_step.as_ref().expect("they are done together");
        let mut next: BTreeSet<usize> = number.into_iter().flat_map(|number| joint_step.followers(number)).collect();
        while let Some(number) = next.pop_first() {
            let state = &self.own.dies[die.index()];
            let joint_step = state.joint_step.as_ref().expect("they are done together");
            let work = if number == joint_step.clean { &state.clean(joint_step.scope).work } else { &joint_step.companions[number].work };
            if work.is_at_barrier() && joint_step.may_pass(number) {
                self.next_step_of_companion(at, die, number);
                let joint_step = self.own.dies[die.index()].joint_step.as_ref().expect("they are done together");
                next.extend(joint_step.followers(number));
            }
        }
        let state = self.die(die);
        if state.joint_step.as_ref().is_some_and(|joint_step| joint_step.left == 0) {
            let scope = state.joint_step.take().map_or(0, |joint_step| joint_step.scope);
            let clean = state.clean_mut(scope);
            if clean.phase == Phase::Program {
                clean.register = NO_PAGE;
            }
            self.slot_freed(at, die);
        }
    }

    /// Records that a worker has reached a barrier. Returns true if it may pass at once. A clean's step without companions never waits.
    pub(super) fn reach_barrier(&mut self, die: DieId, worker: DieExecutionUnitId) -> bool {
        let state = self.die(die);
        let Some(number) = state.companion_of(worker) else { return true };
        let joint_step = state.joint_step.as_mut().expect("a companion works");
        let companion = &mut joint_step.companions[number];
        companion.reached = companion.passed + 1;
        let passes = joint_step.may_pass(number);
        joint_step.companions[number].passed += u8::from(passes);
        passes
    }

    /// Ends one of the overlapping operations.
    pub(super) fn companion_ended(&mut self, at: TimeNs, die: DieId, number: usize) {
        let channels = !self.own.channels.is_empty();
        let joint_step = self.die(die).joint_step.as_mut().expect("a companion works");
        joint_step.left -= 1;
        let scope = joint_step.scope;
        let companion = &mut joint_step.companions[number];
        companion.over = true;
        let (id, transfers_ns) = (companion.id, companion.work.transfers_ns);
        if id == NONE {
            let all = std::mem::take(&mut self.die(die).clean_mut(scope).ends_with_phase);
            return self.finish_all(all, at);
        }
        if channels {
            self.own.waiting[id].time.transfer_ns = transfers_ns;
        }
        self.die_finished(at, id);
    }
}
