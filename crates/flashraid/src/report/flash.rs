//! Results about flash: counts of all members, wear, and the lifetime computed from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::{Part, section};
use super::table::{TableRow, TableSection};
use super::{Member, ReportInputs, WarningMark, is_zero};
use crate::config::ScaledDriveDimension;
use flashraid_model::space::EraseCountSummary;
use flashraid_model::ssd::{MemberCounters, PendingFlashWork as MemberOwed, SuperblockCounters};

const NS_PER_DAY: f64 = 86_400e9;
/// Mean number of erases per block, in the measured time, from which on a lifetime is projected.
const ERASES_PER_BLOCK_MIN: f64 = 20.0;
/// Number of days in a year of the Julian calendar, as data sheets use it.
const DAYS_PER_YEAR: f64 = 365.25;

/// Source of the values about all members.
pub(super) struct FlashSource<'a> {
    inputs: &'a ReportInputs<'a>,
    members: &'a [Member],
    sum: MemberCounters,
}

impl<'a> FlashSource<'a> {
    pub(super) fn new(inputs: &'a ReportInputs<'a>, members: &'a [Member]) -> Self {
        Self { inputs, members, sum: inputs.counts.members.iter().copied().sum() }
    }

    fn amplification(&self, owed: MemberOwed) -> Option<f64> {
        amplification(self.inputs, 0..self.members.len(), owed)
    }
}

figures! {
    /// Counters of page reads, programs and erases on flash, and of wear, summed over the members.
    pub struct FlashCountersReport("flash", of: FlashSource<'_>) {
        /// Number of pages read for the host.
        host_pages_read: u64 = of.sum.host_pages_read, row 1 "host pages read" in "pages";
        /// Number of pages that were sent to the members to be written.
        host_pages_written: u64 = of.sum.host_pages_written, row 2 "host pages written" in "pages";
        /// Number of pages of members that trims have unmapped, including parity; left out if there are none.
        #[serde(default, skip_serializing_if = "is_zero")]
        host_pages_trimmed: u64 = of.sum.host_pages_trimmed;
        /// Number of valid pages that collections moved.
        gc_pages_moved: u64 = of.sum.gc_pages_moved, row 3 "pages moved" in "pages";
        /// Number of blocks erased.
        erases: u64 = of.sum.erases, row 6 "erases" in "blocks";
        /// Pages programmed (data, moves, parity within drives, padding) divided by the pages sent to the members. Summary pages do not
        /// count.
        write_amplification: Option<f64> = of.amplification(MemberOwed::default()), row (marked) 4 "write amplification" in "";
        /// Write amplification if all buffered data were programmed, and all moves made, that were still to be done at the end of the
        /// measured time. The moves include those that would win back the free space that the run used up (`owed.credit_pages`). It is
        /// an upper bound for short runs.
        write_amplification_max: Option<f64> = of.amplification(of.inputs.unfinished_work_by_member.iter().copied().sum()),
            row 5 "the same with all that is still owed" in "";
        /// Number of summary pages programmed, one for each block that became full (`ssd.summary_page`).
        summary_programs: u64 = of.sum.block_summary_pages_programmed;
        /// Erase counts of all blocks, including those of the warm-up.
        wear: WearReport = WearReport::new(&EraseCountSummary::over_members(of.inputs.wear));
        /// Projected lifetime at this load of the member with the shortest one. `None` below a mean of 20 erases per block in the measured
        /// time.
        lifetime: Option<Lifetime> = {
            let lives = of.members.iter().filter_map(|member| member.lifetime);
            lives.min_by(|a, b| a.days().total_cmp(&b.days()))
        };
        /// Lifetime of the same member as in `lifetime`, which is the member with the shortest one. It is computed from write
        /// amplification and rated erases alone, as if all blocks wore evenly.
        implied_life: Option<ImpliedLife> = {
            // Members that were sent more data wear out sooner.
            let lives = of.members.iter().filter_map(|member| member.implied_life).filter(|life| life.days.is_some());
            lives.min_by(|a, b| a.days.unwrap_or(0.0).total_cmp(&b.days.unwrap_or(0.0)))
        };
    }
}

