//! Parts of the report as lists of their figures.
//!
//! A figure is one entry of a list: its meaning, its name in JSON, its value, and its place and label in tables. The structs, the values
//! and the rows are made of the lists. A figure is written once here, and once in the counters of the model.

use super::WarningMark;
use super::table::{TableRow, TableSection, format_figure};

/// Makes a part of the report from the list of its figures.
///
/// The literal is the key of the part in the document. `row` puts a figure into the table: its place, its label and its unit.
///
/// - A label in brackets is computed from the part.
/// - `of` computes another number for the table than for the document.
/// - `(marked)` adds the mark of all figures of the run.
/// - `if` is the condition under which the row is shown.
///
/// `rows` stands for a figure that has any number of rows, each with its label.
macro_rules! figures {
    (@flag) => { false };
    (@flag marked) => { true };
    (@label $label:literal) => { |_| $label.to_owned() };
    (@label ($label:expr)) => { $label };
    (@number $field:ident $unit:literal) => { |part| $crate::report::figures::in_unit(&part.$field, $unit) };
    (@number $field:ident $unit:literal ($number:expr)) => { $number };
    ($(#[$doc:meta])* pub struct $Name:ident($part:literal, $of:ident: $Of:ty) {
        $(
            $(#[$about:meta])* $field:ident: $Type:ty = $value:expr
            $(, row $(($flag:ident))? $place:literal $label:tt in $unit:literal $(of $number:tt)? $(if $condition:expr)?)?
            $(, rows $list_place:literal in $list_unit:literal ($list:expr))?;
        )*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[non_exhaustive]
        pub struct $Name {
            $($(#[$about])* pub $field: $Type,)*
        }

        impl $Name {
            pub(super) fn new($of: &$Of) -> Self {
                Self { $($field: $value,)* }
            }
        }

        impl $crate::report::figures::Part for $Name {
            const NAMES: &[&str] = &[$(stringify!($field)),*];

            fn figures() -> Vec<$crate::report::figures::Figure<Self>> {
                vec![
                    $($($crate::report::figures::Figure {
                        place: $place,
                        key: concat!($part, ".", stringify!($field)),
                        unit: $unit,
                        is_marked: figures!(@flag $($flag)?),
                        rows: |part| {
                            let conditions: &[fn(&Self) -> bool] = &[$($condition)?];
                            let label: fn(&Self) -> String = figures!(@label $label);
                            let number: fn(&Self) -> Option<f64> = figures!(@number $field $unit $($number)?);
                            let is_shown = conditions.iter().all(|condition| condition(part));
                            if is_shown { vec![(label(part), $crate::report::figures::TableValue::Number(number(part)))] } else { Vec::new() }
                        },
                    },)?)*
                    $($($crate::report::figures::Figure {
                        place: $list_place,
                        key: concat!($part, ".", stringify!($field)),
                        unit: $list_unit,
                        is_marked: false,
                        rows: $list,
                    },)?)*
                ]
            }
        }
    };
}

/// A value that a table row shows.
pub(super) enum TableValue {
    /// A number; `None` if the report has no value here, such as a mean without samples.
    Number(Option<f64>),
    /// A text that is shown as it is.
    Text(String),
}

impl TableValue {
    /// Returns a value of a report as a number for a table row.
    pub(super) fn of(figure: &impl Number) -> Self {
        Self::Number(figure.number())
    }

    /// Returns the text for a table. If `mark` (a warning sign such as `!`) is given, it follows a number that is defined.
    fn text(self, mark: Option<WarningMark>) -> String {
        match (self, mark) {
            (Self::Text(text), _) => text,
            (Self::Number(Some(number)), Some(mark)) => format!("{} {}", format_figure(Some(number)), mark.symbol()),
            (Self::Number(number), _) => format_figure(number),
        }
    }
}

/// One value of a report, with its place in a table.
pub(super) struct Figure<P> {
    /// Number by which the rows of a table are sorted.
    pub(crate) place: u32,
    /// Name in the JSON document.
    pub(crate) key: &'static str,
    /// Unit in the table, which may be empty.
    pub(crate) unit: &'static str,
    /// True if this value carries the mark (a warning sign such as `!`) that applies to all results of the run.
    pub(crate) is_marked: bool,
    /// Function that returns the labels and values of this value's rows, given the part of the report that contains the value.
    pub(crate) rows: fn(&P) -> Vec<(String, TableValue)>,
}

/// A part of a report, such as `flash` or `gc`, which is defined by a list of its values.
pub(super) trait Part: Sized {
    /// Keys of the values of this part in the JSON document of the report: one key for each value, in order.
    const NAMES: &[&str];

    /// Returns a description of each value of this part that appears in tables, with its key, its unit and its place among the rows.
    fn figures() -> Vec<Figure<Self>>;

    /// Returns the table rows of this part of the report, each with the number by which rows are sorted.
    fn rows(&self) -> Vec<(u32, TableRow)> {
        self.marked_rows(None)
    }

    /// Returns the table rows of this part of the report, each with the number by which rows are sorted. If `mark` (a warning sign such
    /// as `!`) is given, it follows those values that the macro `figures!` declares with `row (marked)`.
    fn marked_rows(&self, mark: Option<WarningMark>) -> Vec<(u32, TableRow)> {
        let mut rows = Vec::new();
        for figure in Self::figures() {
            for (label, shown) in (figure.rows)(self) {
                let text = shown.text(mark.filter(|_| figure.is_marked));
                rows.push((figure.place, TableRow::figure(figure.key, label, [text], figure.unit)));
            }
        }
        rows
    }

    /// Returns the rows of a table that shows several parts of one kind side by side, such as the members of an array. Each row has the
    /// number by which rows are sorted. `values` formats the numbers of all parts for a row.
    fn rows_of(parts: &[Self], values: impl Fn(Vec<Option<f64>>) -> Vec<String>) -> Vec<(u32, TableRow)> {
        let number = |shown| if let TableValue::Number(number) = shown { number } else { None };
        let row = |figure: Figure<Self>| {
            let (labels, shown): (Vec<String>, Vec<TableValue>) = parts.iter().flat_map(figure.rows).unzip();
            let numbers = shown.into_iter().map(number).collect();
            let label = labels.into_iter().next().or_else(|| parts.is_empty().then(String::new))?;
            Some((figure.place, TableRow::figure(figure.key, label, values(numbers), figure.unit)))
        };
        Self::figures().into_iter().filter_map(row).collect()
    }
}

/// A value that can be converted to a number.
pub(super) trait Number {
    /// Returns the value as a number. `None` if the report has no value here, such as a mean without samples.
    fn number(&self) -> Option<f64>;
}

impl Number for u64 {
    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }
}

impl Number for u32 {
    fn number(&self) -> Option<f64> {
        Some(f64::from(*self))
    }
}

impl Number for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl<N: Number> Number for Option<N> {
    fn number(&self) -> Option<f64> {
        self.as_ref()?.number()
    }
}

/// Returns a value in the given unit: shares are converted to per cent, and other values stay as they are.
pub(super) fn in_unit(figure: &impl Number, unit: &str) -> Option<f64> {
    let factor = if unit == "%" { 100.0 } else { 1.0 };
    figure.number().map(|number| number * factor)
}

/// Returns a table with these rows, sorted by the number that each row comes with.
pub(super) fn section(title: &'static str, rows: Vec<(u32, TableRow)>) -> TableSection {
    TableSection { title, columns: Vec::new(), rows: in_order(rows) }
}

/// Returns the rows, sorted by the number that each row comes with.
pub(super) fn in_order(mut rows: Vec<(u32, TableRow)>) -> Vec<TableRow> {
    rows.sort_by_key(|(place, _)| *place);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Returns the mean of `number` waits whose sum is `sum_ns`, in microseconds; `None` without waits.
pub(super) fn mean_us(sum_ns: u128, number: u64) -> Option<f64> {
    (number > 0).then(|| sum_ns as f64 / 1e3 / number as f64)
}
