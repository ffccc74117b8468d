//! Drives that are as plausible as a preset: what no data sheet tells is varied, and what it tells stays.
//!
//! Each drive differs in dies, sizes of superblocks, thresholds and debt of collection, suspension, kinds of pages and cores. Costs on
//! cores, latencies and thresholds follow, so that the drive keeps its capacity, its rates and its times at queue depth 1. A drive that
//! cannot keep them is left out. The values are a Latin hypercube: each property takes all parts of its range, one in each drive.

use std::fmt;

use flashraid_model::rng;

use crate::check;
use crate::config::{Preemption, Scenario, SsdConfig};

/// Greatest factor by which a property is larger or smaller than in the preset.
const FACTOR_MAX: f64 = 2.0;
/// Least time from a write's entry into the buffer to its end.
const ACK_MIN_NS: f64 = 200.0;
/// Greatest change of capacity and of random writes.
const CHANGE_MAX: f64 = 0.05;
/// Number of drives that are drawn for each one that is wanted. Some cannot keep the figures.
const DRAWN: usize = 4;
/// Number of properties that are varied.
const PROPERTIES: usize = 7;

/// Makes the scenario of a drive from settings that replace the preset's; `None` if there is no such drive.
pub type MakeScenario<'a> = dyn Fn(&[(String, String)]) -> Option<Scenario> + 'a;

/// A drive that is as plausible as its preset.
#[derive(Debug, Clone, PartialEq)]
pub struct PlausibleDrive {
    /// Keys of the configuration with their values, which replace those of the preset.
    pub settings: Vec<(String, String)>,
    /// True if the preset suspends programs and erases for reads, and the drive does not, or the other way round.
    pub has_other_suspension: bool,
    text: String,
}

impl fmt::Display for PlausibleDrive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns `count` drives that are as plausible as the one of a scenario, or fewer if not so many keep its figures. `scenario` makes the
/// scenario of a drive from its settings. Only drives with superblocks have plausible others: those of the papers are as they are.
pub fn plausible_drives(ssd: &SsdConfig, count: usize, seed: u64, scenario: &MakeScenario<'_>) -> Vec<PlausibleDrive> {
    let Some(own) = scenario(&[]) else { return Vec::new() };
    let own = check::check_without_workload(&own);
    let keeps = |drive: &PlausibleDrive| {
        let Some(other) = scenario(&drive.settings).map(|scenario| check::check_without_workload(&scenario)) else { return false };
        let change = |of: fn(&check::CheckReport) -> f64| libm::fabs(libm::log(of(&other) / of(&own)));
        change(|report| report.member.exported_bytes as f64) < CHANGE_MAX && change(|report| report.gc.write_amplification) < CHANGE_MAX
    };
    let drives = hypercube(DRAWN * count, seed).into_iter().filter_map(|place| drive(ssd, place));
    drives.filter(keeps).take(count).collect()
}

/// Returns points in a cube of edge 1. In each direction, there is one point in each of `count` equal parts.
fn hypercube(count: usize, seed: u64) -> Vec<[f64; PROPERTIES]> {
    let mut points = vec![[0.0; PROPERTIES]; count];
    for property in 0..PROPERTIES {
        let mut stream = rng::stream(seed, "plausible-drives", property as u64);
        let mut parts: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            parts.swap(last, rng::below(&mut stream, last as u64 + 1) as usize);
        }
        for (point, part) in points.iter_mut().zip(parts) {
            point[property] = (part as f64 + rng::uniform(&mut stream)) / count as f64;
        }
    }
    points
}

