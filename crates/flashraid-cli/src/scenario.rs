//! Configurations from files and options, and what is wrong with them.

use std::ops::Range;

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
                let (text, span) = excerpt(&source.text, &place.span);
                diagnostic.labels = Some(vec![LabeledSpan::new_with_span(None, span)]);
                miette::Report::new(diagnostic).with_source_code(NamedSource::new(without_control(&source.name), text))
            }
        };
        handler.render_report(&mut text, report.as_ref()).expect("writing to a string can't fail");
    }
    text
}

/// The text around `span` as a terminal can show it: the lines before it, its own and one more, the long ones cut, control characters replaced.
fn excerpt(text: &str, span: &Range<usize>) -> (String, Range<usize>) {
    /// Bytes of a line, or of a span and what stands on either side of it, that are shown.
    const WIDTH: usize = 120;
    let near = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (start, end) = (near(span.start), near(span.end));
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let mut shown = String::new();
    for line in text[..line_start].split_inclusive('\n') {
        shown += if line.len() > 2 * WIDTH { "…\n" } else { line };
    }
    let from = if start - line_start > WIDTH { near(start - WIDTH) } else { line_start };
    shown += &text[from..start];
    let begin = shown.len();
    let cut = near(end.min(start + WIDTH));
    shown += &text[start..cut];
    let span = begin..shown.len();
    // Nothing behind a span that was cut, else the rest of its line and the next.
    if cut == end {
        for line in text[end..].split_inclusive('\n').take(2) {
            shown += if line.len() > 2 * WIDTH { "…\n" } else { line };
        }
    }
    (without_control(&shown), span)
}

/// With another character of the same length in place of each control character, so that places stay.
fn without_control(text: &str) -> String {
    let replaced = |character: char| match character {
        '\n' | '\t' => character,
        _ if character.is_control() => {
            if character.len_utf8() == 1 {
                '?'
            } else {
                '¿'
            }
        }
        _ => character,
    };
    text.chars().map(replaced).collect()
}

fn theme() -> GraphicalTheme {
    use std::io::IsTerminal;
    let coloured = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() }
}
