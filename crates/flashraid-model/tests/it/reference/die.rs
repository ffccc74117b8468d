//! Work of a die, its command slot, and the needs of an operation (rules 91 to 93, 97 and 107).

use std::collections::BTreeMap;

use flashraid_model::ssd::{CollectionBlockingScope, HostRequestKindsThatMayStartGc};

use super::clean::{Cause, Clean};
use super::stalls::StallSchedule;
use super::suspend::Suspension;
use super::together::Together;
use super::work::{Step, Worker};
use super::{OpKind, Operation, Purpose, Simulation};

#[derive(Default)]
pub(super) struct DieState {
    pub queue: Vec<Operation>,
    /// Work in the command slot.
    pub slot: Option<Slot>,
    /// Operations that overlap with a step of a clean.
    pub together: Option<Together>,
    /// Blocking scope for which the head of the queue waits (rule 93).
    pub waits_for: Option<Scope>,
    /// Cleans in progress, by pool.
    pub cleans: BTreeMap<usize, Clean>,
    /// A check follows when the slot becomes free (rule 97).
    pub check_is_due: bool,
    /// True while the die rests (rule 98).
    pub rests: bool,
    pub cleans_ended: Vec<u64>,
    pub stalls: Option<StallSchedule>,
}

pub(super) struct Slot {
    pub what: Use,
    /// The clean at a point of which it was taken.
    pub let_in_by: Option<usize>,
}

pub(super) enum Use {
    /// An operation by itself.
    Command(Operation),
    /// A read is done at the end of the transfer, a write with the program of the page in the register.
    Merge(Option<Operation>),
    /// Operations together with a step of the clean that admitted them.
    Together,
    Suspension(Box<Suspension>),
    /// Work of the die's own.
    Stall,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Of(usize),
    Any,
}

impl DieState {
    pub(super) fn is_at_rest(&self) -> bool {
        self.queue.is_empty() && self.slot.is_none() && self.cleans.is_empty()
    }

    /// Returns true if an operation of the queue would overtake an earlier one on its page.
    pub(super) fn overtakes(&self, index: usize) -> bool {
        self.queue[..index].iter().any(|earlier| earlier.page == self.queue[index].page)
    }
}

// Blocking scopes of cleans.
impl Simulation<'_> {
    pub(super) fn die(&mut self, member: usize, die: usize) -> &mut DieState {
        &mut self.members[member].dies[die]
    }

    pub(super) fn blocks_die(&self) -> bool {
        self.ssd.gc.rules.blocking == CollectionBlockingScope::Die
    }

    /// Pools in whose scope a clean is in progress.
    pub(super) fn busy_pools(&self, member: usize, die: usize) -> Vec<usize> {
        let cleans = &self.members[member].dies[die].cleans;
        let pools = 0..self.members[member].flash.dies[die].pools.len();
        pools.filter(|pool| if self.blocks_die() { !cleans.is_empty() } else { cleans.contains_key(pool) }).collect()
    }

    pub(super) fn is_busy(&self, member: usize, die: usize, pool: usize) -> bool {
        self.busy_pools(member, die).contains(&pool)
    }

    /// The pool of a die in which the page of a read lies, if it does.
    pub(super) fn pool_of_page(&self, member: usize, die: usize, operation: &Operation) -> Option<usize> {
        let place = self.members[member].flash.place(operation.page)?;
        (place.die == die).then_some(place.pool)
    }
}

