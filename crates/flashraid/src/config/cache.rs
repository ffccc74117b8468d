//! Keys of the write cache: `[cache]`.
//!
//! The parameters of all policies stand side by side in this table, with the keys of every cache. A comparison of policies can therefore
//! set them once. The policies themselves define their parameters.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use std::borrow::Cow;

use flashraid_model::cache::{CachePolicy, CapacityUnit, RecencyBit};
use flashraid_model::policy::policy_config_serde;
use flashraid_workload::units::{Duration, Fraction, Size};

/// The write cache of the array.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CacheConfig {
    /// The policy, with its parameters.
    pub policy: CachePolicy,
    /// Configuration keys that apply to every cache policy. The array has one cache or several, depending on the policy, and the same
    /// values apply to each of them.
    pub common: CommonCacheKeys,
    /// Other policies whose parameters the user also set.
    pub(super) others: Vec<CachePolicy>,
}

/// Configuration keys that apply to every cache policy. The array has one cache or several, depending on the policy, and the same
/// values apply to each of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct CommonCacheKeys {
    /// Number of bytes in all caches of the array together. By default, 32 KiB for each member, as in the paper LAWC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Unit in which the capacity of a cache is counted. By default `"whole"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<CapacityUnit>,
    /// Pages that set the recency bit of a strip in the cache of a member: those that hit a strip, or all that are stored. An entry with
    /// a set bit is passed once when the cache destages. By default `"hits"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recency: Option<RecencyBit>,
    /// Lower threshold of destaging, as a share of a cache's capacity. The cache destages while its pages take up more than this
    /// share. Destaging writes cached pages to the members, or from a first-level cache to the caches of the members. By default 0
    /// with every policy, as in the paper LAWC; the paper WOW uses 80 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<Fraction>,
    /// Upper threshold of destaging, as a share of a cache's capacity. The cache destages (writes cached pages out) at the full rate
    /// when its pages take up this share or more. The rate rises linearly from the share in `low` to this one. By default, it equals
    /// `low` with every policy; the paper WOW uses 90 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<Fraction>,
    /// Maximum number of destages that each cache has in progress at a time. A destage writes cached pages to the members, or from a
    /// first-level cache to the caches of the members. By default 1, as in the paper LAWC; the paper WOW uses up to 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub in_flight: Option<u32>,
    /// Time that the memory of the cache takes to read a page. By default 125 ns (phase-change memory, Table 2 of the paper on
    /// layout-aware write caches, LAWC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvm_read: Option<Duration>,
    /// Time that the memory of the cache takes to write a page. By default 1 µs (phase-change memory, Table 2 of the paper on
    /// layout-aware write caches, LAWC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvm_write: Option<Duration>,
}

/// Key in the table under which users name the policy.
const POLICY: &str = "policy";

impl Serialize for CacheConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        policy_config_serde::serialize_merged_tables(
            policy_config_serde::named_table_with_own_parameters(POLICY, &self.policy),
            &self.common,
            serializer,
        )
    }
}

impl<'de> Deserialize<'de> for CacheConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(deserializer)?;
        let (policy, others) = policy_config_serde::take_chosen_and_other_policies(POLICY, &mut table).map_err(D::Error::custom)?;
        let common = serde_json::from_value(table.into()).map_err(D::Error::custom)?;
        Ok(Self { policy, common, others })
    }
}

impl JsonSchema for CacheConfig {
    fn schema_name() -> Cow<'static, str> {
        "CacheConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        policy_config_serde::policy_table_json_schema::<CachePolicy, CommonCacheKeys>(
            POLICY,
            "The policy.",
            "The write cache of the array.",
            generator,
        )
    }
}
