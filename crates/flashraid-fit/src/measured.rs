//! Measurements of fio, read from its JSON.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use flashraid::files::read_file_with_size_limit;
use serde_json::{Map, Value};

use crate::error::{Outcome, refused};
use crate::job::Job;
use crate::sets::PREPARING;

/// Most bytes of a file of results. The `json+` of a job with many bins has some hundred kilobytes.
const BYTES_MAX: u64 = 1 << 28;

/// A job with its measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Job that was run.
    pub job: Job,
    /// Figures that were measured.
    pub figures: Figures,
}

/// Figures of a job.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// Requests per second, reads and writes together.
    pub iops: f64,
    /// Response times of reads, if there were any.
    pub read: Option<Times>,
    /// Response times of writes, if there were any.
    pub write: Option<Times>,
}

/// Response times, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Mean response time, in microseconds.
    pub mean_us: f64,
    /// The 99th percentile, in microseconds, if it was measured.
    pub p99_us: Option<f64>,
}

/// All jobs that could be read, and notes about the others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// The jobs, by name.
    pub jobs: Vec<Measured>,
    /// Notes about jobs that were left out.
    pub notes: Vec<String>,
}

/// Reads files of fio's JSON, and of folders all whose names end in `.json`. Jobs that only prepare are passed over.
///
/// # Errors
/// A file is none of fio's, a job failed or is there twice, or there is no job that can be simulated.
pub fn read(paths: &[PathBuf]) -> Outcome<Results> {
    let mut results = Results::default();
    for path in paths {
        for file in files(path)? {
            read_file(&file, &mut results)?;
        }
    }
    results.jobs.sort_by(|a, b| a.job.name.cmp(&b.job.name));
    if let Some(twice) = results.jobs.windows(2).find(|pair| pair[0].job.name == pair[1].job.name) {
        let name = &twice[0].job.name;
        return refused(format!(
            "job {name} is there twice; give each result once, and run jobs of several processes with group_reporting=1"
        ));
    }
    if results.jobs.is_empty() {
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let mut message = format!("{}: there is no job that can be simulated; `flashraid probe` makes such results", shown.join(", "));
        results.notes.iter().for_each(|note| message += &format!("\n  {note}"));
        return refused(message);
    }
    Ok(results)
}

fn files(path: &Path) -> Outcome<Vec<PathBuf>> {
    let failed = |error: std::io::Error| refused(format!("{} can't be read: {error}", path.display()));
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = match fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
        Ok(entries) => entries,
        Err(error) => return failed(error),
    };
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    match files.is_empty() {
        true => refused(format!("{}: the folder holds no results (*.json) of fio", path.display())),
        false => Ok(files),
    }
}

fn read_file(path: &Path, results: &mut Results) -> Outcome {
    let refuse = |reason: String| refused(format!("{}: {reason}", path.display()));
    let text = match read_file_with_size_limit(path, BYTES_MAX) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return refuse("is larger than 256 MiB, and no result of fio is".to_owned());
        }
        Err(error) => return refuse(format!("can't be read: {error}")),
    };
    match parse(&text) {
        Err(reason) => refuse(reason),
        Ok(Results { jobs, notes }) => {
            results.jobs.extend(jobs);
            results.notes.extend(notes.into_iter().map(|note| format!("{}: {note}", path.display())));
            Ok(())
        }
    }
}

const EXPECTED: &str = "results of fio are expected, as `fio --output-format=json+` prints them";

/// Returns the document of fio's results. fio may print warnings before it.
fn document(text: &str) -> Result<Value, String> {
    let start = text.find('{').ok_or_else(|| format!("there is no JSON in it; {EXPECTED}"))?;
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let document = documents.next().transpose().map_err(|error| format!("is not JSON ({error}); {EXPECTED}"))?;
    Ok(document.unwrap_or(Value::Null))
}

/// Returns all values of `filename` as fio understood them, for all jobs and for single ones.
#[cfg(unix)]
pub(crate) fn names_of_files(text: &str) -> Vec<String> {
    let Ok(document) = document(text) else { return Vec::new() };
    let of_jobs = document["jobs"].as_array().into_iter().flatten().map(|job| &job["job options"]);
    let options = std::iter::once(&document["global options"]).chain(of_jobs);
    options.filter_map(|options| options[crate::filename::KEY].as_str().map(str::to_owned)).collect()
}

/// Returns the jobs of one document.
pub(crate) fn parse(text: &str) -> Result<Results, String> {
    let document = document(text)?;
    let Some(jobs) = document["jobs"].as_array() else { return Err(format!("has no list `jobs`; {EXPECTED}")) };
    let none = Map::new();
    let global = document["global options"].as_object().unwrap_or(&none);
    let mut results = Results::default();
    for job in jobs {
        let name = job["jobname"].as_str().ok_or_else(|| format!("a job has no `jobname`; {EXPECTED}"))?;
        if name.contains(PREPARING) {
            continue;
        }
        if let Some(error) = job["error"].as_i64().filter(|error| *error != 0) {
            return Err(format!("job {name} ended with error {error}; run it again"));
        }
        let mut options = global.clone();
        options.extend(job["job options"].as_object().unwrap_or(&none).clone());
        match Job::from_options(name, &options).and_then(|job_of| figures(&job_of, job).map(|figures| Measured { job: job_of, figures })) {
            Ok(measured) => results.jobs.push(measured),
            Err(reason) => results.notes.push(format!("job {name} is left out: {reason}")),
        }
    }
    Ok(results)
}

