//! Results about garbage collection of all members.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ReportInputs;
use super::build::{share_of_dies, us};
use super::counters::OptionalTables;
use super::figures::{Part, TableValue, mean_us, section};
use super::table::TableSection;
use flashraid_model::coordination;
use flashraid_model::metrics::CollectionTimeSums;
use flashraid_model::ssd::MemberCounters;

/// Source of the values about collection.
pub(super) struct CollectionSource<'a> {
    inputs: &'a ReportInputs<'a>,
    sum: MemberCounters,
    times: CollectionTimeSums,
    /// True for members with superblocks.
    is_drive: bool,
}

impl<'a> CollectionSource<'a> {
    pub(super) fn new(inputs: &'a ReportInputs<'a>) -> Self {
        let (members, cleans) = (inputs.counts.members.iter().copied(), inputs.measured.victim_collection_times_by_member.iter().copied());
        Self { inputs, sum: members.sum(), times: cleans.sum(), is_drive: inputs.superblock_drive.is_some() }
    }

    fn share_of_dies(&self) -> Option<f64> {
        match self.is_drive {
            true => share_of_dies(self.inputs, self.inputs.counts.superblock_counters_by_member.len(), self.sum.gc_time_ns),
            false => self.inputs.measured.gc.mean_die_busy_fraction(),
        }
    }

    fn by_state(&self) -> [f64; 3] {
        let CollectionTimeSums {
            total_ns: whole_ns,
            preemptible_by_all_requests_ns: free_for_all_ns,
            preemptible_by_reads_only_ns: writes_wait_ns,
        } = self.times;
        let of_cleans = [free_for_all_ns, writes_wait_ns, whole_ns - free_for_all_ns - writes_wait_ns];
        of_cleans.map(|ns| if self.is_drive { 0.0 } else { ns as f64 / 1e6 })
    }
}

figures! {
    /// Counters, times and shares of garbage collection, over all members.
    pub struct Gc("gc", of: CollectionSource<'_>) {
        /// Number of collections. Each is an uninterrupted sequence of victim blocks that one die collects, or one superblock of a
        /// drive with superblocks.
        runs: u64 = of.sum.collections, row 1 "collections" in "";
        /// Number of collections that the array's controller forced.
        forced_runs: u64 = of.sum.forced_collections, row 2 "forced collections" in "";
        /// Share of their time that all dies spent collecting. For drives with superblocks, these are moves, their parity, and erases.
        busy_fraction: Option<f64> = of.share_of_dies(), row 4 "share of die time" in "%";
        /// Mean length of a collection, in microseconds; `None` for drives with superblocks, which collect in small steps.
        mean_length_us: Option<f64> =
            (of.sum.collections > 0 && !of.is_drive).then(|| us(of.times.total_ns) / of.sum.collections as f64),
            row 3 "mean length of a collection" in "µs";
        /// Mean number of members that collect during the same time slice, over the slices in which at least one member collects.
        synchronised_mean: Option<f64> = of.inputs.measured.gc.mean_members_collecting_together(), row 5 "members collecting together, mean" in "";
        /// Number of page operations that were served between the steps of a collection.
        preemptions: u64 = of.sum.preemptions, row 10 "preemptions" in "" if |gc| gc.preemptions > 0;
        /// Number of page operations served from the page register during the move of a page.
        merges: u64 = of.sum.operations_served_from_move_register, row 11 "merges" in "" if |gc| gc.merges > 0;
        /// Number of page operations that overlapped with a step of a collection.
        pipelined: u64 = of.sum.pipelined_operations, row 12 "pipelined operations" in "" if |gc| gc.pipelined > 0;
        /// Number of messages between controller and members, by kind.
        messages: BTreeMap<String, u64> = of.inputs.counts.messages_by_name(),
            rows 22 in "" (|gc| gc.messages.iter().map(|(kind, number)| (format!("messages {kind}"), TableValue::of(number))).collect());
        /// Number of victims that members had to collect although the controller had not answered their request (`coordination.notify =
        /// "soft"`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uncoordinated_cleans: Option<UncoordinatedCleans> = of.inputs.counts.uncoordinated_cleans.as_ref().map(UncoordinatedCleans::new);
        /// Counters of the coordination scheme, in tables of their own.
        #[serde(flatten)]
        scheme: OptionalTables<coordination::SchemeCounters> = OptionalTables::new(&of.inputs.counts.scheme);
        /// Windows of NVMe's predictable latency mode (`coordination.protocol = "nvme"`), over all members. In its deterministic window
        /// (DTWIN) a member does not collect. In its non-deterministic window (NDWIN) it does, so that reads may be slow.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        predictable_latency: Option<PredictableLatency> =
            of.inputs.counts.predictable_latency.as_ref().map(|counts| PredictableLatency::new(&PredictableLatencySource { counts }));
        /// Number of collections that members began by themselves, without being forced by the array's controller.
        own_runs: u64 = of.sum.collections - of.sum.forced_collections;
        /// Number of victims collected, which are blocks or, in drives with superblocks, superblocks.
        cleans: u64 = if of.is_drive { of.sum.collections } else { of.sum.erases };
        /// Time that dies spent collecting, in milliseconds. The collection of a block counts as a whole if it began in the
        /// measured time. For drives with superblocks, only the part within the measured time counts.
        time_ms: f64 = if of.is_drive { of.sum.gc_time_ns } else { of.times.total_ns } as f64 / 1e6;
        /// Length of the slices of time by which collecting members are counted, in microseconds. Members that collect in the same slice
        /// collect together.
        slice_us: f64 = us(of.inputs.measured.gc.slice_ns);
        /// Number of time slices in which no member, one, two … members collected.
        slices_by_members: Vec<u64> = of.inputs.measured.gc.time_slices_by_number_of_collecting_members.clone();
        /// Number of requests that waited for collections on no member, one, two … members.
        requests_by_members_met: Vec<u64> = of.inputs.measured.requests_by_collecting_members_waited_for.clone(),
            row 6 "requests that met a collection" in "%" of (|gc| share_that_met(&gc.requests_by_members_met));
        /// Number of programs and erases suspended for a read.
        suspensions: u64 = of.sum.suspensions, row 13 "suspensions" in "" if |gc| gc.suspensions > 0;
        /// Number of page writes that waited because no pool of blocks had room for them.
        exhausted: u64 = of.sum.writes_that_waited_for_room, row 14 "writes that waited for a free block" in "" if |gc| gc.exhausted > 0;
        /// Total time that page writes waited because no pool of blocks had room for them, in milliseconds.
        exhausted_ms: f64 = of.sum.writes_waiting_for_room_ns as f64 / 1e6,
            row 16 "mean wait for a free block" in "µs" of (|gc| Some(gc.exhausted_ms * 1e3 / gc.exhausted as f64)) if |gc| gc.exhausted > 0;
        /// Number of victims (blocks or superblocks) whose collection began because the die or the drive had no other work.
        idle_cleans: u64 = of.sum.idle_cleans, row 15 "victims of idle time" in "" if |gc| gc.idle_cleans > 0;
        /// Times that dies collected, in milliseconds, in three situations: between steps, any request is served, or only reads, or
        /// none. They are the states 1, 2 and 3 in section III.D of the paper on preemptive collection (PGC). All are 0 for drives
        /// with superblocks.
        state_ms: [f64; 3] = of.by_state();
    }
}

