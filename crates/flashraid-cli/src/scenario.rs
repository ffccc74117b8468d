//! Configurations from files and options, and what is wrong with them.

use flashraid::Simulation;
use flashraid::config::{self, Migrated, Problems};
use flashraid::study::Setting;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Severity};

use crate::args::ScenarioArgs;
use crate::failure::{Failure, Outcome};

/// What a file and the user's `--set`, then `more` settings, describe.
pub fn simulation<'a>(arguments: &ScenarioArgs, more: &[Setting]) -> Outcome<Simulation<'a>> {
    let mut simulation = Simulation::from_file(&arguments.file)?;
    for Setting { key, value } in arguments.set.iter().chain(more) {
        simulation = simulation.set(key, value)?;
    }
    Ok(simulation)
}

/// The text of a configuration file with the new names of keys, values and presets.
pub fn migrate(name: &str, text: &str) -> Outcome<Migrated> {
    config::migrate(name, text).map_err(|problems| refuse(&problems))
}

/// A file that can't be read is a failure, everything else bad input.
pub fn refuse(problems: &Problems) -> Failure {
    match (problems.unreadable, problems.list.as_slice()) {
        (true, _) => Failure::Run(problems.to_string()),
        (false, [only]) if only.place.is_none() => Failure::Input(problems.to_string()),
        (false, _) => Failure::Input(render(problems)),
    }
}

/// The problems one after the other, each with an excerpt of the text that it is about.
fn render(problems: &Problems) -> String {
    let handler = GraphicalReportHandler::new_themed(theme()).with_wrap_lines(false).with_context_lines(1);
    let mut text = match problems.list.len() {
        1 => "error: the configuration has a problem\n".to_owned(),
        count => format!("error: the configuration has {count} problems\n"),
    };
    for problem in &problems.list {
        let mut diagnostic = MietteDiagnostic::new(problem.message.clone()).with_severity(Severity::Error);
        diagnostic.help = problem.help.clone();
        let report = match &problem.place {
            None => miette::Report::new(diagnostic),
            Some(place) => {
                let source = &problems.sources[place.source];
                diagnostic.labels = Some(vec![LabeledSpan::new_with_span(None, place.span.clone())]);
                miette::Report::new(diagnostic).with_source_code(NamedSource::new(&source.name, source.text.clone()))
            }
        };
        handler.render_report(&mut text, report.as_ref()).expect("writing to a string can't fail");
    }
    text
}

fn theme() -> GraphicalTheme {
    use std::io::IsTerminal;
    let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() }
}
