//! Reasons for which the program ends without success, and the exit status of each.

use std::io;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use flashraid::Error;
use flashraid::config::Problems;
use flashraid::study::StudyProblem;
use flashraid_fit::FitError;
use flashraid_report::WriteError;

/// Result of a command, or the reason why it failed.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Reason to end the program without success. Its text goes to standard error.
#[derive(Debug)]
pub enum Failure {
    /// The user's input can't be used.
    Input(String),
    /// The simulation or the writing of its results failed.
    Run(String),
    /// The user stopped the command; the text says which results were kept.
    Interrupted(String),
    /// The program that read standard output has ended, so no message is needed.
    ReaderGone,
}

impl Failure {
    /// Returns the exit status: 2 for bad input, 1 for a failure, and 130 after an interruption, as a shell reports it. A reader that has
    /// gone is no failure.
    pub fn status(&self) -> u8 {
        match self {
            Failure::ReaderGone => 0,
            Failure::Run(_) => 1,
            Failure::Input(_) => 2,
            Failure::Interrupted(_) => 130,
        }
    }

    /// Returns the text for standard error, if there is one.
    pub fn message(&self) -> Option<String> {
        match self {
            Failure::ReaderGone => None,
            // A rendered configuration problem has its own headline.
            Failure::Input(text) if text.starts_with("error:") => Some(text.trim_end().to_owned()),
            Failure::Input(text) | Failure::Run(text) => Some(format!("error: {}", shown(text))),
            Failure::Interrupted(text) => Some(shown(text)),
        }
    }

    /// Makes the failure for an error that writing to standard output returned.
    pub fn stdout(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Run(format!("can't write to standard output: {error}")),
        }
    }
}

/// Escapes control characters, which could change the state of a terminal.
pub fn shown(text: &str) -> String {
    let escaped = |character: char| match character {
        '\n' | '\t' => character.to_string(),
        _ if character.is_control() => character.escape_default().to_string(),
        _ => character.to_string(),
    };
    text.chars().map(escaped).collect()
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Failure {
        match error {
            WriteError::ReaderGone => Failure::ReaderGone,
            error => Failure::Run(error.to_string()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Config(problems) => refuse(&problems),
            Error::Study(problem) => Failure::Input(in_options(&problem)),
            Error::StoppedBeforeFirstRequest => {
                Failure::Interrupted("stopped before the first request: there is nothing to report".to_owned())
            }
            Error::StudyInterrupted { .. } => Failure::Interrupted(error.to_string()),
            error if error.is_caller_mistake() => Failure::Input(error.to_string()),
            error => Failure::Run(error.to_string()),
        }
    }
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Failure {
        match error {
            FitError::Input(text) => Failure::Input(text),
            FitError::Base(error) => error.into(),
            FitError::Failed(text) => Failure::Run(text),
            FitError::Interrupted => Failure::Interrupted("stopped: nothing was written".to_owned()),
        }
    }
}

/// Describes a problem of a study in terms of the options that led to it.
fn in_options(problem: &StudyProblem) -> String {
    match problem {
        StudyProblem::RepeatedKey { key, .. } => format!("--vary {key} is there twice; give all values at once: --vary {key}=A,B,C"),
        StudyProblem::SeedBothVariedAndSet => "--vary seed=… together with --seed or --seeds: leave out one of them".to_owned(),
        StudyProblem::UnusableBaseline { .. } => format!("--{problem}"),
        problem => problem.to_string(),
    }
}

/// Turns problems of a configuration into a failure. A file that can't be read is a failure of the run; the rest is bad input.
pub fn refuse(problems: &Problems) -> Failure {
    match (problems.has_unreadable_file, problems.list.as_slice()) {
        (true, _) => Failure::Run(problems.to_string()),
        (false, [only]) if only.place.is_none() => Failure::Input(problems.to_string()),
        (false, _) => Failure::Input(render(problems)),
    }
}

/// Formats the problems one after the other, each with an excerpt of the text.
fn render(problems: &Problems) -> String {
    let renderer = if is_coloured() { Renderer::styled() } else { Renderer::plain() };
    let mut text = match problems.list.len() {
        1 => "error: the configuration has a problem\n".to_owned(),
        count => format!("error: the configuration has {count} problems\n"),
    };
    for problem in &problems.list {
        let snippet = problem.place.as_ref().map(|place| {
            let source = &problems.sources[place.source_index];
            let (excerpt, first_line, span) = excerpt(&source.text, &place.span);
            let snippet = Snippet::source(excerpt).line_start(first_line).path(without_control(&source.name)).fold(false);
            snippet.annotation(AnnotationKind::Primary.span(span))
        });
        let help = problem.suggested_fix.as_ref().map(|fix| Level::HELP.message(fix));
        let report = Level::ERROR.primary_title(&problem.message).elements(snippet).elements(help);
        text += &renderer.render(&[report]);
        text += "\n";
    }
    text
}

/// Returns the line of `span` with the lines before and after it, the number of the first of them, and the span's place in them. Long lines
/// are cut, and control characters are replaced.
fn excerpt(text: &str, span: &Range<usize>) -> (String, usize, Range<usize>) {
    /// Bytes that are shown of a long line, on either side of the span.
    const WIDTH: usize = 120;
    let near = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let brief = |line| if str::len(line) > 2 * WIDTH { "…\n" } else { line };
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |at| at + 1);
    let (start, end) = (near(span.start), near(span.end));
    let own_line = line_start(start);
    let line_before = line_start(own_line.saturating_sub(1));
    let mut shown = brief(&text[line_before..own_line]).to_owned();
    let from = if start - own_line > WIDTH { near(start - WIDTH) } else { own_line };
    shown += &text[from..start];
    let begin = shown.len();
    let cut = near(end.min(start + WIDTH));
    shown += &text[start..cut];
    let span = begin..shown.len();
    // If the span was cut, nothing after it is shown; otherwise the rest of its line and the next line.
    if cut == end {
        shown.extend(text[end..].split_inclusive('\n').take(2).map(brief));
    }
    (without_control(&shown), 1 + text[..line_before].matches('\n').count(), span)
}

/// Replaces each control character by another one of the same length, so that positions stay valid.
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

fn is_coloured() -> bool {
    use std::io::IsTerminal;
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
