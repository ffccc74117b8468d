//! Converts the section `[cache]` to the parameters of the model.

use super::Config;
use super::cache::CacheConfig;
use super::resolve::Resolver;
use flashraid_model::cache::{CachePolicy, CapacityUnit, RecencyBit, WriteCacheParams};
use flashraid_workload::units::{Duration, Fraction, Size};

/// Longest time that is accepted.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Greatest size that is accepted.
const LARGEST_BYTES: u64 = 1 << 40;
/// Default number of bytes of cache for each member, from LAWC Table 1.
const BYTES_PER_MEMBER: u64 = 32 << 10;
/// Default times of the cache's memory, from LAWC Table 2.
const NVM_READ: Duration = Duration { ns: 125 };
const NVM_WRITE: Duration = Duration { ns: 1000 };

/// Returns the options that have no effect with this policy. They are no problems, because a comparison of policies sets them for all.
pub(super) fn without_effect(written: &CacheConfig) -> Vec<String> {
    let CacheConfig { policy, common, .. } = written;
    let set = [
        ("size", common.size.is_some()),
        ("room", common.room.is_some()),
        ("recency", common.recency.is_some()),
        ("low", common.low.is_some()),
        ("high", common.high.is_some()),
        ("in_flight", common.in_flight.is_some()),
        ("nvm_read", common.nvm_read.is_some()),
        ("nvm_write", common.nvm_write.is_some()),
    ];
    let nothing_caches = policy.stripe_and_member_caches().has_no_cache();
    let unused = set.into_iter().filter(|(_, set)| *set && nothing_caches).map(|(key, _)| key.to_owned());
    unused.chain(written.unused_parameters()).collect()
}

impl Resolver<'_> {
    /// Fills in missing keys of the cache, and returns its parameters; `None` without a cache.
    pub(super) fn cache(&mut self, config: &mut Config, members: u32, page_bytes: u64) -> Option<WriteCacheParams> {
        self.table_problems(&config.cache, CachePolicy::problems, []);
        let CacheConfig { policy, common, .. } = &mut config.cache;
        let parts = policy.stripe_and_member_caches();
        if parts.has_no_cache() {
            return None;
        }
        let size = *common.size.get_or_insert(Size { bytes: BYTES_PER_MEMBER * u64::from(members) });
        let room = *common.room.get_or_insert(CapacityUnit::PagesAdmittingWholeWrites);
        let recency = *common.recency.get_or_insert(RecencyBit::Hits);
        let low = common.low.get_or_insert(Fraction(0.0)).0;
        let high = common.high.get_or_insert(Fraction(low)).0;
        let in_flight = *common.in_flight.get_or_insert(1);
        let nvm_read = *common.nvm_read.get_or_insert(NVM_READ);
        let nvm_write = *common.nvm_write.get_or_insert(NVM_WRITE);

        if high < low {
            let message =
                format!("`cache.high` is {}, less than `cache.low`, which is {}", self.written("cache.high"), self.written("cache.low"));
            self.problem("cache.high", message, Some("destaging begins above `low` and is at its full rate from `high` on"));
        }
        for (key, time) in [("nvm_read", nvm_read), ("nvm_write", nvm_write)] {
            if time.ns > LONGEST_NS {
                self.problem(&format!("cache.{key}"), format!("`cache.{key}` is {time}, but at most 1h is allowed"), None);
            }
        }
        let fraction = policy.first_level_fraction();
        let (group_pages, member_pages) = parts.split_capacity_pages(size.bytes / page_bytes, fraction.0, members);
        let too_small = (parts.dirty_stripe_cache.is_some() && group_pages == 0) || (parts.member_caches.is_some() && member_pages == 0);
        if size.bytes > LARGEST_BYTES {
            self.problem("cache.size", format!("`cache.size` is {size}, but at most 1 TiB is allowed"), None);
            return None;
        }
        if too_small {
            let page = Size { bytes: page_bytes };
            let (key, message) = if parts.has_dirty_stripe_cache() {
                let shares = format!("leaves {group_pages} pages to the first level and {member_pages} to each of {members} members");
                (
                    "cache.first_level_fraction",
                    format!("`cache.first_level_fraction` is {fraction}; with `cache.size` = {size} it {shares}"),
                )
            } else {
                ("cache.size", format!("`cache.size` is {size}, too little for policy \"{}\" with {members} members", policy.name()))
            };
            self.problem(key, message, Some(&format!("every cache needs room for a page of {page} at least; raise cache.size")));
        }
        Some(WriteCacheParams {
            stripe_and_member_caches: parts,
            dirty_stripe_cache_capacity_pages: u32::try_from(group_pages).unwrap_or(u32::MAX),
            member_cache_pages: u32::try_from(member_pages).unwrap_or(u32::MAX),
            capacity_unit: room,
            recency,
            destage_start_fill: low,
            full_speed_destage_fill_fraction: high,
            destages_in_flight_max: in_flight,
            destage_wait_for_other_members_max_ns: policy.sync_timeout().ns,
            nvm_page_read_ns: nvm_read.ns,
            nvm_page_write_ns: nvm_write.ns,
        })
    }
}
