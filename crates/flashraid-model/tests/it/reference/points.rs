//! Operations at the points of a clean (rules 31, 33 to 36, 94 and 95).

use flashraid_model::ssd::{GcPreemption, HostOverlapWithMoves};

use super::clean::Phase;
use super::die::{Slot, Use};
use super::flash::Page;
use super::work::{Step, Worker};
use super::{OpKind, Operation, Simulation};

impl Simulation<'_> {
    pub(super) fn preemption(&self) -> Option<GcPreemption> {
        self.ssd.gc.preemption
    }

    /// A clean comes to a point: it polls, but in state 3.
    pub(super) fn point(&mut self, member: usize, die: usize, pool: usize) {
        if self.clean(member, die, pool).state == 3 {
            return self.clean_goes_on(member, die, pool);
        }
        let poll_duration_ns = self.preemption().expect("points need preemption").poll.ns;
        self.phase_begins(member, die, pool, Phase::Point, vec![Step::Wait(poll_duration_ns)]);
    }

    /// Returns true if a pool has fewer free blocks than T_hard.
    pub(super) fn is_below_hard(&self, member: usize, die: usize, pool: usize) -> bool {
        let free = self.members[member].flash.free_blocks(die, pool);
        self.preemption()
            .is_some_and(|preemption| f64::from(free) < preemption.t_hard.0 * f64::from(self.ssd.gc.start_threshold_free_blocks))
    }

    /// Sets the state of a clean (rule 33).
    fn set_state(&mut self, member: usize, die: usize, pool: usize) {
        if self.is_below_hard(member, die, pool) {
            self.enter_state(member, die, pool, 2);
        }
        let waits = self.clean(member, die, pool).state == 2;
        let queue = &self.members[member].dies[die].queue;
        if waits && queue.iter().any(|operation| operation.kind == OpKind::Write && operation.high_priority) {
            self.enter_state(member, die, pool, 3);
        }
    }

    /// Ends a poll (rule 94).
    pub(super) fn polled(&mut self, member: usize, die: usize, pool: usize) {
        let preemption = self.preemption().expect("points need preemption");
        self.set_state(member, die, pool);
        let state = self.clean(member, die, pool).state;
        if state == 3 || self.die(member, die).slot.is_some() {
            return self.clean_goes_on(member, die, pool);
        }
        let queue = self.members[member].dies[die].queue.clone();
        let register = self.clean(member, die, pool).register;
        let pages_left = self.pages_left(member, die, pool);

        // A request for the page in the register is served from it (rule 35).
        let wanted = register.filter(|page| preemption.merge && pages_left.contains(page));
        let first_on_page = wanted.and_then(|page| queue.iter().position(|operation| operation.page == page));
        if let Some(index) = first_on_page.filter(|&index| queue[index].kind != OpKind::Trim) {
            return self.merge(member, die, pool, index);
        }

        // The state decides which operations may be served (rules 33 and 34).
        let concerned: Vec<usize> = (0..queue.len()).filter(|&index| self.concerns(member, die, pool, &queue[index])).collect();
        let room = self.room_of_clean(member, die, pool);
        if state == 1 && !room {
            for &index in concerned.iter().filter(|&&index| queue[index].kind == OpKind::Write) {
                self.refuse(member, die, index);
            }
        }
        let may_go_in = |index: usize| {
            let kind_may = match queue[index].kind {
                OpKind::Write => state == 1 && room,
                OpKind::Read | OpKind::Trim | OpKind::Flush => register.is_none(),
            };
            kind_may && !self.members[member].dies[die].overtakes(index)
        };
        let admitted: Vec<usize> = concerned.iter().copied().filter(|&index| may_go_in(index)).collect();

        // A page that an operation needs is moved first (rule 36).
        if preemption.reorder && register.is_none() {
            let mut reason = admitted.first().copied();
            if reason.is_none() && state == 2 {
                let waits = |index: usize| queue[index].kind == OpKind::Write && !self.members[member].dies[die].overtakes(index);
                reason = concerned.iter().copied().find(|&index| waits(index));
            }
            let reason = reason.map(|index| queue[index]).filter(|operation| operation.kind != OpKind::Trim);
            if let Some(operation) = reason.filter(|operation| pages_left.contains(&operation.page)) {
                return self.read_of_clean(member, die, pool, operation.page);
            }
        }

        let Some(&first) = admitted.first() else { return self.clean_goes_on(member, die, pool) };
        let operation = queue[first];

        // Operations overlap with the next step (rule 37).
        if preemption.pipeline != HostOverlapWithMoves::NoOverlap {
            let all: Vec<Operation> = admitted.iter().map(|&index| queue[index]).collect();
            let is_mapped = |operation: &Operation| self.members[member].flash.place(operation.page).is_some();
            match register {
                None if !pages_left.is_empty() && all.iter().all(|one| one.kind == OpKind::Read && is_mapped(one)) => {
                    return self.reads_together(member, die, pool, &all, pages_left[0]);
                }
                Some(page) if pages_left.contains(&page) && all.iter().all(|one| one.page != page) => {
                    return self.writes_together(member, die, pool, &all, page);
                }
                _ => {}
            }
        }

        // One operation is served alone (rule 31).
        let write_pool = self.pool_for_write_at_point(member, die, pool, operation.page);
        self.members[member].counters.preemptions += 1;
        self.serve(member, die, first, write_pool, Some(pool));
    }

    /// Returns true if a point of the clean considers an operation (rule 94).
    pub(super) fn concerns(&self, member: usize, die: usize, pool: usize, operation: &Operation) -> bool {
        match operation.kind {
            _ if self.blocks_die() => true,
            OpKind::Read => self.pool_of_page(member, die, operation) == Some(pool),
            OpKind::Write => true,
            OpKind::Trim | OpKind::Flush => false,
        }
    }

    fn room_of_clean(&self, member: usize, die: usize, pool: usize) -> bool {
        let flash = &self.members[member].flash;
        let pools = if self.blocks_die() { 0..flash.dies[die].pools.len() } else { pool..pool + 1 };
        pools.into_iter().any(|pool| flash.has_room(die, pool))
    }

    /// Returns the pool for a write at a point: by rotation with die blocking (rule 21), otherwise the clean's own.
    pub(super) fn pool_for_write_at_point(&self, member: usize, die: usize, pool: usize, page: Page) -> Option<usize> {
        let flash = &self.members[member].flash;
        if self.blocks_die() { flash.pool_for_write(die, page, &[]) } else { Some(pool).filter(|&pool| flash.has_room(die, pool)) }
    }

    pub(super) fn refuse(&mut self, member: usize, die: usize, index: usize) {
        let now = self.now;
        self.die(member, die).queue[index].refused_ns.get_or_insert(now);
    }
}

