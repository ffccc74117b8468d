//! Mechanisms of an SSD, each a table of `[ssd]`: one file holds a mechanism whole, one line of the list below registers it.
//!
//! A mechanism's file has the type that users write, with keys, units, defaults, documentation and checks. It also has the counters, and
//! what the mechanism does while it runs. The schema, the reference of keys, the checks and the random cases of the tests are made of the
//! list. So are the JSON and the tables of reports.
//!
//! A mechanism here only takes time. What changes where data lie belongs to [`SpaceParams`](crate::space::SpaceParams), from which warm
//! states get their names.

use crate::events::TimeNs;
use crate::ids::{DieId, MemberId};
use crate::policy::PolicyProblem;
use crate::rng::{self, Stream};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Items that a mechanism's file provides.
pub trait Mechanism: Sized {
    /// The counters of this mechanism.
    type Counters: Counters;
    /// The memory that it has of a die.
    type AtDie: AtOneDie<Self::Counters>;

    /// The state of a die at the start; `seed` names its stream of random numbers.
    fn at_die(&self, seed: u64, member: MemberId, die: DieId) -> Self::AtDie;

    /// Contradictions in its values, beyond what their types allow.
    fn problems(&self) -> Vec<PolicyProblem>;

    /// Random settings for tests in which an operation of a die takes about `operation_ns`.
    fn any(stream: &mut Stream, operation_ns: u64) -> Self;
}

/// Hooks of a mechanism at a die. Each does nothing unless the mechanism says otherwise.
pub trait AtOneDie<C>: std::fmt::Debug + Clone {
    /// Returns true if the mechanism wants the die at `now` as soon as that has done what it does.
    fn is_due(&self, _now: TimeNs) -> bool {
        false
    }

    /// The die has rested since `rests_since`, before `now`, and begins to work at `now` without asking for leave.
    fn pass(&mut self, _rests_since: TimeNs, _now: TimeNs) {}

    /// Operations wait at a die that could begin with them at `now` and has rested since `rests_since`. Returns until when they have to
    /// wait, if they have to; they ask again then.
    fn hold(&mut self, _rests_since: TimeNs, _now: TimeNs, _counters: &mut C) -> Option<TimeNs> {
        None
    }
}

/// Counters of a mechanism; [`counters!`] implements it.
pub trait Counters: Copy + Default {
    /// The heading of its figures.
    const TITLE: &'static str;

    /// The counters as reports show them.
    fn figures(&self) -> Vec<Figure>;

    /// Combines each counter with the other's.
    fn with(&self, other: &Self, each: fn(u64, u64) -> u64) -> Self;
}

/// A counter of a mechanism, as reports show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// The name in JSON; times end in `_ms`.
    pub key: &'static str,
    /// The name in tables.
    pub label: &'static str,
    /// The meaning, in a sentence.
    pub about: &'static str,
    /// The sum over all members; times in nanoseconds.
    pub sum: u64,
}

impl Figure {
    /// Returns true for a time.
    fn is_time(&self) -> bool {
        self.key.ends_with("_ms")
    }

    /// The unit, which is empty for a number.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        if self.is_time() { "ms" } else { "" }
    }

    /// The value in this unit.
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

/// The figures of a mechanism under their heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figures {
    /// The table of `[ssd]`, and of the report's `mechanisms`.
    pub table: &'static str,
    /// The heading in tables.
    pub title: &'static str,
    /// The figures in their order.
    pub figures: Vec<Figure>,
}

