//! `flashraid man`: prints the manual page, or writes the pages of all commands.

use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::Arguments;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::out_folder::all_or_nothing;
use flashraid_report::files::make_folder;

/// Runs `flashraid man`; with `out` it writes all pages into that folder.
pub fn run(out: Option<&Path>) -> Outcome {
    let mut command = Arguments::command();
    command.build();
    let Some(out) = out else { return files::print(&page(&command)?.1) };
    let mut pages = Vec::new();
    collect(&command, &mut pages)?;
    make_folder(out)?;
    all_or_nothing(out, || pages.iter().try_for_each(|(name, text)| Ok(files::write(&out.join(name), text.as_bytes())?)))?;
    files::print(&format!("{} pages written to {}\n", pages.len(), out.display()))
}

/// Adds the manual pages of a command and of its subcommands to `pages`.
fn collect(command: &clap::Command, pages: &mut Vec<(String, String)>) -> Outcome {
    pages.push(page(command)?);
    command.get_subcommands().filter(|below| below.get_name() != "help").try_for_each(|below| collect(below, pages))
}

/// Returns the file name of a command's manual page, and its text.
fn page(command: &clap::Command) -> Outcome<(String, String)> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut text = Vec::new();
    // `Command::build` gives subcommands names such as flashraid-trace-info.
    let page = Man::new(command.clone()).title(name.to_uppercase());
    page.render(&mut text).map_err(|error| Failure::Run(format!("can't make the manual page: {error}")))?;
    Ok((format!("{name}.1"), String::from_utf8(text).expect("a manual page is text")))
}
