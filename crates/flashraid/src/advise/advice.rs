//! The answer of a search.

use serde::Serialize;
use serde_json::Value;

/// Name and version of the document of an answer.
pub const ADVICE_SCHEMA: &str = "flashraid.advice/1";

/// Kind of an answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// One array is best.
    Take,
    /// Several arrays are equally good, and the cheapest of them is named first.
    Either,
    /// The present array is as good as the best.
    Keep,
    /// No array of the space meets the goals.
    NotReachable,
    /// The runs do not decide.
    CantTell,
    /// There are no goals, so that only the arrays are named that no other one beats in everything.
    Front,
    /// The load leaves every array idle.
    Idle,
}

/// Stage of the search that an array reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The point is no array, or not allowed.
    Space,
    /// Arithmetic ruled it out.
    Arithmetic,
    /// The array was compared in the screen.
    Screen,
    /// The array was compared in the race.
    Race,
    /// The array was run again with fresh seeds.
    Confirmed,
}

/// A figure of an array.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FigureOf {
    /// Name of the figure, as in goals.
    pub figure: String,
    /// Circumstance in which it was measured.
    pub under: String,
    /// Value: microseconds, years, bytes, requests per second or a ratio.
    pub value: f64,
    /// Interval of 95 % that chance gives; missing for figures of arithmetic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_chance: Option<[f64; 2]>,
    /// Interval of 90 % with the error of the model itself; missing if no published figure tells that error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_model: Option<[f64; 2]>,
    /// Least and greatest value, if the runs did not measure it: of a life, with uniform writes and without collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
    /// Number of superblocks, or of blocks of each die, that the runs erased in each drive, if they are too few to measure a life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superblocks: Option<f64>,
    /// Goal for the figure, as the user wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Certainty with which the goal is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word: Option<&'static str>,
}

/// A point of the space, or the present array.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointOf {
    /// Description of the array for people.
    pub name: String,
    /// Values of the axes.
    pub settings: serde_json::Map<String, Value>,
    /// True for the present array.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub now: bool,
    /// Stage that it reached.
    pub stage: Stage,
    /// Reason why it left, or why it was not chosen; empty for what is named.
    pub reason: String,
    /// Bytes that the array offers; missing if there is no such array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<f64>,
    /// Raw bytes of its drives, which stand for their price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_bytes: Option<f64>,
    /// Cost at the given prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Mean score of the last stage: the logarithm of the compared figure, of which less is better, over parts of the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Half of the 95 % interval of this score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_half_width: Option<f64>,
    /// Figure that the score is of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score_of: Option<String>,
    /// Figures that are told of it. Those of a named array come from fresh seeds.
    pub figures: Vec<FigureOf>,
}

/// Another array that deserves a word.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Other {
    /// Index in the list of points.
    pub point: usize,
    /// Sentence about the array.
    pub text: String,
}

/// A change on the way from the present array to the one to take, with its effect on the compared figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The change, such as `RAID-10 of 10 instead of RAID-5 of 8`.
    pub change: String,
    /// Figure after the change, divided by the figure before.
    pub ratio: f64,
    /// Interval of 95 % of this ratio.
    pub interval: [f64; 2],
}

/// Results with drives that are as plausible as the presets: what no data sheet tells is varied.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlausibleDrives {
    /// Number of drives that were tried and collected enough to be judged.
    pub drives: usize,
    /// Number of drives with which no other array is surely better by more than 5 %.
    pub best_in: usize,
    /// Number of drives with which the array meets the goals.
    pub goals_met_in: usize,
    /// Figure that is compared.
    pub figure: String,
    /// Least value of the figure.
    pub least: f64,
    /// Greatest value of the figure.
    pub most: f64,
    /// Descriptions of the drives with which another array is better, or a goal is missed.
    pub exceptions: Vec<String>,
}

/// The answer to a question about arrays.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// Name and version of the document: [`ADVICE_SCHEMA`].
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Name of the load.
    pub load: String,
    /// Kind of an answer to a question.
    pub verb: Verb,
    /// Currency of costs; missing without prices, where raw capacity stands for cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// Indices of the named arrays in the list of points, the one to take first.
    pub named: Vec<usize>,
    /// Sentences that explain the answer; the first one says it.
    pub sentences: Vec<String>,
    /// Index of the present array in the list of points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<usize>,
    /// Other arrays that deserve a word.
    pub also: Vec<Other>,
    /// Changes from the present array to the one to take, each with what it is worth.
    pub why: Vec<Step>,
    /// Results with plausible drives; missing if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plausible: Option<PlausibleDrives>,
    /// Number of points that left, by reason, the most frequent first.
    pub left_by_reason: Vec<(String, usize)>,
    /// Factor by which the load may grow until the first goal is missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_may_grow: Option<f64>,
    /// Number of simulated requests.
    pub requests: u64,
    /// Number of requests that the search was allowed. With the same number, the same search gives the same answer.
    pub requests_max: u64,
    /// Number of requests of a run in the screen.
    pub requests_of_screen: u64,
    /// Number of requests of a run after the screen. If runs of the race were too short to be judged, those with fresh seeds are longer.
    pub requests_of_race: u64,
    /// Assumptions that the answer rests on, and what was not asked.
    pub assumptions: Vec<String>,
    /// Every point with its stage, reason and figures.
    pub points: Vec<PointOf>,
    /// Configuration of the named array with its load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Value>,
    /// Errors of the model by kind of figure.
    pub residuals: super::Residuals,
    /// True if the user stopped the search.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}
