//! Composes a configuration from the file, the files that it inherits, the options of the command line, and the presets below all of these.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::gc::REFERENCE_NO_COPY_BACK;
use super::presets;
use super::problems::{Problem, Problems, SourceText, TextPlace, nearest, one_of};
use super::tree::{Kind, NOT_TOML, Tree};
use super::workload_spec;
use super::{device, workload};

/// Reader that composes a configuration from its texts, and collects problems on the way.
pub(super) struct Composer {
    pub(crate) problems: Problems,
    /// Everything that the user wrote: the file with the files that it inherits, and the options, but not the presets.
    pub(crate) written: Tree,
    /// True if a file is not TOML.
    pub(crate) has_syntax_errors: bool,
}

impl Composer {
    /// Reads a file's text, the files it inherits, and the options.
    pub(super) fn read(name: &str, text: &str, sets: &[(String, String)]) -> Self {
        let mut problems = Problems::default();
        let mut chain = vec![identity(Path::new(name))];
        let mut written = read_file(name, text, &mut chain, &mut problems);
        let has_syntax_errors = problems.list.iter().any(|problem| problem.message.starts_with(NOT_TOML));
        for (key, value) in sets {
            let source = add_source(&mut problems, "--set", &format!("{key}={value}"));
            if let Some(mut tree) = Tree::parse_set(source, key, value, &mut problems.list) {
                if let Some(inherits) = tree.remove("inherits") {
                    let help = Some("write it at the top of a file".to_string());
                    problem_at(
                        &mut problems,
                        "inherits",
                        &inherits.key_place,
                        "`inherits` is not an option of the command line".into(),
                        help,
                    );
                }
                written.overlay(tree);
            }
        }
        Self { problems, written, has_syntax_errors }
    }

    /// Returns the complete configuration: the values that the user wrote, and for all other keys the values of the presets.
    pub(super) fn with_presets(&mut self) -> Tree {
        let mut tree = self.written.clone();
        for key in ["ssd", "array", "workload"] {
            if tree.get(key).is_none() {
                tree.insert(key, Tree::empty(0));
            }
        }
        let problems = &mut self.problems;
        if let Some(ssd) = tree.get_mut("ssd").filter(|ssd| ssd.is_table()) {
            let name = named_preset(ssd, "ssd", problems, &presets::device_names()).unwrap_or_else(|| device::DEFAULT_PRESET.to_string());
            let text = presets::device(&name).expect("named_preset returns known names, and the default is one");
            fill_in_preset(ssd, &name, text, problems);
            follow_procedure(ssd, self.written.get("ssd"));
            begin_in_steady_state(ssd);
        }
        if let Some(array) = tree.get_mut("array").filter(|array| array.is_table())
            && let Some(name) = named_preset(array, "array", problems, &presets::array_names())
        {
            let text = presets::array(&name).expect("named_preset returns known names");
            fill_in_preset(array, &name, text, problems);
        }
        if let Some(workload) = tree.get_mut("workload") {
            fill_workload(workload, "workload", problems, true);
        }
        tree
    }
}

/// Returns a path that is the same for all names of a file.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

fn add_source(problems: &mut Problems, name: &str, text: &str) -> usize {
    let source = SourceText { name: name.to_string(), text: text.to_string() };
    match problems.sources.iter().position(|known| *known == source) {
        Some(at) => at,
        None => {
            problems.sources.push(source);
            problems.sources.len() - 1
        }
    }
}

fn problem_at(problems: &mut Problems, key: &str, place: &TextPlace, message: String, help: Option<String>) {
    problems.list.push(Problem { key: key.to_string(), message, suggested_fix: help, place: Some(place.clone()) });
}

/// Maximum number of files in a chain of inheritance.
const INHERITS_MAX: usize = 64;

/// Returns the values of a file together with those that it inherits. `chain` holds the files that are being read, to detect cycles.
fn read_file(name: &str, text: &str, chain: &mut Vec<PathBuf>, problems: &mut Problems) -> Tree {
    let source = add_source(problems, name, text);
    let source_text = problems.sources[source].clone();
    let mut tree = Tree::parse(source, &source_text, &mut problems.list);
    make_paths_relative_to(&mut tree, Path::new(name));
    let Some(inherits) = tree.remove("inherits") else { return tree };
    let place = inherits.value_place.clone();
    let Some(base_name) = inherits.as_str() else {
        let help = Some("write it as in inherits = \"base.toml\"".to_string());
        problem_at(problems, "inherits", &place, "`inherits` must be the path of a file in quotes".into(), help);
        return tree;
    };
    let base_path = Path::new(name).parent().unwrap_or(Path::new("")).join(base_name);
    let base_identity = identity(&base_path);
    if chain.contains(&base_identity) {
        let through: Vec<String> = chain.iter().map(|path| path.display().to_string()).collect();
        let message = format!("`inherits` goes in a circle: {} inherits {base_name} again", through.join(" inherits "));
        problem_at(problems, "inherits", &place, message, None);
        return tree;
    }
    if chain.len() == INHERITS_MAX {
        let message = format!("`inherits` leads from file to file, {INHERITS_MAX} of them and on");
        problem_at(problems, "inherits", &place, message, Some("put some of the files together".to_string()));
        return tree;
    }
    match super::read_text(&base_path) {
        Ok(base_text) => {
            chain.push(base_identity);
            let mut base = read_file(&base_path.display().to_string(), &base_text, chain, problems);
            chain.pop();
            base.overlay(tree);
            base
        }
        Err(error) => {
            let help = Some("the path is relative to the file that inherits".to_string());
            problem_at(problems, "inherits", &place, format!("{} can't be read: {error}", base_path.display()), help);
            tree
        }
    }
}

