//! `flashraid migrate`: writes the new names of keys, values and presets into a configuration.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::args::MigrateArgs;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::scenario;

/// Runs the command.
pub fn run(arguments: &MigrateArgs) -> Outcome {
    let name = arguments.file.display().to_string();
    let text = read(&arguments.file)?;
    let migrated = scenario::migrate(&name, &text)?;
    let said: String = migrated.changes.iter().map(|change| format!("{name}:{}: {} → {}\n", change.line, change.old, change.new)).collect();
    let said = if said.is_empty() { format!("{name}: nothing to change\n") } else { said };
    if arguments.stdout {
        crate::complain(said.trim_end());
        return files::print(&migrated.text);
    }
    if !migrated.changes.is_empty() {
        files::rewrite(&arguments.file, migrated.text.as_bytes())?;
    }
    files::print(&said)
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => Failure::Input(format!("{} is not a text file: a configuration is TOML in UTF-8", path.display())),
        ErrorKind::NotFound => Failure::Input(format!("{} can't be read: {error}", path.display())),
        _ => Failure::Run(format!("{} can't be read: {error}", path.display())),
    })
}
