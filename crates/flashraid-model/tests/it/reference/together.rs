//! Host operations that overlap with a step of a clean (rules 37 and 103).

use flashraid_model::ssd::HostOverlapWithMoves;

use super::clean::Phase;
use super::die::{Slot, Use};
use super::flash::Page;
use super::work::{Doing, Step, Worker};
use super::{OpKind, Operation, Simulation};

/// Operations that overlap, in order.
pub(super) struct Together {
    pool: usize,
    mates: Vec<Mate>,
}

struct Mate {
    worker: Worker,
    /// None for the clean's step.
    operation: Option<Operation>,
    /// Plane of the operation, if it is on one of the die.
    plane: Option<usize>,
    has: Vec<Mark>,
    /// True if it joined the step in progress.
    joined: bool,
}

/// Marks for which later operations wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    ArrayRead,
    Transferred,
    ProgramBegun,
    Over,
}

/// Events for which an operation waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Awaits {
    /// The array reads before it on its plane.
    PlaneRead,
    /// All that is before it.
    Turn,
    /// The pages before it, and that the programs before it on its plane have begun.
    Register,
    /// The programs before it on its plane.
    PlaneProgrammed,
}

impl Awaits {
    /// Returns the mark that operations before it must have reached, and that for operations before it on its plane.
    fn wants(self) -> (Option<Mark>, Option<Mark>) {
        match self {
            Awaits::PlaneRead => (None, Some(Mark::ArrayRead)),
            Awaits::Turn => (Some(Mark::Over), None),
            Awaits::Register => (Some(Mark::Transferred), Some(Mark::ProgramBegun)),
            Awaits::PlaneProgrammed => (None, Some(Mark::Over)),
        }
    }
}

impl Together {
    /// Returns the operations before it that must have reached a mark, with the mark.
    fn wanted(&self, number: usize, awaits: Awaits) -> Vec<(usize, Mark)> {
        let (of_all, of_plane) = awaits.wants();
        let mut wanted = Vec::new();
        for (before, mate) in self.mates[..number].iter().enumerate() {
            wanted.extend(of_all.map(|mark| (before, mark)));
            if mate.plane.is_some() && mate.plane == self.mates[number].plane {
                wanted.extend(of_plane.map(|mark| (before, mark)));
            }
        }
        wanted
    }

    fn may_go_on(&self, number: usize, awaits: Awaits) -> bool {
        self.wanted(number, awaits).iter().all(|(before, mark)| self.mates[*before].has.contains(mark))
    }

    /// Host operations, by whom they are done, and whether they have joined the step in flight.
    pub(super) fn operations(&mut self) -> impl Iterator<Item = (Worker, &mut Operation, bool)> {
        self.mates.iter_mut().filter_map(|mate| Some((mate.worker, mate.operation.as_mut()?, mate.joined)))
    }

    fn number_of(&self, worker: Worker) -> Option<usize> {
        self.mates.iter().position(|mate| mate.worker == worker)
    }
}

