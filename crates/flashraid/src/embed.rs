//! Entry point of the library. It turns a configuration into a report. Callers may supply their own source of requests and an observer.

use std::borrow::Borrow;
use std::path::Path;

use serde_json::Value;

use crate::Error;
use crate::check::{CheckReport, check_before_run};
use crate::config::{Config, Problem, Problems, Scenario, workload_address_space};
use crate::counterfactual::{self, Change};
use crate::device::Device;
use crate::observer::Observer;
use crate::report::Report;
use crate::run;
use crate::study::{MachineResources, StudyProblem};
use crate::template::Template;
use crate::warm_state_cache::WarmStateCache;
use crate::warm_up::SharedWarmUps;
use flashraid_model::array::WarmUpPattern;
use flashraid_workload::{RequestSource, Stop};

/// One simulation: from a configuration to a [`Report`].
/// ```
/// # fn main() -> Result<(), flashraid::Error> {
/// let report = flashraid::Simulation::from_toml("[array]\nmembers = 2")?
///     .set("ssd.geometry.dies", 1)?
///     .set("ssd.geometry.blocks", 64)?
///     .set("workload.requests", 100)?
///     .seed(7)
///     .run()?;
/// assert_eq!((report.seed, report.requests.all, report.members.len()), (7, 100, 2));
/// # Ok(())
/// # }
/// ```
#[must_use = "a simulation does nothing before `run`"]
pub struct Simulation<'a> {
    template: Template,
    source: Option<Box<dyn RequestSource>>,
    checked: Option<CheckReport>,
    observer: Option<Box<dyn Observer + 'a>>,
    verify: bool,
    because: bool,
    times: u64,
    threads: usize,
    cache: Option<WarmStateCache>,
}

impl<'a> Simulation<'a> {
    /// Returns a simulation of a configuration that was built in Rust.
    pub fn new(config: impl Borrow<Config>) -> Self {
        Self::of(Template::new(config.borrow()))
    }

