//! Results of a check about members that ask for leave to collect, or take turns.

use serde::Serialize;

use super::{FirstCollection, GcCheck, LoadCheck, WorkloadSample};
use flashraid_model::array::ArrayParams;
use flashraid_model::coordination::{LeaveScope, SchemePolicy};
use flashraid_workload::units::Duration;

/// Leave to collect (`coordination.scheme = "stagger"`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeaveCheck {
    /// Number of free blocks at or below which a member asks.
    pub ask_free_blocks: u32,
    /// Number of members that share leave: those of a mirror set, or all.
    pub scope_members: u32,
    /// Number of these that may collect at a time.
    pub together: u32,
    /// Collection that the members of a scope need, as a share of what they may do one after another. Above 1, some collect unasked. It is
    /// `None` for a closed loop.
    pub load: Option<f64>,
    /// True if the pools begin with `ssd.gc.start` free blocks. They must then collect at once, without permission of the controller.
    pub begins_at_start: bool,
}

/// Turns to collect (`coordination.scheme = "windows"`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TurnsCheck {
    /// Number of free blocks at or below which a pool is cleaned in its member's turn.
    pub clean_free_blocks: u32,
    /// Length of a turn, in milliseconds.
    pub window_ms: f64,
    /// Length of the end of a turn in which no clean begins, in milliseconds.
    pub buffer_ms: f64,
    /// Longest turn for which pools have enough free blocks while others have their turns, in milliseconds. It is `None` for a closed loop,
    /// and for a workload that writes nothing.
    pub window_max_ms: Option<f64>,
    /// Shortest turn in which a clean may begin and end, in milliseconds.
    pub window_min_ms: f64,
    /// Pages that a die gains in a turn; `None` for drives with superblocks.
    pub pages_gained_in_turn: Option<f64>,
    /// Pages that a die must gain in a turn, because so many are written until its next one. It is `None` for a closed loop.
    pub pages_written_in_round: Option<f64>,
}

/// Returns what can be said of leave.
pub(super) fn leave_check(array: &ArrayParams, load: Option<&LoadCheck>, first: FirstCollection) -> Option<LeaveCheck> {
    let coordination = array.coordination.as_ref()?;
    let SchemePolicy::Stagger(stagger) = &coordination.scheme else { return None };
    let role = coordination.member_role(&array.ssd.pool_sizes());
    let copies = array.layout().copies_of_each_page();
    let scope_members = if stagger.scope == LeaveScope::MirrorSet && copies > 1 { copies } else { array.members };
    let together = stagger.together.members(array.level.parity_strips()).min(scope_members);
    let collecting = load.and_then(|load| Some(load.dies_with_gc? - load.dies_without_gc?));
    Some(LeaveCheck {
        ask_free_blocks: role.leave?.ask_free_blocks,
        scope_members,
        together,
        load: collecting.map(|share| share * f64::from(scope_members) / f64::from(together)),
        // Drives with superblocks begin at `target`, and must collect at `floor` only.
        begins_at_start: array.ssd.superblock.is_none() && matches!(first, FirstCollection::AtOnce),
    })
}

/// Returns what can be said of turns.
pub(super) fn turns_check(array: &ArrayParams, gc: &GcCheck, workload: Option<&WorkloadSample>) -> Option<TurnsCheck> {
    let coordination = array.coordination.as_ref()?;
    let SchemePolicy::Windows(windows) = &coordination.scheme else { return None };
    let (ssd, pools) = (&array.ssd, array.ssd.pool_sizes());
    let clean_free_blocks = coordination.member_role(&pools).turn?.clean_free_blocks;
    let (members, dies) = (f64::from(array.members), f64::from(ssd.geometry.dies));
    let (window, buffer) = (windows.window, Duration { ns: windows.buffer_ns(&pools) });
    let ms = |time: Duration| time.ns as f64 / 1e6;
    // Pages that each die programs for the host in a second.
    let written = workload.and_then(|sample| {
        let pages = sample.pages_written_per_request * sample.busiest_member_share * sample.requests_per_s?;
        Some(pages / dies).filter(|&written| written > 0.0)
    });
    let data_pages = f64::from(ssd.geometry.data_pages_per_block());
    let (slack, pages_gained_in_turn) = match &ssd.superblock {
        Some(superblock) => {
            let shape = superblock.shape(&ssd.geometry);
            let superblocks = clean_free_blocks.saturating_sub(superblock.collection.floor_free_superblocks);
            let units = f64::from(superblocks) * f64::from(shape.data_units());
            (units * f64::from(superblock.unit_pages) / dies, None)
        }
        None => {
            let pools_per_die = f64::from(ssd.geometry.planes * ssd.geometry.blocks_per_plane) / f64::from(pools.blocks);
            let blocks = clean_free_blocks.saturating_sub(pools.start_free_blocks);
            let cleans = (ms(window) - ms(buffer)) / (gc.clean_us / 1000.0);
            (pools_per_die * f64::from(blocks) * data_pages, Some((data_pages - gc.pages_moved_per_clean) * (cleans.floor() + 1.0)))
        }
    };
    let clean_ms = if ssd.superblock.is_some() { 0.0 } else { gc.clean_us / 1000.0 };
    Some(TurnsCheck {
        clean_free_blocks,
        window_ms: ms(window),
        buffer_ms: ms(buffer),
        window_max_ms: written.map(|written| slack / ((members - 1.0).max(1.0) * written) * 1000.0),
        window_min_ms: clean_ms + ms(buffer),
        pages_gained_in_turn,
        pages_written_in_round: written.map(|written| written * members * ms(window) / 1000.0),
    })
}

/// Returns warnings about leave and turns.
pub(super) fn warnings(leave: Option<&LeaveCheck>, turns: Option<&TurnsCheck>) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(LeaveCheck { scope_members, together, load: Some(load), .. }) = leave
        && *load > 1.0
    {
        warnings.push(format!(
            "{together} of {scope_members} members may collect at a time, but they need {load:.2} times as much time: some will collect \
             unasked; raise coordination.together, or the free blocks between coordination.ask_at and ssd.gc.start"
        ));
    }
    if let Some(LeaveCheck { scope_members, together, load, begins_at_start: true, .. }) = leave
        && together < scope_members
        && load.is_none_or(|load| load <= 1.0)
    {
        warnings.push(
            "pools begin with ssd.gc.start free blocks, so that members collect unasked from the first writes on, and while enough of them \
             do, no other is granted leave: they may never come away from there; look at the unasked collections in the report, raise \
             coordination.together, or begin with more free blocks (ssd.warm_up)"
                .into(),
        );
    }
    let Some(turns) = turns else { return warnings };
    let TurnsCheck { window_ms, window_min_ms, .. } = *turns;
    if let Some(most) = turns.window_max_ms.filter(|&most| window_ms > most) {
        warnings.push(format!(
            "coordination.window is {window_ms:.4} ms, but free blocks last for turns of up to {most:.4} ms: members will collect outside of \
             their turns"
        ));
    }
    if window_ms < window_min_ms {
        warnings.push(format!("coordination.window is {window_ms:.4} ms, but a clean and the buffer take {window_min_ms:.4} ms"));
    }
    if let (Some(gained), Some(written)) = (turns.pages_gained_in_turn, turns.pages_written_in_round)
        && gained < written
    {
        warnings.push(format!(
            "a die gains {gained:.0} pages in its turn, but {written:.0} are written to it until the next one: members will collect outside \
             of their turns"
        ));
    }
    warnings
}
