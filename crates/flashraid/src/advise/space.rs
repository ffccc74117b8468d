//! The space of a search: axes with their values, conditions on points, and what each value needs.

use std::collections::BTreeMap;
use std::str::FromStr;

use toml_edit::{Document, Item, Value as TomlValue};

use super::expression::{Condition, Value};
use crate::study::{Axis, AxisKind, Setting, all_combinations, axis_kind};

/// Most points of a space.
pub const POINTS_MAX: usize = 5000;
/// Most combinations that conditions are tried on.
const COMBINATIONS_MAX: usize = 1_000_000;

/// Something that a value of an axis needs beyond what arrays have today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Need {
    /// Nothing: it can be had today.
    Now,
    /// A change of the application or of the host's software.
    Application,
    /// Protected memory of the array.
    Memory,
    /// A change of the drives.
    Firmware,
    /// A protocol between drives and the array.
    Protocol,
}

impl Need {
    /// All needs, the least first.
    pub const ALL: [Need; 5] = [Self::Now, Self::Application, Self::Memory, Self::Firmware, Self::Protocol];

    /// Returns the name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Application => "application",
            Self::Memory => "memory",
            Self::Firmware => "firmware",
            Self::Protocol => "protocol",
        }
    }

    /// Returns what a value of an axis needs, unless the space says otherwise. Values of the configuration itself need nothing.
    fn of_key(key: &str) -> Need {
        let is_of = |table: &str| key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        match key {
            _ if is_of("read") || is_of("ssd.placement_handles") => Self::Application,
            _ if is_of("cache") => Self::Memory,
            _ if is_of("coordination") => Self::Protocol,
            "ssd.geometry.reserved" => Self::Now,
            _ if is_of("ssd") && axis_kind(key) == AxisKind::Remedy => Self::Firmware,
            _ => Self::Now,
        }
    }
}

impl FromStr for Need {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|need| need.name() == text.trim());
        found.ok_or_else(|| format!("{text:?} is no need; write now, application, memory, firmware or protocol"))
    }
}

/// Axes that have names of their own, with the keys of the configuration that they set.
pub const NAMED_AXES: [(&str, &str); 5] = [
    ("drive", "ssd.preset"),
    ("members", "array.members"),
    ("level", "array.level"),
    ("chunk", "array.stripe_unit"),
    ("use", "ssd.geometry.reserved"),
];

/// Drives of the usual space.
pub const USUAL_DRIVES: [&str; 2] = ["nvme-tlc-read", "nvme-tlc-mixed"];
/// Least and greatest number of drives in the usual space.
pub const USUAL_BAYS: (u32, u32) = (4, 12);
/// Levels, strips and shares in use of the usual space.
const USUAL_CHOICES: [(&str, &[&str]); 3] =
    [("level", &["raid5", "raid6", "raid10"]), ("chunk", &["16KiB", "64KiB", "256KiB"]), ("use", &["100%", "90%", "78%"])];

/// A space of arrays.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// Axes in the order in which points are counted. The last one varies fastest.
    pub axes: Vec<Axis>,
    /// Conditions that a point has to meet.
    only: Vec<Condition>,
    /// Needs of settings, which are written as `KEY=VALUE`.
    needs: BTreeMap<String, Need>,
}

impl Space {
    /// Returns the space of these axes.
    ///
    /// # Errors
    /// Returns a text if an axis is no choice.
    pub fn of(axes: Vec<Axis>) -> Result<Self, String> {
        axes.iter().try_for_each(check_axis)?;
        Ok(Self { axes, only: Vec::new(), needs: BTreeMap::new() })
    }

    /// Returns the usual space: so many of these drives, in several levels, strips and shares in use.
    ///
    /// # Errors
    /// Returns a text if a drive is there twice.
    pub fn usual(drives: &[String], (least, most): (u32, u32)) -> Result<Self, String> {
        if let Some((_, twice)) = drives.iter().enumerate().find(|(index, drive)| drives[..*index].contains(drive)) {
            return Err(format!("{twice} is there twice"));
        }
        let axis = |key: &str, values: Vec<String>| Axis { key: key.to_owned(), values };
        let members = (least..=most).map(|members| members.to_string()).collect();
        let mut axes = vec![axis("drive", drives.to_vec()), axis("members", members)];
        axes.extend(USUAL_CHOICES.map(|(key, values)| axis(key, values.iter().map(|value| (*value).to_owned()).collect())));
        Self::of(axes)
    }