/// Returns the share of the requests that waited for a collection, in per cent.
fn share_that_met(by_members: &[u64]) -> Option<f64> {
    let (all, met): (u64, u64) = (by_members.iter().sum(), by_members.iter().skip(1).sum());
    (all > 0).then(|| met as f64 * 100.0 / all as f64)
}

impl Gc {
    pub(super) fn section(&self) -> TableSection {
        let mut rows = self.rows();
        rows.extend(self.uncoordinated_cleans.iter().flat_map(UncoordinatedCleans::rows));
        rows.extend(self.predictable_latency.iter().flat_map(PredictableLatency::rows));
        section("Garbage collection", rows)
    }
}

figures! {
    /// Number of victims that members had to collect because they could not wait for the controller's answer any longer.
    #[derive(Copy, Eq)]
    pub struct UncoordinatedCleans("gc.uncoordinated_cleans", of: coordination::UncoordinatedCleans) {
        /// Number of victim blocks that a member had to collect by itself while the controller forced others to collect. The member
        /// could not be forced until the others had finished.
        during_cycles: u64 = of.during_cycles, row 21 "uncoordinated cleans during cycles" in "";
        /// Number of victim blocks that a member had to collect by itself while no others were forced. It is 0 unless messages take
        /// time or are not answered.
        unanswered: u64 = of.unanswered, row 20 "uncoordinated cleans" in "";
    }
}

/// Source of the values about windows of NVMe's predictable latency mode.
pub(super) struct PredictableLatencySource<'a> {
    counts: &'a coordination::PredictableLatencyCounters,
}

impl PredictableLatencySource<'_> {
    /// Returns the share of the windows that have ended, by time, that were not deterministic.
    fn ndwin_fraction(&self) -> Option<f64> {
        let all_ns = self.counts.dtwin_ns + self.counts.ndwin_ns;
        (all_ns > 0).then(|| self.counts.ndwin_ns as f64 / all_ns as f64)
    }

    /// Returns the mean estimate of an attribute at the end of the windows that the controller ended.
    fn mean_left(&self, attribute: usize) -> Option<f64> {
        let ended = self.counts.ended_by_order();
        (ended > 0).then(|| self.counts.estimates_left[attribute] as f64 / ended as f64)
    }
}

