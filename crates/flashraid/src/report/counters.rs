//! Counters of optional parts of the model: read plans and mechanisms. The model lists them with their names, labels and meanings.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

use super::table::{TableRow, TableSection, format_figure};
use flashraid_model::array::ReadPlanCounters;
use flashraid_model::counts::{CounterTable, ReportedCounter};
use flashraid_model::ssd::DieDelayMechanismCounters;

/// Counters of the read plan: a table for each set of counters that the plan keeps, by its name in the JSON document.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(transparent)]
pub struct ReadPlanReport {
    /// The tables by their names, such as `hedged_reads`. Each is an object of numbers.
    pub tables: Map<String, Value>,
}

impl ReadPlanReport {
    pub(super) fn new(counters: &ReadPlanCounters) -> Self {
        Self { tables: CounterTable::to_json(&counters.tables()) }
    }

    pub(super) fn sections(&self) -> Vec<TableSection> {
        counter_sections(&ReadPlanCounters::all_tables(), &self.tables, "")
    }
}

impl<'de> Deserialize<'de> for ReadPlanReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The tables stand among the other parts of a report, and a report of a later version may have further ones.
        let mut tables = Map::deserialize(deserializer)?;
        let known = ReadPlanCounters::all_tables();
        tables.retain(|name, _| known.iter().any(|table| table.name == name));
        Ok(Self { tables })
    }
}

impl JsonSchema for ReadPlanReport {
    fn schema_name() -> Cow<'static, str> {
        "ReadPlanReport".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        CounterTable::schema(&ReadPlanCounters::all_tables())
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
