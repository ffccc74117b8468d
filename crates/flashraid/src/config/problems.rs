//! Problems of a configuration, each with its place in a text.

use std::fmt;
use std::ops::Range;

/// A text of a configuration: a file, an option of the command line, or a preset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// Name of the place from which the text comes. It is the path of a configuration file, `--set` for an option of the command line,
    /// or `preset NAME` for a preset.
    pub name: String,
    /// The whole text of the source.
    pub text: String,
}

impl SourceText {
    /// Returns the line and the column of a byte offset. Both count from 1, and columns count characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// A place in a [`SourceText`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPlace {
    /// Index of the text in [`Problems::sources`].
    pub source_index: usize,
    /// Range of bytes in the text.
    pub span: Range<usize>,
}

/// One problem of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Name of the key, as in `ssd.gc.start`. It is empty for a problem that belongs to no single key, such as a syntax error or an
    /// unreadable file.
    pub key: String,
    /// Explanation with the value found and the values allowed.
    pub message: String,
    /// The likely fix, if there is one.
    pub suggested_fix: Option<String>,
    /// Place of the problem in one of the texts in [`Problems::sources`]; `None` if it has none, as with a file that cannot be read.
    pub place: Option<TextPlace>,
}

impl Problem {
    /// Returns the part of the message that says which values are allowed, if there is one. Examples are "at least 1ns" and "1 to 8".
    ///
    /// This part is Y in messages such as "`key` is X, but must be Y" and "`key` is X, but Y is allowed".
    pub fn allowed_values(&self) -> Option<&str> {
        let (_, rest) = self.message.split_once(", but ").or_else(|| self.message.split_once(", which must be "))?;
        let rest = rest.strip_prefix("must be ").unwrap_or(rest);
        let end = [" is allowed", " are allowed"].iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        Some(rest[..end].trim())
    }
}

/// All problems of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems {
    /// Texts in which problems may lie: configuration files, options of the command line, and presets. The `source_index` in the place
    /// of a problem is an index into this list.
    pub sources: Vec<SourceText>,
    /// The problems, in the order of their places: source by source as in `sources`, and from top to bottom in each. Problems without a
    /// place come last. In an [`Error::Config`](crate::Error::Config), the list has at least one problem.
    pub list: Vec<Problem>,
    /// True if a configuration file could not be read for a reason that is not the user's mistake, such as a failing disk. False if
    /// the user must mend all problems. Examples are a wrong path, a file that is not text, and a wrong value.
    pub has_unreadable_file: bool,
}

impl Problems {
    /// Maximum number of problems that are reported.
    pub(super) const MAX: usize = 50;
    /// Maximum number of characters in a message.
    const MESSAGE_MAX: usize = 1000;

    /// Returns the place of a problem, as `file:line:column`.
    pub fn file_line_column(&self, problem: &Problem) -> Option<String> {
        let place = problem.place.as_ref()?;
        let source = &self.sources[place.source_index];
        if source.name.starts_with("--") {
            return Some(shown(&format!("{} {}", source.name, source.text), 200));
        }
        let (line, column) = source.line_column(place.span.start);
        Some(shown(&format!("{}:{line}:{column}", source.name), 5000))
    }

    /// Returns the text at the place of a problem; `None` if the user wrote nothing there.
    pub fn configuration_text_at(&self, problem: &Problem) -> Option<&str> {
        let place = problem.place.as_ref()?;
        self.sources.get(place.source_index)?.text.get(place.span.clone()).map(str::trim).filter(|text| !text.is_empty())
    }

    /// Sorts the problems by place, so that a reader goes through the files from top to bottom.
    pub(super) fn sort(&mut self) {
        self.list.sort_by_key(|problem| problem.place.as_ref().map_or((usize::MAX, 0), |place| (place.source_index, place.span.start)));
        self.list.dedup();
        if self.list.len() > Self::MAX {
            self.list.truncate(Self::MAX);
            let message = format!("there are more problems; these are the first {}", Self::MAX);
            self.list.push(Problem { key: String::new(), message, suggested_fix: None, place: None });
        }
        for problem in &mut self.list {
            problem.key = shown(&problem.key, Self::MESSAGE_MAX);
            problem.message = shown(&problem.message, Self::MESSAGE_MAX);
            problem.suggested_fix = problem.suggested_fix.as_deref().map(|help| shown(help, Self::MESSAGE_MAX));
        }
    }
}

/// Writes plain text. The program renders the same problems with excerpts of the sources.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.list.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            if let Some(location) = self.file_line_column(problem) {
                write!(f, "{location}: ")?;
            }
            write!(f, "{}", problem.message)?;
            if let Some(help) = &problem.suggested_fix {
                write!(f, "\n  help: {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Returns a text that is safe and short enough to show: without control characters, and cut to a maximum length.
pub(super) fn shown(text: &str, characters_max: usize) -> String {
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == characters_max {
            shown.push('…');
            break;
        }
        match character {
            '\n' | '\t' => shown.push(character),
            _ if character.is_control() => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    shown
}

/// Returns the name among `candidates` that the user most likely meant by `typed`.
pub(crate) fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |text: &str| text.to_lowercase().replace(['_', '-', ' ', '.'], "");
    // A longer text means none of them, and takes long to compare.
    let typed = if typed.len() > 100 { return None } else { fold(typed) };
    candidates
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&typed, &fold(name)), name))
        .filter(|(distance, name)| *distance <= (name.chars().count().max(typed.chars().count())) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Joins names for a message: "`a`, `b` or `c`".
pub(super) fn one_of(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::Error;
    use crate::Simulation;

    fn told(key: &str, value: &str) -> (Option<String>, Option<String>) {
        let simulation = Simulation::from_toml(&format!("{key} = {value}")).unwrap();
        let Err(Error::Config(problems)) = simulation.validate() else { panic!("{key} = {value}") };
        let problem = &problems.list[0];
        assert_eq!(problem.key, key);
        (problems.configuration_text_at(problem).map(str::to_owned), problem.allowed_values().map(str::to_owned))
    }

    #[test]
    fn what_was_found_and_what_is_allowed_can_be_told_apart() {
        let (found, allowed) = told("array.members", "-3");
        assert_eq!(found.as_deref(), Some("-3"));
        assert!(allowed.unwrap().contains("number"));
        let (found, allowed) = told("ssd.gc.victim", "\"gredy\"");
        assert!(found.unwrap().contains("gredy") && allowed.unwrap().starts_with("\"greedy\""));
        let (_, allowed) = told("ssd.gc.poll", "\"2h\"");
        assert_eq!(allowed.as_deref(), Some("at most 1h"));
        let (found, allowed) = told("array.membres", "3");
        assert_eq!((found.is_some(), allowed), (true, None));
    }
}
