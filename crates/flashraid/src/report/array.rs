//! Results of the array itself: parity, the controller's limits, lost data, and failed members.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::response_times;
use super::figures::{Part, in_order, mean_us, section};
use super::table::{TableRow, TableSection, count, format_figure};
use super::{ReportInputs, ResponseTime, TotalReadWrite};
use flashraid_model::array::{ArrayHealth, ControllerThrottlingCounters, MemberFailureAndRebuildState, ParityAndRebuildCounters};
use flashraid_model::metrics::MeasuredResults;

figures! {
    /// Counters of the writes, reads and waits that parity costs. A write that spans several stripes counts once for each stripe that it
    /// writes to. Pages are counted when their operations are issued.
    pub struct Parity("parity", of: ParityAndRebuildCounters) {
        /// Number of writes of one stripe that read nothing before, because they brought all data for the new parity.
        full_stripe_writes: u64 = of.full_stripe_writes, row 1 "full-stripe writes" in "";
        /// Number of writes of one stripe that first read the rest of its data to compute the parity.
        reconstruct_writes: u64 = of.reconstruct_writes, row 2 "reconstruct writes" in "";
        /// Number of writes of one stripe that first read the old data and old parity of their pages to compute the new parity.
        read_modify_writes: u64 = of.read_modify_writes, row 3 "read-modify writes" in "";
        /// Number of writes of one stripe that kept no parity, because failed members left no place for it.
        no_parity_writes: u64 = of.no_parity_writes, row 4 "writes without parity" in "" if |parity| parity.no_parity_writes > 0;
        /// Number of data pages that writes read first to compute parity.
        data_pages_read: u64 = of.data_pages_read, row 5 "data pages read for parity" in "pages";
        /// Number of parity pages that writes read first to compute the new parity.
        parity_pages_read: u64 = of.parity_pages_read, row 6 "parity pages read" in "pages";
        /// Number of parity pages written together with the data of writes and destages. Those written by rebuilding do not count.
        parity_pages_written: u64 = of.parity_pages_written, row 7 "parity pages written" in "pages";
        /// Number of operations on one stripe, reads included, that waited for the lock of the stripe.
        lock_waits: u64 = of.lock_waits, row 8 "waits for a stripe" in "";
        /// Mean wait of operations that waited for the lock of their stripe, in microseconds.
        lock_wait_mean_us: Option<f64> = mean_us(of.lock_wait_ns, of.lock_waits), row 9 "mean wait for a stripe" in "µs";
    }
}

impl Parity {
    pub(super) fn section(&self) -> TableSection {
        section("Parity", self.rows())
    }
}

/// The sources of the figures of the controller.
pub(super) struct OfController {
    counters: ControllerThrottlingCounters,
    measured_ns: u64,
    /// Number of cores of the processor; `None` without one.
    cores: Option<u32>,
}

impl OfController {
    pub(super) fn new(inputs: &ReportInputs) -> Option<Self> {
        let counters = inputs.counts.controller_throttling_waits?;
        let cores = inputs.config["array"]["controller"]["processor"]["cores"].as_u64().map(|cores| cores as u32);
        Some(Self { counters, measured_ns: inputs.measured.end_ns - inputs.measured.from_ns, cores })
    }
}

figures! {
    /// Waits caused by the limits of the array's controller.
    pub struct ControllerThrottlingReport("controller", of: OfController) {
        /// Number of requests that waited because the allowed number of others was in progress.
        waits: u64 = of.counters.waits, row 1 "requests that waited for their turn" in "";
        /// Mean wait of the requests that waited because the allowed number of others was in progress, in microseconds.
        wait_mean_us: Option<f64> = mean_us(of.counters.wait_ns, of.counters.waits), row 2 "mean wait" in "µs";
        /// Share of the time in which the controller of the array transferred data to or from the host; `None` for a run of no length.
        busy_fraction: Option<f64> = (of.measured_ns > 0).then(|| of.counters.busy_ns as f64 / of.measured_ns as f64),
            row 3 "time with data passing" in "%";
        /// Number of requests that waited for a core of the processor or for what all requests share; `None` without a processor.
        processor_waits: Option<u64> = of.cores.map(|_| of.counters.processor_waits), row 4 "requests that waited for the processor" in "";
        /// Mean wait for the processor of the requests that waited for it, in microseconds.
        processor_wait_mean_us: Option<f64> = mean_us(of.counters.processor_wait_ns, of.counters.processor_waits),
            row 5 "mean wait for the processor" in "µs";
        /// Share of the time in which cores of the processor were occupied, mean of all cores; `None` without a processor.
        processor_busy_fraction: Option<f64> = of.cores.filter(|_| of.measured_ns > 0).map(|cores| {
            of.counters.processor_busy_ns as f64 / of.measured_ns as f64 / f64::from(cores)
        }), row 6 "time with cores occupied" in "%";
    }
}

