//! Requests taken before their turn.
//!
//! Dies of immediate members know nothing of each other: what a die does depends on the operations that reach it and on when
//! they do. The arrivals of an open loop do not depend on completions either. So many requests can be taken at once and be served
//! die by die, while the tables of the die are in the processor's cache, with the same result.

use super::members::{Continuation, Members, Wake};
use super::{Array, PageRequest};
use crate::TimeNs;
use crate::ids::{DieId, Lpn};
use crate::request::OpKind;
use crate::ssd::Hint;

/// Operations known ahead: hints for a page of a die and what it leads to.
const HINTS: [(Hint, usize); 2] = [(Hint::Map, 16), (Hint::Block, 8)];

/// A page operation that waits to be served.
#[derive(Debug, Clone, Copy)]
struct Taken {
    arrival: TimeNs,
    completion: u32,
    lpn: Lpn,
    /// Die, counted over the array.
    die: u32,
    kind: OpKind,
}

/// What has been taken and not served.
#[derive(Debug, Clone, Default)]
pub(super) struct Ahead {
    operations: Vec<Taken>,
    /// The operations by die; kept for its memory.
    sorted: Vec<Taken>,
    completions: Vec<u32>,
    /// Operations per die; then, while sorting, where the next one of each goes.
    cursors: Vec<u32>,
}

impl Array {
    /// Whether requests may be taken before their turn.
    #[inline]
    pub fn takes_ahead(&self) -> bool {
        self.coordination.is_none() && self.stripes.is_none() && self.caching.is_none() && self.members.ssds[0].is_immediate()
    }

    /// As [`Array::submit`], but its operations wait for [`Array::serve_ahead`], which must come before anything else. Arrivals
    /// must not run backwards, and may lie after events that are yet to happen. Only if [`Array::takes_ahead`].
    #[inline]
    pub(super) fn submit_ahead(&mut self, now: TimeNs, request: &PageRequest) {
        let dies = self.members.ssds[0].dies();
        let completion = self.members.open_completion(Continuation::Host(request.tag));
        let ahead = &mut self.ahead;
        ahead.cursors.resize(dies as usize * self.members.ssds.len(), 0);
        let operations_before = ahead.operations.len();
        let kind = request.kind;
        for extent in self.layout.extents(request) {
            let members = extent.members(kind != OpKind::Read);
            for page in extent.first_page..extent.first_page + extent.pages {
                for member in members.clone() {
                    let (die, lpn) = self.members.ssds[member as usize].home(page);
                    let die = member * dies + die.0;
                    ahead.cursors[die as usize] += 1;
                    ahead.operations.push(Taken { arrival: now, completion, lpn, die, kind });
                }
            }
        }
        ahead.completions.push(completion);
        let operations = (ahead.operations.len() - operations_before) as u32;
        if operations > 0 {
            self.members.close_completion(completion, operations);
        } else {
            self.members.completions[completion].last_end = now;
        }
    }

    /// Serves what has been taken ahead.
    pub(super) fn serve_ahead(&mut self) {
        let dies = self.members.ssds[0].dies();
        let Members { ssds, completions, cleans, agenda, .. } = &mut self.members;
        self.ahead.sort_by_die();
        let operations = &self.ahead.sorted[..];
        for (index, op) in operations.iter().enumerate() {
            for (hint, distance) in HINTS {
                if let Some(later) = operations.get(index + distance) {
                    ssds[(later.die / dies) as usize].prefetch_lpn(hint, later.lpn);
                }
            }
            let (member, die) = (op.die / dies, DieId(op.die % dies));
            let ssd = &mut ssds[member as usize];
            let served = ssd.serve_now(op.arrival, die, op.lpn, op.kind, cleans);
            let time = || ssd.time_of(op.arrival, op.kind, &served);
            completions[op.completion].book(served.end, u128::from(served.met_gc) << member, time);
        }
        for completion in self.ahead.completions.drain(..) {
            agenda.schedule(completions[completion].last_end, Wake::Completed(completion));
        }
    }
}

impl Ahead {
    /// Moves the operations to `sorted`; those of a die keep their order.
    fn sort_by_die(&mut self) {
        let mut cursor = 0;
        for count in &mut self.cursors {
            cursor += std::mem::replace(count, cursor);
        }
        let nothing = Taken { arrival: 0, completion: 0, lpn: Lpn(0), die: 0, kind: OpKind::Read };
        self.sorted.resize(self.operations.len(), nothing);
        for op in self.operations.drain(..) {
            let cursor = &mut self.cursors[op.die as usize];
            self.sorted[*cursor as usize] = op;
            *cursor += 1;
        }
        self.cursors.fill(0);
    }
}
