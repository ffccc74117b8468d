//! Results of each member.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::share_of_dies;
use super::figures::{Part, in_order, mean_us};
use super::flash::amplification;
use super::table::{TableSection, format_figure};
use super::{ImpliedLife, Lifetime, ReportInputs, WearReport};
use flashraid_model::array::InjectedSlownessCounters;
use flashraid_model::ssd::{MemberCounters, PendingFlashWork as MemberOwed};

/// Maximum number of members that get separate columns.
const COLUMNS_MAX: usize = 8;

/// Source of the values of a member.
pub(super) struct MemberSource<'a> {
    inputs: &'a ReportInputs<'a>,
    index: usize,
    counters: MemberCounters,
}

impl<'a> MemberSource<'a> {
    pub(super) fn new(inputs: &'a ReportInputs<'a>, index: usize) -> Self {
        Self { inputs, index, counters: inputs.counts.members[index] }
    }

    /// Returns true for a drive with superblocks.
    fn is_drive(&self) -> bool {
        self.index < self.inputs.counts.superblock_counters_by_member.len()
    }

    fn slow(&self) -> Option<&InjectedSlownessCounters> {
        self.inputs.counts.slow_member_counters.get(self.index)
    }

    fn collected_ns(&self) -> u64 {
        if self.is_drive() { self.counters.gc_time_ns } else { self.inputs.measured.victim_collection_times_by_member[self.index].total_ns }
    }

    fn share_of_dies(&self) -> Option<f64> {
        match self.is_drive() {
            true => share_of_dies(self.inputs, 1, self.counters.gc_time_ns),
            false => self.inputs.measured.gc.mean_die_busy_fraction_of_member(self.index),
        }
    }

    fn share_with_a_collection(&self) -> Option<f64> {
        let measured_ns = self.inputs.measured.end_ns - self.inputs.measured.from_ns;
        match self.inputs.counts.superblock_counters_by_member.get(self.index) {
            Some(drive) => (measured_ns > 0).then(|| drive.any_die_collecting_ns as f64 / measured_ns as f64),
            None => self.inputs.measured.gc.member_collecting_fraction(self.index),
        }
    }
}

figures! {
    /// Results of one member.
    pub struct Member("members", of: MemberSource<'_>) {
        /// Number of blocks erased.
        erases: u64 = of.counters.erases, row 3 "erases" in "blocks";
        /// Number of pages that were sent to the member to be written.
        host_pages_written: u64 = of.counters.host_pages_written, row 1 "host pages written" in "pages";
        /// Number of pages read for the host.
        host_pages_read: u64 = of.counters.host_pages_read;
        /// Number of valid pages that collections moved.
        gc_pages_moved: u64 = of.counters.gc_pages_moved;
        /// Number of summary pages programmed, one for each block that became full (`ssd.summary_page`).
        summary_programs: u64 = of.counters.block_summary_pages_programmed;
        /// Number of pages programmed divided by the number sent to the member, as in `flash`.
        write_amplification: Option<f64> = amplification(of.inputs, of.index..of.index + 1, MemberOwed::default()),
            row 2 "write amplification" in "";
        /// Number of collections, as in `gc`.
        gc_runs: u64 = of.counters.collections;
        /// Number of collections that the array's controller forced.
        gc_forced_runs: u64 = of.counters.forced_collections;
        /// Time that dies spent collecting, in milliseconds, as in `gc`.
        gc_time_ms: f64 = of.collected_ns() as f64 / 1e6;
        /// Share of their time that the member's dies spent collecting.
        gc_busy_fraction: Option<f64> = of.share_of_dies();
        /// Share of the time in which at least one of its dies collected.
        gc_any_fraction: Option<f64> = of.share_with_a_collection(), row 4 "time with a collection" in "%";
        /// Number of answers to page operations that came late because the member was slow; `None` if no member is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        late_answers: Option<u64> = of.slow().map(|slow| slow.late_answers),
            row 5 "late answers" in "" if |member| member.late_answers.is_some();
        /// Mean delay of the late answers of this member, in microseconds: the time that its slowness added to each of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        late_mean_us: Option<f64> = of.slow().and_then(|slow| mean_us(slow.late_ns, slow.late_answers)),
            row 6 "late by, on average" in "µs" if |member| member.late_answers.is_some();
        /// Erases per block, including those of the warm-up.
        wear: WearReport = WearReport::new(&of.inputs.wear.get(of.index).copied().unwrap_or_default());
        /// Projected lifetime at this load, as in `flash`.
        lifetime: Option<Lifetime> = Lifetime::of_member(of.inputs, of.index);
        /// Lifetime computed from write amplification and rated erases, as in `flash`.
        implied_life: Option<ImpliedLife> = ImpliedLife::of_member(of.inputs, of.index);
    }
}

impl Member {
    /// Returns a column for each member. If these would not fit on a line, returns the spread over the members instead.
    pub(super) fn section(members: &[Self]) -> TableSection {
        let each = members.len() <= COLUMNS_MAX;
        let columns = if each {
            (0..members.len()).map(|member| member.to_string()).collect()
        } else {
            ["min", "mean", "max"].map(str::to_owned).to_vec()
        };
        let rows = Self::rows_of(members, |figures| {
            if each {
                return figures.into_iter().map(format_figure).collect();
            }
            let defined: Vec<f64> = figures.into_iter().flatten().collect();
            let mean = (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64);
            let spread = [defined.iter().copied().reduce(f64::min), mean, defined.iter().copied().reduce(f64::max)];
            spread.map(format_figure).to_vec()
        });
        TableSection { title: "Members", columns, rows: in_order(rows) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_members_are_shown_by_their_spread() {
        let report = crate::report::build::tests::example();
        let template = report.members[1].clone();
        let members: Vec<_> = (1..=10).map(|erases| Member { erases, ..template.clone() }).collect();
        let section = Member::section(&members);
        assert_eq!(section.columns, ["min", "mean", "max"]);
        assert_eq!(section.rows[2].values, ["1", "5.500", "10"]);
    }
}
