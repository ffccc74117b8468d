use super::*;
use crate::Simulation;

const COUNT: usize = 8;

fn scenario(preset: &str, settings: &[(String, String)]) -> Option<Scenario> {
    let mut simulation = Simulation::from_toml(&format!("[array]\nlevel = \"single\"\nmembers = 1\n[ssd]\npreset = {preset:?}\n")).unwrap();
    for (key, value) in settings {
        simulation = simulation.set(key, value).ok()?;
    }
    simulation.scenario().ok()
}

fn drives(preset: &str) -> Vec<PlausibleDrive> {
    let own = scenario(preset, &[]).unwrap();
    plausible_drives(&own.config.ssd, COUNT, 1, &|settings| scenario(preset, settings))
}

#[test]
fn each_property_takes_all_parts_of_its_range() {
    let points = hypercube(16, 3);
    for property in 0..PROPERTIES {
        let mut parts: Vec<usize> = points.iter().map(|point| (point[property] * 16.0) as usize).collect();
        parts.sort_unstable();
        assert_eq!(parts, (0..16).collect::<Vec<_>>());
    }
    assert_ne!(hypercube(16, 3), hypercube(16, 4));
}

/// Plausible drives keep capacity, rates of cores, and times at queue depth 1, which a data sheet tells. They differ in the rest.
#[test]
fn plausible_drives_keep_what_a_data_sheet_tells() {
    for preset in ["nvme-tlc-read", "nvme-tlc-mixed", "nvme-gen5"] {
        let own = scenario(preset, &[]).unwrap();
        let drives = drives(preset);
        assert_eq!(drives.len(), COUNT, "{preset}");
        assert!(drives.iter().any(|drive| drive.has_other_suspension) && !drives.iter().all(|drive| drive.has_other_suspension));
        for drive in &drives {
            let other = scenario(preset, &drive.settings).unwrap();
            let near = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
            let firmware = |scenario: &Scenario| scenario.config.ssd.firmware.unwrap();
            let (a, b) = (firmware(&own), firmware(&other));
            let rate = |cores: u32, time: u64| f64::from(cores) / time as f64;
            assert!(near(rate(a.cores, a.read.ns), rate(b.cores, b.read.ns)), "{drive}");
            assert!(near(rate(a.cores, a.move_.ns), rate(b.cores, b.move_.ns)), "{drive}");
            assert!(near((a.read.ns + a.latency.ns) as f64, (b.read.ns + b.latency.ns) as f64), "{drive}");
            let channels = |scenario: &Scenario| {
                scenario.config.ssd.geometry.shape.dies / scenario.config.ssd.channel.as_ref().map_or(1, |channel| channel.dies_per_channel)
            };
            assert_eq!(channels(&own), channels(&other), "{drive}");
        }
        let distinct: std::collections::BTreeSet<String> = drives.iter().map(ToString::to_string).collect();
        assert_eq!(distinct.len(), COUNT);
    }
}

#[test]
fn drives_of_pools_have_no_plausible_others() {
    assert_eq!(drives("ggc2014"), []);
}