figures! {
    /// Counts of NVMe's predictable latency mode, over all members. In its deterministic window (DTWIN), a member does not collect. In
    /// its non-deterministic window (NDWIN), it does.
    #[derive(Copy)]
    pub struct PredictableLatency("gc.predictable_latency", of: PredictableLatencySource<'_>) {
        /// Number of deterministic windows that have ended.
        dtwins: u64 = of.counts.dtwins, row 25 "deterministic windows (DTWIN)" in "";
        /// Number of deterministic windows that drives ended by themselves, because they got more page reads than
        /// `coordination.dtwin_reads_typical` or what was restored of it.
        ended_by_reads: u64 = of.counts.ended_by_attribute[0], row 26 "DTWINs ended by reads" in "";
        /// Number of deterministic windows that drives ended by themselves, because they got more page writes than
        /// `coordination.dtwin_writes_typical` or what was restored of it.
        ended_by_writes: u64 = of.counts.ended_by_attribute[1], row 27 "DTWINs ended by writes" in "";
        /// Number of deterministic windows that drives ended by themselves, because they lasted longer than
        /// `coordination.dtwin_time_maximum` or what was restored of it.
        ended_by_time: u64 = of.counts.ended_by_attribute[2], row 28 "DTWINs ended by time" in "";
        /// Number of deterministic windows that drives ended by themselves, because they had to collect. A pool of blocks had come down
        /// to `ssd.gc.start` free blocks, or a drive with superblocks to `ssd.superblock.floor`.
        ended_by_excursion: u64 = of.counts.ended_by_excursion, row 29 "DTWINs ended by excursions" in "";
        /// Number of deterministic windows that ended with fewer page reads left than `coordination.dtwin_reads_threshold`.
        reads_warnings: u64 = of.counts.warnings[0], row 30 "DTWINs with few reads left" in "" if |of| of.reads_warnings > 0;
        /// Number of deterministic windows that ended with fewer page writes left than `coordination.dtwin_writes_threshold`.
        writes_warnings: u64 = of.counts.warnings[1], row 31 "DTWINs with few writes left" in "" if |of| of.writes_warnings > 0;
        /// Number of deterministic windows that ended with less time left than `coordination.dtwin_time_threshold`.
        time_warnings: u64 = of.counts.warnings[2], row 32 "DTWINs with little time left" in "" if |of| of.time_warnings > 0;
        /// Mean number of page reads left at the end of the deterministic windows that the array's controller ended. It is 0 without
        /// `coordination.dtwin_reads_typical`.
        reads_left_mean: Option<f64> = of.mean_left(0),
            row 33 "reads left in a DTWIN, mean" in "" if |of| of.reads_left_mean.is_some_and(|left| left > 0.0);
        /// Mean number of page writes left at the end of the deterministic windows that the array's controller ended. It is 0 without
        /// `coordination.dtwin_writes_typical`.
        writes_left_mean: Option<f64> = of.mean_left(1),
            row 34 "writes left in a DTWIN, mean" in "" if |of| of.writes_left_mean.is_some_and(|left| left > 0.0);
        /// Mean time left at the end of the deterministic windows that the array's controller ended, in milliseconds. It is 0 without
        /// `coordination.dtwin_time_maximum`.
        time_left_mean_ms: Option<f64> = of.mean_left(2).map(|ns| ns / 1e6),
            row 35 "time left in a DTWIN, mean" in "ms" if |of| of.time_left_mean_ms.is_some_and(|left| left > 0.0);
        /// Share of their time for which members were in their non-deterministic windows. Only windows that have ended count.
        ndwin_fraction: Option<f64> = of.ndwin_fraction(),
            row 36 "share of time in NDWIN" in "%";
        /// Number of page reads that members got in deterministic windows.
        dtwin_reads: u64 = of.counts.reads_in_dtwin.reads;
        /// Mean response time of the members to page reads that they got in deterministic windows, in microseconds.
        dtwin_read_mean_us: Option<f64> = mean_us(of.counts.reads_in_dtwin.total_ns, of.counts.reads_in_dtwin.reads),
            row 37 "page reads in DTWIN, mean" in "µs";
        /// Longest response time of the members to page reads that they got in deterministic windows, in microseconds.
        dtwin_read_max_us: f64 = us(of.counts.reads_in_dtwin.longest_ns.0), row 38 "page reads in DTWIN, longest" in "µs";
        /// Number of page reads that members got in non-deterministic windows.
        ndwin_reads: u64 = of.counts.reads_in_ndwin.reads;
        /// Mean response time of the members to page reads that they got in non-deterministic windows, in microseconds.
        ndwin_read_mean_us: Option<f64> = mean_us(of.counts.reads_in_ndwin.total_ns, of.counts.reads_in_ndwin.reads),
            row 39 "page reads in NDWIN, mean" in "µs";
        /// Longest response time of the members to page reads that they got in non-deterministic windows, in microseconds.
        ndwin_read_max_us: f64 = us(of.counts.reads_in_ndwin.longest_ns.0), row 40 "page reads in NDWIN, longest" in "µs";
    }
}
