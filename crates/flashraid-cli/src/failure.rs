//! Reasons for which the program ends without success, and the exit status of each.

use std::io;

use flashraid::Error;
use flashraid::study::StudyProblem;
use flashraid_fit::FitError;
use flashraid_report::WriteError;

use crate::scenario;

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
            Error::Config(problems) => scenario::refuse(&problems),
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
