//! Mechanisms of an SSD. Each is a table of `[ssd]`: one file holds a complete mechanism, and one line of the list below registers it.
//!
//! The file of a mechanism has the type that users write, with keys, units, defaults, documentation and checks. It also has the counters,
//! and the behaviour during the run. The schema, the reference of keys, the checks and the random cases of the tests are made from the
//! list. So are the JSON and the tables of reports.
//!
//! A mechanism here only takes time. Settings that change the place of data belong to [`SpaceParams`](crate::space::SpaceParams), from
//! which warm states get their names.

use crate::counts::Count;
use crate::events::TimeNs;
use crate::ids::{DieId, MemberId};
use crate::policy::PolicyProblem;
use crate::rng::{self, Stream};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Everything that the file of a mechanism provides.
pub trait Mechanism: Sized {
    /// Counters of the mechanism.
    type Counters: Counters;
    /// State that the mechanism keeps for each die.
    type AtDie: AtOneDie<Self::Counters>;

    /// Returns the state of a die at the start. `seed` names its stream of random numbers.
    fn at_die(&self, seed: u64, member: MemberId, die: DieId) -> Self::AtDie;

    /// Returns contradictions between its values, beyond what their types allow.
    fn problems(&self) -> Vec<PolicyProblem>;

    /// Returns random settings for tests in which an operation of a die takes about `operation_ns`.
    fn any(stream: &mut Stream, operation_ns: u64) -> Self;
}

/// Hooks of a mechanism at a die. By default, each does nothing.
pub trait AtOneDie<C>: std::fmt::Debug + Clone {
    /// Returns true if the mechanism wants the die at `now`, as soon as the current work ends.
    fn is_due(&self, _now: TimeNs) -> bool {
        false
    }

    /// Ends an idle period from `rests_since` to `now` without asking the mechanism, because work follows at once.
    fn pass(&mut self, _rests_since: TimeNs, _now: TimeNs) {}

    /// Asks the mechanism whether waiting operations may start at `now`, after an idle period since `rests_since`. Returns the time until
    /// which they must wait; the die asks again then.
    fn hold(&mut self, _rests_since: TimeNs, _now: TimeNs, _counters: &mut C) -> Option<TimeNs> {
        None
    }

    /// Begins an array read for the host, which takes `array_ns`. `page` is the number of the flash page in the SSD, and `erases` the
    /// number of erases of its block. Returns the additional time of the array.
    fn further_ns(&mut self, _page: u32, _erases: u32, _array_ns: u64, _counters: &mut C) -> u64 {
        0
    }
}

/// Counters of a mechanism. The macro [`counters!`] implements it.
pub trait Counters: Count + Default {
    /// Heading of its figures.
    const TITLE: &'static str;

    /// Returns the counters as reports show them.
    fn figures(&self) -> Vec<Figure>;
}

/// A counter of a mechanism, as reports show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// Name in JSON. Names of times end in `_ms`.
    pub key: &'static str,
    /// Name of the figure in tables.
    pub label: &'static str,
    /// Meaning of the figure, in a sentence.
    pub about: &'static str,
    /// Sum over all members. Times are in nanoseconds.
    pub sum: u64,
}

impl Figure {
    /// Returns true if the figure is a time.
    fn is_time(&self) -> bool {
        self.key.ends_with("_ms")
    }

    /// Returns the unit, which is empty for a number.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        if self.is_time() { "ms" } else { "" }
    }

    /// Returns the value in its unit.
    #[must_use]
    pub fn value(&self) -> f64 {
        if self.is_time() { self.sum as f64 / 1e6 } else { self.sum as f64 }
    }

    fn to_json(self) -> Value {
        if self.is_time() { self.value().into() } else { self.sum.into() }
    }

    fn schema(self) -> Value {
        let kind = if self.is_time() { json!({ "type": "number" }) } else { json!({ "type": "integer" }) };
        let mut schema = kind;
        schema["description"] = self.about.into();
        schema["minimum"] = 0.into();
        schema
    }
}

