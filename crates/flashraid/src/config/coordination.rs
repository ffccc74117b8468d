//! Keys of the coordination of garbage collection: `[coordination]`.

use serde_json::{Map, Value};

use super::policy_table::{PolicyTable, TablePolicy};
use flashraid_model::coordination::{CoordinationParams, CoordinationPolicy};
use flashraid_model::policy::policy_config_serde;

/// Coordination of the members' garbage collection.
pub type CoordinationConfig = PolicyTable<CoordinationPolicy>;

impl TablePolicy for CoordinationPolicy {
    type Common = CoordinationParams;
    const TABLE: &'static str = "coordination";
    const KEY: &'static str = "scheme";
    const SCHEMA_NAME: &'static str = "CoordinationConfig";
    const KEY_MEANING: &'static str = "The scheme.";
    const TABLE_MEANING: &'static str = "How garbage collection of the members is coordinated.";

    fn table(&self, _others: &[Self]) -> Map<String, Value> {
        let mut table = Map::new();
        policy_config_serde::put_policy_and_defaults_of_others(Self::KEY, self, &mut table);
        table
    }
}