/// Returns the drive at a point of the cube, or `None` if it cannot keep the figures of the data sheet.
fn drive(ssd: &SsdConfig, place: [f64; PROPERTIES]) -> Option<PlausibleDrive> {
    let superblock = ssd.superblock.as_ref()?;
    let (geometry, mut settings, mut words) = (&ssd.geometry.shape, Vec::new(), Vec::new());
    let mut set = |key: &str, value: String| settings.push((format!("ssd.{key}"), value));
    let factor = |place: f64| libm::pow(FACTOR_MAX, 2.0 * place - 1.0);
    let [dies_at, rows_at, reserve_at, debt_at, suspension_at, spread_at, cores_at] = place;

    // The number of channels stays, and so does the capacity.
    let dies_per_channel = ssd.channel.as_ref().map(|channel| channel.dies_per_channel);
    let step = geometry.dies / dies_per_channel.unwrap_or(geometry.dies).max(1);
    let dies = (f64::from(geometry.dies) * factor(dies_at) / f64::from(step)).round().max(1.0) as u32 * step;
    // An eighth of the rows of a block keeps whole rows in scaled drives, too.
    let eighths = (8.0 * factor(rows_at)).round() as u32;
    if !geometry.pages_per_block.is_multiple_of(8) {
        return None;
    }
    let pages = geometry.pages_per_block / 8 * eighths;
    let larger = f64::from(dies) / f64::from(geometry.dies) * f64::from(eighths) / 8.0;
    let blocks = (f64::from(geometry.blocks_per_plane) / larger).round() as u32;
    set("geometry.dies", dies.to_string());
    set("geometry.pages", pages.to_string());
    set("geometry.blocks", blocks.to_string());
    if dies_per_channel.is_some() {
        set("channel.dies_per_channel", (dies / step).to_string());
    }
    words.push(format!("{dies} dies, superblocks {larger:.2} times as large"));

    // Free superblocks are a part of the spare space, of which larger ones need fewer.
    let reserve = factor(reserve_at);
    let superblocks = |count: u32| ((f64::from(count) * reserve / larger).round() as u32).max(1);
    let target = superblocks(superblock.collection.target).max(superblock.collection.floor + 1);
    set("superblock.target", target.to_string());
    set("superblock.span", superblocks(superblock.collection.span).to_string());
    let debt = (f64::from(superblock.debt) * factor(debt_at)).round().max(1.0) as u32;
    set("superblock.debt", debt.to_string());
    words.push(format!("collection from {target} free superblocks on, debt {debt}"));

    let suspends = ssd.gc.preemption == Preemption::Suspend;
    let other_suspends = suspension_at >= 0.5;
    set("gc.preemption", if other_suspends { "\"suspend\"" } else { "\"none\"" }.to_owned());
    words.push(if other_suspends { "suspension" } else { "no suspension" }.to_owned());

    // Reads of a kind of page lie from none to twice as far from their mean.
    let times: Vec<f64> = superblock.page_reads.iter().map(|time| time.ns as f64).collect();
    if times.len() > 1 {
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let least = times.iter().copied().fold(mean, f64::min);
        let spread = (2.0 * spread_at).min(0.9 * mean / (mean - least).max(1.0));
        let list: Vec<String> = times.iter().map(|time| format!("\"{:.0}ns\"", mean + spread * (time - mean))).collect();
        set("superblock.page_reads", format!("[{}]", list.join(", ")));
        words.push(format!("page reads {spread:.2} times as far apart"));
    }

    if let (Some(firmware), Some(buffer)) = (&ssd.firmware, &ssd.buffer) {
        let cores = (f64::from(firmware.cores) * factor(cores_at)).round().max(1.0);
        let slower = cores / f64::from(firmware.cores);
        let [read, write, moved] = [firmware.read, firmware.write, firmware.move_].map(|time| time.ns as f64);
        let latency = firmware.latency.ns as f64 + read - read * slower;
        let ack = buffer.settings.ack.ns as f64 + write + firmware.latency.ns as f64 - write * slower - latency;
        if latency < 0.0 || ack < ACK_MIN_NS {
            return None;
        }
        let mut time = |key: &str, ns: f64| set(key, format!("\"{ns:.0}ns\""));
        time("firmware.read", read * slower);
        time("firmware.write", write * slower);
        time("firmware.move", moved * slower);
        time("firmware.latency", latency);
        time("buffer.ack", ack);
        set("firmware.cores", format!("{cores:.0}"));
        words.push(format!("{cores:.0} cores"));
    }
    Some(PlausibleDrive { settings, has_other_suspension: suspends != other_suspends, text: words.join(", ") })
}

#[cfg(test)]
#[path = "plausible_tests.rs"]
mod tests;
