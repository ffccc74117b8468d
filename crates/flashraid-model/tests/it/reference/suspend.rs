//! Reads that interrupt a program or an erase (rules 39 and 102).

use super::clean::Phase;
use super::die::{Slot, Use};
use super::flash::Page;
use super::work::{Doing, Step, Work, Worker};
use super::{Event, OpKind, Operation, Simulation};

/// A suspension, from the interruption to the end of the resumption.
pub(super) struct Suspension {
    part: Part,
    /// Suspended worker, and the rest of its wait.
    worker: Worker,
    work: Work,
    rest_ns: u64,
    /// The host write, if it is one.
    write: Option<Operation>,
    /// The clean, or the one that let the write in.
    clean: Option<usize>,
    /// The page that is being programmed.
    page: Option<Page>,
}

enum Part {
    Turning,
    Reading(Operation),
    TurningBack,
}

impl Suspension {
    /// The host write that waits for its rest.
    pub(super) fn write(&mut self) -> Option<&mut Operation> {
        self.write.as_mut()
    }

    /// The read that is served now.
    pub(super) fn reads(&mut self) -> Option<&mut Operation> {
        if let Part::Reading(operation) = &mut self.part { Some(operation) } else { None }
    }

    /// A clean is suspended, and no read served: what it takes to turn is the clean's.
    pub(super) fn collects(&self) -> bool {
        self.write.is_none() && !matches!(self.part, Part::Reading(_))
    }
}

/// A program or erase that a read may interrupt.
struct InFlight {
    worker: Worker,
    clean: Option<usize>,
    page: Option<Page>,
}

