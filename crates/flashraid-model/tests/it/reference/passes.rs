//! Section 16 of the rules: while time passes, every page operation under way books it for what it does, or waits for.

use std::collections::BTreeMap;

use flashraid_model::events::OperationTimeParts;

use super::Simulation;
use super::die::{DieState, Slot, Use};
use super::work::{Doing, Work, Worker};

/// Use of the time of some work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spends {
    /// A read of the array, a program, an erase.
    OnFlash,
    /// The program of a summary.
    OnSummary,
    /// A transfer, the wait for the channel included.
    OnTransfer,
    /// The work waits for operations before it (rule 103).
    OnOthers,
    /// An overhead, a poll, a turn of a suspension.
    Otherwise,
}

type Spent = [(Spends, u64)];

impl Simulation<'_> {
    /// Nothing happens until `time`.
    pub(super) fn passes_until(&mut self, time: u64) {
        let (began, ns) = (self.now, time - self.now);
        self.now = time;
        if ns == 0 {
            return;
        }
        let blocks_die = self.blocks_die();
        for member in &mut self.members {
            let spent: BTreeMap<Worker, Vec<(Spends, u64)>> =
                member.work.iter_mut().map(|(&worker, work)| (worker, work.passes(ns))).collect();
            for lane in &mut member.lanes {
                lane.operations().for_each(|operation| operation.parts.transfer_ns += ns);
            }
            member.unplaced.iter_mut().for_each(|operation| operation.parts.queue_ns += ns);
            let clean = member.dies.iter().filter(|state| !state.cleans.is_empty()).count();
            let works = |state: &&DieState| (state.slot.is_some() && !state.is_stalled()) || !state.cleans.is_empty();
            let work = member.dies.iter().filter(works).count();
            if let Some(front) = &mut member.front {
                front.passes(ns, work as u64, clean as u64);
            }
            if let Some(drive) = &mut member.drive {
                drive.passes_until(time);
            }
            for (die, state) in member.dies.iter_mut().enumerate() {
                state.passes(die, ns, blocks_die, &spent);
                state.may_stall_at_rest(began, time);
            }
        }
    }
}

impl Work {
    /// Returns the uses of so many nanoseconds in which nothing happens.
    fn passes(&mut self, ns: u64) -> Vec<(Spends, u64)> {
        match self.doing {
            Doing::Begins => unreachable!("work begins at once"),
            Doing::Transfers { .. } => vec![(Spends::OnTransfer, ns)],
            Doing::Awaits(_) => vec![(Spends::OnOthers, ns)],
            Doing::Waits { .. } => {
                let (mut spent, mut left) = (Vec::new(), ns);
                while left > 0 {
                    let (what, rest) = self.waits.first_mut().expect("it waits so long");
                    let now = left.min(*rest);
                    spent.push((*what, now));
                    *rest -= now;
                    left -= now;
                    if *rest == 0 {
                        self.waits.remove(0);
                    }
                }
                spent
            }
        }
    }
}

impl DieState {
    fn passes(&mut self, die: usize, ns: u64, blocks_die: bool, spent: &BTreeMap<Worker, Vec<(Spends, u64)>>) {
        let (collects, stalled) = (self.collects(), self.is_stalled());
        for operation in &mut self.queue {
            let waits_for_collection = if blocks_die { collects } else { operation.waited_for_scope };
            let part = match (waits_for_collection, stalled) {
                (true, _) => &mut operation.parts.collection_ns,
                (_, true) => &mut operation.parts.other_ns,
                _ => &mut operation.parts.queue_ns,
            };
            *part += ns;
        }
        if let Some(together) = &mut self.together {
            for (worker, operation, joined) in together.operations() {
                if let Some(spent) = spent.get(&worker) {
                    book(&mut operation.parts, spent, joined);
                }
            }
        }
        let of_slot = spent.get(&Worker::Slot { die });
        let mut merging = None;
        match &mut self.slot {
            Some(Slot { what: Use::Command(operation) | Use::Merge(Some(operation)), .. }) => {
                book(&mut operation.parts, of_slot.expect("the slot works"), false);
            }
            Some(Slot { what: Use::Merge(None), let_in_by }) => merging = *let_in_by,
            Some(Slot { what: Use::Suspension(suspension), .. }) => {
                if let Some(write) = suspension.write() {
                    write.parts.queue_ns += ns;
                }
                if let Some(read) = suspension.reads() {
                    book(&mut read.parts, of_slot.expect("the slot works"), false);
                }
            }
            Some(Slot { what: Use::Together | Use::Stall, .. }) | None => {}
        }
        for (&pool, clean) in &mut self.cleans {
            let last = clean.merged.len().saturating_sub(1);
            for (number, operation) in clean.merged.iter_mut().enumerate() {
                if number == last && merging == Some(pool) {
                    operation.parts.transfer_ns += ns;
                    continue;
                }
                // Of the clean's work only the program of the page is its own.
                let of_clean = spent.get(&Worker::Clean { die, pool });
                let on_flash =
                    |spent: &Vec<(Spends, u64)>| spent.iter().filter(|(what, _)| *what == Spends::OnFlash).map(|(_, ns)| ns).sum();
                let own: u64 = of_clean.map_or(0, on_flash);
                operation.parts.flash_ns += own;
                operation.parts.collection_ns += ns - own;
            }
        }
    }

    /// Returns true if the die collects instead of serving, with die blocking.
    fn collects(&self) -> bool {
        !self.cleans.is_empty()
            && match &self.slot {
                None | Some(Slot { what: Use::Together, .. }) => true,
                Some(Slot { what: Use::Command(_) | Use::Merge(_) | Use::Stall, .. }) => false,
                Some(Slot { what: Use::Suspension(suspension), .. }) => suspension.collects(),
            }
    }
}

/// Books what an operation that has started does.
fn book(parts: &mut OperationTimeParts, spent: &Spent, waits_for_clean: bool) {
    for &(what, ns) in spent {
        *(match what {
            Spends::OnFlash | Spends::OnSummary => &mut parts.flash_ns,
            Spends::OnTransfer => &mut parts.transfer_ns,
            Spends::OnOthers if waits_for_clean => &mut parts.collection_ns,
            Spends::OnOthers => &mut parts.queue_ns,
            Spends::Otherwise => &mut parts.other_ns,
        }) += ns;
    }
}
