//! Tables that choose a policy by its name: `[coordination]`, `[read]` and `[cache]`.
//!
//! The parameters of all policies of a kind stand side by side in the table, with keys that belong to none. A comparison of policies can
//! therefore set them once. The policies themselves define their parameters.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use flashraid_model::policy::{ParameterProblem, PolicyEnum, policy_config_serde};

use super::resolve::Resolver;

/// A kind of policies that a table chooses from.
pub trait TablePolicy: PolicyEnum {
    /// Keys of the table that belong to no policy.
    type Common: Serialize + DeserializeOwned + JsonSchema;
    /// Name of the table.
    const TABLE: &'static str;
    /// Key under which users name the policy.
    const KEY: &'static str;
    /// Name of the table's type in the JSON Schema.
    const SCHEMA_NAME: &'static str;
    /// Documentation of the key.
    const KEY_MEANING: &'static str;
    /// Documentation of the table.
    const TABLE_MEANING: &'static str;

    /// Returns the table as reports show it, without the keys that belong to no policy. `others` are policies that are not chosen, but have
    /// parameters that the user set.
    fn table(&self, others: &[Self]) -> Map<String, Value>;
}

/// A table that chooses a policy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PolicyTable<K: TablePolicy> {
    /// The policy, with its parameters.
    pub policy: K,
    /// Keys that apply to every policy.
    pub common: K::Common,
    /// Other policies whose parameters the user also set.
    pub(super) others: Vec<K>,
}

impl<K: TablePolicy> PolicyTable<K> {
    /// Returns the policy, and the others whose parameters the user also set.
    fn policies(&self) -> impl Iterator<Item = &K> {
        std::iter::once(&self.policy).chain(&self.others)
    }

    /// Returns the parameters that are set, but that the policy does not have.
    pub(super) fn unused_parameters(&self) -> Vec<String> {
        policy_config_serde::unused_parameters(&self.policy, &self.others)
    }
}

impl<K: TablePolicy> Serialize for PolicyTable<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        policy_config_serde::serialize_merged_tables(self.policy.table(&self.others), &self.common, serializer)
    }
}

impl<'de, K: TablePolicy> Deserialize<'de> for PolicyTable<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(deserializer)?;
        let (policy, others) = policy_config_serde::take_chosen_and_other_policies(K::KEY, &mut table).map_err(D::Error::custom)?;
        Ok(Self { policy, common: serde_json::from_value(table.into()).map_err(D::Error::custom)?, others })
    }
}

impl<K: TablePolicy> JsonSchema for PolicyTable<K> {
    fn schema_name() -> Cow<'static, str> {
        K::SCHEMA_NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        policy_config_serde::policy_table_json_schema::<K, K::Common>(K::KEY, K::KEY_MEANING, K::TABLE_MEANING, generator)
    }
}

impl Resolver<'_> {
    /// Adds problems of all policies that a table has parameters of, each key once, and then those of other keys of the table. Parameters
    /// without effect with the chosen policy must also be possible, because other policies use them.
    pub(super) fn table_problems<K: TablePolicy>(
        &mut self,
        table: &PolicyTable<K>,
        problems: impl Fn(&K) -> Vec<ParameterProblem>,
        of_other_keys: impl IntoIterator<Item = ParameterProblem>,
    ) {
        let mut known = Vec::new();
        for problem in table.policies().flat_map(problems).chain(of_other_keys) {
            if !known.contains(&problem.key) {
                self.policy_problem(K::TABLE, &problem);
                known.push(problem.key);
            }
        }
    }
}
