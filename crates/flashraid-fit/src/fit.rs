//! Fits a drive of the simulator to the measurements of fio.

use std::sync::atomic::Ordering;

use flashraid::Simulation;
use serde::Serialize;
use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

use crate::base::Base;
use crate::error::{FitError, Outcome, refused};
use crate::least_squares::minimise;
use crate::measured::{Figures, Measured, Results, Times};
use crate::parameter::Parameter;
use crate::simulator::{Simulator, Stopped};
use crate::start;

/// Kinds of residuals. The first is requests per second. Then follow mean response times of reads and of writes in mixed jobs, where
/// requests per second do not tell them apart. The last is 99th percentiles.
const IOPS: usize = 0;
const READ_MEAN: usize = 1;
const WRITE_MEAN: usize = 2;
const P99: usize = 3;
/// Allowed deviation of each kind, as a standard deviation of the logarithm. Uncertain kinds have less weight. Means of writes depend on
/// how often the buffer is full, and a model of a class of drives predicts percentiles badly.
const DEVIATIONS: [f64; 4] = [0.03, 0.05, 0.2, 0.25];
/// Least deviation of repeated measurements, one percent, in units of the deviation of requests per second. It counts even if they are met
/// better.
const REPEATABILITY: f64 = 0.01 / DEVIATIONS[IOPS];
/// Number of residuals of the allowed deviation that each kind is taken to have besides its own. A kind has few, or one only.
const EXPECTED: f64 = 1.0;
/// Width of an interval to one side, as a factor, beyond which the value counts as unknown.
const DETERMINED_WITHIN: f64 = 1.3;

/// Settings of a fit.
#[derive(Clone)]
pub struct FitOptions<'a> {
    /// Parameters to fit, 1 to [`Parameter::MAX`].
    pub parameters: Vec<Parameter>,
    /// Job that is predicted instead of fitted. With `None`, it is one in the middle, if there are enough jobs.
    pub hold_out: Option<String>,
    /// Factor by which superblocks have fewer rows than in the base, at least 1.
    pub scale: u32,
    /// Seed of all simulations.
    pub seed: u64,
    /// Number of simulations at a time, which changes no result.
    pub threads: usize,
    /// Most evaluations of the simplex method, each of all jobs.
    pub simplex_max: usize,
    /// Called from time to time, to ask whether to stop.
    pub stopped: Stopped<'a>,
    /// Called with the number of evaluations so far, and the root mean square of the weighted errors.
    pub progress: &'a dyn Fn(usize, f64),
}

/// Result of a fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// Name of the base.
    pub base: String,
    /// Fitted parameters with their values.
    pub parameters: Vec<Found>,
    /// The jobs by name, measured and simulated.
    pub jobs: Vec<Compared>,
    /// Mean of the absolute errors of the requests per second of all fitted jobs, in percent.
    pub mean_error_percent: f64,
    /// Notes for the user before trusting the result.
    pub notes: Vec<String>,
    /// Number of simulations that were needed.
    pub simulations: usize,
    /// True if the user stopped the search. Values are then the best ones so far, without intervals, and no job is predicted.
    pub stopped: bool,
    /// Text of the device file.
    #[serde(skip)]
    pub device: String,
}

/// Greatest mean error of requests per second, in percent, at which a base can have the measured drive's form.
const MEAN_ERROR_MAX_PERCENT: f64 = 50.0;
/// Factor between measured and simulated requests per second from which on the message says what the drive may be.
const OTHER_KIND_MIN: f64 = 2.0;

