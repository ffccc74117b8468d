//! The way of an operation to the queue of a die (rules 7, 8 and 101).

use flashraid_model::ssd::DieChoiceForWrites;

use super::die::Use;
use super::flash::Page;
use super::work::Worker;
use super::{OpKind, Operation, Simulation};

impl Simulation<'_> {
    pub(super) fn reach_member(&mut self, member: usize, mut operation: Operation) {
        operation.reached_member_ns = self.now;
        match self.ssd.writes.allocation {
            DieChoiceForWrites::Dynamic => {
                self.members[member].unplaced.push(operation);
                self.place_operations(member);
            }
            DieChoiceForWrites::Static => {
                let home = self.members[member].flash.home_die(operation.page);
                self.join_queue(member, home, operation);
            }
        }
    }

    /// Places what waits, first come first served, until something finds no die.
    pub(super) fn place_operations(&mut self, member: usize) {
        while let Some(&operation) = self.members[member].unplaced.first() {
            let Some(die) = self.die_for(member, &operation) else { return };
            self.members[member].unplaced.remove(0);
            self.join_queue(member, die, operation);
        }
    }

    fn die_for(&mut self, member: usize, operation: &Operation) -> Option<usize> {
        if operation.kind == OpKind::Write && self.die_that_changes(member, operation.page).is_none() {
            let chosen = self.die_for_write(member)?;
            self.members[member].die_chosen_last = Some(chosen);
            return Some(chosen);
        }
        Some(self.die_of_page(member, operation.page))
    }

    /// The die in whose queue a write or trim of a page waits.
    fn die_that_changes(&self, member: usize, page: Page) -> Option<usize> {
        let changes_page = |other: &Operation| other.kind != OpKind::Read && other.page == page;
        self.members[member].dies.iter().position(|die| die.queue.iter().any(changes_page))
    }

    /// The die to which a read of a page is sent under dynamic allocation.
    pub(super) fn die_of_page(&self, member: usize, page: Page) -> usize {
        let flash = &self.members[member].flash;
        let holds = || flash.place(page).map_or(flash.home_die(page), |place| place.die);
        self.die_that_changes(member, page).unwrap_or_else(holds)
    }

    fn die_for_write(&self, member: usize) -> Option<usize> {
        let dies = self.members[member].dies.len();
        let first = self.members[member].die_chosen_last.map_or(0, |last| last + 1);
        let mut best: Option<usize> = None;
        for die in (0..dies).map(|step| (first + step) % dies) {
            let earlier = || best.is_none_or(|best| self.estimated_start(member, die) < self.estimated_start(member, best));
            if self.accepts_write(member, die) && earlier() {
                best = Some(die);
            }
        }
        best
    }

    fn accepts_write(&self, member: usize, die: usize) -> bool {
        let flash = &self.members[member].flash;
        let queue = &self.members[member].dies[die].queue;
        let waiting = queue.iter().filter(|operation| operation.kind == OpKind::Write).count();
        let pools = flash.dies[die].pools.len();
        let blocks_per_pool = self.ssd.geometry.blocks_per_die() as usize / pools;
        let data_pages = self.ssd.geometry.data_pages_per_block() as usize;
        let limit = pools * (blocks_per_pool - 2 - self.ssd.gc.start_threshold_free_blocks as usize) * data_pages;
        flash.valid_pages(die) + waiting < limit
    }

    fn estimated_start(&self, member: usize, die: usize) -> u64 {
        self.end_of_current_work(member, die).max(self.now) + self.waiting_ns(member, die)
    }

    /// Returns the plain durations of what waits for a die, added up.
    pub(super) fn waiting_ns(&self, member: usize, die: usize) -> u64 {
        self.members[member].dies[die].queue.iter().map(|operation| self.plain_ns(operation.kind)).sum()
    }

    pub(super) fn plain_ns(&self, kind: OpKind) -> u64 {
        let timing = &self.ssd.timing;
        match kind {
            OpKind::Read => timing.command_overhead.ns + timing.page_read.ns + timing.page_transfer_ns,
            OpKind::Write => timing.command_overhead.ns + timing.page_transfer_ns + self.program_ns(),
            OpKind::Trim | OpKind::Flush => timing.command_overhead.ns.max(1),
        }
    }

    /// Returns the end of the work in the slot or, with die blocking, of the clean's phase (rule 101).
    pub(super) fn end_of_current_work(&self, member: usize, die: usize) -> u64 {
        let state = &self.members[member].dies[die];
        let clean_ends = |pool: usize| self.expected_end(member, Worker::Clean { die, pool });
        match &state.slot {
            Some(slot) if matches!(slot.what, Use::Together) => self.expected_end_together(member, die),
            Some(_) => self.expected_end(member, Worker::Slot { die }),
            None if self.blocks_die() => state.cleans.keys().map(|&pool| clean_ends(pool)).max().unwrap_or(0),
            None => 0,
        }
    }
}
