//! Errors of the library as exceptions of the package.

use flashraid::Error;
use flashraid::config::Problems;
use flashraid::study::StudyProblem;
use flashraid::workload::SourceError;
use flashraid_report::WriteError;
use pyo3::prelude::*;

/// A problem of a configuration: key, value found, values allowed, likely fix, whole message, and place.
type Problem = (String, Option<String>, Option<String>, Option<String>, String, Option<String>);

/// Returns the exception for an error.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Config(problems) if error.is_caller_mistake() => config_error(py, &text, list(problems)),
        Error::Study(problem) => config_error(py, &text, vec![of_study(problem)]),
        _ if error.is_caller_mistake() => config_error(py, &text, vec![plain(&text)]),
        _ => simulation_error(py, &text),
    }
}

/// The exception for a trace that can't be read or written.
pub fn of_trace(py: Python<'_>, error: &SourceError) -> PyErr {
    match error {
        SourceError::InvalidInput(text) => refused(py, text),
        error => simulation_error(py, &error.to_string()),
    }
}

/// The exception for a result that can't be turned into a document.
pub fn of_output(py: Python<'_>, error: &WriteError) -> PyErr {
    simulation_error(py, &error.to_string())
}

/// `ConfigError` about no key in particular.
pub fn refused(py: Python<'_>, text: &str) -> PyErr {
    config_error(py, text, vec![plain(text)])
}

/// `ConfigError` about an argument.
pub fn refused_at(py: Python<'_>, key: &str, found: &str, allowed: &str, help: Option<&str>) -> PyErr {
    let text = format!("`{key}` is {found}, but must be {allowed}");
    let problem = (key.to_owned(), Some(found.to_owned()), Some(allowed.to_owned()), help.map(str::to_owned), text.clone(), None);
    config_error(py, &text, vec![problem])
}

/// Returns a `SimulationError` with this text.
pub fn simulation_error(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "SimulationError", |class| class.call1((text,)))
}

fn config_error(py: Python<'_>, text: &str, problems: Vec<Problem>) -> PyErr {
    raise(py, "ConfigError", |class| class.call_method1("_of", (text, problems)))
}

fn raise<'py>(py: Python<'py>, name: &str, make: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>) -> PyErr {
    match py.import("flashraid._errors").and_then(|module| make(&module.getattr(name)?)) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn plain(text: &str) -> Problem {
    (String::new(), None, None, None, text.to_owned(), None)
}

fn list(problems: &Problems) -> Vec<Problem> {
    let of = |problem: &flashraid::config::Problem| {
        let found = problems.configuration_text_at(problem).map(str::to_owned);
        let allowed = problem.allowed_values().map(str::to_owned);
        (problem.key.clone(), found, allowed, problem.suggested_fix.clone(), problem.message.clone(), problems.file_line_column(problem))
    };
    problems.list.iter().map(of).collect()
}

fn of_study(problem: &StudyProblem) -> Problem {
    let (key, found, allowed) = match problem {
        StudyProblem::AxisWithoutValues { key, .. } | StudyProblem::RepeatedKey { key, .. } => (key.clone(), None, None),
        StudyProblem::RepeatedValue { key, value, .. } => (key.clone(), Some(value.clone()), None),
        StudyProblem::UnusableBaseline { requested_baseline: wanted, possible_baseline_values: choices, .. } => {
            ("baseline".to_owned(), Some(wanted.clone()), Some(choices.join(", ")))
        }
        StudyProblem::SeedBothVariedAndSet | StudyProblem::SeedTooLarge { .. } => ("seed".to_owned(), None, None),
        StudyProblem::InvalidShard { index, count, .. } => {
            ("shard".to_owned(), Some(format!("{index} of {count}")), Some("1 of N to N of N".to_owned()))
        }
        StudyProblem::UnusableFolder { folder, .. } => ("folder".to_owned(), Some(folder.display().to_string()), None),
        _ => (String::new(), None, None),
    };
    (key, found, allowed, None, problem.to_string(), None)
}
