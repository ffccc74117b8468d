//! Sets of counters. One line of a list defines a counter. Its field, the differences between two moments, and sums over members are made
//! from the list. Sets of optional parts of the model, such as mechanisms and read plans, also have their figures in reports from it.

use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

/// A counter, or a set of counters.
pub trait CounterSet: Copy {
    /// Returns the sum of these counts of one member SSD and `other`, the same counts of another one. For a [`Maximum`], it is the
    /// greater value instead.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// Returns these counts less `earlier`, the same counts at an earlier moment. A [`Maximum`] stays as it is.
    #[must_use]
    fn minus(self, earlier: Self) -> Self;
}

impl CounterSet for u64 {
    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn minus(self, earlier: Self) -> Self {
        self - earlier
    }
}

impl CounterSet for u128 {
    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn minus(self, earlier: Self) -> Self {
        self - earlier
    }
}

impl<C: CounterSet, const N: usize> CounterSet for [C; N] {
    fn plus(self, other: Self) -> Self {
        std::array::from_fn(|at| self[at].plus(other[at]))
    }

    fn minus(self, earlier: Self) -> Self {
        std::array::from_fn(|at| self[at].minus(earlier[at]))
    }
}

/// The greatest value so far. If the counters of an earlier moment are subtracted, the value stays as it is, because a maximum cannot be
/// subtracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Maximum(pub u64);

impl CounterSet for Maximum {
    fn plus(self, other: Self) -> Self {
        self.max(other)
    }

    fn minus(self, _earlier: Self) -> Self {
        self
    }
}

