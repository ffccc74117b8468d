//! `flashraid export`: a drive and its workload as files of another simulator.

use std::path::Path;

use flashraid::Simulation;
use flashraid::config::{PresetKind, all_presets};
use flashraid::exchange::{FilesForOtherProgram, femu, mqsim, nvmevirt};

use crate::args::{ExportArgs, Simulator};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::out_folder::{OutFolder, all_or_nothing};

/// Runs `flashraid export` with these arguments.
pub fn run(arguments: &ExportArgs) -> Outcome {
    let mut simulation = configuration(&arguments.what)?;
    for setting in &arguments.set {
        simulation = simulation.set(&setting.key, &setting.value)?;
    }
    let scenario = simulation.scenario()?;
    let FilesForOtherProgram { files: exported, notes } = match arguments.to {
        Simulator::Mqsim => mqsim::export_mqsim(&scenario),
        Simulator::Nvmevirt => nvmevirt::export_nvmevirt(&scenario),
        Simulator::Femu => femu::export_femu(&scenario),
    };
    for note in &notes {
        crate::complain(&format!("note: {note}"));
    }
    let Some(out) = &arguments.out else {
        return files::print(&exported.first().map(|file| file.text.clone()).unwrap_or_default());
    };
    let folder = OutFolder::claim(out, Some(arguments.force))?;
    all_or_nothing(folder.path(), || {
        for file in &exported {
            files::write(&folder.path().join(file.file_name), file.text.as_bytes())?;
        }
        Ok(())
    })
}

/// The configuration of a file, or that of a preset with all else at its default.
fn configuration<'a>(what: &str) -> Outcome<Simulation<'a>> {
    let path = Path::new(what);
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        return Ok(Simulation::from_file(path)?);
    }
    let all = all_presets();
    let Some(preset) = all.iter().find(|preset| preset.name.split('(').next() == Some(what)) else {
        let names: Vec<&str> = all.iter().map(|preset| preset.name.as_str()).collect();
        return Err(Failure::Input(format!("{what:?} is neither a file that ends in .toml nor a preset; there are {}", names.join(", "))));
    };
    let text = match preset.kind {
        PresetKind::Device => format!("array.level = \"single\"\nssd.preset = {what:?}\n"),
        PresetKind::Array => format!("array.preset = {what:?}\n"),
        PresetKind::Workload => format!("array.level = \"single\"\nworkload.preset = {what:?}\n"),
    };
    Ok(Simulation::from_toml(&text)?)
}
