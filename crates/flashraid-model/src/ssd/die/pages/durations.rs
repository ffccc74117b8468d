//! Durations of all operations of a die, computed once, and the steps of which operations consist (rules 14, 18 to 20, 30 and 90).

use super::work::Step;
use crate::events::OperationTimeParts;
use crate::flash::Timing;
use crate::request::OpKind;
use crate::space::pools::{GcAlgorithm, VictimCollectionWork};
use crate::ssd::params::{HostOverlapWithMoves, SsdParams};

/// Durations of all operations of a die.
#[derive(Debug, Clone)]
pub(super) struct Durations {
    /// Time of a host read, except for the flash array.
    pub(crate) around_read_ns: u64,
    /// Time that the flash array takes for one read.
    pub(crate) array_ns: u64,
    /// Time of a host write that does not fill a block.
    pub(crate) write_ns: u64,
    /// Additional time of a program that fills a block, which writes the summary.
    pub(crate) seal_ns: u64,
    /// Time of an operation that touches no flash: a trim, or a read of an unmapped page. It is at least 1 ns, so that every operation
    /// takes time.
    pub(crate) no_flash_ns: u64,
    /// Time to move one page if nothing interrupts the move.
    pub(crate) move_ns: u64,
    pub(crate) erase_ns: u64,
    pub(crate) poll_duration_ns: u64,
    pub(crate) transfer_ns: u64,
    instantaneous_gc: bool,
    timing: Timing,
    data_pages: u32,
    /// True if every moved page is transferred to the controller and back right after its read.
    transfers_all: bool,
    /// True if only pages that cross planes are transferred to the controller and back, before their program (rule 133).
    transfers_crossing: bool,
    /// True if host reads may overlap with a clean's read, so that the end of its array time needs an event.
    reads_join: bool,
}

impl Durations {
    pub(super) fn new(params: &SsdParams) -> Self {
        let t = params.timing;
        let transfers_crossing = params.gc.gc_algorithm == GcAlgorithm::LikeDiskSimWithoutCopyBack;
        let transfers_all = !params.gc.rules.copy_back && !transfers_crossing;
        Self {
            around_read_ns: t.command_overhead.ns + t.page_transfer_ns,
            array_ns: t.page_read.ns,
            write_ns: t.command_overhead.ns + t.page_transfer_ns + t.page_program.ns,
            seal_ns: if params.geometry.has_summary_page && !t.spreads_summary_page_over_programs {
                t.block_summary_page_transfer_ns + t.page_program.ns
            } else {
                0
            },
            no_flash_ns: t.command_overhead.ns.max(1),
            move_ns: t.page_read.ns + t.page_program.ns + if transfers_all { 2 * t.page_transfer_ns } else { 0 },
            erase_ns: t.block_erase.ns,
            poll_duration_ns: params.gc.preemption.map_or(0, |preemption| preemption.poll.ns),
            transfer_ns: t.page_transfer_ns,
            instantaneous_gc: params.gc.collection_takes_no_time,
            timing: t,
            data_pages: params.geometry.data_pages_per_block(),
            transfers_all,
            transfers_crossing,
            reads_join: params
                .gc
                .preemption
                .is_some_and(|preemption| preemption.pipeline == HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep),
        }
    }

    /// Returns the time of a single host operation. For a read, `array_ns` is the time of the flash array, or `None` if the page is
    /// unmapped. For a write, `sealed` is true if it fills a block.
    #[inline]
    pub(crate) fn command_ns(&self, kind: OpKind, array_ns: Option<u64>, sealed: bool) -> u64 {
        match (kind, array_ns) {
            (OpKind::Read, Some(array_ns)) => self.around_read_ns + array_ns,
            (OpKind::Write, _) => self.write_ns + if sealed { self.seal_ns } else { 0 },
            _ => self.no_flash_ns,
        }
    }

    /// Returns the time that a waiting operation adds to the estimate of a die's load (rule 8).
    pub(super) fn plain_ns(&self, kind: OpKind) -> u64 {
        self.command_ns(kind, Some(self.array_ns), false)
    }