/// Makes paths in a file relative to the folder of the file.
fn make_paths_relative_to(tree: &mut Tree, file: &Path) {
    let Some(directory) = file.parent().filter(|directory| !directory.as_os_str().is_empty()) else { return };
    let move_path = |tree: Option<&mut Tree>| {
        if let Some(Tree { kind: Kind::Leaf(Value::String(path)), .. }) = tree {
            *path = directory.join(&*path).display().to_string();
        }
    };
    let warm_up = |tree: &mut Tree, key: &str| {
        move_path(tree.get_mut("ssd").and_then(|ssd| ssd.get_mut("warm_up")).and_then(|table| table.get_mut(key)))
    };
    warm_up(tree, "save");
    warm_up(tree, "load");
    fn traces(workload: &mut Tree, move_path: &dyn Fn(Option<&mut Tree>)) {
        move_path(workload.get_mut("path"));
        if let Some(Tree { kind: Kind::Array(streams), .. }) = workload.get_mut("streams") {
            streams.iter_mut().for_each(|stream| traces(stream, move_path));
        }
    }
    if let Some(workload) = tree.get_mut("workload") {
        traces(workload, &move_path);
    }
}

/// Returns the preset that `table` names. A name of no preset is a problem.
fn named_preset(table: &Tree, section: &str, problems: &mut Problems, names: &[String]) -> Option<String> {
    let preset = table.get("preset")?;
    let name = preset.as_str()?;
    if names.iter().any(|known| known == name) {
        return Some(name.to_string());
    }
    let help = match nearest(name, names.iter().map(String::as_str)) {
        Some(likely) => format!("did you mean \"{likely}\"?"),
        None if names.len() > 12 => "`flashraid preset list` names them".to_string(),
        None => {
            format!("there are {}", one_of(&names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>()).replace(" or ", " and "))
        }
    };
    let place = preset.value_place.clone();
    problem_at(
        problems,
        &format!("{section}.preset"),
        &place,
        format!("`{section}.preset` is \"{name}\", but there is no such preset"),
        Some(help),
    );
    None
}

/// Fills in the keys of `tree` that are missing from the TOML of a preset.
fn fill_in_preset(tree: &mut Tree, name: &str, text: &str, problems: &mut Problems) {
    let source = add_source(problems, &format!("preset {name}"), text);
    let source_text = problems.sources[source].clone();
    let mut base = Tree::parse(source, &source_text, &mut problems.list);
    base.overlay(tree.clone());
    *tree = base;
}

/// Sets the keys that a named procedure implies, in place of the preset's values. Keys that the user wrote stay, and may contradict it.
fn follow_procedure(ssd: &mut Tree, written: Option<&Tree>) {
    let written = written.and_then(|written| written.get("gc"));
    let is_written = |key: &str| written.is_some_and(|gc| gc.get(key).is_some());
    let Some(gc) = ssd.get_mut("gc") else { return };
    let Some(procedure) = gc.get("procedure").filter(|_| is_written("procedure")) else { return };
    if procedure.as_str() == Some(REFERENCE_NO_COPY_BACK) {
        let place = procedure.value_place.clone();
        for (key, value) in [("pool", Value::from("die")), ("copy_back", false.into())] {
            if !is_written(key) {
                gc.insert(key, Tree::from_json(&value, &place));
            }
        }
    }
}

/// Makes the steady state the warm-up of a drive with superblocks. It changes nothing if the configuration has overwrites, a start, or a
/// state to load.
fn begin_in_steady_state(ssd: &mut Tree) {
    if ssd.get("superblock").is_none() {
        return;
    }
    let place = ssd.value_place.clone();
    if ssd.get("warm_up").is_none() {
        ssd.insert("warm_up", Tree::empty(place.source_index));
    }
    let Some(warm_up) = ssd.get_mut("warm_up").filter(|warm_up| warm_up.is_table()) else { return };
    let has = |key: &str| warm_up.get(key).is_some();
    if !["pattern", "overwrites", "start", "load"].into_iter().any(has) {
        warm_up.insert("pattern", Tree::from_json(&"steady".into(), &place));
    }
    if warm_up.get("pattern").and_then(Tree::as_str) == Some("steady") && warm_up.get("overwrites").is_none() {
        warm_up.insert("overwrites", Tree::from_json(&0.0.into(), &place));
    }
}

