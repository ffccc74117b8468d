//! Reads the input of a command: a configuration or a trace, with the user's options over it. Also reports problems of the input.

use std::io::Read;
use std::path::Path;

use flashraid::advise::{Advisor, Space};
use flashraid::config::{Preset, PresetKind, all_presets};
use flashraid::study::Setting;
use flashraid::{Error, Simulation, Study};
use flashraid_workload::trace::{self, DevicePlacement, Format, TraceSpec};

use crate::args::ScenarioArgs;
use crate::failure::{Failure, Outcome, refuse};

/// Builds the simulation of the file, the user's options, and then `more` settings.
pub fn simulation<'a>(arguments: &ScenarioArgs, more: &[Setting]) -> Outcome<Simulation<'a>> {
    let mut simulation = match start(arguments)? {
        Start::File => Simulation::from_file(&arguments.file)?,
        Start::Text(text) => Simulation::from_toml(&text)?,
    };
    for Setting { key, value } in settings(arguments).iter().chain(more) {
        simulation = simulation.set(key, value)?;
    }
    Ok(simulation)
}

/// Builds a study with the file and the user's options as its base.
pub fn study(arguments: &ScenarioArgs) -> Outcome<Study> {
    let mut study = match start(arguments)? {
        Start::File => Study::from_file(&arguments.file)?,
        Start::Text(text) => Study::from_toml(&text)?,
    };
    for Setting { key, value } in &settings(arguments) {
        study = study.set(key, value)?;
    }
    Ok(study)
}

/// Builds the question of `flashraid advise` about the load that the user named: a trace, a configuration, or a built-in workload.
pub fn advisor(file: &Path, format: Option<Format>, space: Space, capacity_bytes: f64) -> Outcome<Advisor> {
    let name = file.display().to_string();
    let is_preset = |preset: &Preset| preset.kind == PresetKind::Workload && preset.name == name;
    if format.is_none() && !file.exists() && all_presets().iter().any(is_preset) {
        return Ok(Advisor::from_toml(&name, &format!("[workload]\npreset = {name:?}\n"), space, capacity_bytes)?);
    }
    let (ssd, level, members, set) = (None, None, None, Vec::new());
    match start(&ScenarioArgs { file: file.to_owned(), set, ssd, level, members, format })? {
        Start::File => Ok(Advisor::from_file(file, space, capacity_bytes)?),
        Start::Text(text) => Ok(Advisor::from_toml(&name, &text, space, capacity_bytes)?),
    }
}

/// Returns the settings of `--set`, and then those of the options that abbreviate keys.
fn settings(arguments: &ScenarioArgs) -> Vec<Setting> {
    let ScenarioArgs { set, ssd, level, members, .. } = arguments;
    // The level `single` has exactly one member.
    let members = members.map(|members| members.to_string()).or_else(|| (level.as_deref() == Some("single")).then(|| "1".to_owned()));
    let short = [("ssd.preset", ssd.clone()), ("array.level", level.clone()), ("array.members", members)];
    let short = short.into_iter().filter_map(|(key, value)| Some(Setting { key: key.to_owned(), value: quoted(&value?) }));
    set.iter().cloned().chain(short).collect()
}

/// Quotes a text as TOML, unless it is a number.
fn quoted(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.to_owned() } else { format!("{text:?}") }
}

/// Source of the configuration.
enum Start {
    /// The file that the user named.
    File,
    /// A text, which comes from standard input or was generated for a trace.
    Text(String),
}

fn start(arguments: &ScenarioArgs) -> Outcome<Start> {
    let file = &arguments.file;
    if arguments.format.is_some() {
        return replay(arguments);
    }
    if file.as_os_str() == "-" {
        return Ok(Start::Text(standard_input()?));
    }
    // A pipe can be read only once, so its content can't be examined first.
    let is_toml = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    if is_toml || !file.is_file() {
        return Ok(Start::File);
    }
    let no_configuration = match Simulation::from_file(file) {
        Ok(_) if says_something(file) => return Ok(Start::File),
        Ok(_) => "it says nothing".to_owned(),
        Err(Error::Config(problems)) if problems.has_unreadable_file => return Err(refuse(&problems)),
        Err(Error::Config(problems)) => problems.list.first().map(|problem| problem.message.clone()).unwrap_or_default(),
        Err(error) => return Err(error.into()),
    };
    // Detecting the format needs no devices, and finding them would read the whole file.
    match trace::open_trace(&TraceSpec { devices: DevicePlacement::Fold, ..TraceSpec::new(file) }) {
        Ok(_) => replay(arguments),
        Err(no_trace) => Err(Failure::Input(format!(
            "{0} is neither a configuration nor a trace that can be recognised\n  as a configuration: {1}\n  as a trace: {no_trace}\n\
             the name of a configuration ends in .toml; --format says how to read a trace",
            file.display(),
            no_configuration.lines().next().unwrap_or_default(),
        ))),
    }
}

/// Returns true if the file has a line that is neither blank nor a comment.
fn says_something(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Returns a configuration that replays a trace. Any addresses are accepted, and times may go backwards a little.
fn replay(arguments: &ScenarioArgs) -> Outcome<Start> {
    let is_input = arguments.file.as_os_str() == "-";
    let path = if is_input { Path::new("/dev/stdin") } else { arguments.file.as_path() };
    let Some(shown) = path.to_str() else {
        return Err(Failure::Input(format!("{}: the name of a trace has to be UTF-8; rename it", path.display())));
    };
    let mut text = format!("[workload]\nkind = \"trace\"\npath = {shown:?}\naddress_fit = \"wrap\"\nreorder = 65536\n");
    if let Some(format) = arguments.format {
        text += &format!("format = \"{}\"\n", format.name());
    }
    // Placing devices end to end needs two passes over the trace, and a pipe allows only one.
    if is_input && !path.is_file() {
        text += "devices = \"fold\"\n";
    }
    Ok(Start::Text(text))
}

/// Reads standard input completely, as text.
fn standard_input() -> Outcome<String> {
    /// Largest configuration in bytes, as for files.
    const TEXT_MAX: u64 = 16 << 20;
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(TEXT_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::Run(format!("can't read standard input: {error}")))?;
    if bytes.len() as u64 > TEXT_MAX {
        return Err(Failure::Input("standard input is larger than 16 MiB, and no configuration is; for a trace add --format".to_owned()));
    }
    String::from_utf8(bytes)
        .map_err(|_| Failure::Input("standard input is not text: a configuration is TOML in UTF-8; for a trace add --format".to_owned()))
}
