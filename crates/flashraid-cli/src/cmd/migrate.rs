//! `flashraid migrate`: writes the new names of keys, values and presets into a configuration.

use flashraid::config;

use crate::args::MigrateArgs;
use crate::failure::Outcome;
use crate::files;
use crate::scenario;

/// Runs the command.
pub fn run(arguments: &MigrateArgs) -> Outcome {
    let name = arguments.file.display().to_string();
    let migrated = config::migrate_file(&arguments.file).map_err(|problems| scenario::refuse(&problems))?;
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
