//! Results of a check about members that ask the controller for permission to collect, or that take turns to collect.

use serde::Serialize;

use super::{ExpectedMemberUtilisation, FirstCollectionEstimate, FirstRequestsStatistics, PoolGcThresholdsAndCost};
use flashraid_model::array::ArrayParams;
use flashraid_model::coordination::{CollectionPermissionScope, CollectionTimeWindows, CoordinationPolicy, WindowProtocol};
use flashraid_workload::units::Duration;

/// Results about members that need permission to collect, which the controller gives to few at a time
/// (`coordination.scheme = "stagger"`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CollectionPermissionCheck {
    /// Number of free blocks at or below which a member asks the controller for permission to collect. One pool of blocks (of a plane
    /// or of a die) with so few is enough. In drives with superblocks, the value is a number of superblocks.
    pub ask_at_free_blocks: u32,
    /// Number of members that share one limit on permissions to collect: those of a mirror set, or all members. At most `together` of
    /// them (the next field) may have permission at the same time.
    pub scope_members: u32,
    /// Maximum number of members that may have permission to collect at the same time, among `scope_members` members that share this
    /// limit.
    pub together: u32,
    /// Demand for permission to collect, divided by the controller's supply. The demand is the share of simulated time that a die of
    /// the busiest member needs for collection on average. The supply is `together` / `scope_members`, because so many of the members
    /// that share the limit may collect at a time. Above 1, some members must collect without permission. The value is `None` for a
    /// closed loop.
    pub load: Option<f64>,
    /// True if the pools of blocks begin the run with `ssd.gc.start` free blocks. Members must then collect at once, without permission
    /// of the controller.
    pub begins_at_start: bool,
}

/// Results about turns: windows of time in which one member may collect and the others may not (`coordination.scheme = "windows"`). They
/// tell if the turns are long enough, and not too long.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CollectionTurnsCheck {
    /// Number of free blocks of a pool at or below which its blocks are collected in the member's turn. A turn is the time in which
    /// only this member may collect. Each pool of blocks (of a plane or of a die) is checked by itself. In drives with superblocks,
    /// the value is a number of superblocks.
    pub clean_free_blocks: u32,
    /// Length of a turn to collect (the time in which only one member may collect), in milliseconds.
    pub window_ms: f64,
    /// Length of the last part of a turn to collect, in milliseconds. In this part, the collection of no further victim block begins,
    /// so that collection can end within the turn.
    pub buffer_ms: f64,
    /// Maximum length that a turn to collect (the time in which only one member may collect) should have, in milliseconds. While the
    /// other members have turns of this length, a member has just enough free blocks for the host's writes. With longer turns, members
    /// must collect outside of their turns. The value is `None` for a closed loop, and for a workload that writes nothing.
    pub window_max_ms: Option<f64>,
    /// Minimum length that a turn to collect (the time in which only one member may collect) should have, in milliseconds. It is the
    /// time to collect one average victim block, plus `buffer_ms` (the last part of a turn, in which no collection begins). In drives
    /// with superblocks, the value is `buffer_ms` alone.
    pub window_min_ms: f64,
    /// Number of free pages that a die is expected to gain during one turn (the time in which only its member may collect). It is the
    /// number of erased pages less that of moved pages. It is `None` for drives with superblocks.
    pub pages_gained_in_turn: Option<f64>,
    /// Results about the deterministic windows of NVMe's predictable latency mode; `None` with `coordination.protocol = "ioda"`.
    pub deterministic_windows: Option<DeterministicWindowsCheck>,
    /// Number of pages that the host writes to a die in one round, in which each member has one turn to collect. A die must gain as
    /// many free pages in each turn. It is `None` for a closed loop, and for a workload that writes nothing.
    pub pages_written_in_round: Option<f64>,
}

/// Results about deterministic windows (DTWIN): the turns of all other members, in which a member does not collect. They tell if a drive
/// can stay in them (`coordination.protocol = "nvme"`).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeterministicWindowsCheck {
    /// Length of a deterministic window that the controller ends, in milliseconds.
    pub length_ms: f64,
    /// Time for which a deterministic window may last in the long run, in milliseconds. It is the part of
    /// `coordination.dtwin_time_maximum` that one turn restores; `None` if time has no limit.
    pub restored_ms: Option<f64>,
    /// Number of page writes that a member is expected to get in a deterministic window. It is `None` for a closed loop, and for a
    /// workload that writes nothing.
    pub writes: Option<f64>,
    /// Number of page writes that a deterministic window is good for in the long run. It is the part of
    /// `coordination.dtwin_writes_typical` that one turn restores; `None` if writes have no limit.
    pub restored_writes: Option<f64>,
}

/// Returns the results about deterministic windows; `None` without the protocol of NVMe. `written` is the number of pages that each member
/// programs for the host in a second.
fn deterministic_windows_check(windows: &CollectionTimeWindows, members: u32, written: Option<f64>) -> Option<DeterministicWindowsCheck> {
    let ms = |time: Duration| time.ns as f64 / 1e6;
    let (window, high) = (windows.window, windows.ndwin_time_minimum_high);
    let restored = if high > window { ms(window) / ms(high) } else { 1.0 };
    let length_ms = f64::from(members.saturating_sub(1)) * ms(window);
    (windows.protocol == WindowProtocol::Nvme).then(|| DeterministicWindowsCheck {
        length_ms,
        restored_ms: windows.dtwin_time_maximum.0.map(|most| ms(most) * restored),
        writes: written.map(|written| written * length_ms / 1000.0),
        restored_writes: windows.dtwin_writes_typical.0.map(|most| most as f64 * restored),
    })
}

