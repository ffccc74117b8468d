//! Response times of finished jobs with their percentiles, in the columns in which drives are published.

use std::fs;
use std::path::Path;

use flashraid_report::number;
use flashraid_report::sheet::{Cell, Sheet};
use serde_json::Value;

use crate::error::{Outcome, refused};
use crate::sets::ProbeJob;

/// The percentiles of the columns, as fio names them, and as people do.
const COLUMNS: [(&str, &str); 5] =
    [("50.000000", "p50"), ("99.000000", "p99"), ("99.900000", "p99.9"), ("99.990000", "p99.99"), ("99.999000", "p99.999")];

/// Response times of one job of reads.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseTimes {
    /// Name of the job.
    pub job: String,
    /// Number of requests per second.
    pub iops: f64,
    /// Number of requests in the job.
    pub requests: u64,
    /// Mean response time, in microseconds.
    pub mean_us: f64,
    /// Percentiles in the order of the columns, in microseconds. A percentile is `None` with fewer than ten requests beyond it, or if fio
    /// has none.
    pub percentiles_us: [Option<f64>; 5],
}

/// Reads the response times of all jobs from their results in `folder`.
///
/// # Errors
/// A result can't be read or is not what fio prints.
pub fn of_folder(folder: &Path, jobs: &[ProbeJob]) -> Outcome<Vec<ResponseTimes>> {
    jobs.iter()
        .map(|job| {
            let path = folder.join(format!("{}.json", job.name));
            let found =
                fs::read_to_string(&path).map_err(|error| format!("can't be read: {error}")).and_then(|text| of_text(&job.name, &text));
            found.or_else(|reason| refused(format!("{}: {reason}", path.display())))
        })
        .collect()
}

fn of_text(job: &str, text: &str) -> Result<ResponseTimes, String> {
    let start = text.find('{').ok_or("there is no JSON in it")?;
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let document = documents.next().transpose().map_err(|error| format!("is not JSON: {error}"))?.unwrap_or(Value::Null);
    let read = &document["jobs"][0]["read"];
    let times = &read["clat_ns"];
    let (Some(iops), Some(mean_ns)) = (read["iops"].as_f64(), times["mean"].as_f64().or(read["lat_ns"]["mean"].as_f64())) else {
        return Err("has no response times of reads".to_owned());
    };
    let requests = read["total_ios"].as_u64().or(times["N"].as_u64()).unwrap_or(0);
    let percentile = |name: &str| -> Option<f64> {
        let share: f64 = name.parse().ok()?;
        let beyond = requests as f64 * (1.0 - share / 100.0);
        times["percentile"][name].as_f64().filter(|ns| *ns > 0.0 && beyond >= 10.0).map(|ns| ns / 1e3)
    };
    Ok(ResponseTimes {
        job: job.to_owned(),
        iops,
        requests,
        mean_us: mean_ns / 1e3,
        percentiles_us: COLUMNS.map(|(name, _)| percentile(name)),
    })
}

/// Returns the table for people.
#[must_use]
pub fn sheet(jobs: &[ResponseTimes]) -> Sheet {
    let header = ["job", "IOPS", "mean, µs", "p50", "p99", "p99.9", "p99.99", "p99.999"];
    let mut sheet = Sheet::new("Response times of reads", &header);
    sheet.unit_column = true;
    sheet.rows = jobs
        .iter()
        .map(|times| {
            let shown = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number::three_digits);
            let percentiles = times.percentiles_us.iter().map(|value| shown(*value));
            [times.job.clone(), number::rounded(times.iops), number::three_digits(times.mean_us)]
                .into_iter()
                .chain(percentiles)
                .map(Cell::from)
                .collect()
        })
        .collect();
    sheet
}

/// Returns the table as CSV, with a row for each job. A percentile that is not known is empty.
#[must_use]
pub fn csv(jobs: &[ResponseTimes]) -> String {
    let names = COLUMNS.map(|(_, name)| format!("{}_us", name.replace('.', "_"))).join(",");
    let rows = jobs.iter().map(|times| {
        let percentiles = times.percentiles_us.map(|value| value.map_or_else(String::new, |value| value.to_string())).join(",");
        format!("{},{},{},{},{percentiles}\n", times.job, times.requests, times.iops, times.mean_us)
    });
    format!("job,requests,iops,mean_us,{names}\n{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_fio_where_enough_requests_lie_beyond() {
        let text = r#"fio: a warning
            {"jobs": [{"read": {"iops": 9000.5, "total_ios": 20000, "clat_ns": {"mean": 104200.0,
             "percentile": {"50.000000": 101000, "99.000000": 116000, "99.900000": 124000, "99.990000": 131000}}}}]}"#;
        let times = of_text("randread-4k-q1", text).unwrap();
        assert_eq!((times.iops, times.mean_us, times.requests), (9000.5, 104.2, 20_000));
        // 20 requests lie beyond p99.9, 2 beyond p99.99.
        assert_eq!(times.percentiles_us, [Some(101.0), Some(116.0), Some(124.0), None, None]);
        let csv = csv(&[times]);
        assert_eq!(csv.lines().nth(1), Some("randread-4k-q1,20000,9000.5,104.2,101,116,124,,"));
        assert_eq!(csv.lines().next().map(|line| line.split(',').count()), Some(9));
        assert!(of_text("x", "{}").unwrap_err().contains("no response times"));
    }
}
