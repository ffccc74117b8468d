//! Varied keys and their values, written as `KEY=A,B,C` or with ranges.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::range;

/// Kind of a varied key. It decides what a comparison may say of points that differ in the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisKind {
    /// A setting that may improve an array. Only points that differ in nothing but remedies are compared, and only a remedy can be best.
    Remedy,
    /// Something that is bought, such as members, a level or a drive. Points are laid out beside each other.
    Resource,
    /// The requests, and what happens to the array meanwhile. Points do different work, and are told apart.
    Load,
    /// A choice of the simulation, such as the seed or the scale. It should not matter, and a comparison says if it does.
    Assumption,
}

/// Keys, or tables of keys, that are no remedies.
const KINDS: [(&str, AxisKind); 14] = [
    ("seed", AxisKind::Assumption),
    ("workload", AxisKind::Load),
    ("array.failure", AxisKind::Load),
    ("array.slow", AxisKind::Load),
    ("array.preset", AxisKind::Resource),
    ("array.members", AxisKind::Resource),
    ("array.level", AxisKind::Resource),
    ("array.stripe_unit", AxisKind::Resource),
    ("ssd.preset", AxisKind::Resource),
    ("ssd.geometry", AxisKind::Resource),
    ("ssd.scale", AxisKind::Assumption),
    ("ssd.scale_by", AxisKind::Assumption),
    ("ssd.warm_up", AxisKind::Assumption),
    ("report", AxisKind::Assumption),
];

/// Returns the kind of a key. A key that stands in no list, and whose table stands in none, is a remedy.
pub fn axis_kind(key: &str) -> AxisKind {
    let is_of = |table: &str| key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    KINDS.iter().find(|(table, _)| is_of(table)).map_or(AxisKind::Remedy, |(_, kind)| *kind)
}

/// Returns true for a key that is no remedy, such as `workload.size`, `array.level` or `seed`. Points of a study (combinations of settings)
/// that differ in such a key are never called better or worse than each other.
pub fn must_match_for_comparison(key: &str) -> bool {
    axis_kind(key) != AxisKind::Remedy
}

/// A key with one value, both as the user wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Name of the configuration key, such as `ssd.gc.victim`.
    pub key: String,
    /// Value as written on the command line.
    pub value: String,
}

impl Setting {
    /// Returns the value as JSON. Numbers, booleans, lists and quoted texts keep their kind, and everything else becomes text.
    pub fn value_as_json(&self) -> Value {
        serde_json::from_str(&self.value).unwrap_or_else(|_| Value::String(self.value.clone()))
    }
}

impl Setting {
    /// Returns true for the setting `coordination.scheme=ideal`, with which collection takes no time. It is a yardstick that no real
    /// system reaches.
    pub fn selects_ideal_coordination(&self) -> bool {
        self.key == "coordination.scheme" && self.value_as_json() == "ideal"
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let (key, value) = text.split_once('=').ok_or("there is no '='; write KEY=VALUE, for instance array.members=4")?;
        let key = key.trim();
        if key.is_empty() {
            return Err("there is no key before '='; write KEY=VALUE, for instance array.members=4".to_owned());
        }
        Ok(Setting { key: key.to_owned(), value: value.trim().to_owned() })
    }
}

/// A configuration key that a study varies, with the values that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// Name of the configuration key.
    pub key: String,
    /// Values in the order of the command line.
    pub values: Vec<String>,
}

/// Parses `KEY=A,B,C`. Ranges such as `2..8` (every whole number), `0..1:lin:5` and `1ms..100ms:log:5` stand for their values, including
/// both ends.
impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Axis, String> {
        let Setting { key, value } =
            text.parse().map_err(|_| "write KEY=A,B,C, for instance coordination.scheme=local,ideal".to_owned())?;
        let mut values = Vec::new();
        for value in split_values(&value)? {
            match range::values(&value) {
                Some(range) => values.extend(range?),
                None => values.push(value),
            }
        }
        if let Some(twice) = values.iter().enumerate().find(|(index, value)| values[..*index].contains(value)) {
            return Err(format!("the value {} is there twice", twice.1));
        }
        Ok(Axis { key, values })
    }
}

/// Splits a text at the commas outside quotes, brackets and braces.
fn split_values(text: &str) -> Result<Vec<String>, String> {
    let mut values = Vec::new();
    let mut value = String::new();
    let mut open_brackets = Vec::new();
    let mut open_quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (open_quote, character) {
            (Some('"'), '\\') => {
                value.push(character);
                value.extend(characters.next());
                continue;
            }
            (Some(quote), _) if character == quote => open_quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => open_quote = Some(character),
            (None, '[') => open_brackets.push(']'),
            (None, '{') => open_brackets.push('}'),
            (None, ']' | '}') if open_brackets.pop() != Some(character) => {
                return Err(format!("'{character}' closes nothing in {text}"));
            }
            (None, ',') if open_brackets.is_empty() => {
                values.push(std::mem::take(&mut value));
                continue;
            }
            (None, _) => {}
        }
        value.push(character);
    }
    if let Some(open) = open_quote.or(open_brackets.pop()) {
        return Err(format!("a closing {open} is missing in {text}"));
    }
    values.push(value);
    let values: Vec<String> = values.into_iter().map(|value| value.trim().to_owned()).collect();
    match values.iter().any(String::is_empty) {
        true => Err(format!("a value is empty in {text:?}; write KEY=A,B,C")),
        false => Ok(values),
    }
}

