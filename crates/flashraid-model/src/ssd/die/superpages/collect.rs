//! Collection of superblocks on the dies: it performs what [`Collection`] decides (rules 209, 210 and 213).

use super::SuperpageContext;
use crate::events::TimeNs;
use crate::space::superblocks::Upkeep as Reason;
use crate::ssd::agent::Agent;
use crate::ssd::collect::superblocks::{Collection, Need, Next};
use crate::ssd::job::SuperpageWake;
use crate::ssd::outbox::MappingUnitsProgrammed;

impl SuperpageContext<'_> {
    pub(super) fn need(&self) -> Need {
        let agent = self.parts.agent.as_ref();
        let (owes, only_owed) = agent.map_or((false, false), |agent| (agent.owes_superblock(), agent.frees_one_superblock()));
        Need { free: self.media.free(), is_forced: self.is_forced(), is_controlled: self.parts.agent.is_some(), owes, only_owed }
    }

    fn collection(&mut self) -> &mut Collection {
        &mut self.own.collection
    }

    /// Adds the credits that a host superpage earns when it is assigned to a die. Idle or forced collection causes no debt.
    pub(super) fn earn_credits(&mut self, id: u32) {
        let need = self.need();
        if !self.own.collection.can_earn_credits(need) {
            return;
        }
        if !self.own.collection.has_victim() && self.own.collection.choose_victim(self.media) {
            self.count_victim(None);
        }
        let superpage = &self.own.buffer[id];
        // What counts is the room that it takes, which with one bit per cell is that of so many more units.
        let times = self.own.shape.mapping_units_per_superpage() / self.media.superpage_units(superpage.stream);
        let units = superpage.units.len() as u32 * times;
        self.own.collection.earn_credits(units, need);
    }

    fn count_victim(&mut self, reason: Option<Reason>) {
        let is_forced = self.is_forced();
        let (counters, of_superblocks) = (&mut self.parts.counters, &mut self.parts.drive_counters);
        of_superblocks.victims_begun += 1;
        counters.collections += 1;
        counters.forced_collections += u64::from(is_forced);
        of_superblocks.victims_for_refresh += u64::from(reason == Some(Reason::Refresh));
        of_superblocks.victims_for_wear_levelling += u64::from(reason == Some(Reason::Wear));
    }

    /// Counts the forced cycle or turn in progress, because something is collected in it.
    fn count_cycle(&mut self, now: TimeNs) {
        if let Some(agent) = &mut self.parts.agent {
            agent.count_cycle_of_collection(now);
        }
    }

    /// Starts to read parts of victims while credits (or urgent need) and room allow it.
    ///
    /// The last units of a victim wait for those of the next victim to fill a superpage. They do not wait if space is needed and no more
    /// units will come.
    pub(super) fn begin_parts(&mut self, now: TimeNs) {
        if self.own.collection.is_instantaneous() {
            return;
        }
        loop {
            let need = self.need();
            match self.own.collection.next(self.media, need) {
                Next::Nothing => break,
                Next::Victim(reason) => self.count_victim(reason),
                Next::AllMovesBegun(block) => {
                    self.count_cycle(now);
                    self.erase_if_empty(now, block);
                }
                Next::ReadVictimSuperpage(id) => {
                    self.count_cycle(now);
                    let units = self.own.collection.parts[id].units.count_ones();
                    self.front.ask_core_for_part(now, id, units, self.out);
                }
            }
        }
        for handle in 0..self.own.shape.placement_handles.collection_streams() as u8 {
            if self.own.collection.gets_no_more_units(self.media, handle, self.need()) {
                self.close_moved(now, handle);
            }
        }
    }

    /// Sends a part to its die, after a processor core has handled it.
    pub(super) fn part_has_core(&mut self, now: TimeNs, id: u32) {
        let first = self.own.collection.parts[id].first;
        let die = self.own.shape.place(first).die;
        let page_type = self.own.next_type(id, 0);
        self.own.collection.parts[id].page_type = page_type.expect("a part has units");
        let plain_ns = self.own.part_plain_ns(self.media, id);
        let state = &mut self.own.dies[die as usize];
        state.waiting_ns += plain_ns;
        state.moves.push_back(id);
        self.dispatch(now, die);
    }

    /// Ends the reads of a part. Units that are still valid are added to a superpage.
    pub(super) fn part_read(&mut self, now: TimeNs, id: u32) {
        let part = self.own.collection.parts[id];
        self.own.collection.parts.recycle(id);
        let block = self.media.superblock_of(part.first);
        let mut units = part.units;
        let valid = (units & self.media.valid_units(part.first)).count_ones();
        self.collection().part_read_ended(block, valid, units.count_ones() - valid);
        while units != 0 {
            let source = part.first + u64::from(units.trailing_zeros());
            units &= units - 1;
            if self.media.is_valid(source) {
                self.add_moved_unit(now, source);
            } else {
                self.own.merging.remove(source);
                self.parts.drive_counters.units_overwritten_during_move += 1;
                self.parts.counters.gc_pages_read_in_vain += u64::from(self.own.params.pages_per_mapping_unit);
            }
        }
        self.erase_if_empty(now, block);
        self.begin_parts(now);
        // Fewer moves may be owed.
        self.place_superpages(now);
    }

    /// Records that moved units have been programmed. `sources` are their old places.
    pub(super) fn moves_programmed(&mut self, now: TimeNs, sources: &[u64]) {
        sources.iter().for_each(|&source| self.own.merging.remove(source));
        let shape = self.own.shape;
        for of_block in sources.chunk_by(|&a, &b| shape.superblock_of(a) == shape.superblock_of(b)) {
            let block = shape.superblock_of(of_block[0]);
            self.own.collection.moves_programmed(block, of_block.len() as u32);
            self.erase_if_empty(now, block);
        }
        self.begin_parts(now);
        self.place_superpages(now);
    }

    /// Lets the dies erase a victim if all its units have been read and programmed.
    fn erase_if_empty(&mut self, now: TimeNs, block: u32) {
        if !self.own.collection.begin_erase_if_empty(block) {
            return;
        }
        let erase_ns = self.own.erase_ns;
        for state in &mut self.own.dies {
            state.erases.push_back(block);
            state.waiting_ns += erase_ns;
        }
        (0..self.own.shape.dies).for_each(|die| self.dispatch(now, die));
    }

    /// Ends the erase of a die's share of a superblock.
    pub(super) fn die_erased_block(&mut self, now: TimeNs, block: u32) {
        self.parts.counters.erases += u64::from(self.own.shape.planes);
        if !self.own.collection.die_erased(block) {
            return;
        }
        self.media.erased(block);
        if let Some(agent) = &mut self.parts.agent {
            agent.count_freed_superblock(now, self.out);
        }
        self.finish_forced_if_done(now);
        self.note_pace(now);
        self.place_moved(now);
        self.begin_parts(now);
        self.place_superpages(now);
    }

    /// Reacts to a stream that has opened a free superblock, so that fewer are free.
    pub(super) fn superblock_opened(&mut self, now: TimeNs) {
        self.note_pace(now);
        self.tell_agent_of_opened(now);
    }

    /// Collects without simulated time before a host superpage begins (rule 216).
    pub(super) fn collect_instantly(&mut self, now: TimeNs) {
        let planes = u64::from(self.own.shape.dies) * u64::from(self.own.shape.planes);
        let per_superpage = u64::from(self.own.shape.mapping_units_per_superpage());
        while let Some((victim, reason)) = self.own.collection.next_instant_victim(self.media) {
            self.count_victim(reason);
            let of_slc = self.media.superblocks[victim as usize].is_slc;
            let moved = self.media.collect_untimed(victim);
            let parity = moved.parity_superpages * per_superpage;
            let units = u64::from(moved.units);
            let (counters, of_superblocks) = (&mut self.parts.counters, &mut self.parts.drive_counters);
            of_superblocks.parity_units_programmed += parity;
            of_superblocks.by_placement_handle.programmed(moved.stream, units + parity);
            of_superblocks.units_moved_by_collection += units;
            of_superblocks.collected_units_from_slc += if of_slc { units } else { 0 };
            let pages_moved = units * u64::from(self.own.params.pages_per_mapping_unit);
            counters.gc_pages_moved += pages_moved;
            counters.erases += planes;
            self.out.programmed.push(MappingUnitsProgrammed { at: now, member: self.parts.member, units: units + parity, pages_moved });
        }
    }

    /// Updates the period for which the SSD counts as collecting, after its need may have changed.
    pub(super) fn note_pace(&mut self, now: TimeNs) {
        let need = self.need();
        let begins_by_need = self.own.collection.update_collecting(now, self.parts.member, need, &mut self.out.collections);
        if begins_by_need && let Some(agent) = &mut self.parts.agent {
            agent.tell(self.out, |duty, desk| duty.needed_collection_began(now, desk));
        }
    }

    /// Records that a command has arrived, which ends idle time.
    pub(super) fn command_came(&mut self, now: TimeNs) {
        if self.collection().idle.command_arrives() {
            self.note_pace(now);
        }
        self.await_idle(now);
    }

    /// Starts the first wait for idle time, at the beginning of the run.
    pub(crate) fn begin(&mut self) {
        self.await_idle(0);
    }

    /// Starts to measure the time without commands.
    fn await_idle(&mut self, now: TimeNs) {
        if let Some((idle_ns, commands)) = self.own.collection.idle.next_wait() {
            self.out.wake(now + idle_ns, SuperpageWake::IdleWaitEnds(commands));
        }
    }

    pub(super) fn idle_since(&mut self, now: TimeNs, commands: u32) {
        let denied = self.parts.agent.as_ref().is_some_and(Agent::is_denied);
        if self.own.collection.idle.wait_is_over(commands) && !denied && !self.own.collection.is_idle_goal_reached(self.media) {
            self.collection().idle.begin();
            self.note_pace(now);
            self.begin_parts(now);
            self.place_superpages(now);
        }
    }

    /// Ends collection in idle time for good, because the run has ended.
    pub(crate) fn forbid_new_idle_collection(&mut self, now: TimeNs) {
        if self.collection().idle.disable() {
            self.note_pace(now);
        }
        if let Some(agent) = &mut self.parts.agent {
            agent.run_ends();
        }
        self.stop_idle_work(now);
    }

    /// Ends idle collection if it has reached its goal.
    pub(super) fn end_idle_if_done(&mut self, now: TimeNs) {
        if self.own.collection.idle.is_used() && self.own.collection.is_idle_goal_reached(self.media) {
            self.collection().idle.stop();
            self.note_pace(now);
        }
    }

    /// Returns true if the controller has forced the SSD to collect, and the work is not finished.
    pub(super) fn is_forced(&self) -> bool {
        self.parts.agent.as_ref().is_some_and(|agent| agent.forced().is_some())
    }
}