// Choice of the next work.
impl Simulation<'_> {
    /// Adds an operation to the queue of a die (rules 91, 98 and 102).
    pub(super) fn join_queue(&mut self, member: usize, die: usize, mut operation: Operation) {
        self.members[member].operations_joined += 1;
        operation.number = self.members[member].operations_joined;
        self.rest_ends(member, die);
        let state = self.die(member, die);
        state.queue.push(operation);
        for clean in state.cleans.values_mut() {
            clean.is_disturbed = true;
        }
        if state.waits_for.is_none() {
            self.goes_on(member, die);
        }
        let waits = |other: &Operation| other.number == operation.number;
        if let Some(index) = self.members[member].dies[die].queue.iter().position(waits)
            && !self.joins_step(member, die, index)
        {
            self.may_interrupt(member, die, index);
        }
    }

    /// The slot becomes free (rules 94, 97 and 91, in this order).
    pub(super) fn slot_is_free(&mut self, member: usize, die: usize, let_in_by: Option<usize>) {
        self.die(member, die).slot = None;
        if let Some(pool) = let_in_by {
            self.point(member, die, pool);
        }
        if self.die(member, die).slot.is_none() && std::mem::take(&mut self.die(member, die).check_is_due) {
            self.forced_cleans(member, die);
            self.needed_cleans(member, die, Cause::Need);
        }
        self.goes_on(member, die);
    }

    /// Begins the next work of a die (rule 91).
    pub(super) fn goes_on(&mut self, member: usize, die: usize) {
        if self.die(member, die).slot.is_some() {
            return;
        }
        // Part a of the rule: forced cleans.
        self.forced_cleans(member, die);
        if self.die(member, die).slot.is_some() {
            return;
        }
        // Part b of the rule: the awaited scope.
        if self.die(member, die).waits_for.is_some() {
            return;
        }
        let Some(&head) = self.die(member, die).queue.first() else {
            // A die without other work looks in its member's turn.
            let is_at_rest = self.die(member, die).is_at_rest();
            if is_at_rest && self.cleans_in_turn_up_to(member).is_some() && self.needed_cleans(member, die, Cause::Need) {
                return;
            }
            return self.rest_begins(member, die);
        };
        // Part c of the rule: the queue.
        if self.is_blocked(member, die) {
            return;
        }
        if self.stalls(member, die) {
            return;
        }
        if self.trigger_says_so(&head) {
            if self.ssd.gc.collection_takes_no_time {
                self.clean_at_once(member, die);
            } else {
                self.needed_cleans(member, die, Cause::Need);
            }
        }
        // d., unless a point without a poll has taken the slot.
        if !self.is_blocked(member, die) && self.die(member, die).slot.is_none() {
            self.serve_head(member, die);
        }
    }

    /// Returns true if a clean in progress blocks the whole die, with die blocking.
    pub(super) fn is_blocked(&self, member: usize, die: usize) -> bool {
        self.blocks_die() && !self.members[member].dies[die].cleans.is_empty()
    }

    /// Returns true if pools are checked before an operation (rule 10). Trims are no writes (rule 107).
    fn trigger_says_so(&self, head: &Operation) -> bool {
        self.ssd.gc.rules.trigger == HostRequestKindsThatMayStartGc::EveryRequest || head.kind == OpKind::Write
    }

    /// Serves the head of the queue, or lets it wait for a scope (rules 92 and 93).
    fn serve_head(&mut self, member: usize, die: usize) {
        let head = self.members[member].dies[die].queue[0];
        let busy = self.busy_pools(member, die);
        let mut pool = None;
        let lacks = match head.kind {
            OpKind::Read => self.pool_of_page(member, die, &head).filter(|pool| busy.contains(pool)).map(Scope::Of),
            OpKind::Write => {
                pool = self.members[member].flash.pool_for_write(die, head.page, &busy);
                assert!(pool.is_some() || !busy.is_empty(), "a pool has room");
                if pool.is_none() { Some(Scope::Any) } else { None }
            }
            OpKind::Trim | OpKind::Flush => None,
        };
        if lacks.is_some() {
            let state = self.die(member, die);
            state.waits_for = lacks;
            state.queue[0].waited_for_scope = true;
            return;
        }
        self.serve(member, die, 0, pool, None);
    }
}

