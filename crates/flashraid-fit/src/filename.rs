//! Names of files in a job file of fio.
//!
//! fio cuts lines at `#` and `;`, drops blanks at their ends, and replaces variables. It then opens, and may overwrite, another file than
//! the one that was named. Names to which that could happen are refused; `:` is escaped.

use std::path::Path;

use crate::error::{Outcome, refused};

/// Most bytes of a line that fio reads in one piece, with the line break.
const LINE_BYTES_MAX: usize = 4095;
/// Option of fio that names the file.
pub(crate) const KEY: &str = "filename";

/// A path that fio opens exactly as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filename(String);

impl Filename {
    /// Returns the name of a file for fio.
    ///
    /// # Errors
    /// fio would open another file, or what it opens could not be verified.
    pub fn of(path: &Path) -> Outcome<Filename> {
        let shown = path.display();
        let Some(name) = path.to_str() else {
            return refused(format!("{shown}: fio prints names in its results, which are UTF-8, but this name is not; rename the file"));
        };
        let filename = Filename(name.to_owned());
        match filename.objection() {
            None => Ok(filename),
            Some(reason) => refused(format!("{name:?}: {reason}; rename the file or folder")),
        }
    }

    /// Returns what fio would do to the name; `None` if it takes the name as it is.
    fn objection(&self) -> Option<String> {
        let name = self.0.as_str();
        let opened = |end: usize| format!("would open {:?}", name[..end].trim_end());
        if !name.starts_with('/') {
            return Some("fio needs an absolute path, because it runs in the folder of results".to_owned());
        }
        if let Some(at) = name.find(['\n', '\r']) {
            return Some(format!("fio ends a name at a line break, and {}", opened(at)));
        }
        // fio looks for the first `;`, and then for `#` before it.
        if let Some(at) = name.find([';', '#']) {
            return Some(format!("fio takes `;` and `#` for the beginning of a comment, and {}", opened(at)));
        }
        if name.contains('$') {
            return Some("fio replaces variables such as ${HOME} and $ncpus, and would open another file".to_owned());
        }
        if name.contains(char::is_control) {
            return Some("fio drops control characters at the end of a name, and with others its results can't be read".to_owned());
        }
        if name.ends_with(char::is_whitespace) {
            return Some(format!("fio drops blanks at the end of a name, and {}", opened(name.len())));
        }
        let line = KEY.len() + self.in_job_file().len() + "=\n".len();
        (line > LINE_BYTES_MAX).then(|| format!("fio reads lines of up to {LINE_BYTES_MAX} bytes, and would cut this one of {line}"))
    }

    /// Returns the value of `filename` in a job file.
    #[must_use]
    pub fn in_job_file(&self) -> String {
        // A colon separates files. A backslash has no meaning elsewhere.
        self.0.replace(':', "\\:")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Result<String, String> {
        Filename::of(Path::new(name)).map(|filename| filename.in_job_file()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_fio_would_open_is_said() {
        for (name, said) in [
            ("/a #b;c", "comment, and would open \"/a\""),
            ("/a;b", "would open \"/a\""),
            ("/a\nfilename=/b", "line break, and would open \"/a\""),
            ("/a \t", "control characters"),
            ("/a  ", "would open \"/a\""),
            ("/${HOME}", "variables"),
            ("a", "absolute path"),
        ] {
            assert!(of(name).unwrap_err().contains(said), "{name}: {:?}", of(name));
        }
        assert_eq!(of("/a:b\\:c"), Ok("/a\\:b\\\\:c".to_owned()));
    }

    #[test]
    fn a_line_is_as_long_as_fio_reads() {
        let name = |bytes: usize| format!("/{}", "x".repeat(bytes - 1));
        let most = LINE_BYTES_MAX - "filename=\n".len();
        assert!(of(&name(most)).is_ok());
        assert!(of(&name(most + 1)).unwrap_err().contains("would cut this one of 4096"));
        assert!(of(&format!("{}:", name(most - 1))).is_err(), "the escape counts");
    }
}
