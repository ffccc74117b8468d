//! Durations and steps of work on superpages, and the counters of the time that dies spend on it.

use super::SuperpageDies;
use super::schedule::{Die, Exclusive, Job, Step};
use crate::events::TimeNs;
use crate::space::superblocks::{Stream, SuperblockMapping};
use crate::ssd::collect::superblocks::Part;
use crate::ssd::counters::SuperblockCounters;

impl SuperpageDies {
    /// Returns the time that the flash array needs to read page `page_of_block` of a block. `ppn` is a place in that block.
    pub(crate) fn array_read_ns(&self, media: &SuperblockMapping, ppn: u64, page_of_block: u32) -> u64 {
        let types = &self.params.read_ns_by_page_type;
        let slc = self.params.slc.filter(|_| media.is_slc(ppn));
        slc.map_or(types[page_of_block as usize % types.len()], |slc| slc.times.read.ns)
    }

    /// Returns the time to transfer a superpage to its die, and the time to program it.
    pub(crate) fn program_times(&self, media: &SuperblockMapping, id: u32) -> (u64, u64) {
        let stream = self.buffer[id].stream;
        let transfer_ns = u64::from(media.superpage_units(stream)) * self.params.mapping_unit_transfer_ns;
        let slc = self.params.slc.filter(|_| stream == Stream::Slc);
        (transfer_ns, slc.map_or(self.program_ns, |slc| slc.times.program.ns))
    }

    /// Returns the number of units of a part that lie on pages of this type.
    fn units_of_type(&self, part: &Part, page_type: u32) -> u32 {
        let units = self.shape.planes * self.shape.mapping_units_per_flash_page;
        (part.units >> (page_type * units) & (u128::MAX >> (128 - units))).count_ones()
    }

    pub(crate) fn next_type(&self, id: u32, from: u32) -> Option<u32> {
        let part = &self.collection.parts[id];
        (from..self.shape.bits_per_cell).find(|&page_type| self.units_of_type(part, page_type) > 0)
    }

    /// Returns the time that the flash array needs for the current step of a part, and the number of units that are transferred after it.
    pub(crate) fn part_step(&self, media: &SuperblockMapping, id: u32) -> (u64, u32) {
        let part = &self.collection.parts[id];
        self.step_of(media, part, part.page_type)
    }

    fn step_of(&self, media: &SuperblockMapping, part: &Part, page_type: u32) -> (u64, u32) {
        let page = self.shape.place(part.first).page_of_block + page_type;
        (self.array_read_ns(media, part.first, page), self.units_of_type(part, page_type))
    }

    /// Returns the time that reading a part still takes if it never waits for a channel.
    pub(crate) fn part_plain_ns(&self, media: &SuperblockMapping, id: u32) -> u64 {
        let part = &self.collection.parts[id];
        let steps = (part.page_type..self.shape.bits_per_cell).map(|page_type| self.step_of(media, part, page_type));
        steps.filter(|&(_, units)| units > 0).map(|(ns, units)| ns + u64::from(units) * self.params.mapping_unit_transfer_ns).sum()
    }

    /// Returns the first place of a part's superpage, and the set of units in its current step, one bit for each.
    pub(crate) fn part_step_units(&self, id: u32) -> (u64, u128) {
        let Part { first, units, page_type } = self.collection.parts[id];
        let of_type = self.shape.planes * self.shape.mapping_units_per_flash_page;
        (first, units & (u128::MAX >> (128 - of_type)) << (page_type * of_type))
    }

    /// Ends a step of reading a part. Returns true if another step follows.
    pub(crate) fn part_step_ended(&mut self, id: u32) -> bool {
        let next = self.next_type(id, self.collection.parts[id].page_type + 1);
        if let Some(next) = next {
            self.collection.parts[id].page_type = next;
        }
        next.is_some()
    }

    /// Returns the counter for the time that dies spend on this kind of job.
    pub(super) fn time_of(&self, job: Job) -> fn(&mut SuperblockCounters) -> &mut u64 {
        match job {
            Job::Program(id) | Job::MovedProgram(id) if self.buffer[id].is_parity => |counters| &mut counters.parity_program_ns,
            Job::Program(_) => |counters| &mut counters.host_program_ns,
            Job::MovedProgram(_) => |counters| &mut counters.collection_program_ns,
            Job::Erase(_) => |counters| &mut counters.erase_ns,
            Job::Move(_) => |counters| &mut counters.collection_read_ns,
        }
    }

    /// Returns the time that a die must still work for collection, including the work in its queues.
    pub(super) fn collection_left_ns(&self, media: &SuperblockMapping, now: TimeNs, die: &Die) -> u64 {
        let current_ns = match die.exclusive {
            Some(Exclusive { job, step, .. }) if job.is_of_collection() => match (job, step) {
                (_, Step::Suspended { remaining_operation_ns: remaining_ns }) => remaining_ns,
                (Job::Move(part), _) => self.part_plain_ns(media, part).min(die.current_work_ends.saturating_sub(now)),
                _ => die.current_work_ends.saturating_sub(now),
            },
            _ => 0,
        };
        let programs_ns =
            die.moved_programs.iter().map(|&id| self.program_times(media, id)).map(|(transfer_ns, program_ns)| transfer_ns + program_ns);
        let moves_ns = die.moves.iter().map(|&part| self.part_plain_ns(media, part));
        current_ns + programs_ns.chain(moves_ns).sum::<u64>() + die.erases.len() as u64 * self.erase_ns
    }
}
