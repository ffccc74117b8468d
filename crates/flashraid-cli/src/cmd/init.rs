//! `flashraid init`: writes a commented configuration to begin with.

use std::fs;
use std::path::Path;

use crate::args::InitArgs;
use crate::failure::{Failure, Outcome};
use crate::files;

/// Configuration that runs in a second, with a comment at each key.
const CONFIGURATION: &str = include_str!("init.toml");

/// Runs `flashraid init` with its arguments.
pub fn run(arguments: &InitArgs) -> Outcome {
    let file: &Path = &arguments.file;
    if file.as_os_str() == "-" {
        return files::print(CONFIGURATION);
    }
    let name = file.display();
    // A link to a missing file exists, too, and must not be replaced.
    match fs::symlink_metadata(file) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(Failure::Input(format!("{name} is a folder; name a file, such as {name}/array.toml")));
        }
        Ok(_) if !arguments.force => {
            return Err(Failure::Input(format!("{name} is there already; name another file, or --force to write over it")));
        }
        _ => {}
    }
    files::write(file, CONFIGURATION.as_bytes())?;
    files::print(&format!("{name} written; next: flashraid check {name}, flashraid run {name}\n"))
}
