//! Workloads of other programs as `[workload]` tables: fio job files and MQSim workload definitions.
//!
//! What has no counterpart is told in a note; what would change the requests and can't be expressed is refused.

mod fio;
mod mqsim;

pub use fio::size_bytes as fio_size_bytes;

/// A workload as text, and what is to be known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// A `[workload]` table in TOML, with the notes as comments.
    pub toml: String,
    /// What was assumed or left out.
    pub notes: Vec<String>,
}

/// Why a file can't be taken over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A line that can't be read.
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong, and what is expected.
        reason: String,
    },
    /// The whole of it.
    #[error("{0}")]
    Whole(String),
}

/// Takes over a workload; `part` chooses a job of fio or, by its number from 1, a scenario of MQSim where there are several.
///
/// # Errors
/// The text is neither, or asks for what can't be expressed.
pub fn import(text: &str, part: Option<&str>) -> Result<Imported, ImportError> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let (streams, mut notes) = if start.starts_with('<') { mqsim::streams(text, part)? } else { fio::streams(text, part)? };
    notes.dedup();
    let comments: String = notes.iter().map(|note| format!("# {note}\n")).collect();
    let toml = match streams.as_slice() {
        [] => return Err(ImportError::Whole("there is no workload in it".to_owned())),
        [stream] => format!("{comments}[workload]\n{}", stream.lines()),
        streams if streams.iter().any(|stream| stream.is_closed) => {
            let names = streams.iter().map(|stream| stream.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(ImportError::Whole(format!(
                "several streams run at a time ({names}), and one of them waits for its requests: a mix needs a rate for each; choose one with --part"
            )));
        }
        streams => {
            let streams: String =
                streams.iter().map(|stream| format!("\n# {}\n[[workload.streams]]\n{}", stream.name, stream.lines())).collect();
            format!("{comments}[workload]\nkind = \"mix\"\n{streams}")
        }
    };
    Ok(Imported { toml, notes })
}

/// One stream of requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Stream {
    name: String,
    /// Keys and values as TOML.
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

/// A text as TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_is_refused() {
        assert!(import("", None).unwrap_err().to_string().contains("no job"));
        assert!(import("hello", None).unwrap_err().to_string().contains("line 1"));
        assert!(import("<a></b>", None).unwrap_err().to_string().contains("line 1"));
    }
}
