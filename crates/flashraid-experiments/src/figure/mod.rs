//! A figure or table of a paper: its simulations, and the function that judges them.

mod claims;
mod evaluation;

use std::collections::BTreeSet;

use crate::Results;
pub use claims::{Evidence, Fact, Role, RootCause, Shown, Variation, facts, root_causes};
use evaluation::FIRST_SEEDS;
pub use evaluation::{Claim, Effect, Evaluation, Part, Row, Sensitivity};

/// Key of the number of requests of a run.
pub const REQUESTS: &str = "workload.requests";
/// Key of the number of requests at the begin that statistics leave out.
pub const SKIPPED_REQUESTS: &str = "report.skip_requests";

/// Configuration of the drives of GGC section 3 and of the poster, under a closed loop. Statistics begin when collection has settled.
pub const DRIVE: &str = r#"
[array]
level = "single"
[ssd]
preset = "mlc-sata2"
[workload]
duration = "40s"
[report]
skip_time = "10s"
"#;

/// A figure or table of a paper.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Identifier, for instance `ggc.fig6`.
    pub id: &'static str,
    /// Title of the figure in lists and pages.
    pub title: &'static str,
    /// Simulations that the figure consists of.
    pub points: Vec<Point>,
    /// Judges the results of the simulations, claim by claim.
    pub evaluate: fn(&Results, &mut Evaluation),
}

/// Kind of curve that a figure shows besides the means of its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curves {
    /// Bandwidth in intervals over time.
    Bandwidth,
    /// Density of bandwidth over Z-scores.
    BandwidthDensity,
    /// Distributions of response times.
    Responses,
    /// Requests and collections in a window of time.
    Windows,
    /// Free blocks over time.
    FreeBlocks,
}

impl Figure {
    /// Returns the kind of curve that the figure has in its paper, if it has some.
    pub fn curves(&self) -> Option<Curves> {
        match self.id {
            "ggc.fig1" | "ggc.fig2" => Some(Curves::Bandwidth),
            "pgc.fig2" | "poster.fig2" => Some(Curves::BandwidthDensity),
            "ggc.fig12" => Some(Curves::Responses),
            "ggc.fig10" | "ggc.fig13" => Some(Curves::Windows),
            "pgc.fig11" => Some(Curves::FreeBlocks),
            _ => None,
        }
    }

    /// Returns true if the figure is of a paper after those that the project began with. Such figures are the second part of the ledger.
    pub fn is_later(&self) -> bool {
        !["ggc", "pgc", "lawc", "poster"].iter().any(|paper| self.id.split('.').next() == Some(*paper))
    }

    /// Returns the names of the traces that its simulations replay, in order.
    pub fn traces(&self) -> BTreeSet<&'static str> {
        self.points.iter().filter_map(|point| point.trace).collect()
    }

    /// Returns the claims of the paper that concern the figure.
    pub fn facts(&self) -> Vec<Fact> {
        let belongs = |id: &str| id.strip_prefix(self.id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        facts().into_iter().filter(|fact| belongs(&fact.id)).collect()
    }

    /// Returns true if the figure measures bandwidth. Otherwise it measures response times.
    pub fn measures_bandwidth(&self) -> bool {
        self.points.first().is_some_and(|point| point.text == DRIVE)
    }
}

/// Size of the simulations of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Smaller devices and fewer requests. Four seeds, because shorter runs scatter more.
    Quick,
    /// Devices and requests as in the papers. Three seeds, or one if that suffices.
    Full,
}

impl Size {
    /// Returns the number of consecutive seeds of a point, if one does not suffice.
    pub fn seeds(self) -> u64 {
        match self {
            Size::Quick => 4,
            Size::Full => 3,
        }
    }
}

/// One simulation of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Name of the point in the figure, which is the values of its axes, for instance `hpc-w local`.
    pub name: String,
    /// Base configuration as TOML.
    pub text: &'static str,
    /// Keys and values that replace those of the configuration.
    pub settings: Vec<(String, String)>,
    /// Further keys and values for the quick size.
    pub quick: Vec<(String, String)>,
    /// True if one seed suffices at full size.
    pub one_seed: bool,
    /// True if claims of the point are judged with five first seeds at full size.
    pub five_seeds: bool,
    /// Name of the trace that the simulation replays. There is no stand-in for it.
    pub trace: Option<&'static str>,
}