impl Simulation<'_> {
    /// An array operation begins, or continues: the first read that joined after operation `last_joined`, waits and may interrupt it does.
    pub(super) fn waiting_read_interrupts(&mut self, member: usize, worker: Worker, last_joined: u64) -> bool {
        let (Worker::Slot { die } | Worker::Clean { die, .. } | Worker::Mate { die, .. }) = worker;
        let queue = &self.members[member].dies[die].queue;
        let since: Vec<usize> = (0..queue.len()).filter(|&index| queue[index].number > last_joined).collect();
        since.into_iter().any(|index| self.interrupts(member, die, index, Some(worker)))
    }

    /// An operation has just joined the queue, and waits.
    pub(super) fn may_interrupt(&mut self, member: usize, die: usize, index: usize) {
        self.interrupts(member, die, index, None);
    }

    /// Lets an operation of the queue interrupt what is in flight, or only what this worker has in flight. Returns true if it does.
    fn interrupts(&mut self, member: usize, die: usize, index: usize, only: Option<Worker>) -> bool {
        let Some(suspension) = self.preemption().and_then(|preemption| preemption.suspension) else { return false };
        let state = &self.members[member].dies[die];
        let read = state.queue[index];
        if self.ssd.gc.collection_takes_no_time || read.kind != OpKind::Read || state.overtakes(index) {
            return false;
        }
        let Some(InFlight { worker, clean, page }) = self.in_flight(member, die, &read) else { return false };
        if only.is_some_and(|only| only != worker) {
            return false;
        }
        let now = self.now;
        let work = &self.members[member].work[&worker];
        let Doing::Waits { until, in_flight_from: Some(from) } = work.doing else { return false };
        let state_3 = clean.is_some_and(|pool| self.members[member].dies[die].cleans[&pool].state == 3);
        if from > now || until <= now || state_3 || page == Some(read.page) || work.suspensions >= suspension.suspensions_max {
            return false;
        }
        self.members[member].counters.suspensions += 1;
        let is_its_end = |event: &Event| matches!(*event, Event::Waited { member: of, worker: by } if (of, by) == (member, worker));
        self.events.retain(|scheduled| !is_its_end(&scheduled.event));
        let mut work = self.members[member].work.remove(&worker).expect("it is in flight");
        work.suspensions += 1;
        let write = match self.die(member, die).slot.take() {
            Some(Slot { what: Use::Command(operation), .. }) => Some(operation),
            _ => None,
        };
        let rest_ns = until - now;
        let interrupted = Suspension { part: Part::Turning, worker, work, rest_ns, write, clean, page };
        self.suspension_takes(member, die, interrupted, vec![Step::Wait(suspension.suspend_ns)]);
        true
    }

    /// A host write that is served by itself, or the program or erase of the clean in the scope of the read.
    fn in_flight(&self, member: usize, die: usize, read: &Operation) -> Option<InFlight> {
        let scope = self.pool_of_page(member, die, read)?;
        let state = &self.members[member].dies[die];
        match &state.slot {
            Some(Slot { what: Use::Command(operation), let_in_by }) if operation.kind == OpKind::Write => {
                let blocked = !self.blocks_die() && self.is_busy(member, die, scope) && *let_in_by != Some(scope);
                let found = InFlight { worker: Worker::Slot { die }, clean: *let_in_by, page: Some(operation.page) };
                (!blocked).then_some(found)
            }
            Some(_) => None,
            None => {
                let (&pool, clean) = state.cleans.iter().find(|&(&pool, _)| self.blocks_die() || pool == scope)?;
                let found = InFlight { worker: Worker::Clean { die, pool }, clean: Some(pool), page: clean.register };
                matches!(clean.phase, Phase::Program | Phase::Erase).then_some(found)
            }
        }
    }

    fn suspension_takes(&mut self, member: usize, die: usize, suspension: Suspension, steps: Vec<Step>) {
        self.die(member, die).slot = Some(Slot { what: Use::Suspension(Box::new(suspension)), let_in_by: None });
        self.start_work(member, Worker::Slot { die }, steps);
    }

    /// A part of a suspension is over.
    pub(super) fn suspension_goes_on(&mut self, member: usize, die: usize, mut suspension: Suspension) {
        match suspension.part {
            Part::TurningBack => return self.resumes(member, die, suspension),
            Part::Reading(operation) => self.leaves_die(member, operation),
            Part::Turning => {}
        }
        let queue = 0..self.members[member].dies[die].queue.len();
        let next = queue.into_iter().find(|&index| self.goes_into(member, die, &suspension, index));
        let steps = match next {
            Some(index) => {
                let of_clean = suspension.write.is_none();
                let operation = self.leaves_queue(member, die, index, of_clean);
                suspension.part = Part::Reading(operation);
                self.command_starts(member, die, &operation, None)
            }
            None => {
                suspension.part = Part::TurningBack;
                let params = self.preemption().and_then(|preemption| preemption.suspension);
                vec![Step::Wait(params.expect("an operation is suspended").resume_ns)]
            }
        };
        self.suspension_takes(member, die, suspension, steps);
    }

    /// Returns true if an operation of the queue is served in a suspension.
    fn goes_into(&self, member: usize, die: usize, suspension: &Suspension, index: usize) -> bool {
        let state = &self.members[member].dies[die];
        let operation = &state.queue[index];
        let scope = self.pool_of_page(member, die, operation);
        let blocked = |scope: usize| !self.blocks_die() && self.is_busy(member, die, scope) && suspension.clean != Some(scope);
        operation.kind == OpKind::Read && Some(operation.page) != suspension.page && !state.overtakes(index) && !scope.is_some_and(blocked)
    }

    /// The operation goes on with its rest.
    fn resumes(&mut self, member: usize, die: usize, suspension: Suspension) {
        let Suspension { worker, work, rest_ns, write, clean, .. } = suspension;
        self.members[member].work.insert(worker, work);
        self.wait(member, worker, rest_ns, Some(self.now));
        let is_clean = write.is_none();
        if let Some(operation) = write {
            self.die(member, die).slot = Some(Slot { what: Use::Command(operation), let_in_by: clean });
        }
        if !self.waiting_read_interrupts(member, worker, 0) && is_clean {
            self.slot_is_free(member, die, None);
        }
    }
}
