//! Keys, values and presets that have a new name: the error that says so, and [`migrate`], which writes the new ones.

use super::problems::{Place, Problem, Problems, SourceText};
use super::tree::{Kind, Tree};

/// Keys: the old path, and the new name of its last part.
pub(super) const KEYS: &[(&str, &str)] = &[
    ("ssd.geometry.elements", "dies"),
    ("ssd.element_stride", "die_stride"),
    ("ssd.channel.elements_per_channel", "dies_per_channel"),
    ("ssd.gc.hold", "blocking"),
    ("coordination.capable", "ggc_aware"),
    ("cache.front_fraction", "first_level_fraction"),
];

/// Values: the path of the key by its new name, the old value, the new one.
pub(super) const VALUES: &[(&str, &str, &str)] =
    &[("ssd.gc.pool", "element", "die"), ("ssd.gc.blocking", "element", "die"), ("ssd.preset", "nvme-tlc", "nvme-simple")];

/// The new name of a preset.
pub fn renamed_preset(name: &str) -> Option<&'static str> {
    VALUES.iter().find(|(path, old, _)| path.ends_with(".preset") && *old == name).map(|(.., new)| *new)
}

/// Something that was written with its old name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Renamed {
    place: Place,
    /// The path of the key, as written.
    key: String,
    change: Change,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    /// The key is called `path` now, whose last part is `name`; `is_twice` if it is written under both names.
    Key { path: String, name: &'static str, is_twice: bool },
    /// The value is called `new` now.
    Value { old: &'static str, new: &'static str },
}

impl Renamed {
    /// The error about it, in a text of that name.
    pub fn problem(&self, source: &str) -> Problem {
        let key = &self.key;
        let (message, fix) = match &self.change {
            Change::Key { path, is_twice: true, .. } => {
                (format!("`{key}` is called `{path}` now, and that is written, too"), format!("remove `{key}`"))
            }
            Change::Key { path, .. } => (format!("there is no key `{key}` any more: it is called `{path}` now"), format!("write `{path}`")),
            Change::Value { old, new } => {
                (format!("`{key}` is \"{old}\", which is called \"{new}\" now"), format!("write {key} = \"{new}\""))
            }
        };
        let is_twice = matches!(self.change, Change::Key { is_twice: true, .. });
        let help = if source.starts_with("--") || is_twice { fix } else { format!("{fix}; `flashraid migrate {source}` does it") };
        Problem { key: key.clone(), message, help: Some(help), place: Some(self.place.clone()) }
    }
}

/// Gives everything in `tree` that has an old name its new one; returns what that was, in the order of the tables above.
pub(super) fn rename(tree: &mut Tree) -> Vec<Renamed> {
    let mut renamed = Vec::new();
    for &(key, name) in KEYS {
        let Some((table_path, old)) = key.rsplit_once('.') else { continue };
        let Some(table) = at(tree, table_path) else { continue };
        let is_twice = table.get(name).is_some();
        let Some(child) = table.remove(old) else { continue };
        let place = child.key_place.clone();
        if !is_twice {
            table.insert(name, child);
        }
        renamed.push(Renamed { place, key: key.to_string(), change: Change::Key { path: format!("{table_path}.{name}"), name, is_twice } });
    }
    for &(key, old, new) in VALUES {
        let Some(leaf) = at(tree, key).filter(|leaf| leaf.as_str() == Some(old)) else { continue };
        leaf.kind = Kind::Leaf(new.into());
        let place = leaf.value_place.clone();
        renamed.push(Renamed { place, key: key.to_string(), change: Change::Value { old, new } });
    }
    renamed
}

fn at<'t>(tree: &'t mut Tree, path: &str) -> Option<&'t mut Tree> {
    path.split('.').try_fold(tree, |tree, key| tree.get_mut(key))
}

/// A configuration file with the new names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The text; all but the names is as it was.
    pub text: String,
    /// What has been changed, from top to bottom.
    pub changes: Vec<Renaming>,
}

/// A name that has been changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renaming {
    /// Line of the file, from 1.
    pub line: usize,
    /// What was written.
    pub old: String,
    /// What is written now.
    pub new: String,
}

/// Writes the new names of keys, values and presets into the text of a configuration file called `name`. Comments and formatting stay.
///
/// # Errors
/// The text is not valid TOML, or has a key under both its names.
pub fn migrate(name: &str, text: &str) -> Result<Migrated, Problems> {
    let mut problems = Problems { sources: vec![SourceText { name: name.to_string(), text: text.to_string() }], ..Problems::default() };
    let mut tree = Tree::parse(0, &problems.sources[0], &mut problems.list);
    let mut renamed = rename(&mut tree);
    let twice = renamed.iter().filter(|renamed| matches!(renamed.change, Change::Key { is_twice: true, .. }));
    problems.list.extend(twice.map(|renamed| renamed.problem(name)));
    if !problems.list.is_empty() {
        problems.sort();
        return Err(problems);
    }
    renamed.sort_by_key(|renamed| renamed.place.span.start);
    let (mut migrated, mut copied) = (String::with_capacity(text.len()), 0);
    let mut changes = Vec::new();
    for Renamed { place, change, .. } in &renamed {
        let old = &text[place.span.clone()];
        // A value, and a key in quotes, keeps its quotes.
        let quote = old.chars().next().filter(|first| matches!(first, '"' | '\'')).map_or(String::new(), String::from);
        let new = match change {
            Change::Key { name, .. } => name,
            Change::Value { new, .. } => new,
        };
        let new = format!("{quote}{new}{quote}");
        migrated += &text[copied..place.span.start];
        migrated += &new;
        copied = place.span.end;
        changes.push(Renaming { line: problems.sources[0].line_column(place.span.start).0, old: old.to_string(), new });
    }
    migrated += &text[copied..];
    Ok(Migrated { text: migrated, changes })
}