impl Fit {
    /// Returns the reason why the measured drive is none of the base's kind, with what it may be instead. Less than half of the values are
    /// then determined, or requests per second are met too badly. Returns `None` if it may be, and for a search that the user stopped.
    #[must_use]
    pub fn unlike_base(&self) -> Option<String> {
        let determined = self.parameters.iter().filter(|found| found.is_determined).count();
        let is_alike = 2 * determined >= self.parameters.len() && self.mean_error_percent <= MEAN_ERROR_MAX_PERCENT;
        if is_alike || self.stopped {
            return None;
        }
        let logarithms = self.jobs.iter().map(|job| libm::log(job.measured.iops / job.simulated.iops)).filter(|ratio| ratio.is_finite());
        let (sum, count) = logarithms.fold((0.0, 0_u32), |(sum, count), ratio| (sum + ratio, count + 1));
        let times = libm::exp(sum / f64::from(count.max(1)));
        let instead = match times {
            times if times >= OTHER_KIND_MIN => format!(
                "its jobs are {times:.1} times as fast as the best device of this base: it may be memory, a cache of the system (--buffered), \
                 or a drive of a later generation, for which --base names a faster preset"
            ),
            times if times <= 1.0 / OTHER_KIND_MIN => format!(
                "its jobs take {:.1} times as long as with the best device of this base: it may be a SATA drive, one with four bits a cell, or \
                 not in its steady state; --base names a slower preset",
                1.0 / times
            ),
            _ => "some jobs are faster and others slower: more jobs, or a base with the drive's own dies, channels and cells, may tell"
                .to_owned(),
        };
        Some(format!(
            "this is no drive of the kind of {}: {determined} of {} values are determined, and requests per second are met by {:.1} % on \
             average; {instead}",
            self.base,
            self.parameters.len(),
            self.mean_error_percent
        ))
    }
}

/// A fitted value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Name of the parameter.
    pub name: &'static str,
    /// Keys that hold the value.
    pub keys: &'static [&'static str],
    /// Value in the base: nanoseconds, bytes per second, or a number.
    pub base: f64,
    /// Value at which the search started.
    pub start: f64,
    /// Value at which the search ended.
    pub value: f64,
    /// Lower end of the 95 % interval; `None` if it is unbounded.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval; `None` if it is unbounded.
    pub high: Option<f64>,
    /// True if the interval extends at most 30 % to either side.
    pub is_determined: bool,
    /// Parameter that was fitted.
    #[serde(skip)]
    pub parameter: Parameter,
    /// Reason why the interval is missing, if it is.
    #[serde(skip)]
    pub without_interval: &'static str,
}

/// Reason for an unbounded interval.
const NO_JOB_TELLS: &str = "no job tells";

impl Found {
    /// Returns the interval for people.
    #[must_use]
    pub fn interval(&self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!("{} to {}", self.parameter.shown(low), self.parameter.shown(high)),
            _ => self.without_interval.to_owned(),
        }
    }
}

/// A job, measured and simulated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Name of the job.
    pub name: String,
    /// Number of bytes in a request.
    pub size_bytes: u64,
    /// Number of outstanding requests.
    pub depth: u64,
    /// Share of reads, in percent.
    pub read_percent: u8,
    /// True if each request starts where the one before ended.
    pub is_sequential: bool,
    /// True if the job was predicted, not fitted.
    pub held_out: bool,
    /// Figures that fio measured.
    pub measured: Shown,
    /// Figures of the simulation.
    pub simulated: Shown,
    /// Percentage by which simulated requests per second exceed measured ones.
    pub iops_error_percent: f64,
}

/// Figures of a job; `None` if a figure does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names of the figures say all")]
pub struct Shown {
    pub iops: f64,
    pub read_mean_us: Option<f64>,
    pub read_p99_us: Option<f64>,
    pub write_mean_us: Option<f64>,
    pub write_p99_us: Option<f64>,
}

impl From<Figures> for Shown {
    fn from(figures: Figures) -> Self {
        let mean = |times: Option<Times>| times.map(|times| times.mean_us);
        let p99 = |times: Option<Times>| times.and_then(|times| times.p99_us);
        Self {
            iops: figures.iops,
            read_mean_us: mean(figures.read),
            read_p99_us: p99(figures.read),
            write_mean_us: mean(figures.write),
            write_p99_us: p99(figures.write),
        }
    }
}

/// Values of the parameters with the figures of the fitted jobs, and the sum of their squared errors.
struct Best {
    squares: f64,
    values: Vec<f64>,
    figures: Vec<Figures>,
}

