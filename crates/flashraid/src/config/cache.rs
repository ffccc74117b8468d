//! Keys of the write cache: `[cache]`.
//!
//! The parameters of all policies stand side by side in this table, with the keys of every cache. A comparison of policies can therefore
//! set them once. The policies themselves define their parameters.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use std::borrow::Cow;

use flashraid_model::cache::CachePolicy;
use flashraid_model::policy::policy_tables;
use flashraid_workload::units::{Duration, Fraction, Size};

/// The write cache of the array.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CacheConfig {
    /// The policy, with its parameters.
    pub policy: CachePolicy,
    /// Keys that apply to every cache policy, and in the same way to each cache of the array.
    pub common: CommonCacheKeys,
    /// Other policies whose parameters the user also set.
    pub(super) others: Vec<CachePolicy>,
}

/// Keys that apply to every cache policy, and in the same way to each cache of the array.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct CommonCacheKeys {
    /// Number of bytes in all caches of the array together. By default, 32 KiB for each member, as in the paper LAWC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Unit in which the capacity of a cache is counted. By default `"pages"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<CacheCapacityUnit>,
    /// Share of a cache's capacity above which the cache destages (writes its pages to the members, or to their caches). By default 0
    /// with every policy, as in the paper LAWC; the paper WOW uses 80 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<Fraction>,
    /// Share of a cache's capacity from which on the cache destages at the full rate. The rate rises linearly from `low`. By default, it
    /// equals `low` with every policy; the paper WOW uses 90 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<Fraction>,
    /// Maximum number of destages that each cache has in progress at a time. A destage writes pages of a cache to the members, or to
    /// their caches. By default 1, as in the paper LAWC; the paper WOW uses up to 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub in_flight: Option<u32>,
    /// Time that the memory of the cache takes to read a page. By default 125 ns (phase-change memory, LAWC Table 2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvm_read: Option<Duration>,
    /// Time that the memory of the cache takes to write a page. By default 1 µs (phase-change memory, LAWC Table 2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvm_write: Option<Duration>,
}

/// Unit in which the capacity of a cache is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheCapacityUnit {
    /// Counts pages. A write that is larger than the room that is left enters piece by piece.
    Pages,
    /// Counts pages. If there is room for one page, all pages of a write in the same stripe enter together, even beyond `size` (LAWC 2.1).
    /// (In a member's cache, it is the strip instead of the stripe.)
    Whole,
    /// Counts the stripes with cached pages, however many pages they have. The number of pages in `size` is the maximum number of stripes.
    /// (In a member's cache, it is strips.)
    Entries,
}

/// Key in the table under which users name the policy.
const POLICY: &str = "policy";

impl Serialize for CacheConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        policy_tables::serialize_table_with(policy_tables::own_parameters_table(POLICY, &self.policy), &self.common, serializer)
    }
}

impl<'de> Deserialize<'de> for CacheConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut table = Map::deserialize(deserializer)?;
        let (policy, others) = policy_tables::take_policy(POLICY, &mut table).map_err(D::Error::custom)?;
        let common = serde_json::from_value(table.into()).map_err(D::Error::custom)?;
        Ok(Self { policy, common, others })
    }
}

impl JsonSchema for CacheConfig {
    fn schema_name() -> Cow<'static, str> {
        "CacheConfig".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        policy_tables::policy_table_schema::<CachePolicy, CommonCacheKeys>(
            POLICY,
            "The policy.",
            "The write cache of the array.",
            generator,
        )
    }
}