    /// Reads a space: a table `[space]` with a key for each axis, and the keys `only` and `needs`.
    ///
    /// # Errors
    /// Returns a text that names the key, what was found and what is allowed.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let document = Document::parse(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let mut tables = document.as_table().iter();
        let (Some(("space", Item::Table(space))), None) = (tables.next(), tables.next()) else {
            return Err("a space is one table [space], with a key for each axis, such as members = \"4..8\"".to_owned());
        };
        let mut axes = Vec::new();
        let (mut only, mut needs) = (Vec::new(), BTreeMap::new());
        for (key, item) in space {
            match (key, item) {
                ("only", item) => only = texts(item).ok_or("`only` is a list of texts, such as [\"members % 2 == 0\"]")?,
                ("needs", item) => {
                    let table = item.as_table_like().ok_or("`needs` is a table, such as { \"read.plan=hedge\" = \"application\" }")?;
                    for (setting, need) in table.iter() {
                        let need = need.as_str().ok_or_else(|| format!("`needs`: {setting} is no text"))?;
                        needs.insert(setting.to_owned(), need.parse().map_err(|problem| format!("`needs`: {problem}"))?);
                    }
                }
                (key, item) => axes.push(axis(key, item)?),
            }
        }
        let space = Self::of(axes)?;
        let is_known = |setting: &String| {
            let parts = setting.split_once('=');
            parts.is_some_and(|(key, value)| space.axes.iter().any(|axis| axis.key == key && axis.values.iter().any(|own| own == value)))
        };
        if let Some(unknown) = needs.keys().find(|setting| !is_known(setting)) {
            return Err(format!("`needs`: {unknown} is no value of an axis; write AXIS=VALUE, with an axis and a value of this space"));
        }
        let names: Vec<&str> = space.axes.iter().map(|axis| axis.key.as_str()).collect();
        let only = only.iter().map(|text| Condition::parse(text, &names)).collect::<Result<_, _>>()?;
        Ok(Self { only, needs, ..space })
    }

    /// Returns the points: every combination of values that meets the conditions.
    ///
    /// # Errors
    /// Returns a text if there are too many points, or none.
    pub fn points(&self) -> Result<Vec<Vec<Setting>>, String> {
        let combinations = self.axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(axis.values.len())).unwrap_or(usize::MAX);
        let widest = self.axes.iter().max_by_key(|axis| axis.values.len());
        let too_many = |count: String| {
            let widest = widest.map_or(String::new(), |axis| format!("; {} has {} values", axis.key, axis.values.len()));
            format!("the space has {count} points, and at most {POINTS_MAX} can be searched{widest}")
        };
        if combinations > COMBINATIONS_MAX {
            return Err(too_many(format!("more than {COMBINATIONS_MAX}")));
        }
        let mut points = Vec::new();
        for point in all_combinations(&self.axes) {
            let values = point.iter().map(|setting| (setting.key.clone(), value_of(&setting.value))).collect();
            let mut holds = true;
            for condition in &self.only {
                holds &= condition.holds(&values)?;
            }
            if holds {
                points.push(point);
            }
        }
        match points.len() {
            0 => Err("no point of the space meets its conditions (`only`)".to_owned()),
            count if count > POINTS_MAX => Err(too_many(count.to_string())),
            _ => Ok(points),
        }
    }

    /// Returns what a setting needs. `own` is the value that the configuration has without the setting, which needs nothing.
    pub fn need(&self, setting: &Setting, own: Option<&serde_json::Value>) -> Need {
        let written = self.needs.get(&setting.to_string()).copied();
        written.unwrap_or_else(|| if own == Some(&setting.value_as_json()) { Need::Now } else { Need::of_key(&setting.key) })
    }
}

/// Refuses an axis that is no choice of the user.
fn check_axis(axis: &Axis) -> Result<(), String> {
    let is_named = NAMED_AXES.iter().any(|(name, _)| *name == axis.key);
    let named = || NAMED_AXES.map(|(name, _)| name).join(", ");
    if let Some((name, key)) = NAMED_AXES.iter().find(|(_, key)| *key == axis.key) {
        return Err(format!("the key {key} has an axis of its own: write {name}"));
    }
    if !is_named && !axis.key.contains('.') {
        return Err(format!(
            "there is no axis {}; the axes are {}, and keys of the configuration such as \"read.plan\"",
            axis.key,
            named()
        ));
    }
    if !is_named && matches!(axis_kind(&axis.key), AxisKind::Load | AxisKind::Assumption) {
        return Err(format!("{} is no choice: it belongs to the load or to the simulation", axis.key));
    }
    if axis.key == "coordination.scheme" && axis.values.iter().any(|value| value == "ideal") {
        return Err("coordination.scheme=ideal is no choice: it is a yardstick that nobody can build".to_owned());
    }
    if axis.values.is_empty() {
        return Err(format!("the axis {} has no values", axis.key));
    }
    if axis.key == "use" {
        axis.values.iter().try_for_each(|value| used_share(value).map(drop))?;
    }
    Ok(())
}

/// Returns the share of a drive that is in use, from a text such as `90%`.
pub fn used_share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.parse::<f64>().ok(),
    };
    share.filter(|share| (0.05..=1.0).contains(share)).ok_or_else(|| format!("use = {text}: write a share from 5% to 100%"))
}