/// Looks for the values with which drives like `base` give `results`.
///
/// If the user stops the search, the best values so far are returned.
///
/// # Errors
/// The options don't fit the results or the base, a simulation failed, or the user stopped it before the first evaluation.
pub fn fit(base: &Base, results: Results, options: &FitOptions<'_>) -> Outcome<Fit> {
    let Results { jobs, notes } = results;
    let parameters = parameters(base, &options.parameters)?;
    let held_out = held_out(&jobs, options.hold_out.as_deref())?;
    let is_held_out = |job: &Measured| held_out.as_deref() == Some(job.job.name.as_str());
    let fitted: Vec<Measured> = jobs.iter().filter(|job| !is_held_out(job)).cloned().collect();
    if fitted.len() < 2 {
        return refused(format!("a fit needs two jobs at least, but there is only {}", fitted[0].job.name));
    }
    let start = start::values(base, &fitted, &parameters);
    let simulator_of = |jobs: &[Measured]| {
        let of_each = jobs.iter().map(|job| job.job.clone());
        Simulator::new(base, of_each, &parameters, (options.scale, options.seed), options.threads, options.stopped)
    };
    let simulator = simulator_of(&fitted)?;
    let values_of = |logs: &[f64]| logs.iter().map(|log| libm::exp(*log)).collect::<Vec<f64>>();
    let mut evaluations = 0;
    let mut best: Option<Best> = None;
    let mut function = |points: &[Vec<f64>]| -> Outcome<Vec<Vec<f64>>> {
        let sets: Vec<Vec<f64>> = points.iter().map(|logs| values_of(logs)).collect();
        let of_each = |figures: &Vec<Figures>| residuals(&fitted, figures).map(|(_, residual)| residual).collect();
        let simulated = simulator.figures(&sets)?;
        let all: Vec<Vec<f64>> = simulated.iter().map(of_each).collect();
        evaluations += points.len();
        for ((values, figures), residuals) in sets.into_iter().zip(simulated).zip(&all) {
            let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
            if best.as_ref().is_none_or(|best| squares < best.squares) {
                best = Some(Best { squares, values, figures });
            }
        }
        if let [residuals] = all.as_slice() {
            let mean = residuals.iter().map(|residual| residual * residual).sum::<f64>() / residuals.len() as f64;
            (options.progress)(evaluations, mean.sqrt());
        }
        Ok(all)
    };
    let logs: Vec<f64> = start.iter().map(|value| libm::log(*value)).collect();
    let searched = minimise(&mut function, &logs, options.simplex_max, REPEATABILITY).and_then(|least| {
        // These were simulated before.
        let figures = simulator.figures(&[values_of(&least.at)])?.swap_remove(0);
        let kinds: Vec<usize> = residuals(&fitted, &figures).map(|(kind, _)| kind).collect();
        let half_widths = least.half_widths(&kinds, REPEATABILITY, EXPECTED);
        let values = as_written(base, &parameters, &values_of(&least.at));
        // The held-out job is simulated with the others, which are known.
        let whole = simulator_of(&jobs)?;
        let simulated = whole.figures(std::slice::from_ref(&values))?.swap_remove(0);
        let compared: Vec<Compared> = jobs.iter().zip(simulated).map(|(job, figures)| compared(job, figures, is_held_out(job))).collect();
        Ok((values, Some(half_widths), compared, whole.runs.load(Ordering::Relaxed)))
    });
    let mut notes = notes;
    let (values, half_widths, compared, runs) = match (searched, best) {
        (Ok(searched), _) => searched,
        (Err(FitError::Interrupted), Some(best)) => {
            notes.push(
                "stopped before the end of the search: these are the best values so far, and how far they may be off is unknown".to_owned(),
            );
            notes.extend(held_out.iter().map(|name| format!("{name} was to be predicted, and has not been simulated")));
            let compared = fitted.iter().zip(best.figures).map(|(job, figures)| compared(job, figures, false)).collect();
            (as_written(base, &parameters, &best.values), None, compared, 0)
        }
        (Err(error), _) => return Err(error),
    };
    let stopped = half_widths.is_none();
    let errors: Vec<f64> = compared.iter().filter(|job| !job.held_out).map(|job| job.iops_error_percent.abs()).collect();
    let mean_error_percent = errors.iter().sum::<f64>() / errors.len() as f64;
    let found: Vec<Found> = (0..parameters.len())
        .map(|index| {
            let (parameter, value) = (parameters[index], values[index]);
            let half_width = half_widths.as_ref().map_or(f64::INFINITY, |widths| widths[index]);
            let factor = libm::exp(half_width.min(700.0));
            // Beyond a factor of a hundred a bound says nothing.
            let bounded = factor < 100.0;
            Found {
                name: parameter.name(),
                keys: parameter.keys(),
                base: parameter.of(&base.params),
                start: start[index],
                value,
                low: bounded.then_some(value / factor),
                high: bounded.then_some(value * factor),
                is_determined: factor <= DETERMINED_WITHIN,
                parameter,
                without_interval: if stopped { "stopped before the end" } else { NO_JOB_TELLS },
            }
        })
        .collect();
    let notes = notes.into_iter().chain(doubts(base, &fitted, mean_error_percent)).collect();
    let device = device(base, &found, &compared, stopped)?;
    let simulations = simulator.runs.load(Ordering::Relaxed) + runs;
    Ok(Fit { base: base.name.clone(), parameters: found, jobs: compared, mean_error_percent, notes, simulations, stopped, device })
}