fn figures(job: &Job, document: &Value) -> Result<Figures, String> {
    let rate = |direction: &str| document[direction]["iops"].as_f64().filter(|rate| rate.is_finite() && *rate > 0.0);
    let times = |direction: &str| {
        let document = &document[direction];
        // Where nothing was submitted late, fio's total times and completion times are the same.
        let mean_ns = ["lat_ns", "clat_ns"].iter().find_map(|key| document[*key]["mean"].as_f64().filter(|mean| *mean > 0.0));
        let percentiles = ["lat_ns", "clat_ns"].iter().find_map(|key| document[*key]["percentile"].as_object());
        let p99_ns = percentiles.and_then(|all| all.get("99.000000")?.as_f64()).filter(|p99| *p99 > 0.0);
        mean_ns.map(|mean_ns| Times { mean_us: mean_ns / 1e3, p99_us: p99_ns.map(|p99_ns| p99_ns / 1e3) })
    };
    let part = |wanted: bool, direction: &str| -> Result<(f64, Option<Times>), String> {
        if !wanted {
            return Ok((0.0, None));
        }
        match (rate(direction), times(direction)) {
            (Some(rate), Some(times)) => Ok((rate, Some(times))),
            _ => Err(format!("it has no figures of {direction}s")),
        }
    };
    let (read_rate, read) = part(job.reads(), "read")?;
    let (write_rate, write) = part(job.writes(), "write")?;
    Ok(Figures { iops: read_rate + write_rate, read, write })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULT: &str = r#"fio: a warning
{ "fio version": "fio-3.33", "global options": {"bs": "4k", "ioengine": "libaio"},
  "jobs": [
    {"jobname": "00-prepare-fill", "error": 0, "job options": {"rw": "write"}},
    {"jobname": "a", "error": 0, "job options": {"rw": "randrw", "rwmixread": "70", "iodepth": "8"},
     "read": {"iops": 700.0, "clat_ns": {"mean": 90000.0, "percentile": {"99.000000": 200000}}, "lat_ns": {"mean": 100000.0}},
     "write": {"iops": 300.0, "clat_ns": {"mean": 20000.0}, "lat_ns": {"mean": 0.0}}},
    {"jobname": "b", "error": 0, "job options": {"rw": "trim"}},
    {"jobname": "c", "error": 0, "job options": {"rw": "randread"}, "read": {"iops": 0.0}}
  ] }"#;

    #[test]
    fn a_document_of_fio_is_read() {
        let results = parse(RESULT).unwrap();
        assert_eq!(results.jobs.len(), 1);
        let Measured { job, figures } = &results.jobs[0];
        assert_eq!((job.name.as_str(), job.read_percent, job.depth, job.size_bytes), ("a", 70, 8, 4096));
        assert_eq!(figures.iops, 1000.0);
        assert_eq!(figures.read, Some(Times { mean_us: 100.0, p99_us: Some(200.0) }));
        assert_eq!(figures.write, Some(Times { mean_us: 20.0, p99_us: None }), "an empty `lat_ns` says nothing");
        assert_eq!(results.notes.len(), 2, "{:?}", results.notes);
        assert!(results.notes[0].contains("rw=trim") && results.notes[1].contains("no figures of reads"), "{:?}", results.notes);
    }

    #[test]
    fn what_is_no_result_is_refused() {
        for (text, named) in [
            ("nothing", "no JSON"),
            ("{\"a\": ", "is not JSON"),
            ("{\"a\": 1}", "no list `jobs`"),
            (r#"{"jobs": [{}]}"#, "no `jobname`"),
            (r#"{"jobs": [{"jobname": "x", "error": 5}]}"#, "ended with error 5"),
        ] {
            let reason = parse(text).unwrap_err();
            assert!(reason.contains(named), "{reason}");
        }
    }

    #[test]
    fn folders_are_read_in_order_and_nothing_twice() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
        let folder = || read(&[place.path().to_owned()]);
        assert!(folder().unwrap_err().to_string().contains("no results"));
        file("a.json", &RESULT.replace("\"a\"", "\"z\""));
        file("b.json", RESULT);
        file("notes.txt", "");
        let names: Vec<String> = folder().unwrap().jobs.into_iter().map(|measured| measured.job.name).collect();
        assert_eq!(names, ["a", "z"]);
        file("c.json", RESULT);
        assert!(folder().unwrap_err().to_string().contains("job a is there twice"));
        assert!(read(&[place.path().join("missing.json")]).unwrap_err().to_string().contains("missing.json: can't be read"));
    }
}
