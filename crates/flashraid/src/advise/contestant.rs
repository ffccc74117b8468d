//! Arrays that may be chosen, and what arithmetic alone says of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Watch;
use super::goal::{Circumstance, Direction, Figure, Statistic};
use super::sample::Sample;
use super::space::{NAMED_AXES, Need, Space, used_share};
use crate::Error;
use crate::check::{self, CheckReport, FirstRequestsStatistics};
use crate::config::{Problems, ScaledDriveDimension, Scenario, workload_address_space};
use crate::run::RunError;
use crate::study::Setting;
use crate::template::Template;
use flashraid_workload::{FirstOfTrace, Stop};
use serde_json::Value;

/// Value of `read.plan` that hedges after a time of the drive.
const HEDGE_AUTO: &str = "hedge:auto";
/// Time after which reads are hedged automatically, divided by the 99th percentile of single reads.
const HEDGE_FACTOR: f64 = 1.5;
const DAY_S: f64 = 86_400.0;
const DAYS_PER_YEAR: f64 = 365.25;

/// An array that may be chosen.
#[derive(Debug, Clone)]
pub(super) struct Contestant {
    /// Description such as `RAID-5 of 8 nvme-tlc-read, chunk 64KiB`.
    pub name: String,
    /// Point of the space; empty for the present array.
    pub settings: Vec<Setting>,
    /// True for the present array.
    pub is_now: bool,
    /// Requests at the start of each run that are not measured (`report.skip_requests`).
    pub requests_skipped: u64,
    /// Name of the drive.
    pub drive: String,
    /// Bytes that the array offers.
    pub capacity_bytes: f64,
    /// Bytes of a member that are in use.
    pub member_bytes: f64,
    /// Bytes that its drives are sold with.
    pub cost_bytes: f64,
    /// Cost that arrays are compared by: money or, without prices, bytes.
    pub cost: f64,
    /// Number of drives in the array, spares not counted.
    pub members: f64,
    /// Least and greatest life in years, by write amplification of uniform writes and by none; `None` if the load has no rate.
    pub life_years: Option<[f64; 2]>,
    /// Life in years with the write amplification that the load itself would reach in the long run, if it is known.
    pub own_life_years: Option<f64>,
    /// Share of the time for which the busiest part works, without collection.
    pub busy: f64,
    /// Share of the time for which the busiest part works, with collection.
    pub busy_with_collection: f64,
    /// True if the array survives the failure of a member.
    pub has_redundancy: bool,
    template: Template,
    sets: Vec<(String, String)>,
}

impl Contestant {
    /// Returns the scenario of a run in which so many requests are measured. `passes` is the number of times that a trace is sent.
    pub(super) fn scenario(&self, run: &RunOf) -> Result<Scenario, Problems> {
        let mut sets = self.sets.clone();
        let mut set = |key: &str, value: String| sets.push((key.to_owned(), value));
        set("workload.requests", (run.requests + self.requests_skipped).to_string());
        if run.passes > 1 {
            set("workload.repeat", run.passes.to_string());
        }
        if let Some(rate_scale) = run.rate_scale {
            set("workload.rate_scale", rate_scale.to_string());
        }
        match run.under {
            Circumstance::Healthy => {}
            Circumstance::Slow => set("array.slow", "{ member = 0, factor = 10, share = 0.05 }".to_owned()),
            Circumstance::Failed => set("array.failure", "{ member = 0, at = \"0s\" }".to_owned()),
            Circumstance::Rebuild => {
                set("array.failure", "{ member = 0, at = \"0s\" }".to_owned());
                if !self.sets.iter().any(|(key, _)| key.starts_with("array.rebuild")) {
                    set("array.rebuild", "{ rate = \"100MB/s\" }".to_owned());
                }
            }
        }
        self.template.scenario(sets, Some(run.seed))
    }