/// Figures of a mechanism under their heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// Name of its table in `[ssd]`, and in `mechanisms` of the report.
    pub table: &'static str,
    /// Heading of the figures in tables.
    pub title: &'static str,
    /// Figures in their order.
    pub figures: Vec<Figure>,
}

/// Makes the counters of a mechanism: for each, a field, its name in JSON and its label. If the name in JSON ends in `_ms`, the field
/// counts nanoseconds.
macro_rules! counters {
    ($(#[$doc:meta])* pub struct $Name:ident, $title:literal { $(#[doc = $about:literal] $field:ident as $key:literal, $label:literal;)* }) => {
        counts! {
            $(#[$doc])*
            pub struct $Name { $(#[doc = $about] $field,)* }
        }

        impl $crate::ssd::mechanism::Counters for $Name {
            const TITLE: &'static str = $title;

            fn figures(&self) -> Vec<$crate::ssd::mechanism::Figure> {
                vec![$($crate::ssd::mechanism::Figure { key: $key, label: $label, about: $about.trim_ascii(), sum: self.$field }),*]
            }
        }
    };
}

/// Makes all types that know every mechanism, from the list of mechanisms.
macro_rules! mechanisms {
    ($($(#[$doc:meta])* $table:ident: $Type:ident;)*) => {
        $(
            mod $table;
            pub use $table::$Type;
        )*

        /// Tables of `[ssd]` for mechanisms, which every kind of device may have.
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
        pub struct Mechanisms {
            $(
                $(#[$doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $table: Option<$Type>,
            )*
        }

        counts! {
            /// Counters of a member's mechanisms.
            pub struct MechanismCounters {
                $(
                    #[doc = concat!("Of `[ssd.", stringify!($table), "]`.")]
                    $table: <$Type as Mechanism>::Counters,
                )*
            }
        }

        /// State of a member's mechanisms at one die, and their counters there.
        #[derive(Debug, Clone)]
        pub(in crate::ssd) struct AtDie {
            pub counters: MechanismCounters,
            $($table: Option<<$Type as Mechanism>::AtDie>,)*
        }

        #[allow(unused_variables, reason = "the list may be empty")]
        impl AtDie {
            /// Returns the state of a die at the start; `None` without mechanisms.
            pub fn new(mechanisms: &Mechanisms, seed: u64, member: MemberId, die: DieId) -> Option<Box<Self>> {
                let at_die = || Self {
                    counters: MechanismCounters::default(),
                    $($table: mechanisms.$table.as_ref().map(|mechanism| mechanism.at_die(seed, member, die)),)*
                };
                (!mechanisms.is_empty()).then(|| Box::new(at_die()))
            }

            /// Returns true if a mechanism wants the die at `now`, as soon as the current work ends.
            pub fn is_due(&self, now: TimeNs) -> bool {
                false $(|| self.$table.as_ref().is_some_and(|at_die| at_die.is_due(now)))*
            }

            /// Calls [`AtOneDie::pass`] of all mechanisms.
            pub fn pass(&mut self, rests_since: TimeNs, now: TimeNs) {
                $(
                    if let Some(at_die) = &mut self.$table {
                        at_die.pass(rests_since, now);
                    }
                )*
            }

            /// Calls [`AtOneDie::hold`] of all mechanisms. Returns the latest of their times.
            pub fn hold(&mut self, rests_since: TimeNs, now: TimeNs) -> Option<TimeNs> {
                let counters = &mut self.counters;
                let holds: [Option<TimeNs>; _] =
                    [$(self.$table.as_mut().and_then(|at_die| at_die.hold(rests_since, now, &mut counters.$table))),*];
                holds.into_iter().flatten().max()
            }

            /// Calls [`AtOneDie::further_ns`] of all mechanisms. Returns the sum of their times.
            pub fn further_ns(&mut self, page: u32, erases: u32, array_ns: u64) -> u64 {
                let counters = &mut self.counters;
                0 $(+ self.$table.as_mut().map_or(0, |at_die| at_die.further_ns(page, erases, array_ns, &mut counters.$table)))*
            }
        }

        #[allow(unused_variables, unused_mut, reason = "the list may be empty")]
        impl Mechanisms {
            /// Returns true if the device has no mechanisms.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                true $(&& self.$table.is_none())*
            }

            /// Returns contradictions between the values of each table, with the name of the table.
            #[must_use]
            pub fn problems(&self) -> Vec<(&'static str, PolicyProblem)> {
                let mut problems = Vec::new();
                $(
                    let of_table = self.$table.iter().flat_map(Mechanism::problems);
                    problems.extend(of_table.map(|problem| (stringify!($table), problem)));
                )*
                problems
            }

            /// Returns some mechanisms with random settings, for tests in which an operation of a die takes about `operation_ns`.
            #[must_use]
            pub fn any(stream: &mut Stream, operation_ns: u64) -> Self {
                Self { $($table: (rng::below(stream, 2) == 0).then(|| $Type::any(stream, operation_ns)),)* }
            }

            /// Returns the figures of the mechanisms that the device has.
            #[must_use]
            pub fn figures(&self, counters: &MechanismCounters) -> Vec<Figures> {
                let has = [$(self.$table.is_some()),*];
                counters.figures().into_iter().zip(has).filter(|(_, has)| *has).map(|(figures, _)| figures).collect()
            }
        }

        impl MechanismCounters {
            /// Returns the figures of all mechanisms.
            #[must_use]
            pub fn figures(&self) -> Vec<Figures> {
                vec![$(Figures {
                    table: stringify!($table),
                    title: <<$Type as Mechanism>::Counters as Counters>::TITLE,
                    figures: self.$table.figures(),
                }),*]
            }
        }
    };
}

impl Figures {
    /// Returns the document of several mechanisms, with a table for each.
    #[must_use]
    pub fn to_json(all: &[Self]) -> Map<String, Value> {
        let table = |figures: &Self| figures.figures.iter().map(|figure| (figure.key.to_owned(), figure.to_json())).collect::<Map<_, _>>();
        all.iter().map(|figures| (figures.table.to_owned(), table(figures).into())).collect()
    }

    /// Returns the JSON Schema of that document.
    #[must_use]
    pub fn schema(_: &mut SchemaGenerator) -> Schema {
        let keys = |figures: &Self| figures.figures.iter().map(|figure| (figure.key.to_owned(), figure.schema())).collect::<Map<_, _>>();
        let table = |figures: Self| {
            let properties = keys(&figures);
            let required: Vec<&String> = properties.keys().collect();
            let schema = json!({ "type": "object", "description": figures.title, "properties": properties, "required": required });
            (figures.table.to_owned(), schema)
        };
        let properties: Map<String, Value> = MechanismCounters::default().figures().into_iter().map(table).collect();
        json_schema!({ "type": "object", "properties": properties })
    }

    /// Returns the rows of docs/figures.md that explain the figures.
    #[must_use]
    pub fn table_rows(&self) -> String {
        let row = |figure: &Figure| format!("| `{}.{}` | {} |\n", self.table, figure.key, figure.about.trim_end_matches('.'));
        self.figures.iter().map(row).collect()
    }
}

mechanisms! {
    /// Work of a die's own that operations wait for now and then; without this table there is none.
    background: Background;
    /// Array reads that are repeated because a page has too many errors; without this table there are none.
    read_retry: ReadRetry;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_names_every_figure() {
        let book = include_str!("../../../../../docs/figures.md");
        for figures in MechanismCounters::default().figures() {
            let rows = figures.table_rows();
            assert!(book.contains(&rows), "docs/figures.md lacks the rows\n{rows}");
        }
    }
}