/// Defines a set of counters. Each line has the documentation and the name of a counter. A counter is a `u64` unless a type follows its
/// name.
macro_rules! counts {
    (@type) => { u64 };
    (@type $Type:ty) => { $Type };
    ($(#[$doc:meta])* pub struct $Name:ident { $($(#[$about:meta])* $field:ident $(: $Type:ty)?,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $Name {
            $($(#[$about])* pub $field: counts!(@type $($Type)?),)*
        }

        impl $crate::counts::CounterSet for $Name {
            fn plus(self, other: Self) -> Self {
                Self { $($field: $crate::counts::CounterSet::plus(self.$field, other.$field),)* }
            }

            fn minus(self, earlier: Self) -> Self {
                Self { $($field: $crate::counts::CounterSet::minus(self.$field, earlier.$field),)* }
            }
        }

        impl $Name {
            /// Returns the counts since `earlier`, an earlier copy of these counters.
            #[must_use]
            pub fn since(self, earlier: &Self) -> Self {
                $crate::counts::CounterSet::minus(self, *earlier)
            }
        }

        impl std::iter::Sum for $Name {
            fn sum<I: Iterator<Item = Self>>(sets: I) -> Self {
                sets.fold(Self::default(), $crate::counts::CounterSet::plus)
            }
        }
    };
}

/// A set of counters that reports show as a table of its own. The macro `reported_counts!` implements this trait.
pub trait ReportedCounts: CounterSet + Default {
    /// Returns the counters as reports show them, in a table with this name.
    fn table(&self, name: &'static str) -> CounterTable;
}

/// A set of counters, as reports show it under a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterTable {
    /// Name of the table in the JSON document of a report.
    pub name: &'static str,
    /// Heading above the counters in tables of reports.
    pub title: &'static str,
    /// Meaning of the set of counters, as one paragraph.
    pub meaning: &'static str,
    /// The counters, in the order in which reports show them.
    pub counters: Vec<ReportedCounter>,
}

/// A counter, as reports show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportedCounter {
    /// Name of the counter in JSON, which ends in `_ms` for a time.
    pub key: &'static str,
    /// Label of the counter in tables of reports.
    pub label: &'static str,
    /// Meaning of the counter, as one paragraph.
    pub meaning: &'static str,
    /// Unit of measure in tables of reports; empty for a number of events.
    pub unit: &'static str,
    /// True if tables of reports leave the counter out while it is 0.
    pub only_above_zero: bool,
    /// Value of the counter, summed over all members of the array. It is in nanoseconds if the counter adds up times.
    pub value: u64,
}

impl ReportedCounter {
    /// Returns true if the counter adds up times. Other counters count events.
    fn is_time(&self) -> bool {
        self.key.ends_with("_ms")
    }

    fn to_json(self) -> Value {
        if self.is_time() { (self.value as f64 / 1e6).into() } else { self.value.into() }
    }

    fn schema(self) -> Value {
        let mut schema = if self.is_time() { json!({ "type": "number" }) } else { json!({ "type": "integer" }) };
        schema["description"] = self.meaning.into();
        schema["minimum"] = 0.into();
        schema
    }
}

impl CounterTable {
    /// Returns a JSON object with one key for each table, whose value is an object with the counters of that table.
    #[must_use]
    pub fn to_json(tables: &[Self]) -> Map<String, Value> {
        let counters =
            |table: &Self| table.counters.iter().map(|counter| (counter.key.to_owned(), counter.to_json())).collect::<Map<_, _>>();
        tables.iter().map(|table| (table.name.to_owned(), counters(table).into())).collect()
    }

    /// Returns the JSON Schema of the object that [`CounterTable::to_json`] returns for some of these tables.
    #[must_use]
    pub fn schema(tables: &[Self]) -> Schema {
        let of_table = |table: &Self| {
            let properties: Map<String, Value> = table.counters.iter().map(|counter| (counter.key.to_owned(), counter.schema())).collect();
            let required: Vec<&String> = properties.keys().collect();
            let schema = json!({ "type": "object", "description": table.meaning, "properties": properties, "required": required });
            (table.name.to_owned(), schema)
        };
        let properties: Map<String, Value> = tables.iter().map(of_table).collect();
        json_schema!({ "type": "object", "properties": properties })
    }

    /// Returns rows for a table of docs/figures.md. Each row explains one counter.
    #[must_use]
    pub fn documentation_table_rows(&self) -> String {
        let row = |counter: &ReportedCounter| format!("| `{}.{}` | {} |\n", self.name, counter.key, counter.meaning.trim_end_matches('.'));
        self.counters.iter().map(row).collect()
    }
}

/// Defines a set of counters that reports show as a table of its own, with its heading. Each line has the documentation of a counter, its
/// field, its name in JSON, and its label.
///
/// If the name in JSON ends in `_ms`, the field counts nanoseconds. `in` gives the unit of other counters than numbers of events, and
/// `above 0` leaves the counter out of tables while it is 0.
macro_rules! reported_counts {
    (@unit $key:literal) => { if $key.as_bytes().ends_with(b"_ms") { "ms" } else { "" } };
    (@unit $key:literal $unit:literal) => { $unit };
    (@above) => { false };
    (@above 0) => { true };
    ($(#[doc = $doc:literal])+ pub struct $Name:ident, $title:literal {
        $($(#[doc = $meaning:literal])+ $field:ident as $key:literal, $label:literal $(in $unit:literal)? $(above $zero:tt)?;)*
    }) => {
        counts! {
            $(#[doc = $doc])+
            pub struct $Name { $($(#[doc = $meaning])+ $field,)* }
        }

        impl $crate::counts::ReportedCounts for $Name {
            fn table(&self, name: &'static str) -> $crate::counts::CounterTable {
                $crate::counts::CounterTable {
                    name,
                    title: $title,
                    meaning: concat!($($doc),+).trim_ascii(),
                    counters: vec![$($crate::counts::ReportedCounter {
                        key: $key,
                        label: $label,
                        meaning: concat!($($meaning),+).trim_ascii(),
                        unit: reported_counts!(@unit $key $($unit)?),
                        only_above_zero: reported_counts!(@above $($zero)?),
                        value: self.$field,
                    }),*],
                }
            }
        }
    };
}

/// Counters of optional parts of the model, such as read plans. Each set of them is a table of its own in reports. The macro
/// `optional_counts!` implements this trait.
pub trait OptionalCounts {
    /// Returns the sets that are kept, as reports show them.
    fn tables(&self) -> Vec<CounterTable>;

    /// Returns all sets as reports show them, with all counters 0.
    fn all_tables() -> Vec<CounterTable>;
}

/// Defines the counters of parts of which a run has some. Each line has the documentation of a set, and the name of its table in reports.
macro_rules! optional_counts {
    ($(#[$doc:meta])+ pub struct $Name:ident { $($(#[$about:meta])+ $table:ident: $Counters:ty;)+ }) => {
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $Name {
            $($(#[$about])+ pub $table: Option<$Counters>,)+
        }

        impl $Name {
            /// Returns the counts since `earlier`, an earlier copy of these counters.
            #[must_use]
            pub fn since(self, earlier: &Self) -> Self {
                Self { $($table: Option::zip(self.$table, earlier.$table).map(|(now, then)| now.since(&then)),)+ }
            }
        }

        impl $crate::counts::OptionalCounts for $Name {
            fn tables(&self) -> Vec<$crate::counts::CounterTable> {
                use $crate::counts::ReportedCounts;
                [$(self.$table.map(|counters| counters.table(stringify!($table)))),+].into_iter().flatten().collect()
            }

            fn all_tables() -> Vec<$crate::counts::CounterTable> {
                Self { $($table: Some(Default::default()),)+ }.tables()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Maximum;

    counts! {
        /// Counters of each type.
        pub struct All {
            /// A counter without a type.
            plain,
            /// An integral over time.
            integral: u128,
            /// A list of two counters.
            list: [u64; 2],
            /// A greatest value so far.
            most: Maximum,
        }
    }

    #[test]
    fn counts_add_up_and_can_be_taken_off_again() {
        let all = |base: u64| All { plain: base, integral: u128::from(base) << 64, list: [base + 1, base + 2], most: Maximum(base) };
        let (early, late) = (all(10), all(100));
        assert_eq!(late.since(&early), All { plain: 90, integral: 90 << 64, list: [90, 90], most: Maximum(100) });
        assert_eq!([late.since(&early), early].into_iter().sum::<All>(), late);
    }
}