/// Returns every combination of the values. The last key varies fastest. Without keys there is exactly one combination, which is empty.
pub fn all_combinations(axes: &[Axis]) -> Vec<Vec<Setting>> {
    let mut combinations = vec![Vec::new()];
    for axis in axes {
        combinations = combinations
            .into_iter()
            .flat_map(|combination: Vec<Setting>| {
                axis.values.iter().map(move |value| {
                    let mut longer = combination.clone();
                    longer.push(Setting { key: axis.key.clone(), value: value.clone() });
                    longer
                })
            })
            .collect();
    }
    combinations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_and_hardware_are_given_and_the_rest_is_a_remedy() {
        for key in [
            "seed",
            "workload",
            "workload.preset",
            "workload.size",
            "workload.arrivals.depth",
            "workload.rate_scale",
            "array.members",
            "array.failure",
            "array.slow.factor",
            "ssd.geometry.dies",
            "ssd.geometry.reserved",
            "ssd.warm_up.overwrites",
        ] {
            assert!(must_match_for_comparison(key), "{key}");
        }
        for key in ["coordination.scheme", "ssd.gc.preemption", "cache.policy", "seeds", "array.levels", "read.plan", "workloads.x"] {
            assert!(!must_match_for_comparison(key), "{key}");
        }
    }

    #[test]
    fn keys_have_kinds() {
        for (key, kind) in [
            ("array.level", AxisKind::Resource),
            ("array.members", AxisKind::Resource),
            ("array.stripe_unit", AxisKind::Resource),
            ("ssd.preset", AxisKind::Resource),
            ("ssd.geometry.reserved", AxisKind::Resource),
            ("workload.rate_scale", AxisKind::Load),
            ("array.failure.at", AxisKind::Load),
            ("seed", AxisKind::Assumption),
            ("ssd.scale", AxisKind::Assumption),
            ("ssd.scale_by", AxisKind::Assumption),
            ("coordination.scheme", AxisKind::Remedy),
        ] {
            assert_eq!(axis_kind(key), kind, "{key}");
        }
    }

    fn values(text: &str) -> Vec<String> {
        format!("k={text}").parse::<Axis>().unwrap().values
    }

    #[test]
    fn commas_inside_quotes_and_brackets_do_not_split() {
        assert_eq!(values("a, b,c"), ["a", "b", "c"]);
        assert_eq!(values("[1,2],[3]"), ["[1,2]", "[3]"]);
        assert_eq!(values(r#"{p="poisson", g=["1ms", "2,5"]},x"#), [r#"{p="poisson", g=["1ms", "2,5"]}"#, "x"]);
        assert_eq!(values(r#""a,\",b",'c,"d'"#), [r#""a,\",b""#, r#"'c,"d'"#]);
        assert_eq!(values("a=b,c"), ["a=b", "c"]);
    }

    #[test]
    fn ranges_stand_among_values() {
        assert_eq!(values("2..4,8,16..32:log:2"), ["2", "3", "4", "8", "16", "32"]);
        assert_eq!(values("\"2..4\",x"), ["\"2..4\"", "x"]);
    }

    #[test]
    fn malformed_axes_are_refused() {
        for (text, part) in [
            ("members", "write KEY=A,B,C"),
            ("=1,2", "write KEY=A,B,C"),
            ("k=", "a value is empty"),
            ("k=1,,2", "a value is empty"),
            ("k=[1,2", "closing ]"),
            ("k=\"1,2", "closing \""),
            ("k=1]", "closes nothing"),
            ("k={1]", "closes nothing"),
            ("k=1,2,1", "twice"),
            ("k=1..3,2", "twice"),
            ("k=3..1", "write 1..3"),
        ] {
            let error = text.parse::<Axis>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_last_key_varies_fastest() {
        let axes: Vec<Axis> = ["a=1,2", "b=x,y,z"].iter().map(|text| text.parse().unwrap()).collect();
        let names: Vec<String> =
            all_combinations(&axes).iter().map(|settings| settings.iter().map(|s| s.value.as_str()).collect()).collect();
        assert_eq!(names, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert_eq!(all_combinations(&[]), [Vec::<Setting>::new()]);
    }

    #[test]
    fn settings_are_typed_in_json() {
        let json = |value: &str| Setting { key: "k".to_owned(), value: value.to_owned() }.value_as_json().to_string();
        assert_eq!(json("8"), "8");
        assert_eq!(json("0.05"), "0.05");
        assert_eq!(json("true"), "true");
        assert_eq!(json("4KiB"), r#""4KiB""#);
        assert_eq!(json(r#""local""#), r#""local""#);
    }
}