// Operations at a point.
impl Simulation<'_> {
    pub(super) fn reads_together(&mut self, member: usize, die: usize, pool: usize, operations: &[Operation], page: Page) {
        let mut mates = Vec::new();
        for operation in operations {
            let plane = self.members[member].flash.plane_on(die, operation.page);
            let steps = self.read_beside_steps(self.array_read(member, operation.page), vec![self.transfer()]);
            mates.push((Some(self.goes_beside(member, die, operation, None)), plane, steps));
        }
        let plane = self.members[member].flash.plane_on(die, page);
        let array = Step::Read(self.ssd.timing.page_read.ns);
        mates.push((None, plane, self.read_beside_steps(array, self.move_transfers())));
        self.clean(member, die, pool).register = Some(page);
        self.begin_together(member, die, pool, Phase::Read, mates);
    }

    /// Host writes take their pages first.
    pub(super) fn writes_together(&mut self, member: usize, die: usize, pool: usize, operations: &[Operation], page: Page) {
        let mut mates = Vec::new();
        for operation in operations {
            match self.pool_for_write_at_point(member, die, pool, operation.page) {
                Some(of_write) => mates.push(self.write_beside(member, die, operation, of_write)),
                None => {
                    let index = self.index_of(member, die, operation);
                    self.refuse(member, die, index);
                }
            }
        }
        let mut steps = vec![Step::Await(Awaits::PlaneProgrammed), Step::Mark(Mark::ProgramBegun)];
        steps.extend(self.program_of_clean(member, die, pool, page));
        mates.push((None, self.members[member].flash.plane_on(die, page), steps));
        self.begin_together(member, die, pool, Phase::Program, mates);
    }

    fn write_beside(&mut self, member: usize, die: usize, operation: &Operation, pool: usize) -> Beside {
        let (number, page) = (operation.number, operation.page);
        let before = self.members[member].counters.block_summary_pages_programmed;
        let operation = self.goes_beside(member, die, operation, Some(pool));
        assert_eq!((operation.number, operation.page), (number, page));
        let fills_block = self.members[member].counters.block_summary_pages_programmed > before;
        let mut steps = vec![Step::Wait(self.ssd.timing.command_overhead.ns), Step::Await(Awaits::Register), self.transfer()];
        steps.extend([Step::Mark(Mark::Transferred), Step::Await(Awaits::PlaneProgrammed), Step::Mark(Mark::ProgramBegun)]);
        steps.extend(self.program_steps(fills_block));
        (Some(operation), self.members[member].flash.plane_on(die, page), steps)
    }

    fn transfer(&self) -> Step {
        Step::Transfer(self.ssd.timing.page_transfer_ns)
    }

    fn read_beside_steps(&self, array: Step, transfers: Vec<Step>) -> Vec<Step> {
        let mut steps = vec![Step::Wait(self.ssd.timing.command_overhead.ns), Step::Await(Awaits::PlaneRead), array];
        steps.extend([Step::Mark(Mark::ArrayRead), Step::Await(Awaits::Turn)]);
        steps.extend(transfers);
        steps
    }

    fn index_of(&self, member: usize, die: usize, operation: &Operation) -> usize {
        let queue = &self.members[member].dies[die].queue;
        queue.iter().position(|other| other.number == operation.number).expect("it waits")
    }

    fn goes_beside(&mut self, member: usize, die: usize, operation: &Operation, pool: Option<usize>) -> Operation {
        let index = self.index_of(member, die, operation);
        let operation = self.leaves_queue(member, die, index, true);
        self.members[member].counters.pipelined_operations += 1;
        self.command_starts(member, die, &operation, pool);
        operation
    }

    fn begin_together(&mut self, member: usize, die: usize, pool: usize, phase: Phase, beside: Vec<Beside>) {
        let clean = Worker::Clean { die, pool };
        self.clean(member, die, pool).phase = phase;
        self.die(member, die).slot = Some(Slot { what: Use::Together, let_in_by: Some(pool) });
        self.die(member, die).together = Some(Together { pool, mates: Vec::new() });
        for (number, (operation, plane, steps)) in beside.iter().enumerate() {
            let worker = if operation.is_some() { Worker::Mate { die, number } } else { clean };
            // The clean's page comes over no pins before its program.
            let has = if operation.is_none() { vec![Mark::Transferred] } else { Vec::new() };
            self.adds_mate(member, die, Mate { worker, operation: *operation, plane: *plane, has, joined: false });
            self.gets_work(member, worker, steps.clone());
        }
        self.clean(member, die, pool).plane = beside.last().expect("the clean's is the last").1;
        let workers: Vec<Worker> = self.together(member, die).mates.iter().map(|mate| mate.worker).collect();
        for worker in workers {
            self.work_goes_on(member, worker);
        }
        self.mates_go_on(member, die);
        for operation in beside.iter().filter_map(|(operation, ..)| operation.as_ref()) {
            self.has_left_queue(member, operation);
        }
    }

    fn adds_mate(&mut self, member: usize, die: usize, mate: Mate) {
        self.together(member, die).mates.push(mate);
    }

    fn together(&mut self, member: usize, die: usize) -> &mut Together {
        self.die(member, die).together.as_mut().expect("they are done together")
    }
}