fn parameters(base: &Base, wanted: &[Parameter]) -> Outcome<Vec<Parameter>> {
    let mut parameters = wanted.to_vec();
    parameters.sort_unstable();
    if parameters.windows(2).any(|pair| pair[0] == pair[1]) {
        return refused("a parameter is there twice");
    }
    if parameters.is_empty() || parameters.len() > Parameter::MAX {
        return refused(format!("{} parameters are asked for; 1 to {} can be looked for at a time", parameters.len(), Parameter::MAX));
    }
    for parameter in &parameters {
        if let Some(reason) = parameter.is_missing(&base.params) {
            return refused(format!("{parameter} can't be fitted: {reason}; take another base, or leave it out"));
        }
    }
    Ok(parameters)
}

/// Returns the name of the job that is predicted: a mixed job with an even share first, then one between others.
fn held_out(jobs: &[Measured], wanted: Option<&str>) -> Outcome<Option<String>> {
    if let Some(name) = wanted.filter(|name| *name != "none") {
        if jobs.iter().any(|job| job.job.name == name) {
            return Ok(Some(name.to_owned()));
        }
        let names: Vec<&str> = jobs.iter().map(|job| job.job.name.as_str()).collect();
        return refused(format!("hold out {name}: there is no such job; there are {}, and `none`", names.join(", ")));
    }
    /// Number of jobs from which one can be predicted instead of fitted.
    const ENOUGH: usize = 8;
    if wanted.is_some() || jobs.len() < ENOUGH {
        return Ok(None);
    }
    let even = jobs.iter().find(|job| job.job.read_percent == 50);
    let between = || {
        let mut reads: Vec<&Measured> = jobs.iter().filter(|job| !job.job.writes() && !job.job.is_sequential).collect();
        reads.sort_by_key(|job| job.job.depth);
        (reads.len() > 4).then(|| reads[reads.len() / 2])
    };
    Ok(even.or_else(between).map(|job| job.job.name.clone()))
}

/// Returns logarithms of simulated over measured figures, each in its standard deviations, with their kinds.
fn residuals(jobs: &[Measured], simulated: &[Figures]) -> impl Iterator<Item = (usize, f64)> {
    let mut residuals = Vec::new();
    for (Measured { job, figures: measured }, simulated) in jobs.iter().zip(simulated) {
        // Nothing done at all is as bad as a factor of e^20.
        let mut add = |kind: usize, simulated: f64, measured: f64| {
            let ratio = (simulated / measured).clamp(1e-9, 1e9);
            residuals.push((kind, libm::log(ratio) / DEVIATIONS[kind]));
        };
        add(IOPS, simulated.iops, measured.iops);
        let directions = [(measured.read, simulated.read, READ_MEAN), (measured.write, simulated.write, WRITE_MEAN)];
        for (measured, simulated, mean) in directions {
            let (Some(measured), Some(simulated)) = (measured, simulated) else { continue };
            if job.reads() && job.writes() {
                add(mean, simulated.mean_us, measured.mean_us);
            }
            if let (Some(measured), Some(simulated)) = (measured.p99_us, simulated.p99_us) {
                add(P99, simulated, measured);
            }
        }
    }
    residuals.into_iter()
}

