//! Report cards of drives: what a data sheet says of a drive, and what the preset that follows it gives when it is simulated.
//!
//! ```text
//!  cards.toml ─▶ Card ─ simulations ─▶ whoever runs them ─▶ reports ─▶ Graded ─ kept in cards/NAME.json
//! ```
//!
//! Like the papers' figures, cards are described and judged here and run elsewhere. `job.rs` says what is simulated for a figure and how long.

mod job;
mod measure;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use flashraid::Report;
use flashraid::config::{self, PresetKind, Problems, Scenario};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use job::Job;
pub use measure::{Measure, title};

/// Name and version of the document of a card.
pub const CARD_SCHEMA: &str = "flashraid.card/1";

/// What is known of a drive.
#[derive(Debug, Clone)]
pub struct Card {
    /// The preset.
    pub drive: String,
    /// The drive that it follows.
    pub after: String,
    /// The capacity that the figures are printed for.
    pub capacity: String,
    /// The figures, in the order of the file.
    pub figures: Vec<Printed>,
}

/// A printed figure.
#[derive(Debug, Clone)]
pub struct Printed {
    /// What it is, and how it is simulated.
    pub measure: &'static Measure,
    /// What the data sheet says.
    pub value: f64,
    /// How far from it the simulation may be, as a share of it; `None` where nothing is claimed.
    pub tolerance: Option<f64>,
    /// What the value may have been before it was rounded, where the data sheet's digits say no more.
    pub range: Option<[f64; 2]>,
    /// What it was used for.
    pub kind: Kind,
    /// Where it is printed.
    pub source: String,
}

/// What a printed figure was used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number of the preset was chosen to meet it.
    Fitted,
    /// Nothing was chosen by it.
    Predicted,
    /// It is shown beside the simulation and not judged, for the reason that its source gives.
    Reported,
}

impl Kind {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Fitted => "fitted",
            Kind::Predicted => "predicted",
            Kind::Reported => "reported",
        }
    }
}

/// A card with what the simulation gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Graded {
    /// [`CARD_SCHEMA`].
    pub schema: String,
    /// The preset.
    pub drive: String,
    /// The drive that it follows.
    pub after: String,
    /// The capacity that the figures are printed for.
    pub capacity: String,
    /// The drive was simulated at this scale.
    pub scale: u32,
    /// A quick look, which proves nothing.
    pub quick: bool,
    /// The preset as it was simulated, so that a kept card shows whether it is still of this preset.
    pub ssd: Value,
    /// The figures.
    pub figures: Vec<Grade>,
}

/// A figure of a card with what the simulation gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// For instance `random_write_4k_steady_iops`.
    pub name: String,
    /// Unit of the values; empty for ratios.
    pub unit: String,
    /// What the data sheet says.
    pub data_sheet: f64,
    /// What the simulation gives; `None` if it is undefined.
    pub simulated: Option<f64>,
    /// How far from each other they may be, as a share of the data sheet's; `None` where nothing is claimed.
    pub tolerance: Option<f64>,
    /// What the data sheet's value may have been before it was rounded; then this is judged by, not the tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// What the figure was used for.
    pub kind: Kind,
    /// The simulation meets the data sheet; `None` where nothing is claimed.
    pub holds: Option<bool>,
    /// Its simulations were steady. One that was not shows a moment, not the drive.
    pub steady: bool,
    /// Where the figure is printed.
    pub source: String,
}

impl Graded {
    /// How many figures hold, of how many that are judged.
    #[must_use]
    pub fn tally(&self) -> (usize, usize) {
        let judged = self.figures.iter().filter_map(|figure| figure.holds);
        (judged.clone().filter(|&holds| holds).count(), judged.count())
    }

    /// The same for one kind of figures.
    #[must_use]
    pub fn tally_of(&self, kind: Kind) -> (usize, usize) {
        let judged = self.figures.iter().filter(|figure| figure.kind == kind).filter_map(|figure| figure.holds);
        (judged.clone().filter(|&holds| holds).count(), judged.count())
    }
}

/// Every card, in the order of `cards.toml`.
#[must_use]
pub fn cards() -> &'static [Card] {
    static CARDS: LazyLock<Vec<Card>> = LazyLock::new(|| read(include_str!("../../cards.toml")));
    &CARDS
}

/// The card of a drive as it was graded last, in a simulation of the preset as it is now or as it was then.
#[must_use]
pub fn kept(drive: &str) -> Option<Graded> {
    let (_, text) = KEPT.iter().find(|(name, _)| *name == drive)?;
    Some(serde_json::from_str(text).expect("a test reads all of them"))
}

