//! `flashraid preset`: the devices, arrays and workloads that come with the program.

use flashraid::config::{Preset, PresetKind, presets, renamed_preset};

use crate::args::PresetCommand;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::output::reference;

/// Runs one of the commands.
pub fn run(command: Option<&PresetCommand>) -> Outcome {
    match command {
        None | Some(PresetCommand::List { markdown: false }) => list(),
        Some(PresetCommand::List { markdown: true }) => files::print(&reference::presets(&presets())),
        Some(PresetCommand::Show { name }) => show(name),
    }
}

fn list() -> Outcome {
    let kinds = [(PresetKind::Device, "ssd"), (PresetKind::Array, "array"), (PresetKind::Workload, "workload")];
    let all = presets();
    let width = all.iter().map(|preset| preset.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (kind, section) in kinds {
        text += &format!("[{section}] preset = …\n");
        for preset in all.iter().filter(|preset| preset.kind == kind) {
            text += &format!("  {:width$}  {}\n", preset.name, shortened(&preset.summary));
        }
        text += "\n";
    }
    files::print(&(text + "flashraid preset show NAME prints all of one.\n"))
}

/// The text up to a word that still fits in a line.
fn shortened(text: &str) -> String {
    const WIDTH: usize = 100;
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    let start: String = text.chars().take(WIDTH).collect();
    let end = start.rfind(' ').unwrap_or(start.len());
    format!("{} …", start[..end].trim_end_matches([',', ';', ':', '.']))
}

/// Prints the preset as the section of a configuration that it stands for.
fn show(name: &str) -> Outcome {
    let all = presets();
    let found: Vec<&Preset> = all.iter().filter(|preset| preset.name == name).collect();
    if found.is_empty() {
        if let Some(new) = renamed_preset(name) {
            return Err(Failure::Input(format!("the preset {name:?} is called {new:?} now")));
        }
        let names: Vec<&str> = all.iter().map(|preset| preset.name.as_str()).collect();
        return Err(Failure::Input(format!("there is no preset {name:?}; there are {}", names.join(", "))));
    }
    let texts: Vec<&str> = found.iter().map(|preset| preset.text.trim_end()).collect();
    files::print(&format!("{}\n", texts.join("\n\n")))
}
