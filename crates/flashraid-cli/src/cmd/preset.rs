//! `flashraid preset`: shows the devices, arrays, and workloads that come with the program.

use flashraid::config::{Preset, PresetKind, all_presets};
use flashraid_experiments::card::{self, Grade, Graded};
use flashraid_report::text::wrap;

use crate::args::PresetCommand;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::output::{json, reference};

/// Runs `flashraid preset list`, `show` or `card`; without any of them it lists.
pub fn run(command: Option<&PresetCommand>) -> Outcome {
    match command {
        Some(PresetCommand::List { json: true, .. }) => json::print(&document()),
        None | Some(PresetCommand::List { markdown: false, .. }) => list(),
        Some(PresetCommand::List { markdown: true, .. }) => files::print(&reference::presets(&all_presets(), &card::kept)),
        Some(PresetCommand::Show { name }) => show(name),
        Some(PresetCommand::Card(arguments)) => super::card::run(arguments),
    }
}

const KINDS: [PresetKind; 3] = [PresetKind::Device, PresetKind::Array, PresetKind::Workload];

/// Returns the section of a configuration that a preset of this kind belongs to.
fn section(kind: PresetKind) -> &'static str {
    match kind {
        PresetKind::Device => "ssd",
        PresetKind::Array => "array",
        PresetKind::Workload => "workload",
    }
}

fn document() -> serde_json::Value {
    let preset = |preset: &Preset| {
        serde_json::json!({
            "section": section(preset.kind),
            "name": preset.name,
            "summary": preset.summary,
            "toml": as_configuration(preset),
            "card": kept(preset),
        })
    };
    serde_json::json!({ "schema": "flashraid.presets/1", "presets": all_presets().iter().map(preset).collect::<Vec<_>>() })
}

/// Returns the last stored report card of a preset, if its drive has a data sheet.
fn kept(preset: &Preset) -> Option<Graded> {
    if preset.kind == PresetKind::Device { card::kept(&preset.name) } else { None }
}

/// Formats how many figures of the data sheet a preset meets. Empty if the preset follows no data sheet.
fn trust(preset: &Preset) -> String {
    match kept(preset).map(|card| (card.tally(), card.tally_of_percentiles())) {
        Some(((held, judged), (_, 0))) => format!(" · card {held}/{judged}"),
        Some(((held, judged), (held_percentiles, percentiles))) => {
            format!(" · card {held}/{judged} · p {held_percentiles}/{percentiles}")
        }
        None if preset.kind == PresetKind::Device && card::cards().iter().any(|card| card.drive == preset.name) => {
            " · card not made".to_owned()
        }
        None => String::new(),
    }
}

fn list() -> Outcome {
    let all = all_presets();
    let width = all.iter().map(|preset| preset.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for kind in KINDS {
        text += &format!("[{}] preset = …\n", section(kind));
        for preset in all.iter().filter(|preset| preset.kind == kind) {
            let trust = trust(preset);
            let room = LINE - width - 4 - trust.chars().count();
            text += &format!("  {:width$}  {}{trust}\n", preset.name, shortened(&preset.summary, room));
        }
        text += "\n";
    }
    text += "flashraid preset show NAME prints all of one. \"card 4/5\": of five figures of the\n";
    text += "data sheet the simulation meets four; flashraid preset card NAME says which.\n";
    text += "\"p 8/9\" says the same of published percentiles of the drive.\n";
    let doubtful = doubtful(&all);
    if !doubtful.is_empty() {
        let warning = format!("Take no such rates from these presets, which are far from the data sheet: {}.", doubtful.join(", "));
        text += &format!("\n{}\n", wrap(&warning, LINE, ""));
    }
    files::print(&text)
}

/// Returns every rate of a preset that is far from the data sheet, with the difference.
fn doubtful(presets: &[Preset]) -> Vec<String> {
    let shown = |drive: &str, figure: &Grade| {
        let percent = 100.0 * figure.difference().unwrap_or_default();
        format!("{} of {drive} ({percent:+.0} %)", card::title(&figure.name))
    };
    let of_card = |card: Graded| card.doubtful().map(|figure| shown(&card.drive, figure)).collect::<Vec<_>>();
    presets.iter().filter_map(kept).flat_map(of_card).collect()
}

/// Width of a line in characters.
const LINE: usize = 80;

/// Cuts a text after the last word that fits `width` characters.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let start: String = text.chars().take(width.saturating_sub(2)).collect();
    let end = start.rfind(' ').unwrap_or(start.len());
    format!("{} …", start[..end].trim_end_matches([',', ';', ':', '.']))
}

/// Prints a preset as a configuration that can be run as it is.
fn show(name: &str) -> Outcome {
    let all = all_presets();
    let found: Vec<&Preset> = all.iter().filter(|preset| preset.name == name).collect();
    if found.is_empty() {
        let names: Vec<&str> = all.iter().map(|preset| preset.name.as_str()).collect();
        return Err(Failure::Input(format!("there is no preset {name:?}; there are {}", names.join(", "))));
    }
    let texts: Vec<String> = found.iter().map(|preset| as_configuration(preset)).collect();
    files::print(&texts.join("\n"))
}

/// Formats a preset as a configuration: its section, with all keys that it sets.
fn as_configuration(preset: &Preset) -> String {
    let section = section(preset.kind);
    // The preset's text is the content of the section. Comments before its first key describe the whole preset.
    let mut text = String::new();
    let mut is_open = false;
    for line in preset.toml_text.trim_end().lines() {
        let is_key = !line.is_empty() && !line.starts_with('#');
        if is_key && !is_open {
            is_open = true;
            text += &format!("[{section}]\npreset = {:?}\n", a_name(&preset.name));
        }
        text += &match line.strip_prefix("[[").map(|rest| ("[[", rest)).or_else(|| line.strip_prefix('[').map(|rest| ("[", rest))) {
            Some((open, rest)) => format!("{open}{section}.{rest}\n"),
            None => format!("{line}\n"),
        };
    }
    text
}

/// Returns a name that can be run. For a family such as `spider(R,I,W)` it is the name of the member that is shown.
fn a_name(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}