type Beside = (Option<Operation>, Option<usize>, Vec<Step>);

// Operations that arrive during a step.
impl Simulation<'_> {
    /// An operation has just joined the queue, and waits: whether it has joined a step in flight.
    pub(super) fn joins_step(&mut self, member: usize, die: usize, index: usize) -> bool {
        if self.ssd.gc.collection_takes_no_time
            || self.preemption().is_none_or(|preemption| preemption.pipeline != HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep)
        {
            return false;
        }
        let operation = self.members[member].dies[die].queue[index];
        if self.members[member].dies[die].overtakes(index) {
            return false;
        }
        let Some(pool) = self.step_for(member, die, &operation) else { return false };
        let (operation, plane, steps) = match operation.kind {
            OpKind::Write => {
                let Some(of_write) = self.pool_for_write_at_point(member, die, pool, operation.page) else { return false };
                self.write_beside(member, die, &operation, of_write)
            }
            _ => {
                let plane = self.members[member].flash.plane_on(die, operation.page);
                let steps = self.read_beside_steps(self.array_read(member, operation.page), vec![self.transfer()]);
                (Some(self.goes_beside(member, die, &operation, None)), plane, steps)
            }
        };
        if self.die(member, die).together.is_none() {
            self.clean_is_joined(member, die, pool);
        }
        let worker = Worker::Mate { die, number: self.together(member, die).mates.len() };
        self.adds_mate(member, die, Mate { worker, operation, plane, has: Vec::new(), joined: true });
        self.gets_work(member, worker, steps);
        self.work_goes_on(member, worker);
        self.mates_go_on(member, die);
        self.has_left_queue(member, &operation.expect("it is a host operation"));
        true
    }

    /// The clean whose step in flight is of the operation's kind, if it may join that.
    fn step_for(&self, member: usize, die: usize, operation: &Operation) -> Option<usize> {
        let state = &self.members[member].dies[die];
        let beside = match &state.slot {
            None => None,
            Some(Slot { what: Use::Together, let_in_by }) => *let_in_by,
            Some(_) => return None,
        };
        let is_mapped = self.members[member].flash.place(operation.page).is_some();
        let wanted = match operation.kind {
            OpKind::Read if is_mapped => Phase::Read,
            OpKind::Write => Phase::Program,
            _ => return None,
        };
        let concerns = |pool: usize| self.concerns(member, die, pool, operation) && beside.is_none_or(|beside| beside == pool);
        let (&pool, clean) = state.cleans.iter().find(|&(&pool, clean)| clean.phase == wanted && concerns(pool))?;
        let admits = clean.state == 1 || (clean.state == 2 && operation.kind == OpKind::Read);
        (admits && clean.register != Some(operation.page)).then_some(pool)
    }

    /// The step of a clean that has been in flight by itself.
    fn clean_is_joined(&mut self, member: usize, die: usize, pool: usize) {
        let worker = Worker::Clean { die, pool };
        let reads = self.members[member].work[&worker].steps.contains(&Step::Mark(Mark::ArrayRead));
        let is_read = self.clean(member, die, pool).phase == Phase::Read;
        let mut has = vec![Mark::Transferred];
        if is_read && !reads {
            has.push(Mark::ArrayRead);
        }
        if !is_read {
            has.push(Mark::ProgramBegun);
        }
        let plane = self.clean(member, die, pool).plane;
        self.die(member, die).slot = Some(Slot { what: Use::Together, let_in_by: Some(pool) });
        self.die(member, die).together = Some(Together { pool, mates: vec![Mate { worker, operation: None, plane, has, joined: false }] });
    }
}

