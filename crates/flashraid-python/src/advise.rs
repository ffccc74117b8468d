//! Advice: from a load and goals to an array.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use flashraid::Stop;
use flashraid::advise::goal::{Circumstance, Goal};
use flashraid::advise::{Advice as Answer, Advisor, Effort, Need, Preference, Prices, Space, Watch as Watcher};
use flashraid_experiments::card::residuals;
use flashraid_report::page::Page;
use flashraid_report::{advice as report, json};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{exception, of_output, refused};
use crate::spec::Spec;
use crate::table::Table;
use crate::wait::{Watch, interruptible};

/// The answer to a question about arrays.
#[pyclass(frozen, module = "flashraid._native")]
pub struct Advice {
    answer: Answer,
    capacity_bytes: f64,
}

/// A question, as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    name: String,
    capacity: Value,
    goals: Vec<String>,
    space: Option<Value>,
    drives: Vec<String>,
    bays: (u32, u32),
    prefer: Vec<String>,
    allow: Vec<String>,
    under: Vec<String>,
    now: Option<PathBuf>,
    prices: Option<Value>,
    growth: f64,
    sure: f64,
    seed: u64,
    requests: Option<u64>,
    effort_s: f64,
    workers: Option<usize>,
}

/// Passes progress to a search, and stops it.
struct OfSearch(Arc<Watch>);

impl Watcher for OfSearch {
    fn stop(&self) -> bool {
        !self.0.goes_on()
    }

    fn stop_signal(&self) -> Stop {
        self.0.asked()
    }
}

/// Searches, and returns the answer with what a signal handler or `progress` raised.
#[pyfunction]
pub fn advise(py: Python<'_>, spec: &str, question: &str) -> PyResult<(Advice, Option<PyErr>)> {
    let spec = Spec::read(py, spec)?;
    let question: Question = serde_json::from_str(question).map_err(|error| refused(py, &format!("advise: {error}")))?;
    let size = match &question.capacity {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let capacity_bytes =
        size.parse::<flashraid::model::units::Size>().map_err(|error| refused(py, &format!("capacity: {error}")))?.bytes as f64;
    let advisor = advisor(&question, &spec, capacity_bytes).map_err(|error| match error {
        Problem::Text(text) => refused(py, &text),
        Problem::Error(error) => exception(py, &error),
    })?;
    let watch = Arc::new(Watch::default());
    let watcher = OfSearch(Arc::clone(&watch));
    let (answer, raised) = interruptible(py, &watch, || Ok(()), || advisor.advise(&watcher))?;
    let answer = answer.map_err(|error| exception(py, &error))?;
    Ok((Advice { answer, capacity_bytes }, raised))
}

/// Something that is wrong with a question.
enum Problem {
    Text(String),
    Error(flashraid::Error),
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<flashraid::Error> for Problem {
    fn from(error: flashraid::Error) -> Self {
        Self::Error(error)
    }
}

fn advisor(question: &Question, spec: &Spec, capacity_bytes: f64) -> Result<Advisor, Problem> {
    let space = match &question.space {
        Some(space) => Space::from_toml(&text_of(space, "space")?).map_err(|problem| format!("space: {problem}"))?,
        None => Space::usual(&question.drives, question.bays).map_err(|problem| format!("drives, bays: {problem}"))?,
    };
    let mut advisor = spec.advisor(&question.name, space, capacity_bytes)?;
    if let Some(now) = &question.now {
        advisor = advisor.present(now)?;
    }
    advisor.goals = question.goals.iter().map(|goal| goal.parse::<Goal>()).collect::<Result<_, _>>()?;
    advisor.prefer = question.prefer.iter().map(|text| text.parse::<Preference>()).collect::<Result<_, _>>()?;
    let allow = question.allow.iter().map(|text| text.parse::<Need>()).collect::<Result<Vec<_>, _>>()?;
    advisor.allow = std::iter::once(Need::Now).chain(allow).collect();
    advisor.under = question.under.iter().map(|text| text.parse::<Circumstance>()).collect::<Result<_, _>>()?;
    if let Some(prices) = &question.prices {
        advisor.prices = Some(Prices::from_toml(&text_of(prices, "")?).map_err(|problem| format!("prices: {problem}"))?);
    }
    let is_between = |value: f64, least: f64, most: f64| (least..=most).contains(&value);
    if !is_between(question.growth, 0.01, 1000.0) {
        return Err(format!("growth is {}, but must be from 0.01 to 1000", question.growth).into());
    }
    if !is_between(question.sure, 0.8, 0.999) {
        return Err(format!("sure is {}, but must be from 0.8 to 0.999", question.sure).into());
    }
    if !is_between(question.effort_s, 1e-3, 1e6) {
        return Err(format!("effort_s is {}, but must be from 0.001 to 1000000", question.effort_s).into());
    }
    (advisor.growth, advisor.error, advisor.seed) = (question.growth, 1.0 - question.sure, question.seed);
    advisor.effort = match question.requests {
        Some(requests) => Effort::Requests(requests),
        None => Effort::Time(Duration::from_secs_f64(question.effort_s)),
    };
    if let Some(workers) = question.workers {
        advisor.workers = workers;
    }
    advisor.residuals = residuals();
    Ok(advisor)
}

/// Returns a TOML text, or that of a table, which stands below a key unless it is empty.
fn text_of(value: &Value, key: &str) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        table => {
            let whole = if key.is_empty() { table.clone() } else { serde_json::json!({ key: table }) };
            toml::to_string(&whole).map_err(|error| format!("{key}: {error}"))
        }
    }
}

#[pymethods]
impl Advice {
    /// The document of `flashraid advise --json`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        Ok(json::text(&json::document(&self.answer).map_err(|error| of_output(py, &error))?))
    }

    /// The page with tables and charts.
    fn html(&self, title: &str) -> String {
        Page { title, parts: &[report::part(&self.answer, self.capacity_bytes)] }.html()
    }

    /// The text that the program prints.
    fn text(&self) -> String {
        report::text(&self.answer, self.capacity_bytes, 80)
    }

    /// The charts, as JSON.
    fn charts(&self) -> String {
        serde_json::to_string(&report::part(&self.answer, self.capacity_bytes).charts).expect("charts are plain data")
    }

    /// A row for each point.
    fn points(&self) -> Table {
        Table::of_data(&report::table(&self.answer))
    }
}
