//! A run in a sentence: what was simulated, and what came out.

use flashraid::Report;
use flashraid::report::{LoadVerdict, REPORTED_PERCENTILES};
use serde_json::Value;

use crate::number;

/// Returns a short description of an array.
pub(crate) fn array(config: &Value) -> String {
    let members = config["array"]["members"].as_u64().unwrap_or(1);
    let device = config["ssd"]["preset"].as_str().unwrap_or("SSD");
    match config["array"]["level"].as_str() {
        Some(level) if level != "single" => format!("{members} × {device} as {}", level.to_uppercase().replacen("RAID", "RAID-", 1)),
        _ => format!("one {device}"),
    }
}

/// Returns a short description of a workload.
pub(crate) fn workload(config: &Value) -> String {
    let workload = &config["workload"];
    match (workload["preset"].as_str(), workload["path"].as_str(), workload["kind"].as_str()) {
        (Some(preset), ..) => preset.to_owned(),
        (_, Some(path), _) => format!("the trace {path}"),
        (_, _, Some("mix")) => "a mix of streams".to_owned(),
        _ => "synthetic requests".to_owned(),
    }
}

/// A run in a sentence: what was simulated, and what came out.
pub fn headline(report: &Report) -> String {
    let times = &report.response_us.all;
    let Some(mean) = times.mean else {
        return format!("{} under {}: no request was measured.", array(&report.config), workload(&report.config));
    };
    let deepest = deepest(report).map_or(String::new(), |(name, value)| format!(", {name} {}", number::duration_us(value)));
    let rate = report.iops.all.map_or(String::new(), |iops| format!(" at {} requests per second", number::rounded(iops)));
    let scheme = match report.config["coordination"]["scheme"].as_str() {
        Some(scheme) if scheme != "local" => format!(", {scheme} collection"),
        _ => String::new(),
    };
    let cache = match report.config["cache"]["policy"].as_str() {
        Some(policy) if policy != "none" => format!(", behind a {policy} write cache"),
        _ => String::new(),
    };
    let doubt = match (report.verdict.load, report.verdict.steady) {
        (LoadVerdict::DataLost, _) => " Data were lost: these figures are those of an array that does not do its work.",
        (LoadVerdict::Unstable, _) => " Requests pile up: these figures grow with the length of the run.",
        (LoadVerdict::Saturated, _) => " The array does not keep up with what is asked of it.",
        (_, false) => " The run did not come to a steady state.",
        _ => "",
    };
    format!(
        "{}{scheme}{cache}, under {}: {} in the mean{deepest}{rate}.{doubt}",
        array(&report.config),
        workload(&report.config),
        number::duration_us(mean)
    )
}

/// The deepest percentile that is more than a guess.
pub(crate) fn deepest(report: &Report) -> Option<(String, f64)> {
    let times = &report.response_us.all;
    let values = [times.p50, times.p90, times.p95, times.p99, times.p99_9, times.p99_99];
    let supported = REPORTED_PERCENTILES.iter().zip(values).rev().find(|((_, quantile), _)| times.has_enough_samples_for(*quantile));
    supported.and_then(|((name, _), value)| Some((name.replace('_', "."), value?)))
}