impl FlashCountersReport {
    pub(super) fn section(&self, mark: Option<WarningMark>) -> TableSection {
        let mut rows = self.marked_rows(mark);
        rows.extend(self.wear.rows());
        rows.extend(self.life_rows());
        section("Flash", rows)
    }

    /// Returns the projected lifetime. If too few blocks were erased, returns the implied lifetime with a mark and its condition.
    fn life_rows(&self) -> Vec<(u32, TableRow)> {
        let doubted = |(place, row): (u32, TableRow)| {
            let values = row.values.iter().map(|value| format!("{value} {}", WarningMark::LittleWear.symbol())).collect();
            (place, TableRow { values, ..row })
        };
        match (&self.lifetime, &self.implied_life) {
            (Some(life), _) => life.rows(),
            (None, Some(life)) => life.rows().into_iter().map(doubted).collect(),
            (None, None) => Vec::new(),
        }
    }
}

figures! {
    /// Summary of the number of erases per block: least, mean, greatest and standard deviation over all blocks. Erases of the warm-up
    /// count, too.
    #[derive(Copy)]
    pub struct WearReport("flash.wear", of: EraseCountSummary) {
        /// Number of erases of the least erased block.
        min: u32 = of.min;
        /// Mean number of erases over all blocks.
        mean: f64 = of.mean, row 10 "erases per block, mean" in "";
        /// Number of erases of the most erased block.
        max: u32 = of.max, row 11 "erases per block, max" in "";
        /// Standard deviation of the erases over all blocks.
        stddev: f64 = of.stddev;
    }
}

/// Source of the values about the lifetime of a member.
pub(super) struct LifetimeSource<'a> {
    inputs: &'a ReportInputs<'a>,
    cycles: u32,
    mean_block: f64,
    worst_block: f64,
    bytes_per_day: f64,
    /// Capacity of the full-size member in bytes; `None` if it exports none.
    capacity: Option<f64>,
}

impl<'a> LifetimeSource<'a> {
    /// Returns the source; `None` if the wear of the measured time allows no projection.
    fn new(inputs: &'a ReportInputs<'a>, member: usize) -> Option<Self> {
        let cycles = inputs.endurance_cycles?;
        let (erases, wear) = (inputs.counts.members[member].erases, inputs.wear.get(member)?);
        let measured_ns = inputs.measured.end_ns - inputs.measured.from_ns;
        if (erases as f64) < ERASES_PER_BLOCK_MIN * inputs.blocks_per_member as f64 || wear.max == 0 {
            return None;
        }
        let (scale, load) = scales(inputs);
        let erases_endured = f64::from(cycles) * inputs.blocks_per_member as f64 * scale;
        let mean_block = erases_endured / (erases as f64 * load) * (measured_ns as f64 / NS_PER_DAY);
        let worst_block = mean_block * wear.mean / f64::from(wear.max);
        let capacity = (inputs.member_capacity_bytes > 0).then_some(inputs.member_capacity_bytes as f64 * scale);
        Some(Self { inputs, cycles, mean_block, worst_block, bytes_per_day: bytes_per_day(inputs, member)?, capacity })
    }

    /// Returns the number of days until a new member is worn out. A member that levels wear is worn out when its blocks have reached their
    /// rated erases on average. Any other member is worn out when its most worn block has reached them.
    fn days(&self) -> f64 {
        if self.inputs.levels_wear { self.mean_block } else { self.worst_block }
    }

    fn terabytes(&self) -> f64 {
        self.bytes_per_day * self.days() / 1e12
    }
}