/// Returns the results about permission to collect; `None` unless members ask the controller for it.
pub(super) fn leave_check(
    array: &ArrayParams,
    load: Option<&ExpectedMemberUtilisation>,
    first: FirstCollectionEstimate,
) -> Option<CollectionPermissionCheck> {
    let coordination = array.coordination.as_ref()?;
    let CoordinationPolicy::StaggeredCollection(stagger) = &coordination.scheme else { return None };
    let copies = array.layout().copies_of_each_page();
    let scope_members = if stagger.scope == CollectionPermissionScope::MirrorSet && copies > 1 { copies } else { array.members };
    let together = stagger.together.members(array.level.parity_strips()).min(scope_members);
    let collecting = load.and_then(|load| Some(load.dies_with_gc? - load.dies_without_gc?));
    Some(CollectionPermissionCheck {
        ask_at_free_blocks: stagger.ask_at_free_blocks(&array.ssd.pool_sizes()),
        scope_members,
        together,
        load: collecting.map(|share| share * f64::from(scope_members) / f64::from(together)),
        // Drives with superblocks begin at `target`, and must collect at `floor` only.
        begins_at_start: array.ssd.superblock.is_none() && matches!(first, FirstCollectionEstimate::AtOnce),
    })
}

/// Returns the results about turns to collect; `None` unless members take turns.
pub(super) fn turns_check(
    array: &ArrayParams,
    gc: &PoolGcThresholdsAndCost,
    workload: Option<&FirstRequestsStatistics>,
) -> Option<CollectionTurnsCheck> {
    let coordination = array.coordination.as_ref()?;
    let CoordinationPolicy::CollectionTimeWindows(windows) = &coordination.scheme else { return None };
    let (ssd, pools) = (&array.ssd, array.ssd.pool_sizes());
    let clean_free_blocks = windows.collect_at_free_blocks(&pools);
    let (members, dies) = (f64::from(array.members), f64::from(ssd.geometry.dies));
    let (window, buffer) = (windows.window, Duration { ns: windows.turn_end_margin_ns(&pools) });
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
            let superblocks = clean_free_blocks.saturating_sub(superblock.collection.floor);
            let units = f64::from(superblocks) * f64::from(shape.data_mapping_units_per_superblock());
            (units * f64::from(superblock.pages_per_mapping_unit) / dies, None)
        }
        None => {
            let pools_per_die = f64::from(ssd.geometry.planes * ssd.geometry.blocks_per_plane) / f64::from(pools.blocks_per_pool);
            let blocks = clean_free_blocks.saturating_sub(pools.start_threshold_free_blocks);
            let cleans = (ms(window) - ms(buffer)) / (gc.clean_us / 1000.0);
            (pools_per_die * f64::from(blocks) * data_pages, Some((data_pages - gc.pages_moved_per_clean) * (cleans.floor() + 1.0)))
        }
    };
    let clean_ms = if ssd.superblock.is_some() { 0.0 } else { gc.clean_us / 1000.0 };
    Some(CollectionTurnsCheck {
        clean_free_blocks,
        window_ms: ms(window),
        buffer_ms: ms(buffer),
        window_max_ms: written.map(|written| slack / ((members - 1.0).max(1.0) * written) * 1000.0),
        window_min_ms: clean_ms + ms(buffer),
        pages_gained_in_turn,
        deterministic_windows: deterministic_windows_check(windows, array.members, written.map(|written| written * dies)),
        pages_written_in_round: written.map(|written| written * members * ms(window) / 1000.0),
    })
}

/// Returns warnings about permission to collect, and about turns to collect.
pub(super) fn warnings(leave: Option<&CollectionPermissionCheck>, turns: Option<&CollectionTurnsCheck>) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(CollectionPermissionCheck { scope_members, together, load: Some(load), .. }) = leave
        && *load > 1.0
    {
        warnings.push(format!(
            "{together} of {scope_members} members may collect at a time, but they need {load:.2} times as much time: some will collect \
             unasked; raise coordination.together, or the free blocks between coordination.ask_at and ssd.gc.start"
        ));
    }
    if let Some(CollectionPermissionCheck { scope_members, together, load, begins_at_start: true, .. }) = leave
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
    let CollectionTurnsCheck { window_ms, window_min_ms, .. } = *turns;
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
    if let Some(DeterministicWindowsCheck { length_ms, restored_ms, writes, restored_writes }) = turns.deterministic_windows {
        if let Some(restored) = restored_ms.filter(|&restored| restored < length_ms) {
            warnings.push(format!(
                "deterministic windows last for {length_ms:.4} ms, but a turn restores {restored:.4} ms of coordination.dtwin_time_maximum: \
                 drives will leave them by themselves"
            ));
        }
        if let (Some(writes), Some(restored)) = (writes, restored_writes)
            && restored < writes
        {
            warnings.push(format!(
                "a deterministic window gets {writes:.0} page writes, but a turn restores {restored:.0} of coordination.dtwin_writes_typical: \
                 drives will leave it by themselves"
            ));
        }
    }
    warnings
}