    /// Returns the time to program a page. If the page fills a block, the summary is included.
    pub(super) fn program_ns(&self, sealed: bool) -> u64 {
        self.timing.page_program.ns + if sealed { self.seal_ns } else { 0 }
    }

    pub(crate) fn move_transfers_ns(&self) -> u64 {
        if self.transfers_all { 2 * self.timing.page_transfer_ns } else { 0 }
    }

    /// Returns the time of the transfers that a moved page needs before its program, if it crosses planes.
    pub(crate) fn crossing_ns(&self, crosses: bool) -> u64 {
        if crosses && self.transfers_crossing { 2 * self.timing.page_transfer_ns } else { 0 }
    }

    pub(crate) fn clean_read_ns(&self) -> u64 {
        self.timing.page_read.ns + self.move_transfers_ns()
    }

    /// Adds the times of a host operation itself, without waits, to `time`.
    #[inline]
    pub(crate) fn spend(&self, kind: OpKind, array_ns: Option<u64>, sealed: bool, time: &mut OperationTimeParts) {
        let t = &self.timing;
        let summaries = u64::from(sealed && self.seal_ns > 0);
        match (kind, array_ns) {
            (OpKind::Read, Some(array_ns)) => {
                time.flash_ns += array_ns;
                time.transfer_ns += t.page_transfer_ns;
                time.other_ns += t.command_overhead.ns;
            }
            (OpKind::Write, _) => {
                time.flash_ns += t.page_program.ns * (1 + summaries);
                time.transfer_ns += t.page_transfer_ns + t.block_summary_page_transfer_ns * summaries;
                time.other_ns += t.command_overhead.ns;
            }
            _ => time.other_ns += self.no_flash_ns,
        }
    }

    fn read_steps(&self, array_ns: u64) -> impl Iterator<Item = Step> + use<> {
        let t = self.timing;
        [Step::wait(t.command_overhead.ns + array_ns), Step::Transfer(t.page_transfer_ns)].into_iter()
    }

    /// Returns the steps to program a page. The summary asks for the channel when the program of the page has ended.
    pub(super) fn program_steps(&self, sealed: bool) -> impl Iterator<Item = Step> + use<> {
        let t = self.timing;
        let summary = [Step::Transfer(t.block_summary_page_transfer_ns), Step::interruptible(t.page_program.ns)];
        let summaries = usize::from(sealed && self.seal_ns > 0);
        std::iter::once(Step::interruptible(t.page_program.ns)).chain(summary.into_iter().take(2 * summaries))
    }

    /// Returns the steps to program a moved page. A page that crosses planes is first transferred out and in.
    pub(crate) fn clean_program_steps(&self, sealed: bool, crosses: bool) -> impl Iterator<Item = Step> + use<> {
        let transfers = [Step::Transfer(self.timing.page_transfer_ns); 2].into_iter();
        transfers.take(if crosses && self.transfers_crossing { 2 } else { 0 }).chain(self.program_steps(sealed))
    }

    /// Returns the steps of a single host operation.
    pub(crate) fn command_steps(&self, kind: OpKind, array_ns: Option<u64>, sealed: bool) -> impl Iterator<Item = Step> + use<> {
        let t = self.timing;
        let (read, write) = (array_ns.filter(|_| kind == OpKind::Read), kind == OpKind::Write);
        let no_flash = (read.is_none() && !write).then_some(Step::wait(self.no_flash_ns));
        let before = [Step::wait(t.command_overhead.ns), Step::Transfer(t.page_transfer_ns)];
        let reading = self.read_steps(read.unwrap_or(0)).take(if read.is_some() { 2 } else { 0 });
        let writing = before.into_iter().chain(self.program_steps(sealed)).take(if write { usize::MAX } else { 0 });
        no_flash.into_iter().chain(reading).chain(writing)
    }

    /// Returns the two transfers of a moved page, each of which asks for the channel separately.
    pub(super) fn move_transfers(&self) -> impl Iterator<Item = Step> + use<> {
        [Step::Transfer(self.timing.page_transfer_ns); 2].into_iter().take(if self.transfers_all { 2 } else { 0 })
    }

