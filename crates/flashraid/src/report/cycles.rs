//! Cycles: how often, in the measured time, each member did what makes requests wait for collection. With the credit of the run, they
//! decide if a comparison may speak of its figures.
//!
//! A run in which collection hardly happened shows what the reserve of free blocks is worth, and not what collection costs. A remedy
//! that puts collection off would win there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::build::ReportInputs;
use super::flash::programmed_pages;
use super::table::{TableRow, TableSection, format_figure};
use flashraid_driver::ArrayCounters;
use flashraid_model::ssd::{CollectionOutlook, PendingFlashWork};

/// Number of cycles of the rarest kind that each member must have had.
pub const CYCLES_MIN: f64 = 10.0;
/// Greatest credit of a run that is judged, as a share of the programmed pages.
pub const CREDIT_SHARE_MAX: f64 = 0.05;

/// Kind of cycle: what a member does when it collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CycleKind {
    /// Collections of a block on each die. The number is the mean over the dies of the member.
    CleansPerDie,
    /// Superpages of valid data that a drive with superblocks has moved.
    MovedSuperpages,
    /// Superblocks that a drive has collected. They count where collection takes no time, as with the scheme `ideal`.
    Superblocks,
    /// Cycles in which the array's controller let the member collect, or turns of the member. They count if the member collected
    /// something.
    CoordinatedCycles,
}

impl CycleKind {
    /// Returns the words for several cycles of this kind.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::CleansPerDie => "cleans of each die",
            Self::MovedSuperpages => "moved superpages",
            Self::Superblocks => "collected superblocks",
            Self::CoordinatedCycles => "coordinated cycles or turns",
        }
    }
}

/// Number of cycles of one kind: least, mean and most over the members.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CycleCounts {
    /// Kind of the cycles.
    pub kind: CycleKind,
    /// Number of cycles of the member with the fewest.
    pub least: f64,
    /// Mean over the members.
    pub mean: f64,
    /// Number of cycles of the member with the most.
    pub most: f64,
}

/// Number of cycles of collection in the measured time, by kind. Spares and failed members are left out.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Cycles {
    /// Kinds of cycles, the rarest first. The list is empty if nothing was written in the measured time, so that nothing is collected.
    pub kinds: Vec<CycleCounts>,
    /// Estimate of the number of requests with which the run would be judged. `None` if it is judged, or if there is no estimate.
    pub requests_until_judged: Option<u64>,
}

/// Reason why a run is not judged: something that its figures should contain is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shortfall {
    /// Members had fewer than [`CYCLES_MIN`] cycles of this kind.
    FewCycles(CycleCounts),
    /// The credit is more than [`CREDIT_SHARE_MAX`] of the programmed pages. The value is its share.
    Credit(f64),
}

impl Cycles {
    /// Counts the cycles of a run.
    pub(super) fn of(inputs: &ReportInputs) -> Self {
        let counts = inputs.counts;
        let has_failed = |member: usize| inputs.failures.iter().any(|failure| failure.member as usize == member);
        let own_members = counts.members.len().min(inputs.members_without_spares as usize);
        let members: Vec<usize> = (0..own_members).filter(|member| !has_failed(*member)).collect();
        let is_written = inputs.measured.response_times.writes.moments().count() > 0
            || members.iter().any(|member| counts.members[*member].host_pages_written > 0);
        if !is_written || members.is_empty() {
            return Self::default();
        }
        let takes_no_time = inputs.config["coordination"]["scheme"] == "ideal";
        let own = match inputs.superblock_drive {
            None => CycleKind::CleansPerDie,
            Some(_) if takes_no_time => CycleKind::Superblocks,
            Some(_) => CycleKind::MovedSuperpages,
        };
        let of_member = |kind: CycleKind, member: usize| number_of_cycles(inputs, counts, kind, member);
        let mut kinds: Vec<CycleCounts> = [own, CycleKind::CoordinatedCycles]
            .into_iter()
            .filter_map(|kind| CycleCounts::of(kind, members.iter().filter_map(|member| of_member(kind, *member))))
            .collect();
        kinds.sort_by(|a, b| a.least.total_cmp(&b.least));
        let cycles = Self { kinds, requests_until_judged: None };
        let requests_until_judged = cycles.requests_until_judged(inputs, &members);
        Self { requests_until_judged, ..cycles }
    }

