//! From `[cache]` to the integers of the model.

use super::Config;
use super::cache::{CacheConfig, CachePolicy};
use super::resolve::Resolver;
use flashraid_model::cache::{CacheParams, Policy};
use flashraid_workload::units::{Duration, Fraction, Size};

/// Times beyond this are mistakes.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Caches beyond this are no caches.
const LARGEST_BYTES: u64 = 1 << 40;
/// LAWC Table 1.
const BYTES_PER_MEMBER: u64 = 32 << 10;
/// LAWC Fig. 6.
const FIRST_LEVEL_FRACTION: Fraction = Fraction(0.25);
const SYNC_TIMEOUT: Duration = Duration { ns: 1_000_000 };
/// LAWC Table 2.
const NVM_READ: Duration = Duration { ns: 125 };
const NVM_WRITE: Duration = Duration { ns: 1000 };

/// Options that are set but mean nothing with this policy: no mistake, since a comparison of policies sets them for all.
pub(super) fn without_effect(written: &CacheConfig) -> Vec<&'static str> {
    let policy = written.policy;
    let caches = policy != CachePolicy::None;
    [
        ("size", caches, written.size.is_some()),
        ("first_level_fraction", policy == CachePolicy::Lawc, written.first_level_fraction.is_some()),
        ("low", caches, written.low.is_some()),
        ("high", caches, written.high.is_some()),
        ("in_flight", caches, written.in_flight.is_some()),
        ("sync_timeout", policy.is_synchronised(), written.sync_timeout.is_some()),
        ("nvm_read", caches, written.nvm_read.is_some()),
        ("nvm_write", caches, written.nvm_write.is_some()),
    ]
    .into_iter()
    .filter_map(|(key, used, set)| (set && !used).then_some(key))
    .collect()
}

impl Resolver<'_> {
    /// Fills in what is left out; the cache if there is one.
    pub(super) fn cache(&mut self, config: &mut Config, members: u32, page_bytes: u64) -> Option<CacheParams> {
        let policy = match config.cache.policy {
            CachePolicy::None => return None,
            CachePolicy::Wow => Policy::Wow,
            CachePolicy::Stow => Policy::Stow,
            CachePolicy::Iwc => Policy::Independent { synchronised: false },
            CachePolicy::IwcSync => Policy::Independent { synchronised: true },
            CachePolicy::Lawc => Policy::Lawc,
        };
        let written = &mut config.cache;
        let size = *written.size.get_or_insert(Size { bytes: BYTES_PER_MEMBER * u64::from(members) });
        let low = written.low.get_or_insert(Fraction(0.0)).0;
        let high = written.high.get_or_insert(Fraction(low)).0;
        let in_flight = *written.in_flight.get_or_insert(1);
        let nvm_read = *written.nvm_read.get_or_insert(NVM_READ);
        let nvm_write = *written.nvm_write.get_or_insert(NVM_WRITE);
        if written.policy.is_synchronised() {
            written.sync_timeout.get_or_insert(SYNC_TIMEOUT);
        }
        if written.policy == CachePolicy::Lawc {
            written.first_level_fraction.get_or_insert(FIRST_LEVEL_FRACTION);
        }
        let (sync_timeout, first_level_fraction) = (written.sync_timeout, written.first_level_fraction);
        let name = written.policy.name();

        if high < low {
            let message =
                format!("`cache.high` is {}, less than `cache.low`, which is {}", self.written("cache.high"), self.written("cache.low"));
            self.problem("cache.high", message, Some("destaging begins above `low` and is at its full rate from `high` on"));
        }
        for (key, time) in [("nvm_read", Some(nvm_read)), ("nvm_write", Some(nvm_write)), ("sync_timeout", sync_timeout)] {
            if let Some(time) = time.filter(|time| time.ns > LONGEST_NS) {
                self.problem(&format!("cache.{key}"), format!("`cache.{key}` is {time}, but at most 1h is allowed"), None);
            }
        }
        let pages = size.bytes / page_bytes;
        let first_level_pages = first_level_fraction.map_or(0, |fraction| libm::floor(fraction.0 * pages as f64) as u64);
        let (group_pages, member_pages) = match policy {
            Policy::Wow | Policy::Stow => (pages, 0),
            Policy::Independent { .. } => (0, pages / u64::from(members)),
            Policy::Lawc => (first_level_pages, (pages - first_level_pages) / u64::from(members)),
        };
        let too_small = match policy {
            Policy::Wow | Policy::Stow => group_pages == 0,
            Policy::Independent { .. } => member_pages == 0,
            Policy::Lawc => group_pages == 0 || member_pages == 0,
        };
        if size.bytes > LARGEST_BYTES {
            self.problem("cache.size", format!("`cache.size` is {size}, but at most 1 TiB is allowed"), None);
            return None;
        }
        if too_small {
            let page = Size { bytes: page_bytes };
            let (key, message) = if policy == Policy::Lawc {
                let shares = format!("leaves {group_pages} pages to the first level and {member_pages} to each of {members} members");
                let fraction = first_level_fraction.unwrap_or(FIRST_LEVEL_FRACTION);
                (
                    "cache.first_level_fraction",
                    format!("`cache.first_level_fraction` is {fraction}, which of `cache.size` = {size} {shares}"),
                )
            } else {
                ("cache.size", format!("`cache.size` is {size}, too little for policy \"{name}\" with {members} members"))
            };
            self.problem(key, message, Some(&format!("every cache needs room for a page of {page} at least; raise cache.size")));
        }
        Some(CacheParams {
            policy,
            group_pages: u32::try_from(group_pages).unwrap_or(u32::MAX),
            member_pages: u32::try_from(member_pages).unwrap_or(u32::MAX),
            low,
            high,
            in_flight,
            sync_timeout_ns: sync_timeout.map_or(0, |time| time.ns),
            nvm_read_ns: nvm_read.ns,
            nvm_write_ns: nvm_write.ns,
        })
    }
}
