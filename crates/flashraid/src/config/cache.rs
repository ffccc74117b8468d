//! Keys of the write cache: `[cache]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::policy_table::{PolicyTable, TablePolicy};
use flashraid_model::cache::{CachePolicy, CapacityUnit, RecencyBit};
use flashraid_model::policy::policy_config_serde;
use flashraid_workload::units::{Duration, Fraction, Size};

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

/// The write cache of the array.
pub type CacheConfig = PolicyTable<CachePolicy>;

impl TablePolicy for CachePolicy {
    type Common = CommonCacheKeys;
    const TABLE: &'static str = "cache";
    const KEY: &'static str = "policy";
    const SCHEMA_NAME: &'static str = "CacheConfig";
    const KEY_MEANING: &'static str = "The policy.";
    const TABLE_MEANING: &'static str = "The write cache of the array.";

    fn table(&self, _others: &[Self]) -> Map<String, Value> {
        policy_config_serde::named_table_with_own_parameters(Self::KEY, self)
    }
}