    /// Returns the reason why the run is not judged, if it is not. `credit_share` is the credit as a share of the programmed pages.
    #[must_use]
    pub fn shortfall(&self, credit_share: Option<f64>) -> Option<Shortfall> {
        let rarest = self.kinds.first()?;
        match credit_share {
            _ if rarest.least < CYCLES_MIN => Some(Shortfall::FewCycles(*rarest)),
            Some(share) if share > CREDIT_SHARE_MAX => Some(Shortfall::Credit(share)),
            _ => None,
        }
    }

    /// Estimates the number of requests with which the run would be judged.
    fn requests_until_judged(&self, inputs: &ReportInputs, members: &[usize]) -> Option<u64> {
        let credit_share = credit_share(inputs);
        let shortfall = self.shortfall(credit_share)?;
        let requests = inputs.measured.response_times.all.moments().count() as f64;
        let pages: u64 = members.iter().map(|member| inputs.counts.members[*member].host_pages_written).sum();
        let pages_of_member = pages as f64 / members.len() as f64;
        if requests == 0.0 || pages == 0 {
            return None;
        }
        let by_credit = requests * credit_share.unwrap_or(0.0) / CREDIT_SHARE_MAX;
        let by_cycles = match shortfall {
            Shortfall::Credit(_) => requests,
            Shortfall::FewCycles(counts) if counts.least >= 1.0 => requests * CYCLES_MIN / counts.least,
            Shortfall::FewCycles(counts) => {
                let outlook = |member: &usize| inputs.collection_outlook_by_member.get(*member).copied();
                let outlooks: Vec<CollectionOutlook> = members.iter().filter_map(outlook).collect();
                // The first member that must collect begins a cycle for others, too.
                let decisive = |of: fn(&CollectionOutlook) -> u64| {
                    let pages = outlooks.iter().map(of);
                    let pages = if counts.kind == CycleKind::CoordinatedCycles { pages.min() } else { pages.max() };
                    pages.unwrap_or(0) as f64
                };
                let until = decisive(|outlook| outlook.pages_until_collection);
                let between = decisive(|outlook| outlook.pages_between_collections);
                requests * (1.0 + (until + CYCLES_MIN * between) / pages_of_member)
            }
        };
        Some(by_cycles.max(by_credit).ceil() as u64)
    }

    pub(super) fn section(&self) -> Option<TableSection> {
        let row = |counts: &CycleCounts| {
            let values = [counts.least, counts.mean, counts.most].map(|value| format_figure(Some(value)));
            TableRow::new(counts.kind.words(), values, "").of("cycles.kinds".to_owned())
        };
        let rows: Vec<TableRow> = self.kinds.iter().map(row).collect();
        let columns = ["least", "mean", "most"].map(str::to_owned).to_vec();
        (!rows.is_empty()).then_some(TableSection { title: "Cycles of collection, over members", columns, rows })
    }
}

impl CycleCounts {
    fn of(kind: CycleKind, counts: impl Iterator<Item = f64>) -> Option<Self> {
        let counts: Vec<f64> = counts.collect();
        let (least, most) = (counts.iter().copied().reduce(f64::min)?, counts.iter().copied().reduce(f64::max)?);
        Some(Self { kind, least, mean: counts.iter().sum::<f64>() / counts.len() as f64, most })
    }
}

impl Shortfall {
    /// Returns a sentence about a run with this shortfall, without a full stop. It says what is missing, and with how many requests it
    /// would be there. `name` is the name of the run.
    #[must_use]
    pub fn sentence(&self, name: &str, requests_until_judged: Option<u64>) -> String {
        let missing = match self {
            Self::FewCycles(counts) if counts.most == 0.0 => format!("{name} collected nothing in this run"),
            Self::FewCycles(counts) => {
                format!("{name} had {} {} a member in this run, fewer than {CYCLES_MIN}", two_digits(counts.least), counts.kind.words())
            }
            Self::Credit(share) => {
                let [share, most] = [*share, CREDIT_SHARE_MAX].map(|share| two_digits(share * 100.0));
                format!("{name} lived on credit: free space worth {share} % of what it programmed was not won back, more than {most} %")
            }
        };
        match requests_until_judged {
            Some(requests) => format!("{missing}; it needs about {} requests", two_digits(requests as f64)),
            None => missing,
        }
    }
}

