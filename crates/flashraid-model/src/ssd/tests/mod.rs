//! A tiny SSD with superblocks to the nanosecond, computed by hand; a file for each topic.

mod buffer;
mod collection;
mod handles;
mod one_bit;
mod parity;
mod queues;
mod reads;

use super::tiny::drive_with_superblocks as params;
use super::*;
use crate::coordination::ToController;
use crate::events::OperationTimeParts;
use crate::rng;
use crate::space::superblocks::State;
use crate::units::Duration;
use std::collections::BTreeMap;

fn changed(change: impl FnOnce(&mut SuperblockDriveParams)) -> SsdParams {
    let mut params = params();
    change(params.superblock.as_mut().expect("it has superblocks"));
    params
}

/// Two dies with parity: rows of two superpages, one of which takes units.
fn with_parity(change: impl FnOnce(&mut SuperblockDriveParams)) -> SsdParams {
    let mut params = changed(|superblock| {
        (superblock.has_parity_superpages, superblock.starts_empty, superblock.dies_programming_max) = (true, true, 2);
        change(superblock);
    });
    (params.geometry.dies, params.geometry.blocks_per_plane, params.geometry.overprovisioned_blocks_per_plane) = (2, 30, 22);
    params
}

/// Two placement handles, and nothing mapped.
fn with_handles(is_persistent: bool, change: impl FnOnce(&mut SuperblockDriveParams)) -> SsdParams {
    let mut params = changed(|superblock| {
        (superblock.placement_handles, superblock.starts_empty) = (
            PlacementHandles {
                count: 2,
                isolation: if is_persistent { HandleIsolation::Persistently } else { HandleIsolation::Initially },
            },
            true,
        );
        superblock.buffer.capacity_mapping_units = 6;
        (superblock.collection.target, superblock.collection.floor) = (5, 3);
        change(superblock);
    });
    (params.geometry.blocks_per_plane, params.geometry.overprovisioned_blocks_per_plane) = (28, 20);
    params
}

/// A drive and its agenda.
struct Bench {
    drive: Ssd,
    out: SsdOutbox,
    agenda: BTreeMap<(TimeNs, u64), SsdWake>,
    scheduled: u64,
    /// The moment at which the last page of each completion was done.
    done: BTreeMap<u32, TimeNs>,
    /// The parts of the time of the page that was told last, for each completion.
    parts: BTreeMap<u32, OperationTimeParts>,
}

impl Bench {
    fn new(params: &SsdParams) -> Self {
        let mut drive = Ssd::new(params, None, 1, MemberId(0), false, ExactFastPaths::default());
        drive.start_idle_timers(&mut SsdOutbox::default());
        Self { drive, out: SsdOutbox::default(), agenda: BTreeMap::new(), scheduled: 0, done: BTreeMap::new(), parts: BTreeMap::new() }
    }

    fn gather(&mut self) {
        for (at, wake) in std::mem::take(&mut self.out.wakes) {
            self.agenda.insert((at, self.scheduled), wake);
            self.scheduled += 1;
        }
        for end in std::mem::take(&mut self.out.page_op_end_times) {
            let done = self.done.entry(end.completion_tag).or_insert(0);
            *done = end.at.max(*done);
            self.parts.insert(end.completion_tag, end.time_parts);
        }
    }

    /// A command for `pages`; what comes before it happens first.
    fn command(&mut self, at: TimeNs, completion: u32, kind: OpKind, pages: std::ops::Range<u32>) {
        self.run_before(at);
        self.submit(at, completion, 0, kind, pages, false);
    }

    /// A write of that part of a mix.
    fn write_of(&mut self, source: u8, at: TimeNs, completion: u32, pages: std::ops::Range<u32>) {
        self.run_before(at);
        self.submit(at, completion, source, OpKind::Write, pages, false);
    }

    /// A write that is to survive a loss of power.
    fn forced_write(&mut self, at: TimeNs, completion: u32, pages: std::ops::Range<u32>) {
        self.forced_write_of(0, at, completion, pages);
    }

    fn forced_write_of(&mut self, source: u8, at: TimeNs, completion: u32, pages: std::ops::Range<u32>) {
        self.run_before(at);
        self.submit(at, completion, source, OpKind::Write, pages, true);
    }

    fn submit(&mut self, at: TimeNs, completion: u32, source: u8, kind: OpKind, pages: std::ops::Range<u32>, fua: bool) {
        for page in pages {
            self.drive.submit(
                at,
                LogicalPageOp {
                    logical_page: u64::from(page),
                    kind,
                    fua,
                    must_not_wait_for_gc: false,
                    workload_stream: source,
                    placement_handle: (u32::from(source) % self.drive.parts.params.handles()) as u8,
                    completion_tag: completion,
                },
                false,
                &mut self.out,
            );
        }
        self.gather();
    }

    /// A command of another source than the first.
    fn command_of(&mut self, source: u8, at: TimeNs, completion: u32, kind: OpKind, pages: std::ops::Range<u32>) {
        self.run_before(at);
        self.submit(at, completion, source, kind, pages, false);
    }

    fn run_before(&mut self, end: TimeNs) {
        while let Some(entry) = self.agenda.first_entry().filter(|entry| entry.key().0 < end) {
            let ((at, _), wake) = entry.remove_entry();
            self.drive.wake(at, wake, &mut self.out);
            self.gather();
        }
    }

    fn run(mut self) -> (BTreeMap<u32, TimeNs>, Ssd) {
        self.run_before(TimeNs::MAX);
        self.drive.media().verify().unwrap();
        (self.done, self.drive)
    }
}

impl Ssd {
    /// Returns the superblocks of an SSD that has them.
    fn media(&self) -> &SuperblockMapping {
        self.mapping().superblocks().expect("it has superblocks")
    }
}
