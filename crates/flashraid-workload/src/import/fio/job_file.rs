//! The text of a job file: sections, comments, included files and environment variables.

use super::super::{ImportError, JobFileSurroundings};
use super::refused;

/// Greatest depth to which files may include each other.
const INCLUDES_MAX: usize = 8;

/// Words that fio replaces by figures of the machine on which it runs.
const MACHINE_WORDS: [&str; 3] = ["$pagesize", "$mb_memory", "$ncpus"];

/// An option of a job.
#[derive(Debug, Clone)]
pub(super) struct JobOption {
    /// Line of the job file. An option of an included file has the line that includes it.
    pub(super) line: usize,
    /// Place in an included file, for messages; empty for the job file itself.
    pub(super) included_at: String,
    pub(super) key: String,
    pub(super) value: String,
}

impl JobOption {
    /// Returns an error at the place of the option.
    pub(super) fn refuse(&self, reason: impl AsRef<str>) -> ImportError {
        refused(self.line, format!("{}{}", self.included_at, reason.as_ref()))
    }

    /// Returns an error for a value that cannot be read.
    pub(super) fn expect(&self, expected: &str) -> ImportError {
        self.refuse(format!("{}={}: {expected} is expected", self.key, self.value))
    }

    /// Returns true if the option is switched on.
    pub(super) fn is_on(&self) -> bool {
        !["", "0", "none", "false", "no"].contains(&self.value.to_ascii_lowercase().as_str())
    }
}

/// A job with its options. Options of the sections [global] before it stand before its own.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) options: Vec<JobOption>,
}

impl Job {
    /// Returns the last option with one of these names, which is the one that holds.
    pub(super) fn last(&self, keys: &[&str]) -> Option<&JobOption> {
        self.options.iter().rfind(|option| keys.contains(&option.key.as_str()))
    }
}

/// Returns the jobs of a job file.
pub(super) fn jobs(text: &str, surroundings: &JobFileSurroundings<'_>) -> Result<Vec<Job>, ImportError> {
    let (mut global, mut jobs): (Vec<JobOption>, Vec<Job>) = (Vec::new(), Vec::new());
    let mut in_global = false;
    for (index, whole) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (number, line) = (index + 1, without_comment(whole));
        if number == 1 && whole.starts_with("#!") && !whole.contains("fio") || line.starts_with("fio ") {
            let reason =
                "this is a shell script; a fio job file is expected, with the options of the command line in a section such as [job]";
            return Err(refused(number, reason));
        }
        if line.is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            if name.starts_with('[') {
                return Err(refused(number, "[[ ]] stands in TOML; a fio job file has sections such as [job]"));
            }
            let name = name.strip_suffix(']').ok_or_else(|| refused(number, "a section ends with ]"))?.trim();
            in_global = name.starts_with("global");
            if !in_global {
                // Options in [global] hold for the jobs after it.
                jobs.push(Job { name: name.to_owned(), options: global.clone() });
            }
            continue;
        }
        let section = match jobs.last_mut() {
            _ if in_global => &mut global,
            Some(job) => &mut job.options,
            None => return Err(refused(number, "options stand in a section such as [global] or [job]")),
        };
        read_line(line, Place { line: number, included_at: String::new(), depth: 0 }, surroundings, section)?;
    }
    Ok(jobs)
}

/// Returns the line without blanks around it, and without the comment that fio lets begin anywhere.
fn without_comment(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or_default().trim()
}

/// Place of a line in the job file or in an included one.
struct Place {
    line: usize,
    included_at: String,
    depth: usize,
}

impl Place {
    fn refuse(&self, reason: impl AsRef<str>) -> ImportError {
        refused(self.line, format!("{}{}", self.included_at, reason.as_ref()))
    }
}

/// Reads one line of a section: an option, or a line that includes a file.
fn read_line(line: &str, place: Place, surroundings: &JobFileSurroundings<'_>, options: &mut Vec<JobOption>) -> Result<(), ImportError> {
    let file = line.strip_prefix("include").filter(|rest| rest.starts_with([' ', '\t', '=']));
    if let Some(file) = file.map(|rest| rest[1..].trim()) {
        if place.depth == INCLUDES_MAX {
            return Err(place.refuse(format!("include {file}: files include each other more than {INCLUDES_MAX} deep")));
        }
        let text = (surroundings.include)(file).map_err(|error| place.refuse(format!("include {file}: can't be read: {error}")))?;
        for (index, line) in text.lines().enumerate() {
            let included_at = format!("in {file}, line {}: ", index + 1);
            let inner = Place { line: place.line, included_at, depth: place.depth + 1 };
            let line = without_comment(line);
            if line.starts_with('[') {
                return Err(inner.refuse("an included file has options only, without sections"));
            }
            if !line.is_empty() {
                read_line(line, inner, surroundings, options)?;
            }
        }
        return Ok(());
    }
    let (key, value) = line.split_once('=').map_or((line, "1"), |(key, value)| (key.trim(), value.trim()));
    let value = with_variables(value, &place, surroundings)?;
    if value.starts_with(['"', '\'']) && !["description", "exec_prerun", "exec_postrun"].contains(&key) {
        return Err(place.refuse(format!("{key}={value}: values of fio have no quotes; is this a fio job file?")));
    }
    options.push(JobOption { line: place.line, included_at: place.included_at, key: key.to_ascii_lowercase(), value });
    Ok(())
}

/// Replaces each `${NAME}` by the environment variable NAME.
fn with_variables(value: &str, place: &Place, surroundings: &JobFileSurroundings<'_>) -> Result<String, ImportError> {
    if let Some(word) = MACHINE_WORDS.into_iter().find(|word| value.contains(word)) {
        return Err(place.refuse(format!("{value}: {word} depends on the machine; write its value")));
    }
    let (mut read, mut rest) = (String::new(), value);
    while let Some((before, (name, after))) = rest.split_once("${").and_then(|(before, tail)| Some((before, tail.split_once('}')?))) {
        let unset = || place.refuse(format!("{value}: the environment variable {name} is not set; set it as for fio: {name}=VALUE"));
        read.push_str(before);
        read.push_str(&(surroundings.variable)(name).ok_or_else(unset)?);
        rest = after;
    }
    Ok(read + rest)
}