figures! {
    /// Projected lifetime of a new member at the measured rate of erases.
    #[derive(Copy)]
    pub struct Lifetime("flash.lifetime", of: LifetimeSource<'_>) {
        /// Number of erases that a block endures.
        endurance_cycles: u32 = of.cycles;
        /// Days until blocks have reached their rated erases on average. With perfect wear levelling, all blocks reach them then.
        days_levelled: f64 = of.mean_block,
            row 20 (|life| format!("life at {} cycles, of the mean block", life.endurance_cycles)) in "days" if |life| life.levels_wear;
        /// Days until the most worn block has reached its rated erases, if wear stays as uneven as it is.
        days_worst_block: f64 = of.worst_block,
            row 20 (|life| format!("life at {} cycles, of the most worn block", life.endurance_cycles)) in "days" if |life| !life.levels_wear;
        /// True if the member levels wear. The years and terabytes until it is worn out then follow from `days_levelled`, otherwise from
        /// `days_worst_block`.
        levels_wear: bool = of.inputs.levels_wear;
        /// Years until the member is worn out: `days_levelled` in years if it levels wear, otherwise `days_worst_block`.
        #[serde(default)]
        years: Option<f64> = Some(of.days() / DAYS_PER_YEAR), row 21 "the same in years" in "years" if |life| life.years.is_some();
        /// Terabytes (10^12 bytes) that can be written to the member until it is worn out at this load. Data sheets call it TBW.
        #[serde(default)]
        tbw: Option<f64> = Some(of.terabytes()), row 22 "writes to an SSD in this time (TBW)" in "TB" if |life| life.tbw.is_some();
        /// Drive writes per day (DWPD) at this load: how often its whole capacity is written each day.
        #[serde(default)]
        dwpd: Option<f64> = of.capacity.map(|capacity| of.bytes_per_day / capacity),
            row 23 "drive writes per day at this load (DWPD)" in "per day" if |life| life.dwpd.is_some();
        /// Drive writes per day with which the member would last five years.
        #[serde(default)]
        dwpd_five_years: Option<f64> = of.capacity.map(|capacity| of.terabytes() * 1e12 / capacity / (5.0 * DAYS_PER_YEAR)),
            row 24 "drive writes per day for five years" in "per day" if |life| life.dwpd_five_years.is_some();
    }
}

impl Lifetime {
    /// Returns the lifetime of a member; `None` if the wear of the measured time allows no projection.
    pub(super) fn of_member(inputs: &ReportInputs, member: usize) -> Option<Self> {
        LifetimeSource::new(inputs, member).as_ref().map(Self::new)
    }

    /// Returns the number of days until a new member is worn out at this load. A member that levels wear is worn out when its blocks have
    /// reached their rated erases on average. Any other member is worn out when its most worn block has reached them.
    #[must_use]
    pub fn days(&self) -> f64 {
        if self.levels_wear { self.days_levelled } else { self.days_worst_block }
    }
}

/// Source of the lifetime that even wear would give.
pub(super) struct EvenWearSource {
    cycles: u32,
    amplification: f64,
    /// Number of bytes that can be written to the member.
    written: f64,
    capacity: f64,
    bytes_per_day: Option<f64>,
    rate_scale: Option<f64>,
}

impl EvenWearSource {
    fn new(inputs: &ReportInputs, member: usize) -> Option<Self> {
        let cycles = inputs.endurance_cycles?;
        let amplification = amplification(inputs, member..member + 1, MemberOwed::default()).filter(|&factor| factor > 0.0)?;
        let scale = scales(inputs).0;
        let bytes = inputs.blocks_per_member as f64 * f64::from(inputs.pages_per_block) * f64::from(inputs.page_bytes) * scale;
        let written = f64::from(cycles) * bytes / amplification;
        let bytes_per_day = bytes_per_day(inputs, member).filter(|&bytes| bytes > 0.0);
        let capacity = inputs.member_capacity_bytes as f64 * scale;
        Some(Self { cycles, amplification, written, capacity, bytes_per_day, rate_scale: rate_scale(inputs) })
    }
}