/// Returns the axis of a key: its values are a text in the grammar of `--vary`, or a list.
fn axis(key: &str, item: &Item) -> Result<Axis, String> {
    let wrong = || format!("`{key}` is neither a text such as \"4..8\" nor a list such as [4, 8]");
    let scalar = |value: &TomlValue| match value {
        TomlValue::String(text) => Some(text.value().clone()),
        TomlValue::Integer(number) => Some(number.value().to_string()),
        TomlValue::Float(number) => Some(number.value().to_string()),
        TomlValue::Boolean(is_true) => Some(is_true.value().to_string()),
        _ => None,
    };
    let value = item.as_value().ok_or_else(wrong)?;
    let axis = match value {
        TomlValue::Array(list) => {
            let values: Option<Vec<String>> = list.iter().map(scalar).collect();
            Axis { key: key.to_owned(), values: values.ok_or_else(wrong)? }
        }
        value => {
            let text = scalar(value).ok_or_else(wrong)?;
            format!("{key}={text}").parse::<Axis>().map_err(|problem| format!("`{key}`: {problem}"))?
        }
    };
    match axis.values.iter().enumerate().find(|(index, value)| axis.values[..*index].contains(value)) {
        Some((_, twice)) => Err(format!("`{key}`: the value {twice} is there twice")),
        None => Ok(axis),
    }
}

fn texts(item: &Item) -> Option<Vec<String>> {
    item.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

/// Returns a value as conditions see it: numbers and percentages are numbers.
fn value_of(text: &str) -> Value {
    let percent = || text.strip_suffix('%')?.trim().parse::<f64>().ok().map(|percent| percent / 100.0);
    match text.parse::<f64>().ok().or_else(percent) {
        Some(number) => Value::Number(number),
        None => Value::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: &str = "[space]\ndrive = [\"a\", \"b\"]\nmembers = \"4..6\"\nlevel = [\"raid5\", \"raid10\"]\nchunk = \"16KiB..64KiB:log2\"\n\
                         use = [\"100%\", \"78%\"]\n\"read.plan\" = [\"home\", \"hedge\"]\n\
                         only = [\"level != 'raid10' or members % 2 == 0\", \"use > 0.5\"]\nneeds = { \"read.plan=hedge\" = \"firmware\" }\n";

    #[test]
    fn a_space_is_read() {
        let space = Space::from_toml(SPACE).unwrap();
        assert_eq!(space.axes.iter().map(|axis| axis.values.len()).collect::<Vec<_>>(), [2, 3, 2, 3, 2, 2]);
        // Of the six pairs of members and levels, one is left out.
        assert_eq!(space.points().unwrap().len(), 2 * 5 * 3 * 2 * 2);
        let setting = |text: &str| text.parse::<Setting>().unwrap();
        assert_eq!(space.need(&setting("read.plan=hedge"), None), Need::Firmware);
        assert_eq!(space.need(&setting("read.plan=home"), Some(&"home".into())), Need::Now);
        assert_eq!(space.need(&setting("coordination.scheme=stagger"), Some(&"local".into())), Need::Protocol);
        assert_eq!(space.need(&setting("ssd.gc.preemption=semi"), Some(&"none".into())), Need::Firmware);
        assert_eq!(space.need(&setting("cache.policy=lawc"), Some(&"none".into())), Need::Memory);
        assert_eq!(space.need(&setting("members=4"), None), Need::Now);
    }

    #[test]
    fn what_is_no_space_is_refused() {
        let line = |line: &str| format!("[space]\n{line}\n");
        for (text, part) in [
            ("members = 4".to_owned(), "one table [space]"),
            (line("memmbers = \"4..6\""), "there is no axis memmbers; the axes are drive, members"),
            (line("\"array.members\" = \"4..6\""), "write members"),
            (line("\"workload.size\" = [\"4KiB\"]"), "is no choice"),
            (line("\"coordination.scheme\" = [\"ideal\"]"), "yardstick"),
            (line("seed = [1, 2]"), "there is no axis seed"),
            (line("members = []"), "has no values"),
            (line("members = [4, 4]"), "twice"),
            (line("members = { a = 1 }"), "neither a text"),
            (line("members = [[4]]"), "neither a text"),
            (line("use = [\"120%\"]"), "from 5% to 100%"),
            (line("members = \"6..4\""), "write 4..6"),
            (line("members = \"4..6\"\nonly = [\"memmbers > 2\"]"), "there is no axis memmbers"),
            (line("members = \"4..6\"\nonly = \"members > 2\""), "list of texts"),
            (line("members = \"4..6\"\nneeds = { \"members=9\" = \"now\" }"), "no value of an axis"),
            (line("members = \"4..6\"\nneeds = { \"members=4\" = \"later\" }"), "is no need"),
            ("[space\n".to_owned(), "TOML"),
        ] {
            let error = Space::from_toml(&text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_number_of_points_is_limited() {
        let points = |text: &str| Space::from_toml(&format!("[space]\n{text}")).unwrap().points();
        let error = points("members = \"1..101\"\nchunk = \"1KiB..50KiB\"").unwrap_err();
        assert!(error.contains("5050 points") && error.contains("members has 101 values"), "{error}");
        assert_eq!(points("members = \"1..100\"\nchunk = \"1KiB..50KiB\"").unwrap().len(), 5000);
        let error = points("members = \"1..10000\"\nchunk = \"1KiB..10000KiB\"").unwrap_err();
        assert!(error.contains("more than 1000000"), "{error}");
        assert!(points("members = \"1..3\"\nonly = [\"members > 3\"]").unwrap_err().contains("no point"));
    }
}