macro_rules! kept_cards {
    ($($name:literal),* $(,)?) => {
        /// Name and document of the cards that were graded.
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
    "nvme-qlc",
    "nvme-qlc-gen3",
);

/// The keys of a preset, without its comments.
#[must_use]
pub fn keys_of(drive: &str) -> Option<Value> {
    let preset = config::presets().into_iter().find(|preset| preset.kind == PresetKind::Device && preset.name == drive)?;
    let table: toml::Table = toml::from_str(&preset.text).expect("presets are TOML");
    serde_json::to_value(table).ok()
}

/// As `cards.toml` has it.
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    figure: String,
    value: f64,
    tolerance: Option<f64>,
    range: Option<[f64; 2]>,
    kind: Kind,
    /// Key of a source.
    source: String,
    /// What else is to be known of the figure.
    note: Option<String>,
}

/// The file comes with the program: what is wrong in it is a bug, which a test finds.
fn read(text: &str) -> Vec<Card> {
    let file: File = toml::from_str(text).unwrap_or_else(|error| panic!("cards.toml: {error}"));
    let printed = |drive: &str, entry: Entry| {
        let measure = measure::find(&entry.figure).unwrap_or_else(|| panic!("cards.toml: {drive}: no figure {}", entry.figure));
        let source = file.sources.get(&entry.source).unwrap_or_else(|| panic!("cards.toml: {drive}: no source {}", entry.source));
        let source = entry.note.map_or_else(|| source.clone(), |note| format!("{source}; {note}"));
        let Entry { value, tolerance, range, kind, .. } = entry;
        let is_judged = tolerance.is_some() || range.is_some();
        assert_eq!(is_judged, kind != Kind::Reported, "cards.toml: {drive}: {}", measure.name);
        // What rounding allows, as a share; the range judges.
        let allowed = range.map(|[low, high]| (high / value - 1.0).max(1.0 - low / value));
        Printed { measure, value, tolerance: tolerance.or(allowed), range, kind, source }
    };
    let card = |(name, drive): (String, toml::Value)| {
        let drive: Drive = drive.try_into().unwrap_or_else(|error| panic!("cards.toml: {name}: {error}"));
        let figures = drive.figures.into_iter().map(|entry| printed(&name, entry)).collect();
        Card { drive: name, after: drive.after, capacity: drive.capacity, figures }
    };
    file.drives.into_iter().map(card).collect()
}

impl Card {
    /// What is simulated for its figures; each once.
    #[must_use]
    pub fn jobs(&self) -> Vec<Job> {
        let mut jobs: Vec<Job> = self.figures.iter().flat_map(|figure| figure.measure.jobs).copied().collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }

    /// What to simulate for a job, at the scale of the preset; `quick` shows that it works and nothing else.
    ///
    /// # Errors
    /// None but those of a preset that is wrong, which is a bug.
    pub fn scenario(&self, job: Job, quick: bool) -> Result<Scenario, Problems> {
        let text = format!("array.level = \"single\"\nworkload.kind = \"synthetic\"\nssd.preset = {:?}\n", self.drive);
        let mut settings = Vec::new();
        if quick {
            // Rows can't be fewer than some least number, whatever the scale.
            settings.push(("ssd.scale".to_owned(), "4096".to_owned()));
        }
        let plain = config::from_str(&self.drive, &text, &settings, Some(1))?;
        settings.extend(job.settings(&job::Space::of(&plain), quick));
        config::from_str(&self.drive, &text, &settings, Some(1))
    }

    /// What the figures come to; `reports` are those of [`Card::jobs`], in their order.
    #[must_use]
    pub fn grade(&self, reports: &[Report], quick: bool) -> Graded {
        let jobs = self.jobs();
        assert_eq!(jobs.len(), reports.len(), "a report for each job");
        let grade = |figure: &Printed| {
            let of_job = |job: &Job| &reports[jobs.iter().position(|known| known == job).expect("it is one of the card's")];
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
        }
    }
}

impl Printed {
    /// Least and greatest simulated value that meets it.
    fn bounds(&self) -> [f64; 2] {
        let share = self.tolerance.unwrap_or(0.0);
        self.range.unwrap_or([self.value * (1.0 - share), self.value * (1.0 + share)])
    }
}

#[cfg(test)]
mod tests;
