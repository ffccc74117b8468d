//! Report cards of drives: the figures of a data sheet, compared with simulations of the preset that follows it.
//!
//! ```text
//!  cards.toml ─▶ Card ─ simulations ─▶ caller runs them ─▶ reports ─▶ Graded ─ kept in cards/NAME.json
//! ```
//!
//! This module describes and judges cards, as it does the papers' figures. The caller runs the simulations. `job.rs` has their loads and
//! lengths.

mod job;
mod measure;
mod percentiles;
mod residuals;
mod window;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use flashraid::Report;
use flashraid::config::{self, PresetKind, Problems, Scenario};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use job::Job;
pub use measure::{Measure, RANDOM_WRITES, title};
pub use percentiles::{GradedPercentile, Published, Statistic};
pub use residuals::residuals;
pub use window::{MOVES_MAX, Moved, Window};

/// Name and version of the document of a card.
pub const CARD_SCHEMA: &str = "flashraid.card/1";

/// A drive's figures from its data sheet.
#[derive(Debug, Clone)]
pub struct Card {
    /// Name of the preset.
    pub drive: String,
    /// Product name of the drive that the preset follows.
    pub after: String,
    /// Capacity that the figures are printed for.
    pub capacity: String,
    /// Printed figures, in the order of the file.
    pub figures: Vec<Printed>,
    /// Published percentiles, in the order of the file.
    pub percentiles: Vec<Published>,
}

/// A figure that a data sheet prints.
#[derive(Debug, Clone)]
pub struct Printed {
    /// Meaning of the figure, and its simulations.
    pub measure: &'static Measure,
    /// Value in the data sheet.
    pub value: f64,
    /// Largest difference of the simulation, as a share of the value. `None` if nothing is claimed.
    pub tolerance: Option<f64>,
    /// Least and greatest value before rounding, if the data sheet's digits leave such a range.
    pub range: Option<[f64; 2]>,
    /// Role of the figure in choosing the preset's numbers.
    pub kind: Kind,
    /// Document that prints the figure.
    pub source: String,
}

/// Role of a printed figure in choosing the preset's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number of the preset was chosen to meet the figure.
    Fitted,
    /// No number of the preset was chosen by the figure.
    Predicted,
    /// The data sheet promises at most this value.
    Bound,
    /// The figure is shown beside the simulation, and not judged. Its source tells why.
    Reported,
}

impl Kind {
    /// Returns the name of the role in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Fitted => "fitted",
            Kind::Predicted => "predicted",
            Kind::Bound => "bound",
            Kind::Reported => "reported",
        }
    }
}

/// A card with the results of the simulations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Graded {
    /// Name and version of the document: [`CARD_SCHEMA`].
    pub schema: String,
    /// Name of the preset.
    pub drive: String,
    /// Product name of the drive that the preset follows.
    pub after: String,
    /// Capacity that the figures are printed for.
    pub capacity: String,
    /// Scale at which the drive was simulated.
    pub scale: u32,
    /// True for a quick test, which proves nothing about the drive.
    pub quick: bool,
    /// The preset as it was simulated. It shows whether a kept card still belongs to the preset.
    pub ssd: Value,
    /// Figures of the data sheet with their simulated values.
    pub figures: Vec<Grade>,
    /// Published percentiles with the simulated ones; empty if none are published and none are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<GradedPercentile>,
}

/// A figure of a card with its simulated value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// Key of the figure, for instance `random_write_4k_steady_iops`.
    pub name: String,
    /// Unit of the values; empty for ratios.
    pub unit: String,
    /// Value in the data sheet.
    pub data_sheet: f64,
    /// Simulated value; `None` if it is undefined.
    pub simulated: Option<f64>,
    /// Largest difference, as a share of the data sheet's value. `None` if nothing is claimed.
    pub tolerance: Option<f64>,
    /// Least and greatest value of the data sheet before rounding. If present, the figure is judged by it, and not by the tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Role of the figure in choosing the preset's numbers.
    pub kind: Kind,
    /// True if the simulation meets the data sheet; `None` if nothing is claimed.
    pub holds: Option<bool>,
    /// True if the simulations were steady. An unsteady run shows a moment and not the drive.
    pub steady: bool,
    /// Document that prints the figure.
    pub source: String,
}

/// Share by which a simulated rate may differ from the data sheet before users are warned of it. It is the largest tolerance of rates.
const DOUBTFUL: f64 = 0.15;

impl Grade {
    /// Returns the difference of the simulation, as a share of the data sheet's value.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        Some(self.simulated? / self.data_sheet - 1.0)
    }
}

impl Graded {
    /// Returns the rates that the simulation misses by so much that nobody should take them from it.
    pub fn doubtful(&self) -> impl Iterator<Item = &Grade> {
        let is_rate = |figure: &&Grade| figure.unit == measure::IOPS || figure.unit == measure::MB_S;
        self.figures.iter().filter(is_rate).filter(|figure| figure.difference().is_some_and(|difference| difference.abs() > DOUBTFUL))
    }