    pub(crate) fn clean_read_steps(&self) -> impl Iterator<Item = Step> + use<> {
        let barrier = self.reads_join.then_some(Step::Barrier);
        std::iter::once(Step::wait(self.timing.page_read.ns)).chain(barrier).chain(self.move_transfers())
    }

    /// Returns the steps of a host read that overlaps with a clean's read.
    pub(crate) fn joint_read_steps(&self, array_ns: u64) -> impl Iterator<Item = Step> + use<> {
        self.joint_array_read(array_ns).chain(std::iter::once(Step::Transfer(self.timing.page_transfer_ns)))
    }

    /// Returns the steps of a clean's read that overlaps with host reads.
    pub(crate) fn joint_clean_read_steps(&self) -> impl Iterator<Item = Step> + use<> {
        self.joint_array_read(self.array_ns).chain(self.move_transfers())
    }

    fn joint_array_read(&self, array_ns: u64) -> impl Iterator<Item = Step> + use<> {
        [Step::wait(self.timing.command_overhead.ns), Step::Barrier, Step::wait(array_ns), Step::Barrier].into_iter()
    }

    /// Returns the steps of a host write that overlaps with a clean's program.
    pub(crate) fn joint_write_steps(&self, sealed: bool) -> impl Iterator<Item = Step> + use<> {
        let t = self.timing;
        let before = [Step::wait(t.command_overhead.ns), Step::Barrier, Step::Transfer(t.page_transfer_ns), Step::Barrier];
        before.into_iter().chain(self.program_steps(sealed))
    }

    /// Returns the steps of a clean's program that overlaps with host writes.
    pub(crate) fn joint_clean_program_steps(&self, sealed: bool) -> impl Iterator<Item = Step> + use<> {
        std::iter::once(Step::Barrier).chain(self.program_steps(sealed))
    }

    pub(crate) fn poll_steps(&self) -> impl Iterator<Item = Step> + use<> {
        std::iter::once(Step::wait(self.poll_duration_ns))
    }

    pub(super) fn erase_steps(&self) -> impl Iterator<Item = Step> + use<> {
        std::iter::once(Step::interruptible(self.erase_ns))
    }

    pub(crate) fn merge_steps(&self) -> impl Iterator<Item = Step> + use<> {
        std::iter::once(Step::Transfer(self.timing.page_transfer_ns))
    }

    /// Returns the steps of a whole clean without interruptions, page by page. `room` pages fit into the open block before a move fills it.
    pub(crate) fn clean_steps(&self, work: VictimCollectionWork, room: u32) -> impl Iterator<Item = Step> + use<> {
        let own = self.clone();
        let mut room = room;
        let mut sealed = false;
        let moves = (0..work.pages_moved).flat_map(move |_| {
            room = if room == 0 { own.data_pages } else { room } - 1;
            let crosses = work.slowed_by_cross_plane_moves[usize::from(sealed)];
            sealed |= room == 0;
            own.clean_read_steps().chain(own.clean_program_steps(room == 0, crosses))
        });
        moves.chain(self.erase_steps())
    }

    /// Returns the number of blocks that are filled by moving `pages` pages. The open block has room for `room` pages; with 0, the first
    /// move opens a new block.
    pub(crate) fn blocks_sealed_by(&self, pages: u32, room: u32) -> u32 {
        let room = if room == 0 { self.data_pages } else { room };
        if pages < room {
            0
        } else if pages - room < self.data_pages {
            1
        } else {
            1 + (pages - room) / self.data_pages
        }
    }

    #[inline]
    pub(super) fn clean_ns(&self, work: VictimCollectionWork) -> u64 {
        if self.instantaneous_gc {
            return 0;
        }
        u64::from(work.pages_moved) * self.move_ns
            + u64::from(work.pages_crossing) * self.crossing_ns(true)
            + u64::from(work.blocks_sealed) * self.seal_ns
            + self.erase_ns
    }
}