    /// Returns a simulation of a configuration text. Missing keys have their defaults
    /// ([`config::config_schema`](crate::config::config_schema)), and paths are relative to the working folder.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the text is not TOML.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        Ok(Self::of(Template::from_toml(text)?))
    }

    /// Returns a simulation of a configuration file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the file cannot be read or is not TOML.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        Ok(Self::of(Template::from_file(path.as_ref())?))
    }

    /// Returns a simulation whose configuration is a tree of values, for example from JSON or from a map of another language. A `null`
    /// counts as a missing key.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if the value is not a table.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        Ok(Self::of(Template::from_value(value)?))
    }

    fn of(template: Template) -> Self {
        Self { template, source: None, checked: None, observer: None, verify: false, because: false, times: 1, threads: 1, cache: None }
    }

    /// Sets a key of the configuration to another value, as `--set` does. The value is read as TOML. A value that is not TOML, such as
    /// `greedy` without quotes, is taken as a text.
    ///
    /// # Errors
    /// Returns [`Error::Config`] if `key` cannot be a key, such as `array..members`. Returns the same error if `value` begins with a
    /// quote or bracket, like a text, list or table in TOML, but is not valid TOML. [`Simulation::run`] finds out whether the key exists
    /// and the value fits it, and reports all problems at once.
    pub fn set(mut self, key: &str, value: impl ToString) -> Result<Self, Error> {
        self.template.set(key, value.to_string())?;
        Ok(self)
    }

    /// Replaces the seed, from which every random choice follows.
    pub fn seed(mut self, seed: u64) -> Self {
        self.template.seed = Some(seed);
        self
    }

    /// Sets the source of requests, in place of the configuration's `[workload]`. Of that, only `requests` and `duration` still have an
    /// effect: they end the run if the source does not end before.
    pub fn source(mut self, source: impl RequestSource + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Sets an observer. A caller that passes `&mut observer` keeps the observer, and can read after the run what the observer has
    /// recorded.
    pub fn observe(mut self, observer: impl Observer + 'a) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Switches on a check at the end of the run: the bookkeeping of the write cache and of every member must be consistent. This includes
    /// each member's map of pages. Otherwise, [`Simulation::run`] returns [`Error::InconsistentMemberState`], which is a bug of the
    /// simulator.
    pub fn verify(mut self) -> Self {
        self.verify = true;
        self
    }

    /// Runs the same requests again with one thing changed, so that [`Report::because`] says what causes the response times. There are up
    /// to four further runs: no collection, no parity, reads alone, and one request at a time
    /// ([`Change`](crate::counterfactual::Change)). Each takes as long as the first, and begins in the same warm state. The observer sees
    /// the requests of the first run only.
    pub fn because(mut self) -> Self {
        self.because = true;
        self
    }

    /// Makes the run `times` as long: generated requests go on, and traces repeat. The report is that of a configuration with so many more
    /// requests. [`Simulation::run`] returns [`Error::Study`] if the workload cannot go on.
    pub fn longer(mut self, times: u64) -> Self {
        self.times = times;
        self
    }

    /// Sets the number of threads; 0 counts as 1. They share the work of warm-ups. They also share the requests of an open loop (requests
    /// arrive without waiting for answers), if members do not affect each other. No result depends on the number.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the cache that keeps the states after long warm-ups from run to run. Without it, every run computes them again. The results do
    /// not depend on it.
    pub fn warm_state_cache(mut self, cache: impl Into<Option<WarmStateCache>>) -> Self {
        self.cache = cache.into();
        self
    }

    /// Returns the number of bytes that the array offers to its host, which a caller's [`RequestSource`] may address.
    ///
    /// # Errors
    /// Returns [`Error::Config`] with all problems of the configuration.
    pub fn capacity_bytes(&self) -> Result<u64, Error> {
        Ok(workload_address_space(&self.scenario()?.array).capacity_bytes)
    }

    /// Explains the configuration without running it. Files that a run would read or write are checked, too.
    ///
    /// # Errors
    /// Returns [`Error::Config`] with all problems of the configuration, or the error with which [`Simulation::run`] would end before its
    /// first request.
    pub fn check(&self) -> Result<CheckReport, Error> {
        self.check_unless_stopped(&Stop::default())
    }

    /// Explains the configuration like [`Simulation::check`], unless `stop` says to stop.
    ///
    /// # Errors
    /// Returns the errors of [`Simulation::check`], and [`Error::StoppedBeforeFirstRequest`].
    #[doc(hidden)]
    pub fn check_unless_stopped(&self, stop: &Stop) -> Result<CheckReport, Error> {
        Ok(check_before_run(&self.scenario()?, stop)?)
    }

    /// Uses the result of an earlier [`Simulation::check`] of the same configuration, so that [`Simulation::run`] does not repeat it.
    #[doc(hidden)]
    pub fn with_earlier_check(mut self, report: CheckReport) -> Self {
        self.checked = Some(report);
        self
    }

    /// Checks that the configuration can be run. [`Simulation::run`] does this by itself before anything else.
    ///
    /// # Errors
    /// Returns [`Error::Config`] with all problems of the configuration.
    pub fn validate(&self) -> Result<(), Error> {
        self.scenario().map(drop)
    }

    /// Runs the simulation. The same configuration, seed and source give the same report on every machine, except for times of the wall
    /// clock.
    ///
    /// # Errors
    /// Returns one of these errors:
    /// - [`Error::Config`] with all problems of the configuration,
    /// - [`Error::RequestSource`] if the requests cannot be read,
    /// - [`Error::StoppedBeforeFirstRequest`] if the observer stops it before the first request,
    /// - [`Error::UnusableInput`] after [`Simulation::because`] if the requests can be read only once,
    /// - an error of a file that it reads or writes.
    pub fn run(self) -> Result<Report, Error> {
        let scenario = self.scenario()?;
        let mut observer = self.observer.unwrap_or_else(|| Box::new(()));
        let Self { source, checked, verify, threads, cache, .. } = self;
        if self.because {
            counterfactual::refuse_own_source(source.as_deref())?;
            let settings = counterfactual::PairSettings { cache, threads, checked, verify };
            return Ok(counterfactual::run_with_pairs(&scenario, &Change::ALL, settings, &mut *observer)?);
        }
        let warm_ups = SharedWarmUps::default().with_cache(cache).with_threads_per_run(threads);
        let settings = run::RunSettings { source, checked, verify, ..run::RunSettings::new(&warm_ups) };
        Ok(run::run_with(&scenario, settings, &mut *observer)?)
    }

    /// Warms the array up and returns it as a [`Device`], which takes requests at moments that the caller chooses. Requests of the
    /// configuration's `[workload]`, or of a source set with [`Simulation::source`], are not sent. A warm-up with `ssd.warm_up.pattern =
    /// "workload"` still writes to the addresses that `[workload]` describes.
    ///
    /// # Errors
    /// Returns the errors of [`Simulation::run`], or [`Error::UnusableInput`] if there is too little memory.
    pub fn open(self) -> Result<Device, Error> {
        let scenario = self.scenario()?;
        // Another program's process is not ours to end for want of memory.
        if let Err(lack) = MachineResources::fit_to_this_machine(&[&scenario], None, Some(self.threads), None) {
            let (needed_mib, available_mib) = (lack.needed_bytes >> 20, lack.available_bytes >> 20);
            return Err(Error::UnusableInput(format!(
                "this needs about {needed_mib} MiB of memory, and there are {available_mib} MiB ({}); reduce array.members or ssd.geometry \
                 (dies, planes, blocks, pages)",
                lack.limit_name
            )));
        }
        let mut observer = self.observer.unwrap_or_else(|| Box::new(()));
        let warm_ups = SharedWarmUps::default().with_cache(self.cache).with_threads_per_run(self.threads);
        Ok(Device::warm(scenario, &warm_ups, &mut *observer)?)
    }

    /// Returns the checked scenario.
    ///
    /// # Errors
    /// Returns the errors of [`Simulation::validate`].
    #[doc(hidden)]
    pub fn scenario(&self) -> Result<Scenario, Error> {
        let mut scenario = self.template.scenario([], None)?;
        if self.times > 1 {
            scenario = scenario.longer(self.times).map_err(|reason| StudyProblem::CannotGoOn { reason })?;
        }
        if self.source.is_some() && scenario.warm_up.pattern == WarmUpPattern::Workload {
            let key = "ssd.warm_up.pattern".to_owned();
            let message = format!("`{key}` is \"workload\", but the requests come from a source that can be read only once");
            let help = Some("use \"random\"".to_owned());
            return Err(Error::Config(Problems {
                list: vec![Problem { key, message, suggested_fix: help, place: None }],
                ..Problems::default()
            }));
        }
        Ok(scenario)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompletedRequest, OpKind, Progress, Request, SourceError, VictimBlockCollection};

    const SMALL: &str =
        "array.members = 2\nssd.geometry = { dies = 1, blocks = 64, pages = 16 }\nworkload = { preset = \"hpc-w\", requests = 2000 }";

    fn document(simulation: Simulation<'_>) -> String {
        simulation.run().unwrap().without_wall_clock().to_json()
    }

    #[test]
    fn what_was_checked_is_not_looked_for_again() {
        let simulation = || Simulation::from_toml(SMALL).unwrap();
        let checked = simulation().check().unwrap();
        assert_eq!(document(simulation().with_earlier_check(checked.clone())), document(simulation()));
        let other = CheckReport { warnings: vec!["as it was found".to_owned()], ..checked };
        assert_eq!(simulation().with_earlier_check(other).run().unwrap().warnings, ["as it was found"]);
    }

    #[test]
    fn a_configuration_runs_alike_as_text_as_values_and_as_types() {
        let of_text = Simulation::from_toml(SMALL).unwrap().seed(u64::MAX);
        let scenario = of_text.scenario().unwrap();
        let mut value = serde_json::to_value(&scenario.config).unwrap();
        value.as_object_mut().unwrap().insert("cache".to_owned(), Value::Null);
        value.as_object_mut().unwrap().remove("seed");
        let document_of_text = document(of_text);
        assert_eq!(document(Simulation::new(&scenario.config)), document_of_text);
        assert_eq!(document(Simulation::from_value(&value).unwrap().seed(u64::MAX)), document_of_text);
    }

    #[derive(Default)]
    struct Counts {
        requests: u64,
        cleans: u64,
        stop: bool,
    }

    impl Observer for Counts {
        fn progress(&mut self, progress: &Progress) -> bool {
            !self.stop || progress.requests_sent == 0
        }

        fn request_completed(&mut self, _: &CompletedRequest) {
            self.requests += 1;
        }

        fn victim_cleaned(&mut self, clean: &VictimBlockCollection) {
            assert!(clean.end_ns > clean.start_ns && clean.member < 2);
            self.cleans += 1;
        }
    }

    #[test]
    fn an_observer_sees_everything_and_changes_nothing() {
        let mut counts = Counts::default();
        let report = Simulation::from_toml(SMALL).unwrap().observe(&mut counts).verify().run().unwrap();
        assert_eq!((counts.requests, counts.cleans), (2000, report.gc.cleans));
        assert!(counts.cleans > 0);
        assert_eq!(report.without_wall_clock().to_json(), document(Simulation::from_toml(SMALL).unwrap()));
    }

    #[test]
    fn an_observer_that_stops_gets_a_partial_report() {
        let mut counts = Counts { stop: true, ..Counts::default() };
        let simulation = Simulation::from_toml(SMALL).unwrap().set("workload.requests", 100_000).unwrap();
        let report = simulation.observe(&mut counts).run().unwrap();
        assert!(report.partial && report.requests.all < 100_000);

        struct Never;
        impl Observer for Never {
            fn progress(&mut self, _: &Progress) -> bool {
                false
            }
        }
        let error = Simulation::from_toml(SMALL).unwrap().observe(Never).run().unwrap_err();
        assert!(matches!(error, Error::StoppedBeforeFirstRequest));
    }

    /// A source that reads beyond the end of every array after `good` requests.
    struct Faulty {
        good: u64,
    }

    impl RequestSource for Faulty {
        fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
            let offset_bytes = if self.good == 0 { u64::MAX - 4096 } else { 0 };
            self.good = self.good.saturating_sub(1);
            Ok(Some(Request::new(OpKind::Read, 0, offset_bytes, 4096)))
        }
    }

    #[test]
    fn what_a_caller_gets_wrong_is_an_error_that_says_so() {
        let simulation = || Simulation::from_toml(SMALL).unwrap();
        let error = simulation().source(Faulty { good: 100 }).run().unwrap_err();
        assert!(
            matches!(error, Error::RequestSource(_)) && error.is_caller_mistake() && error.to_string().contains("does not fit"),
            "{error}"
        );

        let error = simulation().set("ssd.warm_up.pattern", "workload").unwrap().source(Faulty { good: 1 }).run().unwrap_err();
        assert!(matches!(&error, Error::Config(problems) if problems.list[0].key == "ssd.warm_up.pattern"), "{error}");

        let error = simulation().set("array.members", "many").unwrap().set("ssd.gc.victim", "gredy").unwrap().validate().unwrap_err();
        assert!(matches!(&error, Error::Config(problems) if problems.list.len() == 2), "{error}");
        assert!(error.to_string().contains("did you mean"), "{error}");

        for (key, value) in [("array..members", "2"), ("array.members", "[2")] {
            assert!(matches!(simulation().set(key, value), Err(Error::Config(_))), "{key} = {value}");
        }
        assert!(matches!(Simulation::from_toml("array = ["), Err(Error::Config(_))));
        assert!(matches!(Simulation::from_value(&Value::from(3)), Err(Error::Config(_))));
        assert!(Simulation::from_file("there/is/no/such.toml").is_err_and(|error| error.is_caller_mistake()));
    }

    #[test]
    fn a_report_of_own_requests_says_so() {
        let report = Simulation::from_toml(SMALL).unwrap().source(Faulty { good: 5000 }).run().unwrap();
        assert_eq!((report.requests.read, report.requests.write), (2000, 0));
        assert!(report.workload_note.unwrap().contains("caller's own"));
    }
}