    /// Returns how many figures hold, and how many are judged.
    #[must_use]
    pub fn tally(&self) -> (usize, usize) {
        let judged = self.figures.iter().filter_map(|figure| figure.holds);
        (judged.clone().filter(|&holds| holds).count(), judged.count())
    }

    /// Returns how many published percentiles hold, and how many are judged.
    #[must_use]
    pub fn tally_of_percentiles(&self) -> (usize, usize) {
        let judged = self.percentiles.iter().filter_map(|percentile| percentile.holds);
        (judged.clone().filter(|&holds| holds).count(), judged.count())
    }

    /// Returns how many percentiles hold to which no number of the preset was chosen, and how many of them are judged.
    #[must_use]
    pub fn tally_of_held_out(&self) -> (usize, usize) {
        let held_out = self.percentiles.iter().filter(|percentile| percentile.kind != Kind::Fitted);
        let judged = held_out.filter_map(|percentile| percentile.holds);
        (judged.clone().filter(|&holds| holds).count(), judged.count())
    }

    /// Returns how many figures of one kind hold, and how many are judged.
    #[must_use]
    pub fn tally_of(&self, kind: Kind) -> (usize, usize) {
        let judged = self.figures.iter().filter(|figure| figure.kind == kind).filter_map(|figure| figure.holds);
        (judged.clone().filter(|&holds| holds).count(), judged.count())
    }
}

/// Returns every card, in the order of `cards.toml`.
#[must_use]
pub fn cards() -> &'static [Card] {
    static CARDS: LazyLock<Vec<Card>> = LazyLock::new(|| read(include_str!("../../cards.toml")));
    &CARDS
}

/// Returns the last stored card of a drive, if there is one. Since then, the preset may have changed.
#[must_use]
pub fn kept(drive: &str) -> Option<Graded> {
    let (_, text) = KEPT.iter().find(|(name, _)| *name == drive)?;
    Some(serde_json::from_str(text).expect("a test reads all of them"))
}

macro_rules! kept_cards {
    ($($name:literal),* $(,)?) => {
        /// Names and documents of the stored cards.
        const KEPT: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../cards/", $name, ".json")))),*];
    };
}

kept_cards!(
    "nvme-tlc-read",
    "nvme-tlc-mixed",
    "nvme-gen5",
    "nvme-gen5-6400",
    "nvme-gen5-12800",
    "nvme-gen5-25600",
    "nvme-tlc-gen3",
    "nvme-tlc-16k",
    "nvme-tlc-30720",
    "nvme-qlc",
    "nvme-qlc-122880",
    "nvme-qlc-gen3",
    "nvme-mlc-9100",
    "nvme-mlc-p3700",
    "nvme-client-xg6",
    "sata-mlc-s3700",
    "sata-tlc-s4500",
);

/// Returns the keys of a preset, without its comments.
#[must_use]
pub fn keys_of(drive: &str) -> Option<Value> {
    let preset = config::all_presets().into_iter().find(|preset| preset.kind == PresetKind::Device && preset.name == drive)?;
    let table: toml::Table = toml::from_str(&preset.toml_text).expect("presets are TOML");
    serde_json::to_value(table).ok()
}

