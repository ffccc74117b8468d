//! Changes the model in one place after another and asks the tests whether they notice.
//!
//! All mutants are compiled at once: each drawn place becomes a choice between what stands there and something else, and an environment
//! variable says which of them is the other way in a run. So there is one build for all of them, and a mutant costs a run of the tests.
//!
//! ```text
//! flashraid-mutants make SOURCE COPY [mutants] [seed]   writes the changed sources of SOURCE, a checkout, to COPY, another one
//! flashraid-mutants run COPY RECORD [cases]             builds COPY, runs the tests for each mutant that RECORD lacks, and adds what they said;
//!                                                       a mutant that lived through fewer random cases is run again
//! flashraid-mutants sum RECORD                          counts
//! ```

mod change;
mod run;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number =
        |text: Option<&&str>, otherwise: u64| text.map_or(Ok(otherwise), |text| text.parse().map_err(|_| format!("{text} is no number")));
    // Programs are started in other folders.
    let path = |text: &str| std::fs::canonicalize(text).map_err(|error| format!("{text}: {error}"));
    let done = match words.as_slice() {
        ["make", source, copy, numbers @ ..] if numbers.len() <= 2 => number(numbers.first(), 200)
            .and_then(|mutants| Ok((mutants, number(numbers.get(1), 1)?)))
            .and_then(|(mutants, seed)| change::make(&path(source)?, &path(copy)?, mutants as usize, seed)),
        ["run", copy, record, numbers @ ..] if numbers.len() <= 1 => {
            number(numbers.first(), run::CASES.into()).and_then(|cases| run::run(&path(copy)?, Path::new(record), cases as u32))
        }
        ["sum", record] => run::sum(Path::new(record)),
        _ => Err("make SOURCE COPY [mutants] [seed], run COPY RECORD or sum RECORD".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