/// Makes the counters of a mechanism: a field, its name in JSON and its label each. Fields whose name in JSON ends in `_ms` count
/// nanoseconds.
macro_rules! counters {
    ($(#[$doc:meta])* pub struct $Name:ident, $title:literal { $(#[doc = $about:literal] $field:ident as $key:literal, $label:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $Name {
            $(#[doc = $about] pub $field: u64,)*
        }

        impl $crate::ssd::mechanism::Counters for $Name {
            const TITLE: &'static str = $title;

            fn figures(&self) -> Vec<$crate::ssd::mechanism::Figure> {
                vec![$($crate::ssd::mechanism::Figure { key: $key, label: $label, about: $about.trim_ascii(), sum: self.$field }),*]
            }

            fn with(&self, other: &Self, each: fn(u64, u64) -> u64) -> Self {
                Self { $($field: each(self.$field, other.$field)),* }
            }
        }
    };
}

/// Makes all types that know every mechanism from the list of them.
macro_rules! mechanisms {
    ($($(#[$doc:meta])* $table:ident: $Type:ident;)*) => {
        $(
            mod $table;
            pub use $table::$Type;
        )*

        /// Tables of `[ssd]` that are mechanisms of their own, for every kind of device.
        #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
        pub struct Mechanisms {
            $(
                $(#[$doc])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $table: Option<$Type>,
            )*
        }

        /// Counters of a member's mechanisms.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct MechanismCounters {
            $(
                #[doc = concat!("Of `[ssd.", stringify!($table), "]`.")]
                pub $table: <$Type as Mechanism>::Counters,
            )*
        }

        /// Memory of a member's mechanisms about a die, and their counters there.
        #[derive(Debug, Clone)]
        pub(in crate::ssd) struct AtDie {
            pub counters: MechanismCounters,
            $($table: Option<<$Type as Mechanism>::AtDie>,)*
        }

        #[allow(unused_variables, reason = "the list may be empty")]
        impl AtDie {
            /// The state of a die at the start; `None` without mechanisms.
            pub fn new(mechanisms: &Mechanisms, seed: u64, member: MemberId, die: DieId) -> Option<Box<Self>> {
                let at_die = || Self {
                    counters: MechanismCounters::default(),
                    $($table: mechanisms.$table.as_ref().map(|mechanism| mechanism.at_die(seed, member, die)),)*
                };
                (!mechanisms.is_empty()).then(|| Box::new(at_die()))
            }

            /// Returns true if a mechanism wants the die at `now` as soon as that has done what it does.
            pub fn is_due(&self, now: TimeNs) -> bool {
                false $(|| self.$table.as_ref().is_some_and(|at_die| at_die.is_due(now)))*
            }

            /// Does the same as [`AtOneDie::pass`] for all mechanisms.
            pub fn pass(&mut self, rests_since: TimeNs, now: TimeNs) {
                $(
                    if let Some(at_die) = &mut self.$table {
                        at_die.pass(rests_since, now);
                    }
                )*
            }

            /// Returns the moment until which the last of the mechanisms holds the die, as [`AtOneDie::hold`].
            pub fn hold(&mut self, rests_since: TimeNs, now: TimeNs) -> Option<TimeNs> {
                let counters = &mut self.counters;
                let holds: [Option<TimeNs>; _] =
                    [$(self.$table.as_mut().and_then(|at_die| at_die.hold(rests_since, now, &mut counters.$table))),*];
                holds.into_iter().flatten().max()
            }
        }

        #[allow(unused_variables, unused_mut, reason = "the list may be empty")]
        impl Mechanisms {
            /// Returns true if the device has none of them.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                true $(&& self.$table.is_none())*
            }

            /// Contradictions in the values of each table, with its name.
            #[must_use]
            pub fn problems(&self) -> Vec<(&'static str, PolicyProblem)> {
                let mut problems = Vec::new();
                $(
                    let of_table = self.$table.iter().flat_map(Mechanism::problems);
                    problems.extend(of_table.map(|problem| (stringify!($table), problem)));
                )*
                problems
            }

            /// Some of them with random settings, for tests in which an operation of a die takes about `operation_ns`.
            #[must_use]
            pub fn any(stream: &mut Stream, operation_ns: u64) -> Self {
                Self { $($table: (rng::below(stream, 2) == 0).then(|| $Type::any(stream, operation_ns)),)* }
            }

            /// The figures of those that the device has.
            #[must_use]
            pub fn figures(&self, counters: &MechanismCounters) -> Vec<Figures> {
                let has = [$(self.$table.is_some()),*];
                counters.figures().into_iter().zip(has).filter(|(_, has)| *has).map(|(figures, _)| figures).collect()
            }
        }

        impl MechanismCounters {
            /// The figures of all.
            #[must_use]
            pub fn figures(&self) -> Vec<Figures> {
                vec![$(Figures {
                    table: stringify!($table),
                    title: <<$Type as Mechanism>::Counters as Counters>::TITLE,
                    figures: self.$table.figures(),
                }),*]
            }

            #[allow(unused_variables, reason = "the list may be empty")]
            fn with(&self, other: &Self, each: fn(u64, u64) -> u64) -> Self {
                Self { $($table: self.$table.with(&other.$table, each)),* }
            }
        }
    };
}

impl MechanismCounters {
    /// The counts since the moment at which `earlier` was copied.
    #[must_use]
    pub fn since(self, earlier: &Self) -> Self {
        self.with(earlier, |now, then| now - then)
    }
}

impl std::iter::Sum for MechanismCounters {
    fn sum<I: Iterator<Item = Self>>(members: I) -> Self {
        members.fold(Self::default(), |sum, member| sum.with(&member, |sum, member| sum + member))
    }
}

impl Figures {
    /// The document of several mechanisms: a table for each.
    #[must_use]
    pub fn to_json(all: &[Self]) -> Map<String, Value> {
        let table = |figures: &Self| figures.figures.iter().map(|figure| (figure.key.to_owned(), figure.to_json())).collect::<Map<_, _>>();
        all.iter().map(|figures| (figures.table.to_owned(), table(figures).into())).collect()
    }

    /// The schema of that document.
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

    /// The rows of docs/figures.md that say what the figures are.
    #[must_use]
    pub fn table_rows(&self) -> String {
        let row = |figure: &Figure| format!("| `{}.{}` | {} |\n", self.table, figure.key, figure.about.trim_end_matches('.'));
        self.figures.iter().map(row).collect()
    }
}

mechanisms! {
    /// Work of a die's own that operations wait for now and then; without this table there is none.
    background: Background;
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
