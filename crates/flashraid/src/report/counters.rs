//! Counters of optional parts of the model: read plans, coordination schemes and mechanisms. The model lists them with their names,
//! labels and meanings.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::marker::PhantomData;

use super::table::{TableRow, TableSection, format_figure};
use flashraid_model::counts::{CounterTable, OptionalCounts, ReportedCounter};
use flashraid_model::ssd::DieDelayMechanismCounters;

/// Counters of optional parts of the model, such as read plans. Each set of counters that is kept is a table of its own.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct OptionalTables<C> {
    /// The tables by their names, such as `hedged_reads`. Each is an object of numbers.
    pub tables: Map<String, Value>,
    #[serde(skip)]
    counts: PhantomData<C>,
}

impl<C: OptionalCounts> OptionalTables<C> {
    pub(super) fn new(counters: &C) -> Self {
        Self { tables: CounterTable::to_json(&counters.tables()), counts: PhantomData }
    }

    /// Returns a section for each table. `path` stands before the names of the tables in the document.
    pub(super) fn sections(&self, path: &str) -> Vec<TableSection> {
        counter_sections(&C::all_tables(), &self.tables, path)
    }
}

impl<'de, C: OptionalCounts> Deserialize<'de> for OptionalTables<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The tables stand among other parts of a report, and a report of a later version may have further ones.
        let mut tables = Map::deserialize(deserializer)?;
        let known = C::all_tables();
        tables.retain(|name, _| known.iter().any(|table| table.name == name));
        Ok(Self { tables, counts: PhantomData })
    }
}

impl<C: OptionalCounts> JsonSchema for OptionalTables<C> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OptionalTables".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        CounterTable::schema(&C::all_tables())
    }
}

/// Returns the JSON Schema of the counters of all mechanisms.
pub(super) fn mechanisms_schema(_: &mut SchemaGenerator) -> Schema {
    CounterTable::schema(&DieDelayMechanismCounters::default().counter_tables())
}

/// Returns a section for each of `tables` that `values` has. `path` stands before the names of the tables in the document.
pub(super) fn counter_sections(tables: &[CounterTable], values: &Map<String, Value>, path: &str) -> Vec<TableSection> {
    let section = |table: &CounterTable| {
        let counted = values.get(table.name)?;
        let row = |counter: &ReportedCounter| {
            let value = counted[counter.key].as_f64();
            let is_shown = !counter.only_above_zero || value.is_some_and(|value| value > 0.0);
            let key = format!("{path}{}.{}", table.name, counter.key);
            is_shown.then(|| TableRow::figure(&key, counter.label, [format_figure(value)], counter.unit))
        };
        Some(TableSection { title: table.title, columns: Vec::new(), rows: table.counters.iter().filter_map(row).collect() })
    };
    tables.iter().filter_map(section).collect()
}