impl ControllerThrottlingReport {
    pub(super) fn section(&self) -> TableSection {
        section("Controller", self.rows())
    }
}

figures! {
    /// Counters of lost pages, which could not be read or written because too many members had failed, and of requests with such pages.
    /// A request with a lost page counts in no other value about requests (rule 157).
    #[derive(Copy, Eq, Default)]
    pub struct LostPagesReport("lost", of: ReportInputs<'_>) {
        /// Number of host requests with a lost page.
        requests: u64 = of.requests_with_lost_pages, row 1 "requests with lost pages, counted nowhere else" in "";
        /// Number of pages of reads, writes and destages that were lost.
        pages: u64 = of.counts.parity_and_rebuild.map_or(0, |stripes| stripes.pages_lost) + of.counts.cache.map_or(0, |cache| cache.pages_lost),
            row 2 "lost pages of reads, writes and destages" in "pages";
    }
}

impl LostPagesReport {
    pub(super) fn section(&self) -> TableSection {
        section("Lost, since too many members had failed", self.rows())
    }
}

/// Source of the values of a failed member.
pub(super) struct OfFailure<'a> {
    inputs: &'a ReportInputs<'a>,
    progress: &'a MemberFailureAndRebuildState,
}

impl<'a> OfFailure<'a> {
    pub(super) fn new(inputs: &'a ReportInputs<'a>, progress: &'a MemberFailureAndRebuildState) -> Self {
        Self { inputs, progress }
    }

    /// Returns the rate at which the spare was written. It is over the whole run, unlike counts of the measured time.
    fn rate(&self) -> Option<f64> {
        let Self { inputs, progress } = self;
        let rebuild_ns = progress.rebuild_began_ns.map(|began| progress.rebuild_ended_ns.unwrap_or(inputs.simulated_ns) - began);
        let rebuilt_bytes = progress.strips_rebuilt as f64 * f64::from(progress.pages_per_strip) * f64::from(inputs.page_bytes);
        rebuild_ns.filter(|&ns| ns > 0).map(|ns| rebuilt_bytes * 1e3 / ns as f64)
    }
}

fn ms(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64 / 1e6)
}

fn seconds(ms: Option<f64>) -> Option<f64> {
    ms.map(|ms| ms / 1e3)
}

figures! {
    /// A member that failed, and its rebuilding.
    #[derive(Copy)]
    pub struct FailedMember("failures", of: OfFailure<'_>) {
        /// Number of the failed member.
        member: u32 = of.progress.member, row 1 "member" in "";
        /// Member number of the spare that replaces the failed member. Spares are numbered after the members.
        spare: Option<u32> = of.progress.spare_member;
        /// Time at which the member failed, in milliseconds; `None` if the run was over before.
        failed_ms: Option<f64> = ms(of.progress.failed_at_ns), row 2 "failed at" in "s" of (|failed| seconds(failed.failed_ms));
        /// Time at which rebuilding began, in milliseconds.
        rebuild_began_ms: Option<f64> = ms(of.progress.rebuild_began_ns),
            row 10 "rebuilding began at" in "s" of (|failed| seconds(failed.rebuild_began_ms));
        /// Time at which the last strip was rebuilt or given up, in milliseconds.
        rebuild_ended_ms: Option<f64> = ms(of.progress.rebuild_ended_ns),
            row 11 "rebuilding ended at" in "s" of (|failed| seconds(failed.rebuild_ended_ms));
        /// Share of the failed member's strips that have been rebuilt.
        rebuilt_fraction: f64 = of.progress.strips_rebuilt as f64 / of.progress.strips_of_member as f64, row 12 "rebuilt" in "%";
        /// Number of strips that were given up, because too much of their stripe was lost.
        strips_lost: u64 = of.progress.strips_lost, row 20 "strips given up" in "";
        /// Rate at which the spare was written, in MB/s (10^6).
        rebuild_mb_s: Option<f64> = of.rate(), row 13 "rate of rebuilding" in "MB/s";
    }
}

/// Source of the values of all failures together.
pub(super) struct OfFailures<'a> {
    inputs: &'a ReportInputs<'a>,
    first: FailedMember,
    counters: ParityAndRebuildCounters,
}

impl<'a> OfFailures<'a> {
    /// Returns `None` if no failure was set.
    pub(super) fn new(inputs: &'a ReportInputs<'a>) -> Option<Self> {
        let first = FailedMember::new(&OfFailure::new(inputs, inputs.failures.first()?));
        Some(Self { inputs, first, counters: inputs.counts.parity_and_rebuild? })
    }
}