figures! {
    /// Lifetime computed from write amplification and rated erases alone, as if all blocks wore evenly.
    #[derive(Copy)]
    pub struct ImpliedLife("flash.implied_life", of: EvenWearSource) {
        /// Number of erases that a block endures.
        endurance_cycles: u32 = of.cycles;
        /// Number of pages that this member programs for each page sent to it.
        write_amplification: f64 = of.amplification;
        /// Terabytes (10^12 bytes) that can be written to the member.
        tbw: f64 = of.written / 1e12, row 31 "even wear would let be written to an SSD (TBW)" in "TB";
        /// Drive writes per day with which the member would last five years.
        dwpd_five_years: f64 = of.written / of.capacity / (5.0 * DAYS_PER_YEAR),
            row 32 "the same per day for five years" in "drives per day";
        /// Days that the member lasts at this load; `None` for a measured time of no length.
        days: Option<f64> = of.bytes_per_day.map(|bytes| of.written / bytes),
            row 30 (|life| format!("even wear at {} cycles would give, {}, a life of", life.endurance_cycles, at_rate(life.rate_scale)))
            in "days";
        /// Factor by which requests arrive faster than the workload itself has them (`workload.rate_scale`); left out if it is 1. At the
        /// workload's own rate, the member lasts longer by this factor.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate_scale: Option<f64> = of.rate_scale;
    }
}

/// Returns the factor by which requests arrive faster than the workload itself has them, if it is not 1.
fn rate_scale(inputs: &ReportInputs) -> Option<f64> {
    inputs.config["workload"]["rate_scale"].as_f64().filter(|factor| *factor != 1.0)
}

/// Returns words for the rate of the load.
fn at_rate(rate_scale: Option<f64>) -> String {
    rate_scale.map_or_else(|| "at this load".to_owned(), |factor| format!("at {factor} times the rate of the workload"))
}

impl ImpliedLife {
    /// Returns the lifetime of a member; `None` if no writes were sent to it.
    pub(super) fn of_member(inputs: &ReportInputs, member: usize) -> Option<Self> {
        EvenWearSource::new(inputs, member).as_ref().map(Self::new)
    }
}

/// Returns the number of pages that these members have programmed for each page sent to them. With `owed`, it is the greatest possible
/// value, which includes that work.
pub(super) fn amplification(inputs: &ReportInputs, members: std::ops::Range<usize>, owed: MemberOwed) -> Option<f64> {
    let written: u64 = inputs.counts.members[members.clone()].iter().map(|counters| counters.host_pages_written).sum();
    let programmed = programmed_pages(inputs, members.clone());
    let sent = match inputs.superblock_drive {
        Some(_) => written,
        None => {
            // A page counts as written here when its program begins. Before that, another may have replaced it in the buffer.
            let fronts = inputs.counts.drive_front_end_counters.get(members).unwrap_or_default().iter();
            let never_programmed: u64 = fronts.map(|front| front.units_overwritten_in_buffer + front.units_trimmed_in_buffer).sum();
            written + never_programmed + owed.buffered_pages
        }
    };
    (sent > 0).then(|| (programmed + owed.buffered_pages + owed.pages_to_move + owed.credit_pages) as f64 / sent as f64)
}

/// Returns the number of pages that these members have programmed, without summary pages.
pub(super) fn programmed_pages(inputs: &ReportInputs, members: std::ops::Range<usize>) -> u64 {
    match inputs.superblock_drive {
        Some(drive) => {
            let drives = inputs.counts.superblock_counters_by_member[members].iter();
            drives.map(SuperblockCounters::programmed_mapping_units).sum::<u64>() * u64::from(drive.pages_per_mapping_unit)
        }
        None => inputs.counts.members[members].iter().map(|counters| counters.host_pages_written + counters.gc_pages_moved).sum(),
    }
}

/// Returns two factors: how much larger than the simulated ones the full-size drive is, and how much larger the load on it is.
fn scales(inputs: &ReportInputs) -> (f64, f64) {
    let scale = inputs.superblock_drive.map_or(1.0, |drive| f64::from(drive.scaled_down_by));
    (
        scale,
        inputs.superblock_drive.map_or(1.0, |drive| if drive.scaled_down_dimension == ScaledDriveDimension::Width { scale } else { 1.0 }),
    )
}

/// Returns the bytes per day that are written to a full-size member, including parity and copies, as its data sheet counts them.
fn bytes_per_day(inputs: &ReportInputs, member: usize) -> Option<f64> {
    let measured_ns = inputs.measured.end_ns - inputs.measured.from_ns;
    let bytes = inputs.counts.members[member].host_pages_written as f64 * f64::from(inputs.page_bytes) * scales(inputs).1;
    (measured_ns > 0).then(|| bytes / (measured_ns as f64 / NS_PER_DAY))
}
