//! Path of a host write under `lawc`: into the first level, into its queue, or past it (rule 79).

use super::CapacityUnit;
use super::common::Common;
use super::wow::GroupCache;
use crate::placement::RequestInPages;

/// Path that a host write takes under `lawc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The whole write enters the first level, the cache in front of the member caches. The first level holds write groups (a write
    /// group is all dirty pages of one stripe).
    FirstLevel,
    /// The write waits until it can enter the first level (the cache in front of the member caches). It must not bypass the first
    /// level, because an older version of one of its pages is there or waits to enter.
    WaitForSamePage,
    /// The write goes past the first level (the cache in front of the member caches), directly to the member caches.
    Bypass,
}

impl Route {
    pub(super) fn of(first_level: &GroupCache, common: &Common, request: &RequestInPages) -> Self {
        let strip_pages = common.layout.strip_pages();
        let pages = || {
            Common::strips(common.layout, request)
                .flat_map(|strip| (strip.row..strip.row + strip.pages).map(move |row| (strip.stripe, strip.column, row)))
        };
        if !first_level.has_waiting_writes() {
            let store = &first_level.store;
            let free = store.free();
            let is_new = |&(stripe, column, row): &(u64, u32, u32)| !store.would_replace(stripe, column * strip_pages + row);
            let fits = match store.room() {
                // A write that fits even if none of its pages were in the cache needs no closer look.
                CapacityUnit::Pages => request.pages <= free || pages().filter(is_new).take(free as usize + 1).count() <= free as usize,
                CapacityUnit::PagesAdmittingWholeWrites => free > 0 || !pages().any(|page| is_new(&page)),
                CapacityUnit::DirtyStripesOrStrips => {
                    let mut new: Vec<u64> = pages().map(|(stripe, ..)| stripe).filter(|&stripe| !store.has_entry(stripe)).collect();
                    new.dedup();
                    new.len() <= free as usize
                }
            };
            if fits {
                return Self::FirstLevel;
            }
        }
        if pages().any(|(stripe, column, row)| first_level.has(common, stripe, column, row)) { Self::WaitForSamePage } else { Self::Bypass }
    }
}