figures! {
    /// The first failure of a member, and the rebuilding of this member. Counts of pages, and response times, cover all failures
    /// together.
    pub struct FailureReport("failure", of: OfFailures<'_>) {
        /// Number of the failed member.
        member: u32 = of.first.member;
        /// Member number of the spare that replaces the failed member. Spares are numbered after the members.
        spare: Option<u32> = of.first.spare;
        /// Time at which the member failed, in milliseconds; `None` if the run was over before.
        failed_ms: Option<f64> = of.first.failed_ms;
        /// Time at which rebuilding began, in milliseconds.
        rebuild_began_ms: Option<f64> = of.first.rebuild_began_ms;
        /// Time at which the last strip was rebuilt or given up, in milliseconds.
        rebuild_ended_ms: Option<f64> = of.first.rebuild_ended_ms;
        /// Share of the failed member's strips that have been rebuilt.
        rebuilt_fraction: f64 = of.first.rebuilt_fraction;
        /// Number of pages read to rebuild failed members, of all failures together.
        rebuild_pages_read: u64 = of.counters.rebuild_pages_read, row 14 "pages read to rebuild" in "pages";
        /// Number of pages written to spares to rebuild failed members, of all failures together.
        rebuild_pages_written: u64 = of.counters.rebuild_pages_written, row 15 "pages written to rebuild" in "pages";
        /// Rate at which the spare was written, in MB/s (10^6).
        rebuild_mb_s: Option<f64> = of.first.rebuild_mb_s;
        /// Number of pages of failed members that reads asked for, of all failures together.
        pages_reconstructed: u64 = of.counters.pages_reconstructed, row 3 "pages reconstructed" in "pages";
        /// Number of pages read to reconstruct pages of failed members, beyond the pages that were asked for, of all failures together.
        pages_read_to_reconstruct: u64 = of.counters.pages_read_to_reconstruct, row 4 "pages read for these" in "pages";
        /// Response times, in microseconds, by the health of the array when the request arrived.
        response_us: ResponseTimesByHealth = ResponseTimesByHealth::new(of.inputs.measured);
    }
}

impl FailureReport {
    /// Returns a table with a column for each failure, and one with the response times around them.
    pub(super) fn sections(&self, failures: &[FailedMember]) -> [TableSection; 2] {
        // The counts of all failures together stand in the first column.
        let total = |(place, mut row): (u32, TableRow)| {
            row.values.resize(failures.len().max(1), String::new());
            (place, row)
        };
        let mut rows = FailedMember::rows_of(failures, |figures| figures.into_iter().map(format_figure).collect());
        rows.extend(self.rows().into_iter().map(total));
        let (rebuilds, gives_up) =
            (failures.iter().any(|failed| failed.spare.is_some()), failures.iter().any(|failed| failed.strips_lost > 0));
        rows.retain(|(place, _)| match place {
            0..10 => true,
            10..20 => rebuilds,
            _ => gives_up,
        });
        let several = failures.len() > 1;
        let columns = if several { (1..=failures.len()).map(|nth| format!("failure {nth}")).collect() } else { Vec::new() };
        [TableSection { title: "Failure", columns, rows: in_order(rows) }, self.response_us.section()]
    }
}

fn of_health(measured: &MeasuredResults, health: ArrayHealth) -> TotalReadWrite<ResponseTime> {
    response_times(&measured.response_times_by_health_phase[health as usize])
}

figures! {
    /// Response times by the health of the array when the request arrived.
    pub struct ResponseTimesByHealth("failure.response_us", of: MeasuredResults) {
        /// Response times while no member had failed.
        normal: TotalReadWrite<ResponseTime> = of_health(of, ArrayHealth::Normal);
        /// Response times while a member had failed and was not rebuilt, and none was being rebuilt.
        degraded: TotalReadWrite<ResponseTime> = of_health(of, ArrayHealth::Degraded);
        /// Response times while a member was being rebuilt.
        rebuilding: TotalReadWrite<ResponseTime> = of_health(of, ArrayHealth::Rebuilding);
        /// Response times after spares had replaced all members that had failed.
        rebuilt: TotalReadWrite<ResponseTime> = of_health(of, ArrayHealth::Rebuilt);
    }
}

impl ResponseTimesByHealth {
    fn section(&self) -> TableSection {
        let each = [&self.normal, &self.degraded, &self.rebuilding, &self.rebuilt];
        let figures = |name: &str, figure: fn(&TotalReadWrite<ResponseTime>) -> Option<f64>| {
            TableRow::new(name, each.map(|times| format_figure(figure(times))), "µs")
        };
        let rows = vec![
            TableRow::new("requests", each.map(|times| count(times.all.count)), ""),
            figures("mean", |times| times.all.mean),
            figures("mean of reads", |times| times.read.mean),
            figures("mean of writes", |times| times.write.mean),
            figures("99 %", |times| times.all.p99),
            figures("max", |times| times.all.max),
        ];
        let columns = Self::NAMES.iter().map(|&name| name.to_owned()).collect();
        TableSection { title: "Response time around the failure", columns, rows }
    }
}
