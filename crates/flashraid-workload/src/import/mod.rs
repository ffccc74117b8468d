//! Import of workloads of other programs as `[workload]` tables: fio job files, MQSim workload definitions, and averages of iostat.
//!
//! If a setting has no counterpart, a note reports it. If it would change the requests and cannot be expressed, the import is refused.

mod fio;
mod iostat;
mod mqsim;
pub mod xml;

pub use fio::parse_size_bytes as fio_size_bytes;

/// An imported workload as text, with notes for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedWorkload {
    /// Text of a `[workload]` table in TOML. The notes for the user (field `notes`) stand above the table as comments.
    pub toml: String,
    /// Notes for the user: the assumptions that the import made, and the settings of the other program that it left out.
    pub notes: Vec<String>,
}

/// Error for a file that cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A line that cannot be read.
    #[error("line {line}: {reason}")]
    AtLine {
        /// Number of the line, counted from 1.
        line: usize,
        /// Explanation of what is wrong, and what is expected.
        reason: String,
    },
    /// A problem of the whole file.
    #[error("{0}")]
    WholeFile(String),
}

/// Environment variables and other files that a job file of fio may name.
#[derive(Clone, Copy)]
pub struct JobFileSurroundings<'a> {
    /// Returns the value of an environment variable, or `None` if it is not set.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the text of an included file.
    pub include: &'a dyn Fn(&str) -> std::io::Result<String>,
}

impl Default for JobFileSurroundings<'_> {
    /// Returns surroundings without variables and files.
    fn default() -> Self {
        Self { variable: &|_| None, include: &|_| Err(std::io::Error::other("no other files can be read here")) }
    }
}

/// Imports a workload like [`import_workload`], from a text that names nothing outside itself.
///
/// # Errors
/// Returns the same errors as [`import_workload`].
pub fn import_fio_or_mqsim(text: &str, part: Option<&str>) -> Result<ImportedWorkload, ImportError> {
    import_workload(text, part, &JobFileSurroundings::default())
}

/// Imports a workload from the text of a fio job file, of an MQSim workload definition, or of iostat. `part` chooses a job of fio or a
/// device of iostat by its name, or a scenario of MQSim by its number from 1. With `None`, several jobs of fio become one mix of streams,
/// and several scenarios of MQSim are refused.
///
/// # Errors
/// Returns an error if the text is neither a fio job file nor an MQSim workload definition, or lacks the chosen part. The same holds
/// for a text that asks for requests that cannot be expressed.
pub fn import_workload(text: &str, part: Option<&str>, surroundings: &JobFileSurroundings<'_>) -> Result<ImportedWorkload, ImportError> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let (streams, mut notes) = if start.starts_with('<') {
        mqsim::streams(text, part)?
    } else if iostat::is_iostat(text) {
        iostat::streams(text, part)?
    } else {
        fio::streams(text, part, surroundings)?
    };
    notes.dedup();
    // A comment of TOML holds no control characters.
    let plain =
        |text: &str| text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect::<String>();
    let comments: String = notes.iter().map(|note| format!("# {}\n", plain(note))).collect();
    let toml = match streams.as_slice() {
        [] => return Err(ImportError::WholeFile("there is no workload in it".to_owned())),
        [stream] => format!("{comments}[workload]\n{}", stream.lines()),
        streams if streams.iter().any(|stream| stream.is_closed) => {
            let names = streams.iter().map(|stream| stream.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(ImportError::WholeFile(format!(
                "several streams run at a time ({names}), and one of them waits for its requests: a mix needs a rate for each; choose one with --part"
            )));
        }
        streams => {
            let streams: String =
                streams.iter().map(|stream| format!("\n# {}\n[[workload.streams]]\n{}", plain(&stream.name), stream.lines())).collect();
            format!("{comments}[workload]\nkind = \"mix\"\n{streams}")
        }
    };
    Ok(ImportedWorkload { toml, notes })
}

/// One stream of requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Stream {
    name: String,
    /// Keys with their values as TOML.
    keys: Vec<(&'static str, String)>,
    is_closed: bool,
}

impl Stream {
    fn set(&mut self, key: &'static str, value: impl Into<String>) {
        self.keys.push((key, value.into()));
    }

    fn lines(&self) -> String {
        self.keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
    }
}

/// Returns a text as a string of TOML.
fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '\\' | '"' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_is_refused() {
        assert!(import_fio_or_mqsim("", None).unwrap_err().to_string().contains("no job"));
        assert!(import_fio_or_mqsim("hello", None).unwrap_err().to_string().contains("line 1"));
        assert!(import_fio_or_mqsim("<a></b>", None).unwrap_err().to_string().contains("line 1"));
    }
}
