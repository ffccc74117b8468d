//! Host reads that use data read by collection (merging), or overlap with the reads of collection (pipelining) (rule 229).

use super::SuperpageContext;
use super::schedule::{Job, Step};
use crate::events::{OperationTimeParts, TimeNs};
use crate::ssd::job::{Reader, WorkSnapshot};
use crate::ssd::params::{GcPreemption, HostOverlapWithMoves, PlaneReadMode, SuperblockDriveParams};
use std::collections::HashSet;

/// Overlap of host reads with the steps of collection in one die. A step reads pages of the victim superblock and transfers their units
/// from the die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overlap {
    /// Reads of the host and steps of collection never overlap.
    Off,
    /// Lets a step of collection begin while the data of earlier host reads are transferred from the die. Such a step reads pages of
    /// a victim superblock and transfers their valid data from the die.
    CollectionDuringHostReadTransfers,
    /// Lets collection read pages from the flash array of a die while the data of host reads are transferred from the die. Conversely, host
    /// reads may begin while data that collection has read are transferred.
    BothDuringTransfersOfTheOther,
}

impl Overlap {
    /// Returns the overlap that the settings allow. Planes need a second register and must read independently.
    pub(super) fn of(preemption: Option<&GcPreemption>, superblock: &SuperblockDriveParams) -> Self {
        let has_registers = superblock.reads.cache_read && superblock.reads.plane_reads == PlaneReadMode::EachPlaneIndependently;
        match preemption.filter(|_| has_registers).map_or(HostOverlapWithMoves::NoOverlap, |preemption| preemption.pipeline) {
            HostOverlapWithMoves::NoOverlap => Overlap::Off,
            HostOverlapWithMoves::RequestsWaitingAtStepStart => Overlap::CollectionDuringHostReadTransfers,
            HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep => Overlap::BothDuringTransfersOfTheOther,
        }
    }
}

/// Units that collection has read but not programmed, by their old places. It stays empty unless merging is on.
#[derive(Debug, Clone)]
pub(super) struct Merging {
    held: Option<HashSet<u64>>,
}

impl Merging {
    pub(super) fn new(is_on: bool) -> Self {
        Self { held: is_on.then(HashSet::new) }
    }

    /// Returns true if collection has the unit of that place, so that a host read of it needs no flash.
    pub(super) fn holds(&self, place: u64) -> bool {
        self.held.as_ref().is_some_and(|held| held.contains(&place))
    }

    fn insert(&mut self, place: u64) {
        if let Some(held) = &mut self.held {
            assert!(held.insert(place), "collection reads a unit once");
        }
    }

    /// Removes the unit of that place, because it has been programmed or dropped.
    pub(super) fn remove(&mut self, place: u64) {
        if let Some(held) = &mut self.held {
            assert!(held.remove(&place), "a unit that leaves has been read");
        }
    }
}

impl SuperpageContext<'_> {
    /// Records whether the data of a collection step are in the registers of a die.
    pub(super) fn step_in_registers(&mut self, die: u32, part: u32, are_there: bool) {
        if self.own.overlap != Overlap::BothDuringTransfersOfTheOther {
            return;
        }
        let (first, units) = self.own.part_step_units(part);
        let shape = &self.own.shape;
        let of_flash_page = (1_u128 << shape.mapping_units_per_flash_page) - 1;
        let planes = &mut self.own.dies[die as usize].planes;
        for flash_page in 0..shape.planes * shape.bits_per_cell {
            if units >> (flash_page * shape.mapping_units_per_flash_page) & of_flash_page != 0 {
                let plane = &mut planes[shape.place(first + u64::from(flash_page * shape.mapping_units_per_flash_page)).plane as usize];
                plane.holds = if are_there { plane.holds + 1 } else { plane.holds - 1 };
            }
        }
    }

    /// Returns true if the next job of a die is a collection step that may overlap with the transfer of earlier host reads.
    pub(super) fn may_overlap(&self, die: u32, next: Option<Job>) -> bool {
        let is_free = || self.own.dies[die as usize].planes.iter().all(|plane| !plane.reads && plane.holds <= 1);
        self.own.overlap != Overlap::Off && matches!(next, Some(Job::Move(_))) && is_free()
    }

    /// Begins host reads while the data of a collection step are transferred from the die.
    pub(super) fn read_beside_step(&mut self, now: TimeNs, die: u32) {
        let may = |turn: &Self| {
            let state = &turn.own.dies[die as usize];
            let leaves = state.exclusive.is_some_and(|exclusive| matches!((exclusive.job, exclusive.step), (Job::Move(_), Step::Transfer)));
            leaves && !state.reads.is_empty() && state.reads_in_a_row < turn.own.params.reads.reads_ahead
        };
        while self.own.overlap == Overlap::BothDuringTransfersOfTheOther && may(self) && self.begin_read(now, die, true) {
            self.parts.counters.pipelined_operations += 1;
        }
    }

    /// Makes the units of a finished collection step available to host reads. Waiting reads that need no other unit are served at once.
    pub(super) fn merge_reads(&mut self, now: TimeNs, die: u32, step: (u64, u128)) {
        if self.own.merging.held.is_none() {
            return;
        }
        let (first, mut units) = step;
        let shape = self.own.shape;
        let of_flash_page = u64::MAX >> (64 - shape.mapping_units_per_flash_page);
        let reads = &self.own.reads;
        let is_merged = |id: u32| {
            let read = &reads[id];
            let first_page = first / u64::from(shape.mapping_units_per_flash_page);
            let at = read.flash_page.checked_sub(first_page).filter(|&at| at < u64::from(shape.planes * shape.bits_per_cell));
            at.is_some_and(|at| read.units & !((units >> (at * u64::from(shape.mapping_units_per_flash_page))) as u64 & of_flash_page) == 0)
        };
        let state = &mut self.own.dies[die as usize];
        let merged: Vec<u32> = state.reads.iter().map(|waiting| waiting.id).filter(|&id| is_merged(id)).collect();
        state.reads.retain(|waiting| !merged.contains(&waiting.id));
        for &id in &merged {
            state.waiting_ns -= self.own.reads[id].array_ns + self.own.params.mapping_unit_transfer_ns;
        }
        let done = state.done_before(now);
        while units != 0 {
            self.own.merging.insert(first + u64::from(units.trailing_zeros()));
            units &= units - 1;
        }
        for id in merged {
            let mut readers = std::mem::take(&mut self.own.reads[id].readers);
            for reader in readers.drain(..) {
                let waited = if let Reader::Host(waiter) = reader { done.since(waiter.before) } else { WorkSnapshot::default() };
                self.serve_merged(now, reader, waited);
            }
            self.own.reads[id].readers = readers;
            self.own.reads.recycle(id);
        }
    }

    /// Serves a host read from the units that collection holds.
    pub(super) fn serve_merged(&mut self, now: TimeNs, reader: Reader, waited: WorkSnapshot) {
        match reader {
            Reader::Host(waiter) => {
                self.parts.counters.operations_served_from_move_register += 1;
                let at = self.front.send_page_to_host(now);
                let WorkSnapshot { collected_ns: collection_ns, held_ns: other_ns } = waited;
                let time = OperationTimeParts { collection_ns, transfer_ns: at - now, other_ns, ..OperationTimeParts::default() };
                self.read_ends(at, &waiter, time);
            }
            Reader::PartialUnitWrite(superpage) => self.rest_of_unit_read(now, superpage),
        }
    }
}
