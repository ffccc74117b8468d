//! The drive that a fit begins with: what measurements can't tell is taken from it.

use std::path::Path;

use flashraid::config::{ScaledDriveDimension, Scenario, all_presets};
use flashraid::model::ssd::SsdParams;
use flashraid::{Simulation, config};
use serde_json::{Value, json};

use crate::error::{Outcome, refused};
use crate::job::Job;
use crate::parameter::superblock;

/// A drive with superblocks, from a preset or a file.
#[derive(Debug, Clone)]
pub struct Base {
    /// The preset's name or the file's.
    pub name: String,
    /// `[ssd]` with all keys that say something of such a drive.
    pub(crate) ssd: Value,
    /// Parameters that the model gets for it.
    pub(crate) params: SsdParams,
}

impl Base {
    /// A preset, or the `[ssd]` of a configuration file if the name ends in `.toml`.
    ///
    /// # Errors
    /// There is no such preset or file, it has problems, or its drive has no superblocks.
    pub fn read(name: &str) -> Outcome<Base> {
        let simulation = if Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
            Simulation::from_file(name)?
        } else {
            let is_known = all_presets().iter().any(|preset| preset.kind == config::PresetKind::Device && preset.name == name);
            if !is_known {
                return refused(format!(
                    "base {name}: there is no such device; `flashraid preset list` names the devices, and a file ends in .toml"
                ));
            }
            Simulation::from_toml(&format!("[ssd]\npreset = {name:?}\n"))?
        };
        // Of a whole array only the drive counts.
        Base::of(name, &simulation.scenario()?)
    }

    /// The drive of a scenario.
    ///
    /// # Errors
    /// It has no superblocks.
    pub fn of(name: &str, scenario: &Scenario) -> Outcome<Base> {
        if scenario.array.ssd.superblock.is_none() {
            return refused(format!(
                "base {name}: its drive has no superblocks (`ssd.superblock`); take nvme-tlc-read, nvme-tlc-mixed, nvme-gen5 or a file with such a drive"
            ));
        }
        if scenario.config.ssd.scale_by != ScaledDriveDimension::Space {
            return refused(format!(
                "base {name}: its drive is scaled by width (`ssd.scale_by`); take the whole one, which is scaled by space here"
            ));
        }
        let mut ssd = serde_json::to_value(&scenario.config.ssd).expect("a configuration is plain data");
        leave_out_nulls(&mut ssd);
        leave_out_pools(&mut ssd);
        Ok(Base { name: name.to_owned(), ssd, params: scenario.array.ssd.clone() })
    }

    /// Bytes that a host sees.
    pub fn capacity_bytes(&self) -> u64 {
        self.params.exported_pages() * u64::from(self.params.geometry.page_bytes)
    }

    /// Returns the configuration with which a job is simulated on one such drive.
    ///
    /// Random writes begin in the steady state (rule 215 of docs/rules.md). Writes that do not count use up the free space and the buffer
    /// that this state leaves. Then whole superblocks are written while the job is measured. In a shorter time, a drive that has credit
    /// seems up to twice as fast as it is (docs/probe-and-fit.md, "Jobs of a fit").
    ///
    /// The number of measured requests is `times` that of a search.
    fn configuration(&self, job: &Job, times: u32, scale: u32, seed: u64) -> Outcome<Value> {
        /// Superblocks that the host fills before writes are measured, and while they are.
        const SUPERBLOCKS: f64 = 8.0;
        let mut ssd = self.ssd.clone();
        ssd["scale"] = json!(ssd["scale"].as_u64().unwrap_or(1).max(u64::from(scale)));
        let array = json!({ "level": "single", "members": 1 });
        // A scaled superblock keeps some rows at least, so that its size is taken from the drive that will be simulated.
        let scaled = self.checked(&json!({ "array": array, "ssd": ssd }), "at that scale")?;
        let geometry = &scaled.array.ssd.geometry;
        let superblock_pages = f64::from(geometry.dies) * f64::from(geometry.planes) * f64::from(geometry.pages_per_block);
        let superblock_bytes = superblock_pages * f64::from(geometry.page_bytes);
        let drive = superblock(&self.params);
        let unit_bytes = u64::from(drive.pages_per_mapping_unit) * u64::from(geometry.page_bytes);
        let buffer_bytes = f64::from(drive.buffer.capacity_mapping_units) * unit_bytes as f64;
        let written_bytes = job.size_bytes.next_multiple_of(unit_bytes) as f64 * f64::from(100 - job.read_percent) / 100.0;
        let depth = job.depth as f64;
        let (skipped, measured) = if !job.writes() {
            (100.0 + 4.0 * depth, (3000.0 + 60.0 * depth).min(20_000.0))
        } else if job.depth == 1 {
            // It never fills the buffer.
            (500.0, 10_000.0)
        } else {
            let filling = SUPERBLOCKS * superblock_bytes / written_bytes;
            (4.0 * depth + 1.5 * buffer_bytes / written_bytes + filling, filling.max(10_000.0))
        };
        let measured = f64::from(times) * measured;
        ssd["warm_up"] = if job.begins_worn_in() { json!({ "pattern": "steady" }) } else { json!({ "overwrites": 0.0 }) };
        Ok(json!({
            "seed": seed,
            "array": array,
            "ssd": ssd,
            "workload": {
                "kind": "synthetic",
                "requests": (skipped + measured) as u64,
                "read_fraction": f64::from(job.read_percent) / 100.0,
                "size": job.size_bytes,
                "sequential_fraction": f64::from(u8::from(job.is_sequential)),
                "arrivals": { "process": "closed", "depth": job.depth },
            },
            "report": { "skip_requests": skipped as u64 },
        }))
    }

    /// Returns the scenario in which a job is simulated on one such drive, with `times` as many measured requests as in a search.
    ///
    /// # Errors
    /// The drive can't be simulated at that scale, or the job is too large for it.
    pub(crate) fn scenario(&self, job: &Job, times: u32, scale: u32, seed: u64) -> Outcome<Scenario> {
        self.checked(&self.configuration(job, times, scale, seed)?, &format!("job {}", job.name))
    }

    /// Returns the scenario of a configuration that was made of this base. `what` names it in errors.
    fn checked(&self, configuration: &Value, what: &str) -> Outcome<Scenario> {
        let simulation = Simulation::from_value(configuration)?;
        simulation.scenario().map_err(|error| crate::FitError::Input(format!("base {}, {what}: {error}", self.name)))
    }
}

/// Removes keys of devices with pools of blocks. They come from the preset below, and would be refused in a file.
fn leave_out_pools(ssd: &mut Value) {
    let Some(keys) = ssd.as_object_mut() else { return };
    for key in ["allocation", "die_stride", "plane_choice", "summary_page", "fill_seals_last_block"] {
        keys.shift_remove(key);
    }
    if let Some(gc) = keys.get_mut("gc").and_then(Value::as_object_mut) {
        gc.retain(|key, _| key == "preemption" || key == "idle");
    }
}

fn leave_out_nulls(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.retain(|_, child| !child.is_null());
            entries.values_mut().for_each(leave_out_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_nulls),
        _ => {}
    }
}
