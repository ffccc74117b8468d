//! A configuration as a tree of values, each of which knows its place in the text.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problems::{Problem, SourceText, TextPlace};
use super::validate::{TAGS, WITHOUT_VARIANTS};

/// A value and its place in the text.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(crate) kind: Kind,
    /// Place of the value.
    pub(crate) value_place: TextPlace,
    /// Place of its key. For the root of the tree, it is the beginning of the text.
    pub(crate) key_place: TextPlace,
}

/// Contents of a [`Tree`].
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Table(Vec<(String, Tree)>),
    Array(Vec<Tree>),
    Leaf(Value),
}

/// Beginning of the message of a syntax error.
pub(super) const NOT_TOML: &str = "this is not valid TOML";

impl Tree {
    /// Returns an empty table at the beginning of the text `source`.
    pub(super) fn empty(source: usize) -> Self {
        let place = TextPlace { source_index: source, span: 0..0 };
        Self { kind: Kind::Table(Vec::new()), value_place: place.clone(), key_place: place }
    }

    /// Reads TOML. All syntax errors are reported, and the readable part is returned.
    pub(super) fn parse(source: usize, text: &SourceText, problems: &mut Vec<Problem>) -> Self {
        let (table, errors) = DeTable::parse_recoverable(&text.text);
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            let problem = Problem {
                key: String::new(),
                message: format!("{NOT_TOML}: {}", error.message().trim()),
                suggested_fix: None,
                place: Some(TextPlace { source_index: source, span }),
            };
            problems.push(problem);
        }
        let place = TextPlace { source_index: source, span: 0..0 };
        let mut reader = Reader { source, problems };
        let kind = reader.table(table.get_ref());
        Self { kind, value_place: place.clone(), key_place: place }
    }

    /// Parses one option `--set KEY=VALUE`. If the value is not TOML, it is taken as a plain text.
    pub(super) fn parse_set(source: usize, key: &str, value: &str, problems: &mut Vec<Problem>) -> Option<Self> {
        let mut refuse = |message: String| {
            let place = TextPlace { source_index: source, span: 0..key.len() };
            let help = Some("write it as in --set ssd.gc.victim=greedy".to_string());
            problems.push(Problem { key: key.to_string(), message, suggested_fix: help, place: Some(place) });
        };
        let parts: Vec<&str> = key.split('.').map(str::trim).collect();
        if parts.iter().any(|part| part.is_empty()) {
            refuse(format!("`{key}` is not a configuration key"));
            return None;
        }
        let value_at = key.len() + 1;
        let (parsed, errors) = DeValue::parse_recoverable(value);
        let place = TextPlace { source_index: source, span: value_at..value_at + value.len() };
        // A value that opens a table, a list or a text must be TOML. Values such as `0x` or `2024-01-01` are words here.
        if let Some(error) = errors.first().filter(|_| value.trim_start().starts_with(['{', '[', '"', '\''])) {
            let message = format!("the value of `{key}` is not valid TOML: {}", error.message().trim());
            problems.push(Problem { key: key.to_string(), message, suggested_fix: None, place: Some(place) });
            return None;
        }
        let kind = if errors.is_empty() && !parsed.get_ref().is_datetime() {
            Reader { source, problems }.value(&parsed)
        } else {
            Kind::Leaf(Value::String(value.to_string()))
        };
        let key_place = TextPlace { source_index: source, span: 0..key.len() };
        let mut tree = Tree { kind, value_place: place.clone(), key_place: key_place.clone() };
        tree.place_all(&place);
        for part in parts.iter().rev() {
            tree = Tree { kind: Kind::Table(vec![((*part).to_string(), tree)]), value_place: place.clone(), key_place: key_place.clone() };
        }
        Some(tree)
    }

    /// Returns a tree of values that all have the same `place`.
    pub(super) fn from_json(value: &Value, place: &TextPlace) -> Self {
        let kind = match value {
            Value::Object(entries) => {
                Kind::Table(entries.iter().map(|(key, child)| (key.clone(), Self::from_json(child, place))).collect())
            }
            Value::Array(items) => Kind::Array(items.iter().map(|child| Self::from_json(child, place)).collect()),
            leaf => Kind::Leaf(leaf.clone()),
        };
        Self { kind, value_place: place.clone(), key_place: place.clone() }
    }

    fn place_all(&mut self, place: &TextPlace) {
        self.value_place = place.clone();
        match &mut self.kind {
            Kind::Table(entries) => entries.iter_mut().for_each(|(_, child)| {
                child.key_place = place.clone();
                child.place_all(place);
            }),
            Kind::Array(items) => items.iter_mut().for_each(|child| child.place_all(place)),
            Kind::Leaf(_) => {}
        }
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self.kind, Kind::Table(_))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        let entries = if let Kind::Table(entries) = &self.kind { entries.as_slice() } else { &[] };
        entries.iter().map(|(key, _)| key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Tree> {
        match &self.kind {
            Kind::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, child)| child),
            _ => None,
        }
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Tree> {
        match &mut self.kind {
            Kind::Table(entries) => entries.iter_mut().find(|(name, _)| name == key).map(|(_, child)| child),
            _ => None,
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Tree> {
        match &mut self.kind {
            Kind::Table(entries) => {
                let at = entries.iter().position(|(name, _)| name == key)?;
                Some(entries.remove(at).1)
            }
            _ => None,
        }
    }

    pub(super) fn insert(&mut self, key: &str, child: Tree) {
        if let Kind::Table(entries) = &mut self.kind {
            match entries.iter_mut().find(|(name, _)| name == key) {
                Some((_, old)) => *old = child,
                None => entries.push((key.to_string(), child)),
            }
        }
    }

    /// Returns the text of a value that is a string.
    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::Leaf(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of a key such as `ssd.gc.start`. Indices of lists are written as `.0`.
    pub(super) fn at(&self, key: &str) -> Option<&Tree> {
        key.split('.').try_fold(self, |tree, part| match &tree.kind {
            Kind::Table(_) => tree.get(part),
            Kind::Array(items) => items.get(part.parse::<usize>().ok()?),
            Kind::Leaf(_) => None,
        })
    }

    /// Returns the value on a path of keys and indices. If it does not exist, returns the deepest table or list on that path.
    pub(super) fn deepest<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> &Tree {
        let mut tree = self;
        for part in path {
            let child = match &tree.kind {
                Kind::Table(_) => tree.get(part),
                Kind::Array(items) => part.parse().ok().and_then(|at: usize| items.get(at)),
                Kind::Leaf(_) => None,
            };
            match child {
                Some(child) => tree = child,
                None => break,
            }
        }
        tree
    }

    /// Removes the value on a path of keys and indices, if there is one.
    pub(super) fn remove_path(&mut self, path: &[String]) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut tree = self;
        for part in parents {
            let child = match &mut tree.kind {
                Kind::Table(entries) => entries.iter_mut().find(|(name, _)| name == part).map(|(_, child)| child),
                Kind::Array(items) => part.parse().ok().and_then(|at: usize| items.get_mut(at)),
                Kind::Leaf(_) => None,
            };
            match child {
                Some(child) => tree = child,
                None => return,
            }
        }
        tree.remove(last);
    }

    /// Lays `over` over this tree: tables are merged, and other values are replaced.
    pub(super) fn overlay(&mut self, over: Tree) {
        self.lay(over, true);
    }

    fn lay(&mut self, over: Tree, has_variants: bool) {
        let is_other_variant = |tag: &&str| match (self.get(tag), over.get(tag)) {
            (Some(old), Some(new)) => old.as_str() != new.as_str(),
            _ => false,
        };
        let replace = match (&self.kind, &over.kind) {
            (Kind::Table(_), Kind::Table(_)) => has_variants && TAGS.iter().any(is_other_variant),
            _ => true,
        };
        if replace {
            *self = over;
            return;
        }
        self.value_place = over.value_place;
        self.key_place = over.key_place;
        let Kind::Table(entries) = over.kind else { return };
        for (key, child) in entries {
            match self.get_mut(&key) {
                Some(old) => old.lay(child, key != WITHOUT_VARIANTS),
                None => self.insert(&key, child),
            }
        }
    }

    /// Returns the values without their places.
    pub(super) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Leaf(value) => value.clone(),
            Kind::Array(items) => Value::Array(items.iter().map(Tree::to_json).collect()),
            Kind::Table(entries) => Value::Object(entries.iter().map(|(key, child)| (key.clone(), child.to_json())).collect::<Map<_, _>>()),
        }
    }
}

