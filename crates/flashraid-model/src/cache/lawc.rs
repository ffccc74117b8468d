//! The way of a host write under `lawc`: into the first level, into its queue, or past it (rule 79).

use super::common::Common;
use super::wow::GroupCache;
use crate::placement::PageRequest;

/// Where a host write goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The first level takes all of it.
    FirstLevel,
    /// It has to wait for the first level, which holds a page of it.
    Dependent,
    /// To the member caches.
    Bypass,
}

impl Route {
    pub fn of(first_level: &GroupCache, common: &Common, request: &PageRequest) -> Self {
        let strip_pages = common.layout.strip_pages();
        let pages = || {
            Common::strips(common.layout, request)
                .flat_map(|strip| (strip.row..strip.row + strip.pages).map(move |row| (strip.stripe, strip.column, row)))
        };
        if !first_level.is_crowded() {
            let free = first_level.store.free_pages();
            let needs_room =
                |&(stripe, column, row): &(u64, u32, u32)| !first_level.store.would_replace(stripe, column * strip_pages + row);
            // A write that would fit even if nothing of it were there needs no closer inspection.
            if request.pages <= free || pages().filter(needs_room).take(free as usize + 1).count() <= free as usize {
                return Self::FirstLevel;
            }
        }
        if pages().any(|(stripe, column, row)| first_level.has(common, stripe, column, row)) { Self::Dependent } else { Self::Bypass }
    }
}