impl Point {
    /// Creates a point with a base configuration.
    pub fn new(name: impl Into<String>, text: &'static str) -> Point {
        Point { name: name.into(), text, settings: Vec::new(), quick: Vec::new(), one_seed: false, five_seeds: false, trace: None }
    }

    /// Adds a key and its value.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl ToString) -> Point {
        self.settings.push((key.to_owned(), value.to_string()));
        self
    }

    /// Adds a key and its value for the quick size.
    #[must_use]
    pub fn quick(mut self, key: &str, value: impl ToString) -> Point {
        self.quick.push((key.to_owned(), value.to_string()));
        self
    }

    /// Sets if one seed suffices at full size.
    #[must_use]
    pub fn one_seed(mut self, is_enough: bool) -> Point {
        self.one_seed = is_enough;
        self
    }

    /// Runs the point with five seeds at full size.
    #[must_use]
    pub fn five_seeds(mut self) -> Point {
        (self.one_seed, self.five_seeds) = (false, true);
        self
    }

    /// Sets the trace that the simulation replays.
    #[must_use]
    pub fn trace(mut self, name: &'static str) -> Point {
        self.trace = Some(name);
        self
    }

    /// Returns true if the simulation can be run with these traces, which are names and files.
    pub fn has_its_trace(&self, traces: &[(String, String)]) -> bool {
        self.trace.is_none_or(|name| traces.iter().any(|(known, _)| known == name))
    }

    /// Returns the number of consecutive seeds, unless the user chooses another.
    pub fn seeds(&self, size: Size) -> u64 {
        match size {
            Size::Full if self.one_seed => 1,
            Size::Full if self.five_seeds => FIRST_SEEDS as u64,
            _ => size.seeds(),
        }
    }

    /// Returns the keys and values for a size. Later ones win. `traces` has names of workloads and files; such a workload is replaced by
    /// its trace.
    pub fn settings(&self, size: Size, traces: &[(String, String)]) -> Vec<(String, String)> {
        let quick = if size == Size::Quick { self.quick.as_slice() } else { &[] };
        let settings = self.settings.iter().chain(quick);
        if let Some(trace) = self.trace {
            // Without its file the simulation can be described, but not run.
            let file = traces.iter().find(|(name, _)| name == trace).map_or(trace, |(_, file)| file.as_str());
            let path = [("workload.kind", "trace"), ("workload.path", file)].map(|(key, value)| (key.to_owned(), value.to_owned()));
            return path.into_iter().chain(settings.cloned()).collect();
        }
        let trace_of = |(key, value): &(String, String)| traces.iter().find(|(name, _)| key == "workload.preset" && name == value);
        if !settings.clone().any(|setting| trace_of(setting).is_some()) {
            return settings.cloned().collect();
        }
        let length = [REQUESTS, SKIPPED_REQUESTS];
        let replaced = |setting: &(String, String)| match trace_of(setting) {
            Some((_, file)) => vec![("workload.kind".to_owned(), "trace".to_owned()), ("workload.path".to_owned(), file.clone())],
            None => vec![setting.clone()],
        };
        settings.filter(|(key, _)| !length.contains(&key.as_str())).flat_map(replaced).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_replaces_its_workload_only() {
        let point = Point::new("p", "").set("workload.preset", "cello").quick("workload.requests", 10);
        let settings = |size, name: &str| {
            let settings = point.settings(size, &[(name.to_owned(), "c.spc".to_owned())]);
            settings.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(settings(Size::Full, "cello"), ["workload.kind=trace", "workload.path=c.spc"]);
        assert_eq!(settings(Size::Quick, "cello"), ["workload.kind=trace", "workload.path=c.spc"]);
        assert_eq!(settings(Size::Quick, "tpc-c"), ["workload.preset=cello", "workload.requests=10"]);
    }

    #[test]
    fn every_point_is_a_configuration() {
        for figure in crate::figures() {
            for point in &figure.points {
                for size in [Size::Quick, Size::Full] {
                    let loaded = flashraid::config::scenario_from_toml(&point.name, point.text, &point.settings(size, &[]), Some(7));
                    assert!(loaded.is_ok(), "{} {}: {}", figure.id, point.name, loaded.unwrap_err());
                }
            }
            let names: std::collections::BTreeSet<&str> = figure.points.iter().map(|point| point.name.as_str()).collect();
            assert_eq!(names.len(), figure.points.len(), "{}: names repeat", figure.id);
        }
    }
}