// Commands of the host.
impl Simulation<'_> {
    /// Serves an operation of the queue by itself; a write in a pool.
    pub(super) fn serve(&mut self, member: usize, die: usize, index: usize, pool: Option<usize>, let_in_by: Option<usize>) {
        let operation = self.leaves_queue(member, die, index, let_in_by.is_some());
        let steps = self.command_starts(member, die, &operation, pool);
        self.die(member, die).slot = Some(Slot { what: Use::Command(operation), let_in_by });
        self.start_work(member, Worker::Slot { die }, steps);
        self.has_left_queue(member, &operation);
    }

    /// Changes and counts everything for the start of a command (rules 20, 26 and 107), and returns its steps.
    pub(super) fn command_starts(&mut self, member: usize, die: usize, operation: &Operation, pool: Option<usize>) -> Vec<Step> {
        match operation.kind {
            OpKind::Read => {
                self.members[member].counters.host_pages_read += 1;
                match self.members[member].flash.place(operation.page) {
                    Some(_) => {
                        let further = self.further_reads(member, operation.page);
                        let ns = self.ssd.timing.page_read.ns;
                        let counters = &mut self.members[member].mechanisms.read_retry;
                        counters.retried_reads += u64::from(further > 0);
                        counters.retry_array_reads_ns += further * ns;
                        self.read_steps(member, operation.page)
                    }
                    None => self.overhead_steps(),
                }
            }
            OpKind::Write => {
                let pool = pool.expect("a pool has room");
                let fills_block = self.members[member].flash.write(die, pool, operation.page);
                self.may_register(member, die, pool);
                self.members[member].counters.host_pages_written += 1;
                self.count_summary(member, fills_block);
                self.write_steps(fills_block)
            }
            OpKind::Trim | OpKind::Flush => {
                self.members[member].flash.unmap(operation.page);
                self.members[member].counters.host_pages_trimmed += 1;
                self.overhead_steps()
            }
        }
    }

    pub(super) fn count_summary(&mut self, member: usize, fills_block: bool) {
        self.members[member].counters.block_summary_pages_programmed += u64::from(fills_block && self.ssd.geometry.has_summary_page);
    }

    /// An operation starts, is merged, or is done together with a step.
    pub(super) fn leaves_queue(&mut self, member: usize, die: usize, index: usize, in_clean: bool) -> Operation {
        let state = self.die(member, die);
        let operation = state.queue.remove(index);
        if index == 0 {
            state.waits_for = None;
        }
        if self.met_collection(member, die, &operation, in_clean) {
            self.mark_met(member, &operation);
        }
        self.front_sees_begin(member, &operation);
        if let Some(refused) = operation.refused_ns {
            self.members[member].counters.writes_that_waited_for_room += 1;
            self.members[member].counters.writes_waiting_for_room_ns += self.now - refused;
        }
        operation
    }

    /// Lets waiting operations continue where an operation has left a queue (rule 101).
    pub(super) fn has_left_queue(&mut self, member: usize, operation: &Operation) {
        if operation.kind != OpKind::Read {
            self.place_operations(member);
        }
    }

    /// Returns true if an operation has met collection (rule 104).
    fn met_collection(&self, member: usize, die: usize, operation: &Operation, in_clean: bool) -> bool {
        let state = &self.members[member].dies[die];
        if self.ssd.gc.collection_takes_no_time {
            return false;
        }
        if !self.blocks_die() {
            return operation.waited_for_scope || in_clean;
        }
        !state.cleans.is_empty() || state.cleans_ended.iter().any(|&end| end > operation.reached_member_ns)
    }

    pub(super) fn mark_met(&mut self, member: usize, operation: &Operation) {
        if let (Some(number), Some(read)) = (operation.stripe_operation, operation.sub_read) {
            return self.sub_read_met(number, read);
        }
        self.job_met(member, operation.job);
    }

    pub fn job_met(&mut self, member: usize, job: Option<usize>) {
        let request = match job.map(|job| self.jobs[job].purpose) {
            Some(Purpose::Host { request }) => Some(request),
            Some(Purpose::Cache { awaited, .. }) => self.request_that_waits(awaited),
            None => None,
        };
        if let Some(request) = request {
            self.requests[request].members_met.insert(member);
        }
    }

    /// Ends the work in the slot.
    pub(super) fn slot_work_is_over(&mut self, member: usize, die: usize) {
        let Slot { what, let_in_by } = self.die(member, die).slot.take().expect("the slot is taken");
        match what {
            Use::Command(operation) => {
                self.leaves_die(member, operation);
                self.slot_is_free(member, die, let_in_by);
            }
            Use::Merge(read) => {
                if let Some(read) = read {
                    self.leaves_die(member, read);
                }
                self.slot_is_free(member, die, let_in_by);
            }
            Use::Stall => self.slot_is_free(member, die, None),
            Use::Together => unreachable!("each of them works by itself"),
            Use::Suspension(suspension) => self.suspension_goes_on(member, die, *suspension),
        }
    }
}