// The clean's own steps (rule 30).
impl Simulation<'_> {
    /// Valid pages of the victim that have not moved yet, the one in the register included.
    fn pages_left(&self, member: usize, die: usize, pool: usize) -> Vec<Page> {
        let victim = self.members[member].dies[die].cleans[&pool].victim;
        self.members[member].flash.pages_of(die, pool, victim)
    }

    /// The clean's next step by itself.
    fn clean_goes_on(&mut self, member: usize, die: usize, pool: usize) {
        let pages_left = self.pages_left(member, die, pool);
        match self.clean(member, die, pool).register {
            None if pages_left.is_empty() => {
                let steps = self.erase_steps();
                self.phase_begins(member, die, pool, Phase::Erase, steps);
            }
            None => self.read_of_clean(member, die, pool, pages_left[0]),
            Some(page) if pages_left.contains(&page) => {
                let steps = self.program_of_clean(member, die, pool, page);
                self.phase_begins(member, die, pool, Phase::Program, steps);
            }
            Some(_) => {
                // The page has been overwritten or trimmed since it was read, and so have the writes that were merged with it.
                self.members[member].counters.gc_pages_read_in_vain += 1;
                self.clean(member, die, pool).register = None;
                self.merged_writes_are_done(member, die, pool);
                self.point(member, die, pool);
            }
        }
    }

    fn read_of_clean(&mut self, member: usize, die: usize, pool: usize, page: Page) {
        self.clean(member, die, pool).register = Some(page);
        self.clean(member, die, pool).plane = self.members[member].flash.plane_on(die, page);
        let steps = self.move_read_steps();
        self.phase_begins(member, die, pool, Phase::Read, steps);
    }

    /// The page in the register gets its new place.
    pub(super) fn program_of_clean(&mut self, member: usize, die: usize, pool: usize, page: Page) -> Vec<Step> {
        if self.clean(member, die, pool).merged.is_empty() {
            self.count_move(member, die, pool);
        } else {
            self.members[member].counters.moves_replaced_by_host_writes += 1;
        }
        let moved = self.members[member].flash.move_page(die, page);
        self.clean(member, die, pool).plane = self.members[member].flash.plane_on(die, page);
        self.count_summary(member, moved.fills_block);
        self.move_program_steps(moved)
    }
}

// Requests for the page in the register (rule 35).
impl Simulation<'_> {
    fn merge(&mut self, member: usize, die: usize, pool: usize, index: usize) {
        let operation = self.leaves_queue(member, die, index, true);
        let counters = &mut self.members[member].counters;
        counters.operations_served_from_move_register += 1;
        let read = if operation.kind == OpKind::Read {
            counters.host_pages_read += 1;
            Some(operation)
        } else {
            counters.host_pages_written += 1;
            self.clean(member, die, pool).merged.push(operation);
            None
        };
        self.die(member, die).slot = Some(Slot { what: Use::Merge(read), let_in_by: Some(pool) });
        self.start_work(member, Worker::Slot { die }, vec![Step::Transfer(self.ssd.timing.page_transfer_ns)]);
        self.has_left_queue(member, &operation);
    }
}