// Progress of overlapping operations.
impl Simulation<'_> {
    fn mate(&mut self, member: usize, worker: Worker) -> Option<(usize, usize)> {
        let (Worker::Slot { die } | Worker::Clean { die, .. } | Worker::Mate { die, .. }) = worker;
        let number = self.members[member].dies[die].together.as_ref()?.number_of(worker)?;
        Some((die, number))
    }

    /// Something that others may wait for has happened.
    pub(super) fn marks(&mut self, member: usize, worker: Worker, mark: Mark) {
        if let Some((die, number)) = self.mate(member, worker) {
            self.together(member, die).mates[number].has.push(mark);
        }
    }

    pub(super) fn waits_for_others(&mut self, member: usize, worker: Worker, awaits: Awaits) -> bool {
        let (die, number) = self.mate(member, worker).expect("somebody is before it");
        !self.together(member, die).may_go_on(number, awaits)
    }

    /// A wait or a transfer of somebody is over.
    pub(super) fn goes_on_together(&mut self, member: usize, worker: Worker) {
        let die = self.mate(member, worker).map(|(die, _)| die);
        self.work_goes_on(member, worker);
        if let Some(die) = die {
            self.mates_go_on(member, die);
        }
    }

    /// The first in order of those that may go on does, until none may.
    fn mates_go_on(&mut self, member: usize, die: usize) {
        loop {
            let together = self.members[member].dies[die].together.as_ref().expect("they are done together");
            let may = |number: usize| match self.members[member].work.get(&together.mates[number].worker) {
                Some(work) => matches!(work.doing, Doing::Awaits(awaits) if together.may_go_on(number, awaits)),
                None => false,
            };
            let Some(number) = (0..together.mates.len()).find(|&number| may(number)) else { break };
            let worker = together.mates[number].worker;
            self.work_goes_on(member, worker);
        }
        if self.together(member, die).mates.iter().all(|mate| mate.has.contains(&Mark::Over)) {
            let together = self.die(member, die).together.take().expect("they are done together");
            self.slot_is_free(member, die, Some(together.pool));
        }
    }

    /// Somebody's part is over; false if it was done by itself.
    pub(super) fn part_is_over(&mut self, member: usize, worker: Worker) -> bool {
        let Some((die, number)) = self.mate(member, worker) else { return false };
        if let Some(operation) = self.together(member, die).mates[number].operation {
            self.leaves_die(member, operation);
        }
        self.together(member, die).mates[number].has.push(Mark::Over);
        true
    }

    /// Returns the expected end of all, if they wait only for each other and for transfers that they have already asked for (rule 101).
    pub(super) fn expected_end_together(&self, member: usize, die: usize) -> u64 {
        let together = self.members[member].dies[die].together.as_ref().expect("they are done together");
        let marks = [Mark::ArrayRead, Mark::Transferred, Mark::ProgramBegun, Mark::Over];
        let mut expected: Vec<Vec<(Mark, u64)>> = Vec::new();
        for (number, mate) in together.mates.iter().enumerate() {
            let mut own: Vec<(Mark, u64)> = marks.iter().filter(|mark| mate.has.contains(mark)).map(|&mark| (mark, 0)).collect();
            if let Some(work) = self.members[member].work.get(&mate.worker) {
                let passes = |awaits: Awaits| {
                    let moments = together.wanted(number, awaits).into_iter().map(|(before, wanted)| {
                        expected[before].iter().find(|(mark, _)| *mark == wanted).expect("it is to come or past").1
                    });
                    moments.max().unwrap_or(0)
                };
                let mut at = match work.doing {
                    Doing::Begins => self.now,
                    Doing::Waits { until, .. } | Doing::Transfers { until } => until,
                    Doing::Awaits(_) => 0,
                };
                for step in &work.steps {
                    match *step {
                        Step::Wait(ns) | Step::Read(ns) | Step::Array(ns) | Step::Summary(ns) | Step::Transfer(ns) => at += ns,
                        Step::Await(awaits) => at = at.max(passes(awaits)),
                        Step::Mark(mark) => own.push((mark, at)),
                    }
                }
                own.push((Mark::Over, at));
            }
            expected.push(own);
        }
        expected.iter().flatten().filter(|(mark, _)| *mark == Mark::Over).map(|&(_, at)| at).max().expect("somebody is there")
    }
}