/// Returns the credit of the run as a share of the programmed pages; `None` if nothing was programmed.
pub(super) fn credit_share(inputs: &ReportInputs) -> Option<f64> {
    let owed: PendingFlashWork = inputs.unfinished_work_by_member.iter().copied().sum();
    let programmed = programmed_pages(inputs, 0..inputs.counts.members.len());
    (programmed > 0).then(|| owed.credit_pages as f64 / programmed as f64)
}

/// Returns the number of cycles of a kind that a member had; `None` if the kind does not apply to it.
fn number_of_cycles(inputs: &ReportInputs, counts: &ArrayCounters, kind: CycleKind, member: usize) -> Option<f64> {
    let superblocks = || counts.superblock_counters_by_member.get(member);
    match kind {
        CycleKind::CleansPerDie => Some(counts.members[member].erases as f64 / f64::from(inputs.dies_per_member.max(1))),
        CycleKind::MovedSuperpages => Some(superblocks()?.units_moved_by_collection as f64 / f64::from(inputs.units_per_superpage.max(1))),
        CycleKind::Superblocks => Some(superblocks()?.victims_begun as f64),
        CycleKind::CoordinatedCycles => Some((*counts.collecting_cycles_by_member.get(member)?)? as f64),
    }
}

/// Formats a number with two significant digits, such as `4.1 M`.
fn two_digits(value: f64) -> String {
    let (value, unit) = match value {
        value if value >= 995_000.0 => (value / 1e6, " M"),
        value if value >= 9_950.0 => (value / 1e3, " k"),
        value => (value, ""),
    };
    if value == 0.0 {
        return "0".to_owned();
    }
    let power = 10_f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / power).round() * power;
    let is_short = rounded >= 10.0 || (rounded.fract() == 0.0 && unit.is_empty());
    if is_short { format!("{rounded:.0}{unit}") } else { format!("{rounded:.1}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(kind: CycleKind, least: f64, most: f64) -> CycleCounts {
        CycleCounts { kind, least, mean: (least + most) / 2.0, most }
    }

    #[test]
    fn both_cycles_and_credit_must_suffice() {
        let of = |kinds: Vec<CycleCounts>| Cycles { kinds, requests_until_judged: None };
        let (rare, often) = (counts(CycleKind::CoordinatedCycles, 9.9, 30.0), counts(CycleKind::MovedSuperpages, 10.0, 500.0));
        assert_eq!(of(vec![often]).shortfall(Some(0.05)), None);
        assert_eq!(of(vec![often]).shortfall(Some(0.051)), Some(Shortfall::Credit(0.051)));
        assert_eq!(of(vec![rare, often]).shortfall(Some(0.0)), Some(Shortfall::FewCycles(rare)));
        assert_eq!(of(Vec::new()).shortfall(Some(0.9)), None, "a load of reads collects nothing");
    }

    #[test]
    fn a_sentence_says_what_is_missing() {
        let nothing = Shortfall::FewCycles(counts(CycleKind::MovedSuperpages, 0.0, 0.0));
        assert_eq!(nothing.sentence("a", Some(4_149_000)), "a collected nothing in this run; it needs about 4.1 M requests");
        let few = Shortfall::FewCycles(counts(CycleKind::CoordinatedCycles, 3.0, 8.0));
        assert_eq!(few.sentence("a", None), "a had 3 coordinated cycles or turns a member in this run, fewer than 10");
        let credit = Shortfall::Credit(0.123);
        let expected = "a lived on credit: free space worth 12 % of what it programmed was not won back, more than 5 %";
        assert_eq!(credit.sentence("a", None), expected);
    }

    #[test]
    fn numbers_have_two_digits() {
        let texts = [0.0, 0.5, 3.0, 9.94, 12.3, 9_900.0, 12_345.0, 999_999.0, 41_200_000.0].map(two_digits);
        assert_eq!(texts, ["0", "0.5", "3", "9.9", "12", "9900", "12 k", "1.0 M", "41 M"]);
    }
}