    /// Returns the same array with other settings of its drives.
    pub(super) fn varied(&self, settings: &[(String, String)]) -> Self {
        Self { sets: self.sets.iter().chain(settings).cloned().collect(), ..self.clone() }
    }

    /// Returns the array of a whole configuration.
    pub(super) fn with_configuration(&self, configuration: &Value) -> Result<Self, Problems> {
        Ok(Self { template: Template::from_value(configuration)?, sets: Vec::new(), ..self.clone() })
    }

    /// Returns the configuration of the array with its load.
    pub(super) fn configuration(&self) -> Result<Value, Problems> {
        let scenario = self.template.scenario(self.sets.clone(), None)?;
        Ok(serde_json::to_value(&scenario.config).expect("a configuration is plain data"))
    }
}

/// A run of a contestant.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunOf {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of requests that are measured.
    pub requests: u64,
    /// Number of times that a trace is sent.
    pub passes: u64,
    /// Factor of the rate of requests, in place of the configuration's.
    pub rate_scale: Option<f64>,
    /// Circumstance of the run.
    pub under: Circumstance,
}

/// The points of a space as contestants, and the number of points that are none, by reason.
#[derive(Debug, Default)]
pub(super) struct Field {
    pub contestants: Vec<Contestant>,
    pub left_out: Vec<(Vec<Setting>, String)>,
}

/// Makes contestants of points.
pub(super) struct Maker<'a> {
    load: &'a Template,
    space: &'a Space,
    allow: &'a [Need],
    /// Configuration of the load without any point.
    own: Value,
    /// First requests of the load if it is a trace, which is read once for all points.
    first: Option<FirstOfTrace>,
    watch: &'a dyn Watch,
    stop: Stop,
}

/// A point with its index in the space.
type Place = (usize, Vec<Setting>);
/// A contestant, or the reason why a point is none.
type Made = Result<Result<Contestant, String>, Error>;
/// Statistics of the first requests, with the bytes of the array that they are of, by all that places them on members.
type Requests = HashMap<String, (f64, FirstRequestsStatistics)>;

/// Facts that points with the same drive share.
#[derive(Debug, Clone)]
struct Drive {
    sets: Vec<(String, String)>,
    reserved: f64,
    nominal_bytes: f64,
    /// Time of `read.plan = "hedge:auto"`, if the space has that plan.
    hedge_after_us: Option<f64>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(load: &'a Template, space: &'a Space, allow: &'a [Need], own: Value, watch: &'a dyn Watch) -> Result<Self, Error> {
        let stop = watch.stop_signal();
        let scenario = load.scenario([], None)?;
        let (addresses, most) = (workload_address_space(&scenario.array), check::SAMPLED_REQUESTS);
        let first = FirstOfTrace::read(&scenario.workload, scenario.seed, &addresses, most, &stop).map_err(RunError::from)?;
        Ok(Self { load, space, allow, own, first, watch, stop })
    }