/// Returns the values as the model takes them and a file has them.
fn as_written(base: &Base, parameters: &[Parameter], values: &[f64]) -> Vec<f64> {
    let mut ssd = base.params.clone();
    parameters.iter().zip(values).for_each(|(parameter, value)| parameter.put(&mut ssd, *value));
    parameters.iter().map(|parameter| parameter.of(&ssd)).collect()
}

fn compared(Measured { job, figures: measured }: &Measured, simulated: Figures, held_out: bool) -> Compared {
    Compared {
        name: job.name.clone(),
        size_bytes: job.size_bytes,
        depth: job.depth,
        read_percent: job.read_percent,
        is_sequential: job.is_sequential,
        held_out,
        measured: (*measured).into(),
        simulated: simulated.into(),
        iops_error_percent: 100.0 * (simulated.iops / measured.iops - 1.0),
    }
}

/// Returns notes about everything that makes the result doubtful.
fn doubts(base: &Base, jobs: &[Measured], mean_error_percent: f64) -> Vec<String> {
    let mut doubts = Vec::new();
    let read_us = Parameter::PageRead.of(&base.params) / 1e3;
    let alone = jobs.iter().filter(|job| !job.job.writes() && !job.job.is_sequential && job.job.depth == 1);
    if let Some(mean_us) = alone.filter_map(|job| job.figures.read).map(|read| read.mean_us).reduce(f64::min).filter(|mean| *mean < read_us)
    {
        doubts.push(format!(
            "a read alone takes {mean_us:.1} µs, less than the base's array read ({read_us:.1} µs): a cache answered, or the base is another kind of flash \
             (--parameters page_read,…)"
        ));
    }
    if mean_error_percent > 10.0 {
        doubts.push(format!(
            "requests per second are met by {mean_error_percent:.0} % only: the base is another kind of drive, or something else than the drive was measured"
        ));
    }
    doubts
}

/// Returns the device file: the base with the fitted values, and with remarks on each.
fn device(base: &Base, found: &[Found], jobs: &[Compared], stopped: bool) -> Outcome<String> {
    let mut document = as_document(&base.ssd);
    mark_assumed(document.as_table_mut());
    for one in found {
        let kind = if one.is_determined { "fitted, 95 %:" } else { "undetermined:" };
        for key in one.keys {
            let path: Vec<&str> = key.split('.').collect();
            let comment = format!(" # {kind} {}", one.interval());
            put(document.as_table_mut(), &path, &one.parameter.written(one.value), one.parameter == Parameter::ProgramsAtOnce, &comment);
        }
    }
    let errors: String = jobs
        .iter()
        .map(|job| {
            let note = if job.held_out { " (held out)" } else { "" };
            format!("#   {}: {:+.1} %{note}\n", job.name, job.iops_error_percent)
        })
        .collect();
    let text = format!(
        "# A drive fitted to measurements by flashraid {}, on the base {}. To use it: inherits = \"this file\" in a configuration.\n\
         {}# Requests per second, simulated against measured:\n{errors}\n{document}",
        env!("CARGO_PKG_VERSION"),
        base.name,
        if stopped { "# The search was stopped: these are the best values up to then.\n" } else { "" },
    );
    // What is written is what was found.
    let scenario = Simulation::from_toml(&text)?.scenario()?;
    for one in found {
        let read = one.parameter.of(&scenario.array.ssd);
        if (read / one.value - 1.0).abs() > 1e-3 {
            return Err(crate::FitError::Failed(format!("the device file has {read} for {}, but {} was found", one.name, one.value)));
        }
    }
    Ok(text)
}

/// Returns `[ssd]` as TOML that can be edited.
fn as_document(ssd: &Value) -> DocumentMut {
    let text = toml::to_string(&serde_json::json!({ "ssd": ssd })).expect("a configuration without nulls is TOML");
    text.parse().expect("what was written can be read")
}