/// Converts parsed TOML to trees.
struct Reader<'p> {
    source: usize,
    problems: &'p mut Vec<Problem>,
}

impl Reader<'_> {
    fn place(&self, span: Range<usize>) -> TextPlace {
        TextPlace { source_index: self.source, span }
    }

    fn table(&mut self, table: &DeTable<'_>) -> Kind {
        let mut entries: Vec<(String, Tree)> = table
            .iter()
            .map(|(key, value)| {
                let key_place = self.place(key.span());
                let value_place = self.place(value.span());
                (key.get_ref().to_string(), Tree { kind: self.value(value), value_place, key_place })
            })
            .collect();
        entries.sort_by_key(|(_, child)| child.key_place.span.start);
        Kind::Table(entries)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>) -> Kind {
        match value.get_ref() {
            DeValue::String(text) => Kind::Leaf(Value::String(text.to_string())),
            DeValue::Boolean(truth) => Kind::Leaf(Value::Bool(*truth)),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Kind::Leaf(number.into()),
                Err(_) => self.refuse(value, format!("{number} is too large a number")),
            },
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                // A whole number may be written as 8.0 or 1e3.
                Ok(number) if libm::trunc(number) == number && number.abs() < 9e18 => Kind::Leaf((number as i64).into()),
                Ok(number) if number.is_finite() => Kind::Leaf(number.into()),
                _ => self.refuse(value, format!("{number} is not a number that can be used here")),
            },
            DeValue::Datetime(date) => self.refuse(value, format!("{date} is a date, and no key takes a date")),
            DeValue::Array(items) => Kind::Array(
                items
                    .iter()
                    .map(|item| {
                        let place = self.place(item.span());
                        Tree { kind: self.value(item), value_place: place.clone(), key_place: place }
                    })
                    .collect(),
            ),
            DeValue::Table(table) => self.table(table),
        }
    }

    fn refuse(&mut self, value: &Spanned<DeValue<'_>>, message: String) -> Kind {
        let place = Some(self.place(value.span()));
        self.problems.push(Problem { key: String::new(), message, suggested_fix: None, place });
        Kind::Leaf(Value::Null)
    }
}