/// Determines the kind of a workload, refuses keys of other kinds, and fills in missing keys from its preset.
fn fill_workload(tree: &mut Tree, section: &str, problems: &mut Problems, is_whole: bool) {
    if !tree.is_table() {
        return;
    }
    let mut preset = workload_preset(tree, section, problems);
    let kind_written = tree.get("kind").and_then(Tree::as_str).filter(|kind| workload_spec::KINDS.contains(kind)).map(str::to_string);
    let has = |key: &str| tree.get(key).is_some();
    if preset.is_none() && kind_written.is_none() && !has("path") && !has("streams") {
        preset = Some(workload::DEFAULT_PRESET.to_string());
    }
    let base = preset.as_deref().and_then(|name| workload_spec::preset(name).ok());
    let base_kind = base.as_ref().map(workload_spec::kind_of);
    let kind = match kind_written {
        Some(kind) => kind,
        None if has("path") => "trace".to_string(),
        None if has("streams") => "mix".to_string(),
        None => base_kind.unwrap_or("synthetic").to_string(),
    };
    refuse_other_kinds(tree, section, &kind, problems);
    // A trace replaces a stand-in, and streams replace a generator. The preset then has no effect.
    let base = base.filter(|_| base_kind == Some(kind.as_str()));
    let base = match base {
        Some(base) => Some(workload_spec::to_config(&base)),
        None if kind == "synthetic" => Some(workload_spec::plain_synthetic()),
        None => None,
    };
    if let Some(base) = base {
        let name = preset.clone().unwrap_or_else(|| "synthetic".to_string());
        let mut json = workload_spec::base_json(&base);
        // The key `size` sets both directions, whatever the preset has for each.
        if let (Some(_), Some(table)) = (tree.get("size"), json.as_object_mut()) {
            table.remove("read_size");
            table.remove("write_size");
        }
        let source = add_source(problems, &format!("preset {name}"), "");
        let mut base = Tree::from_json(&json, &TextPlace { source_index: source, span: 0..0 });
        base.overlay(tree.clone());
        *tree = base;
    }
    let place = tree.value_place.clone();
    // Written values stay, right or wrong, so that the schema judges them.
    if let Some(name) = preset.filter(|_| tree.get("preset").is_none()) {
        tree.insert("preset", Tree::from_json(&Value::String(name), &place));
    }
    if tree.get("kind").is_none() {
        tree.insert("kind", Tree::from_json(&Value::String(kind.clone()), &place));
    }
    if let Some(Tree { kind: Kind::Array(streams), .. }) = tree.get_mut("streams") {
        for (at, stream) in streams.iter_mut().enumerate() {
            fill_workload(stream, &format!("{section}.streams[{at}]"), problems, false);
        }
    }
    if is_whole && is_endless(tree) && tree.get("requests").is_none() && tree.get("duration").is_none() {
        tree.insert("requests", Tree::from_json(&workload::DEFAULT_REQUESTS.into(), &place));
    }
}

/// Returns true if the workload never ends by itself. Its kind must have been filled in.
fn is_endless(tree: &Tree) -> bool {
    if tree.get("limit").is_some() {
        return false;
    }
    match (tree.get("kind").and_then(Tree::as_str), tree.get("streams").map(|streams| &streams.kind)) {
        (Some("trace"), _) => false,
        (Some("mix"), Some(Kind::Array(streams))) => streams.iter().any(is_endless),
        _ => true,
    }
}

/// Returns the name of the catalogue's workload that `tree` builds on. A name that the catalogue does not have is a problem.
fn workload_preset(tree: &Tree, section: &str, problems: &mut Problems) -> Option<String> {
    let preset = tree.get("preset")?;
    let name = preset.as_str()?;
    match workload_spec::preset(name) {
        Ok(_) => Some(name.to_string()),
        Err(unknown) => {
            let message = format!("`{section}.preset` is \"{name}\", but there is no such workload");
            let place = preset.value_place.clone();
            // The hint of the catalogue ends with all its names.
            let help = match unknown.similar_names_hint.split_once('?') {
                Some((likely, _)) => format!("{likely}? `flashraid preset list` names them all"),
                None => unknown.similar_names_hint,
            };
            problem_at(problems, &format!("{section}.preset"), &place, message, Some(help));
            None
        }
    }
}

fn refuse_other_kinds(tree: &Tree, section: &str, kind: &str, problems: &mut Problems) {
    let Kind::Table(entries) = &tree.kind else { return };
    for (key, child) in entries {
        let Some(belongs) = workload_spec::kind_of_key(key).filter(|belongs| *belongs != kind) else { continue };
        let message = format!("`{section}.{key}` belongs to workloads of the kind \"{belongs}\", but this one is of the kind \"{kind}\"");
        let help = Some(format!("remove it, or say {section}.kind = \"{belongs}\""));
        problem_at(problems, &format!("{section}.{key}"), &child.key_place, message, help);
    }
}