    /// Makes contestants of all points, on so many threads. Some are missing if the search is stopped.
    pub(super) fn field(&self, points: Vec<Vec<Setting>>, workers: usize) -> Result<Field, Error> {
        let mut field = Field::default();
        let mut drives: HashMap<String, Drive> = HashMap::new();
        // Points of a group place requests alike on members, so that the load is read once for each group.
        let mut groups: Vec<Vec<Place>> = Vec::new();
        let mut index_of: HashMap<String, usize> = HashMap::new();
        for (index, point) in points.into_iter().enumerate() {
            let need = |setting: &Setting| {
                let pointer = format!("/{}", setting.key.replace('.', "/"));
                self.space.need(setting, self.own.pointer(&pointer))
            };
            if let Some((setting, need)) = point.iter().map(|setting| (setting, need(setting))).find(|(_, need)| !self.allow.contains(need))
            {
                let reason = format!("{setting} needs {}, which is not allowed (--allow)", need.name());
                field.left_out.push((point.clone(), reason));
                continue;
            }
            let drive = drive_of(&point).unwrap_or_default();
            if !drives.contains_key(drive) {
                drives.insert(drive.to_owned(), self.drive(drive_of(&point))?);
            }
            let same = point.iter().filter(|setting| setting.key != "drive" && setting.key != "use");
            let group = same.map(ToString::to_string).collect::<Vec<_>>().join("\n");
            let at = *index_of.entry(group).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[at].push((index, point));
        }
        let next = AtomicUsize::new(0);
        let made: Mutex<Vec<(Place, Made)>> = Mutex::new(Vec::new());
        let work = || {
            while let Some(points) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut requests = Requests::new();
                for (index, point) in points {
                    if self.watch.stop() {
                        return;
                    }
                    let drive = &drives[drive_of(point).unwrap_or_default()];
                    let contestant = self.contestant(point, drive, &mut requests);
                    made.lock().unwrap_or_else(PoisonError::into_inner).push(((*index, point.clone()), contestant));
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..workers.min(groups.len()) {
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.sort_by_key(|((index, _), _)| *index);
        for ((_, point), contestant) in made {
            match contestant? {
                Ok(contestant) => field.contestants.push(contestant),
                Err(reason) => field.left_out.push((point, reason)),
            }
        }
        Ok(field)
    }

    /// Makes the contestant of a point, or returns the reason why there is no such array.
    fn contestant(&self, point: &[Setting], drive: &Drive, requests: &mut Requests) -> Made {
        let mut sets = drive.sets.clone();
        for setting in point.iter().filter(|setting| setting.key != "drive") {
            match NAMED_AXES.iter().find(|(name, _)| *name == setting.key) {
                Some(("use", key)) => {
                    let share = used_share(&setting.value).map_err(Error::UnusableInput)?;
                    sets.push(((*key).to_owned(), (1.0 - (1.0 - drive.reserved) * share).to_string()));
                }
                Some((_, key)) => sets.push(((*key).to_owned(), setting.value.clone())),
                None if is_automatic_hedge(setting) => {
                    let after =
                        drive.hedge_after_us.ok_or_else(|| Error::UnusableInput(format!("{setting}: the drive's reads end in no time")))?;
                    sets.push(("read.plan".to_owned(), "hedge".to_owned()));
                    sets.push(("read.after".to_owned(), format!("\"{:.0}ns\"", after * 1000.0)));
                }
                None => sets.push((setting.key.clone(), setting.value.clone())),
            }
        }
        let scenario = match self.load.scenario(sets.clone(), None) {
            Ok(scenario) => scenario,
            // Some levels need another number of members; all other mistakes are the user's.
            Err(problems) if problems.list.iter().all(|problem| matches!(problem.key.as_str(), "array.level" | "array.members")) => {
                return Ok(Err("the level has no array of so many members".to_owned()));
            }
            Err(problems) => return Err(problems.into()),
        };
        let name = name_of(&scenario, point);
        Ok(Ok(self.finish(scenario, name, point.to_vec(), sets, drive.nominal_bytes, self.load.clone(), requests)))
    }

    /// Makes a contestant of the present array, which serves the load.
    pub(super) fn present(&self, template: Template) -> Result<Contestant, Error> {
        let scenario = template.scenario([], None)?;
        let nominal = nominal_bytes(&scenario);
        let name = name_of(&scenario, &[]);
        let contestant = self.finish(scenario, name, Vec::new(), Vec::new(), nominal, template, &mut Requests::new());
        Ok(Contestant { is_now: true, ..contestant })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a contestant")]
    fn finish(
        &self,
        scenario: Scenario,
        name: String,
        settings: Vec<Setting>,
        sets: Vec<(String, String)>,
        nominal_bytes: f64,
        template: Template,
        requests: &mut Requests,
    ) -> Contestant {
        let array = &scenario.array;
        let page_bytes = array.ssd.geometry.page_bytes;
        let key = format!("{:?} {} {} {page_bytes} {:?}", array.level, array.members, array.stripe_unit_pages, scenario.config.cache);
        let read = || self.first.as_ref().and_then(|first| check::first_requests_read(&scenario, first));
        let draw = || check::first_requests(&scenario, check::SAMPLED_REQUESTS, &self.stop);
        let capacity = workload_address_space(array).capacity_bytes as f64;
        let statistics = match requests.get(&key) {
            // The same pages are another share of a larger array.
            Some((other, statistics)) => {
                let written_share = (statistics.written_share * other / capacity).min(1.0);
                Some(FirstRequestsStatistics { written_share, ..statistics.clone() })
            }
            None => read().or_else(draw),
        };
        if let (Some(statistics), false) = (&statistics, requests.contains_key(&key)) {
            requests.insert(key, (capacity, statistics.clone()));
        }
        let report = check::explain(&scenario, Ok(statistics));
        let drive = drive_of(&settings).unwrap_or(&scenario.config.ssd.preset).to_owned();
        let life = |amplification: f64| life_years(&scenario, &report, amplification);
        let parts = |dies: Option<f64>| {
            let load = report.load.as_ref();
            load.map_or(0.0, |load| [dies, load.link, load.channels, load.controller].into_iter().flatten().fold(0.0, f64::max))
        };
        let load = report.load.as_ref();
        Contestant {
            name,
            settings,
            is_now: false,
            requests_skipped: scenario.config.report.skip_requests.unwrap_or(0),
            drive,
            capacity_bytes: report.array_bytes as f64 * scale(&report),
            member_bytes: report.member.exported_bytes as f64 * scale(&report),
            cost_bytes: nominal_bytes * f64::from(array.members),
            cost: nominal_bytes * f64::from(array.members),
            members: f64::from(array.members),
            life_years: life(report.gc.write_amplification).zip(life(1.0)).map(|(least, most)| [least, most]),
            own_life_years: report.own_write_amplification.and_then(life),
            // Links and channels carry collection, too, so that they do not count where it is left out.
            busy: load.and_then(|load| load.dies_without_gc).unwrap_or(0.0).max(load.and_then(|load| load.link).unwrap_or(0.0)),
            busy_with_collection: parts(load.and_then(|load| load.dies_with_gc)),
            has_redundancy: array.layout().survives_failures_of(&[0]),
            template,
            sets,
        }
    }

    /// Returns the settings of a drive: a preset, or the table `[ssd]` of a file.
    fn drive(&self, name: Option<&str>) -> Result<Drive, Error> {
        let sets = match name {
            None => Vec::new(),
            Some(file) if file.ends_with(".toml") => {
                let scenario = Template::from_file(file.as_ref())?.scenario([], None)?;
                let mut ssd = serde_json::to_value(&scenario.config.ssd).expect("a configuration is plain data");
                crate::template::leave_out_nulls(&mut ssd);
                let table: toml::Value = serde_json::from_value(ssd).expect("a table without nulls is TOML");
                vec![("ssd".to_owned(), table.to_string())]
            }
            Some(preset) => vec![("ssd.preset".to_owned(), preset.to_owned())],
        };
        // One member shows the drive, whatever the level of the load's own configuration.
        let alone = [("array.level", "single"), ("array.members", "1")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let scenario = self.load.scenario(sets.iter().cloned().chain(alone), None);
        // A slow or failed member of the load's own array needs the others.
        let scenario = scenario.or_else(|_| self.load.scenario(sets.clone(), None))?;
        let config = serde_json::to_value(&scenario.config.ssd).expect("a configuration is plain data");
        let reserved = config["geometry"]["reserved"].as_f64().unwrap_or(0.0);
        let is_hedged = self.space.axes.iter().any(|axis| axis.key == "read.plan" && axis.values.iter().any(|value| value == HEDGE_AUTO));
        let hedge_after_us = if is_hedged { self.hedge_after_us(&scenario)? } else { None };
        Ok(Drive { sets, reserved, nominal_bytes: nominal_bytes(&scenario), hedge_after_us })
    }

    /// Returns the time after which reads are hedged automatically: above the 99th percentile of reads that the drive of a scenario serves
    /// one by one.
    fn hedge_after_us(&self, scenario: &Scenario) -> Result<Option<f64>, Error> {
        /// Reads of which the percentile is taken.
        const READS: u64 = 4000;
        let alone = serde_json::json!({
            "array": { "level": "single", "members": 1 },
            "ssd": &scenario.config.ssd,
            "workload": {
                "kind": "synthetic",
                "read_fraction": 1.0,
                "size": scenario.array.ssd.geometry.page_bytes,
                "arrivals": { "process": "closed", "depth": 1 },
                "requests": READS,
            },
        });
        let Some(sample) = Sample::of(&Template::from_value(&alone)?.scenario([], None)?, self.watch)? else { return Ok(None) };
        let scores = sample.estimates(Figure::Response(Direction::Read, Statistic::P99));
        Ok(scores.map(|scores| HEDGE_FACTOR * libm::exp(scores.iter().sum::<f64>() / scores.len() as f64)))
    }
}

fn is_automatic_hedge(setting: &Setting) -> bool {
    setting.key == "read.plan" && setting.value == HEDGE_AUTO
}

/// Returns the name of a point's drive, if the space has this axis.
fn drive_of(point: &[Setting]) -> Option<&str> {
    point.iter().find(|setting| setting.key == "drive").map(|setting| setting.value.as_str())
}

/// Returns the bytes that a full-size member exports.
fn nominal_bytes(scenario: &Scenario) -> f64 {
    let report = check::check_without_workload(scenario);
    report.member.exported_bytes as f64 * scale(&report)
}

/// Returns the factor by which the simulated drive is smaller than the real one.
fn scale(report: &CheckReport) -> f64 {
    report.drive.as_ref().map_or(1.0, |drive| f64::from(drive.scale))
}

/// Returns the years until the busiest member is worn out with a write amplification.
fn life_years(scenario: &Scenario, report: &CheckReport, amplification: f64) -> Option<f64> {
    let requests = report.workload.as_ref()?;
    // A narrower drive has a load that is as much smaller.
    let load_scale = if scenario.config.ssd.scale_by == ScaledDriveDimension::Width { scale(report) } else { 1.0 };
    let pages_per_s = requests.requests_per_s? * requests.pages_written_per_request * load_scale;
    let bytes_per_s = pages_per_s * f64::from(scenario.array.ssd.geometry.page_bytes) / f64::from(scenario.array.members.max(1));
    let endured = f64::from(scenario.endurance_erases) * report.member.raw_bytes as f64 * scale(report);
    (bytes_per_s > 0.0).then(|| endured / (amplification.max(1.0) * bytes_per_s) / DAY_S / DAYS_PER_YEAR)
}

/// Returns the name of an array for people.
fn name_of(scenario: &Scenario, point: &[Setting]) -> String {
    let config = &scenario.config;
    let value = |name: &str| point.iter().find(|setting| setting.key == name).map(|setting| setting.value.clone());
    let level = config.array.level.name().to_uppercase().replace("RAID", "RAID-");
    let members = scenario.array.members;
    let drive = value("drive").unwrap_or_else(|| config.ssd.preset.clone());
    let mut name = match members {
        1 => format!("one {drive}"),
        members => format!("{level} of {members} {drive}"),
    };
    if let Some(chunk) = value("chunk") {
        name += &format!(", chunk {chunk}");
    }
    if let Some(share) = value("use").and_then(|text| used_share(&text).ok()).filter(|share| *share < 1.0) {
        name += &format!(", {:.0} % used", share * 100.0);
    }
    for setting in point.iter().filter(|setting| NAMED_AXES.iter().all(|(name, _)| *name != setting.key)) {
        name += &format!(", {setting}");
    }
    name
}
