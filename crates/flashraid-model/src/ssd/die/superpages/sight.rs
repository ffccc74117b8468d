//! The state of a die that takes superpages, as a read plan sees it (rules 241 and 242).

use super::SuperpageDies;
use super::schedule::{Die, Exclusive, Job, Step};
use crate::events::TimeNs;
use crate::space::superblocks::{BUFFERED, SuperblockMapping};
use crate::ssd::job::ReadForecast;

impl SuperpageDies {
    /// Returns the prospect of a read of a page that would be sent now.
    pub(crate) fn forecast_read(&self, media: &SuperblockMapping, now: TimeNs, page: u64) -> ReadForecast {
        let ppn = media.entry(page / u64::from(self.params.pages_per_mapping_unit));
        if ppn >= BUFFERED || self.merging.holds(ppn) {
            return ReadForecast::not_on_flash(now);
        }
        let place = self.shape.place(ppn);
        let die = &self.dies[place.die as usize];
        let unit_ns = self.params.mapping_unit_transfer_ns;
        let waiting_ns: u64 = die.reads.iter().map(|waiting| self.reads[waiting.id].array_ns + unit_ns).sum();
        ReadForecast {
            meets_collection: die.works_for_collection(),
            read_begins: self.lets_reads_in(media, now, die) + waiting_ns,
            read_length_ns: self.array_read_ns(media, ppn, place.page_of_block) + unit_ns,
        }
    }

    /// Returns the estimated time at which the current work of a die lets a read in.
    fn lets_reads_in(&self, media: &SuperblockMapping, now: TimeNs, die: &Die) -> TimeNs {
        let work_ends = now.max(die.current_work_ends);
        let Some(Exclusive { job, step, began, suspensions, suspended_from, .. }) = die.exclusive else { return work_ends };
        match step {
            Step::Suspended { .. } => work_ends,
            Step::Transfer | Step::FlashCellOperation { .. } if self.semi && matches!(job, Job::Move(_)) => {
                let Job::Move(part) = job else { unreachable!("it has just been matched") };
                let (array_ns, units) = self.part_step(media, part);
                now.max(began + array_ns + u64::from(units) * self.params.mapping_unit_transfer_ns)
            }
            Step::FlashCellOperation { ends } => {
                let of = self.params.suspension.as_ref().and_then(|suspension| suspension.of(job));
                let halts = of.filter(|of| suspensions < of.suspensions_max).map(|of| now.max(suspended_from) + of.suspend_ns());
                halts.filter(|&halts| halts < ends).unwrap_or(work_ends)
            }
            Step::Transfer | Step::Suspending { .. } | Step::Resuming { .. } => work_ends,
        }
    }

    /// Returns the latest time at which a die that collects lets a read in, as estimated.
    pub(crate) fn collects_until(&self, media: &SuperblockMapping, now: TimeNs) -> Option<TimeNs> {
        self.dies.iter().filter(|die| die.works_for_collection()).map(|die| self.lets_reads_in(media, now, die)).max()
    }
}
