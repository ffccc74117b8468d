//! The way of a host write under `lawc`: into the front, into its queue, or past it (rule 79).

use super::common::Common;
use super::wow::GroupCache;
use crate::placement::PageRequest;

/// Where a host write goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The front takes all of it.
    Front,
    /// It has to wait for the front, which holds a page of it.
    Dependent,
    /// To the member caches.
    Bypass,
}

impl Route {
    pub fn of(front: &GroupCache, common: &Common, request: &PageRequest) -> Self {
        let unit = common.layout.unit_pages();
        let pages = || {
            Common::strips(common.layout, request)
                .flat_map(|strip| (strip.row..strip.row + strip.pages).map(move |row| (strip.stripe, strip.column, row)))
        };
        if !front.is_crowded() {
            let free = front.store.free_pages();
            let needs_room = |&(stripe, column, row): &(u64, u32, u32)| !front.store.would_replace(stripe, column * unit + row);
            // A write that would fit even if nothing of it were there needs no closer look.
            if request.pages <= free || pages().filter(needs_room).take(free as usize + 1).count() <= free as usize {
                return Self::Front;
            }
        }
        if pages().any(|(stripe, column, row)| front.has(common, stripe, column, row)) { Self::Dependent } else { Self::Bypass }
    }
}