/// Marks all values below a table as assumed, except for keys that only name their origin.
fn mark_assumed(table: &mut dyn TableLike) {
    for (key, item) in table.iter_mut() {
        let is_name = key.get() == "preset";
        match item {
            Item::Value(value) if !is_name => value.decor_mut().set_suffix(" # assumed"),
            Item::Value(_) => {}
            item => {
                if let Some(table) = item.as_table_like_mut() {
                    mark_assumed(table);
                }
            }
        }
    }
}

/// Puts a value where the path leads; a link that is a table has it as its rate.
fn put(table: &mut dyn TableLike, path: &[&str], text: &str, is_number: bool, comment: &str) {
    let [key, rest @ ..] = path else { return };
    let is_table = table.get(key).is_some_and(Item::is_table_like);
    if !rest.is_empty() || is_table {
        let rest = if rest.is_empty() { &["rate"] } else { rest };
        if let Some(inner) = table.entry(key).or_insert_with(toml_edit::table).as_table_like_mut() {
            put(inner, rest, text, is_number, comment);
        }
        return;
    }
    let mut value: toml_edit::Value = match text.parse::<i64>() {
        Ok(number) if is_number => number.into(),
        _ => text.into(),
    };
    value.decor_mut().set_suffix(comment);
    table.insert(key, Item::Value(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(parameter: Parameter, value: f64, is_determined: bool) -> Found {
        let (low, high) = if is_determined { (Some(value / 1.1), Some(value * 1.1)) } else { (None, None) };
        Found {
            name: parameter.name(),
            keys: parameter.keys(),
            base: 1.0,
            start: 1.0,
            value,
            low,
            high,
            is_determined,
            parameter,
            without_interval: NO_JOB_TELLS,
        }
    }

    #[test]
    fn the_device_file_says_what_is_known_of_each_value() {
        let base = Base::read("nvme-tlc-read").unwrap();
        let text = device(
            &base,
            &[
                found(Parameter::PageProgram, 1_500_000.0, true),
                found(Parameter::Link, 4096e9 / 630.0, true),
                found(Parameter::Ack, 2100.0, false),
                found(Parameter::ProgramsAtOnce, 40.0, true),
                found(Parameter::Move, 6900.0, true),
            ],
            &[],
            false,
        )
        .unwrap();
        let line = |key: &str| text.lines().find(|line| line.starts_with(key)).unwrap_or_else(|| panic!("{key}\n{text}")).to_owned();
        assert_eq!(line("page_program ="), "page_program = \"1500000ns\" # fitted, 95 %: 1.36 ms to 1.65 ms");
        assert!(line("rate =").starts_with("rate = \"6501587302B/s\" # fitted"), "{}", line("rate ="));
        assert_eq!(line("ack ="), "ack = \"2100ns\" # undetermined: no job tells");
        assert!(line("programs_at_once =").starts_with("programs_at_once = 40 # fitted"));
        assert!(line("write =").starts_with("write = \"6900ns\" # fitted") && line("move =").starts_with("move = \"6900ns\" # fitted"));
        assert!(line("dies =").ends_with("# assumed") && line("target =").ends_with("# assumed"));
        let again = Simulation::from_toml(&text).unwrap().scenario().unwrap();
        assert_eq!(again.array.ssd.geometry, base.params.geometry, "what is assumed is as in the base");
    }

    #[test]
    fn what_cannot_be_looked_for_is_refused() {
        let base = Base::read("nvme-tlc-read").unwrap();
        assert!(parameters(&base, &[]).is_err() && parameters(&base, &Parameter::ALL).is_err());
        assert!(parameters(&base, &[Parameter::Link, Parameter::Link]).unwrap_err().to_string().contains("twice"));
        assert_eq!(parameters(&base, &Parameter::USUAL).unwrap().len(), 6);
        assert!(Base::read("pgc2011").unwrap_err().to_string().contains("no superblocks"));
        let narrow =
            "array.level = \"single\"\nssd = { preset = \"nvme-gen5\", scale = 8, scale_by = \"width\", geometry = { pages = 48 } }";
        let narrow = flashraid::Simulation::from_toml(narrow).unwrap().scenario().unwrap();
        assert!(Base::of("narrow", &narrow).unwrap_err().to_string().contains("scaled by width"));
        assert!(Base::read("unknown").unwrap_err().to_string().contains("no such device"));
    }
}