/// Content of `cards.toml`, with the sources of its figures.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sources: BTreeMap<String, String>,
    drives: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Drive {
    after: String,
    capacity: String,
    figures: Vec<Entry>,
    #[serde(default)]
    percentiles: Vec<PublishedEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedEntry {
    load: String,
    of: Statistic,
    value: Option<f64>,
    to: Option<f64>,
    tolerance: Option<f64>,
    kind: Kind,
    source: String,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    figure: String,
    value: f64,
    tolerance: Option<f64>,
    range: Option<[f64; 2]>,
    kind: Kind,
    /// Key of the source, in the table of sources.
    source: String,
    /// Remark that is added to the source.
    note: Option<String>,
}

/// Parses `cards.toml`. The file is part of the program, so any error in it is a bug, which a test finds.
fn read(text: &str) -> Vec<Card> {
    let file: File = toml::from_str(text).unwrap_or_else(|error| panic!("cards.toml: {error}"));
    let sourced = |drive: &str, key: &str, note: Option<String>| {
        let source = file.sources.get(key).unwrap_or_else(|| panic!("cards.toml: {drive}: no source {key}"));
        note.map_or_else(|| source.clone(), |note| format!("{source}; {note}"))
    };
    let published = |drive: &str, entry: PublishedEntry| {
        let load = Job::named(&entry.load).unwrap_or_else(|| panic!("cards.toml: {drive}: no load {}", entry.load));
        let source = sourced(drive, &entry.source, entry.note);
        let PublishedEntry { of, value, to, tolerance, kind, .. } = entry;
        assert_eq!(value.is_some() && tolerance.is_some(), kind != Kind::Reported, "cards.toml: {drive}: {}, {of}", load.name());
        Published { load, of, value, to, tolerance, kind, source }
    };
    let printed = |drive: &str, entry: Entry| {
        let measure = measure::find(&entry.figure).unwrap_or_else(|| panic!("cards.toml: {drive}: no figure {}", entry.figure));
        let source = sourced(drive, &entry.source, entry.note);
        let Entry { value, tolerance, range, kind, .. } = entry;
        let is_judged = tolerance.is_some() || range.is_some();
        assert_eq!(is_judged, kind != Kind::Reported, "cards.toml: {drive}: {}", measure.name);
        // The tolerance that is shown is the share that rounding allows. The range decides.
        let allowed = range.map(|[low, high]| (high / value - 1.0).max(1.0 - low / value));
        Printed { measure, value, tolerance: tolerance.or(allowed), range, kind, source }
    };
    let card = |(name, drive): (String, toml::Value)| {
        let drive: Drive = drive.try_into().unwrap_or_else(|error| panic!("cards.toml: {name}: {error}"));
        let figures = drive.figures.into_iter().map(|entry| printed(&name, entry)).collect();
        let percentiles = drive.percentiles.into_iter().map(|entry| published(&name, entry)).collect();
        Card { drive: name, after: drive.after, capacity: drive.capacity, figures, percentiles }
    };
    file.drives.into_iter().map(card).collect()
}

impl Card {
    /// Returns the simulations for the card's figures, each once.
    #[must_use]
    pub fn jobs(&self) -> Vec<Job> {
        let of_figures = self.figures.iter().flat_map(|figure| figure.measure.jobs).copied();
        let mut jobs: Vec<Job> = of_figures.chain(self.percentiles.iter().map(|published| published.load)).collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }

    /// Returns the configuration of a job at the scale of the preset.
    ///
    /// # Errors
    ///
    /// Fails only if the preset is wrong, which is a bug.
    pub fn scenario(&self, job: Job, window: Window) -> Result<Scenario, Problems> {
        let text = format!("array.level = \"single\"\nworkload.kind = \"synthetic\"\nssd.preset = {:?}\n", self.drive);
        let mut settings = Vec::new();
        if window == Window::Quick {
            // A superblock keeps a least number of rows at any scale.
            settings.push(("ssd.scale".to_owned(), "4096".to_owned()));
        }
        let plain = config::scenario_from_toml(&self.drive, &text, &settings, Some(1))?;
        settings.extend(job.settings(&job::Space::of(&plain), window));
        config::scenario_from_toml(&self.drive, &text, &settings, Some(1))
    }

    /// Compares the figures with the simulations. `reports` are those of [`Card::jobs`], in their order.
    #[must_use]
    pub fn grade(&self, reports: &[Report], quick: bool) -> Graded {
        let jobs = self.jobs();
        assert_eq!(jobs.len(), reports.len(), "a report for each job");
        let of_job = |job: &Job| &reports[jobs.iter().position(|known| known == job).expect("it is one of the card's")];
        let grade = |figure: &Printed| {
            let reports: Vec<&Report> = figure.measure.jobs.iter().map(of_job).collect();
            let simulated = (figure.measure.of)(&reports);
            let [low, high] = figure.bounds();
            let is_met = simulated.is_some_and(|simulated| (low..=high).contains(&simulated));
            Grade {
                name: figure.measure.name.to_owned(),
                unit: figure.measure.unit.to_owned(),
                data_sheet: figure.value,
                simulated,
                tolerance: figure.tolerance,
                range: figure.range,
                kind: figure.kind,
                holds: (figure.kind != Kind::Reported).then_some(is_met),
                steady: reports.iter().all(|report| report.verdict.steady),
                source: figure.source.clone(),
            }
        };
        Graded {
            schema: CARD_SCHEMA.to_owned(),
            drive: self.drive.clone(),
            after: self.after.clone(),
            capacity: self.capacity.clone(),
            scale: reports.iter().find_map(|report| Some(report.drive.as_ref()?.scale)).unwrap_or(1),
            quick,
            ssd: keys_of(&self.drive).unwrap_or_default(),
            figures: self.figures.iter().map(grade).collect(),
            percentiles: self.percentiles.iter().map(|published| published.grade(of_job(&published.load))).collect(),
        }
    }
}

impl Printed {
    /// Returns the least and the greatest simulated value that meets the figure.
    fn bounds(&self) -> [f64; 2] {
        let share = self.tolerance.unwrap_or(0.0);
        self.range.unwrap_or([self.value * (1.0 - share), self.value * (1.0 + share)])
    }
}

#[cfg(test)]
mod tests;
