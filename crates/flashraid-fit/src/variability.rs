//! Variation of bandwidth from second to second, as in GGC, section 3, from the logs of the set `ggc`.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::error::{Outcome, refused};
use crate::sets::{ProbeJob, Set};

/// Bandwidth of a job in each second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variability {
    /// Name of the job.
    pub name: String,
    /// Number of seconds measured.
    pub seconds: usize,
    /// Mean, in MB/s (10^6).
    pub mean_mb_s: f64,
    /// Standard deviation over the seconds, in MB/s.
    pub stddev_mb_s: f64,
    /// Coefficient of variation: deviation over mean.
    pub cv: f64,
    /// Bandwidth of each second, in MB/s.
    pub mb_s: Vec<f64>,
}

impl Variability {
    /// Returns the distance of each second from the mean, in standard deviations (the paper's Z-scores). All are 0 if nothing varies.
    #[must_use]
    pub fn z_scores(&self) -> Vec<f64> {
        let deviation = if self.stddev_mb_s > 0.0 { self.stddev_mb_s } else { f64::INFINITY };
        self.mb_s.iter().map(|value| (value - self.mean_mb_s) / deviation).collect()
    }

    /// Returns the density of the Z-scores: the middle of each bin of half a deviation from −4 to 4, and the density there. Values beyond
    /// count in the outermost bins.
    #[must_use]
    pub fn z_density(&self) -> Vec<(f64, f64)> {
        const BINS: usize = 17;
        let mut counts = [0_usize; BINS];
        for z in self.z_scores() {
            counts[((z * 2.0).round() + 8.0).clamp(0.0, 16.0) as usize] += 1;
        }
        let density = |count: usize| count as f64 / (0.5 * self.seconds.max(1) as f64);
        counts.iter().enumerate().map(|(bin, count)| (bin as f64 / 2.0 - 4.0, density(*count))).collect()
    }
}

/// Returns the bandwidth that the finished jobs of a set have logged.
///
/// # Errors
/// A log can't be read.
pub fn of_folder(folder: &Path, set: Set, jobs: &[ProbeJob]) -> Outcome<Vec<Variability>> {
    let mut all = Vec::new();
    if set != Set::Ggc {
        return Ok(all);
    }
    for job in jobs.iter().filter(|job| job.simulated().is_some()) {
        let path = folder.join(format!("{}_bw.1.log", job.name));
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => return refused(format!("{} can't be read: {error}", path.display())),
        };
        match of_log(&job.name, &text) {
            Ok(variability) => all.push(variability),
            Err(reason) => return refused(format!("{}: {reason}", path.display())),
        }
    }
    Ok(all)
}

/// fio's log of bandwidth: `ms, KiB/s, direction, …`, a line for each second and direction.
fn of_log(name: &str, text: &str) -> Result<Variability, String> {
    let mut seconds = std::collections::BTreeMap::<u64, f64>::new();
    for (number, line) in text.lines().enumerate() {
        let mut fields = line.split(',').map(str::trim);
        let (time, rate) =
            (fields.next().and_then(|field| field.parse::<u64>().ok()), fields.next().and_then(|field| field.parse::<f64>().ok()));
        let (Some(time_ms), Some(rate)) = (time, rate.filter(|rate| rate.is_finite() && *rate >= 0.0)) else {
            return Err(format!("line {}: `ms, KiB/s, direction` is expected: {line}", number + 1));
        };
        // Reads and writes of a second are logged within milliseconds of its end.
        *seconds.entry((time_ms + 500) / 1000).or_default() += rate * 1024.0 / 1e6;
    }
    let mb_s: Vec<f64> = seconds.into_values().collect();
    if mb_s.len() < 2 {
        return Err("there are fewer than two seconds in it; --seconds 10 or more".to_owned());
    }
    let count = mb_s.len() as f64;
    let mean_mb_s = mb_s.iter().sum::<f64>() / count;
    let stddev_mb_s = (mb_s.iter().map(|value| (value - mean_mb_s).powi(2)).sum::<f64>() / count).sqrt();
    let cv = if mean_mb_s > 0.0 { stddev_mb_s / mean_mb_s } else { 0.0 };
    Ok(Variability { name: name.to_owned(), seconds: mb_s.len(), mean_mb_s, stddev_mb_s, cv, mb_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_summed_up_by_second() {
        let log = "1000, 1000, 0, 0, 0\n1001, 3000, 1, 0, 0\n2000, 2000, 0, 0, 0\n2003, 4000, 1, 0, 0\n";
        let found = of_log("w", log).unwrap();
        assert_eq!(found.seconds, 2);
        assert!((found.mb_s[0] - 4.096).abs() < 1e-9 && (found.mb_s[1] - 6.144).abs() < 1e-9, "{:?}", found.mb_s);
        assert!((found.mean_mb_s - 5.12).abs() < 1e-9 && (found.cv - 0.2).abs() < 1e-9);
        assert!(found.z_scores().iter().zip([-1.0, 1.0]).all(|(z, wanted)| (z - wanted).abs() < 1e-9));
        let density = found.z_density();
        assert!((density.iter().map(|(_, density)| density * 0.5).sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(density.iter().find(|(z, _)| *z == 1.0).map(|(_, density)| *density), Some(1.0));
        assert!(of_log("w", "1000, 1\n").unwrap_err().contains("fewer than two"));
        assert!(of_log("w", "1000; 1\n").unwrap_err().contains("line 1"));
    }
}
