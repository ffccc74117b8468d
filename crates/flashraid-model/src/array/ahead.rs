//! Requests that are served before their turn, in batches.
//!
//! The dies of immediate members are independent: their work depends only on the operations that reach them, and on the times. In an open
//! loop, arrivals do not depend on completions either. Many requests can therefore be taken at once and served die by die, with the same
//! result. The tables of one die then stay in the processor's cache.

use super::RequestInPages;
use super::members::{Continuation, Members};
use super::volume::Volume;
use crate::TimeNs;
use crate::events::{OperationTimeParts, VictimBlockCollection};
use crate::ids::{DieId, Lpn, MemberSet};
use crate::request::OpKind;
use crate::ssd::{Served, SimulatorPrefetchTarget, Ssd};

/// Lookahead distances of the two stages of prefetching: first the page of a die, then the memory that this page points to.
const HINTS: [(SimulatorPrefetchTarget, usize); 2] =
    [(SimulatorPrefetchTarget::MappingTableEntry, 16), (SimulatorPrefetchTarget::BlockRecord, 8)];

/// A page operation of the batch that has not been served. Its arrival time and its kind are those of its request.
#[derive(Debug, Clone, Copy)]
struct Taken {
    /// Number of its request in the batch.
    request: u32,
    lpn: Lpn,
    /// Number of its die, counted over the array.
    die: u32,
}

// A batch of large requests holds a million operations, in two lists.
const _: () = assert!(size_of::<Taken>() <= 12);

/// A request of the batch whose operations have not been served.
#[derive(Debug, Clone, Copy)]
struct TakenRequest {
    arrival: TimeNs,
    completion: u32,
    operations: u32,
    kind: OpKind,
}

/// Number of operations that make it worth starting another thread.
const OPERATIONS_PER_THREAD: usize = 1 << 14;

/// The batch of requests that have been accepted and not served yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Ahead {
    /// Maximum number of threads that serve a large batch.
    threads: usize,
    /// Minimum number of operations for each thread.
    operations_per_thread: usize,
    operations: Vec<Taken>,
    /// The operations sorted by die, kept to reuse its memory.
    sorted: Vec<Taken>,
    requests: Vec<TakenRequest>,
    /// Last operation to end of each request in the batch. Dies reach the requests in any order, so this table must stay small enough for
    /// the processor's cache. Full completions are five times as large, and loading them took half the time of a run.
    last: Vec<Served>,
    /// Members on which each request of the batch had to wait for garbage collection.
    gc_members: Vec<MemberSet>,
    /// Number of operations of each die. During sorting, it is the position of the next operation of each die.
    cursors: Vec<u32>,
}

impl Ahead {
    /// Returns an empty batch that is served by up to `threads` threads, with at least `operations_per_thread` operations each. `None`
    /// chooses a number of operations that makes another thread worth starting.
    pub(crate) fn with_threads(threads: usize, operations_per_thread: Option<usize>) -> Self {
        let operations_per_thread = operations_per_thread.unwrap_or(OPERATIONS_PER_THREAD).max(1);
        Self { threads, operations_per_thread, ..Self::default() }
    }

    /// Adds a request to the batch. Call [`Ahead::serve_taken_requests`] before anything else happens to the array. Arrivals must be in
    /// order, and may lie after events that have not happened yet.
    #[inline]
    pub(super) fn take_request(&mut self, volume: &mut Volume, now: TimeNs, request: &RequestInPages) {
        let Volume { layout, members, .. } = volume;
        let dies = members.ssds[0].dies();
        let completion = members.open_completion(Continuation::Host(request.tag)).into_completion_number();
        self.cursors.resize(dies as usize * members.ssds.len(), 0);
        let operations_before = self.operations.len();
        let (kind, index) = (request.kind, self.requests.len() as u32);
        for extent in layout.extents(request) {
            let copies = layout.members_to_access(&extent, kind);
            for page in extent.pages_on_member() {
                for member in copies.clone() {
                    let (die, lpn) = members.ssds[member as usize].die_and_lpn(page);
                    let die = member * dies + die.0;
                    self.cursors[die as usize] += 1;
                    self.operations.push(Taken { request: index, lpn, die });
                }
            }
        }
        let operations = (self.operations.len() - operations_before) as u32;
        self.requests.push(TakenRequest { arrival: now, completion, operations, kind });
    }

    /// Serves all requests of the batch.
    pub(super) fn serve_taken_requests(&mut self, members: &mut Members) {
        let dies = members.ssds[0].dies();
        self.sort_by_die();
        self.last.resize(self.requests.len(), Served::default());
        self.gc_members.resize(self.requests.len(), MemberSet::NONE);
        let threads = self.threads_for(members.ssds.len());
        if threads > 1 {
            self.serve_on_threads(threads, members);
        } else {
            let Members { ssds, reports, .. } = members;
            let cleans = &mut reports.collections;
            let Ahead { sorted, requests, last, gc_members, .. } = self;
            let record_last_end = |ssd: &Ssd, member, op: &Taken, served| {
                record_last_end(last, gc_members, ssd, member, op, &requests[op.request as usize], served)
            };
            serve(ssds, 0, dies, sorted, requests, cleans, record_last_end);
        }
        let Members { ssds, completions, agenda, .. } = members;
        let Ahead { requests, last, gc_members, .. } = self;
        for ((request, last), gc_members) in requests.drain(..).zip(last.drain(..)).zip(gc_members.drain(..)) {
            let TakenRequest { arrival, completion, operations, kind } = request;
            let (end, time) = match operations {
                0 => (arrival, OperationTimeParts::default()),
                // All members have the same parameters.
                _ => (last.end, ssds[0].time_of(arrival, kind, last)),
            };
            completions[completion].set_end(end, gc_members, time);
            agenda.schedule_end(end, completion);
        }
    }

    /// Serves the batch on several threads, each with some consecutive members. The results are then reported in the order in which one
    /// thread would report them.
    fn serve_on_threads(&mut self, threads: usize, members: &mut Members) {
        let Members { ssds, reports, .. } = members;
        let cleans = &mut reports.collections;
        let dies = ssds[0].dies();
        let shares = self.shares(ssds.len(), dies, threads);
        let mut tasks = Vec::new();
        let (mut ssds_left, mut operations_left, mut first_member) = (&mut ssds[..], &self.sorted[..], 0);
        for (members, operations) in shares {
            let (ssds, rest) = std::mem::take(&mut ssds_left).split_at_mut(members);
            let (operations, operations_rest) = operations_left.split_at(operations);
            (ssds_left, operations_left) = (rest, operations_rest);
            tasks.push((ssds, operations, first_member));
            first_member += members as u32;
        }
        let requests = &self.requests[..];
        let work = |(ssds, operations, first_member): (&mut [Ssd], &[Taken], u32)| {
            let (mut cleans, mut all_served) = (Vec::new(), Vec::with_capacity(operations.len()));
            serve(ssds, first_member, dies, operations, requests, &mut cleans, |_, _, _, served| all_served.push(served));
            (cleans, all_served)
        };
        let results: Vec<(Vec<VictimBlockCollection>, Vec<Served>)> = std::thread::scope(|scope| {
            let mut tasks = tasks.into_iter();
            let own = tasks.next();
            // If the system refuses another thread, this one does the work.
            let others: Vec<_> = tasks
                .map(|task| {
                    let task = std::sync::Arc::new(std::sync::Mutex::new(Some(task)));
                    let shared = std::sync::Arc::clone(&task);
                    let take = |task: &std::sync::Mutex<Option<_>>| task.lock().ok().and_then(|mut task| task.take());
                    let spawned = std::thread::Builder::new().spawn_scoped(scope, move || take(&shared).map(work));
                    (task, spawned)
                })
                .collect();
            let mut results: Vec<_> = own.map(work).into_iter().collect();
            for (task, spawned) in others {
                let result = match spawned {
                    Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                    Err(_) => task.lock().ok().and_then(|mut task| task.take()).map(work),
                };
                results.extend(result);
            }
            results
        });
        let Ahead { sorted, requests, last, gc_members, .. } = self;
        let mut operations = sorted.iter();
        for (member_cleans, all_served) in results {
            cleans.extend(member_cleans);
            for (op, served) in operations.by_ref().take(all_served.len()).zip(&all_served) {
                let member = op.die / dies;
                record_last_end(last, gc_members, &ssds[member as usize], member, op, &requests[op.request as usize], *served);
            }
        }
    }
}

/// Serves operations sorted by die on the members `ssds`, of which the first has the number `first_member`.
#[inline(always)]
fn serve(
    ssds: &mut [Ssd],
    first_member: u32,
    dies: u32,
    operations: &[Taken],
    requests: &[TakenRequest],
    cleans: &mut Vec<VictimBlockCollection>,
    mut tell: impl FnMut(&Ssd, u32, &Taken, Served),
) {
    // Operations of one member follow each other. Hints end with the member, so that no operation needs a division.
    let mut left = operations;
    while let Some(first) = left.first() {
        let member = first.die / dies;
        let first_die = member * dies;
        let own = left.partition_point(|op| op.die < first_die + dies);
        let (operations, others) = left.split_at(own);
        let ssd = &mut ssds[(member - first_member) as usize];
        for (index, op) in operations.iter().enumerate() {
            for (hint, distance) in HINTS {
                if let Some(later) = operations.get(index + distance) {
                    ssd.prefetch_lpn(hint, later.lpn);
                }
            }
            let TakenRequest { arrival, kind, .. } = requests[op.request as usize];
            let served = ssd.serve_now(arrival, DieId(op.die - first_die), op.lpn, kind, cleans);
            tell(ssd, member, op, served);
        }
        left = others;
    }
}

/// Records the end of an operation in `last`, unless another operation of the same request ends later.
#[inline]
fn record_last_end(
    last: &mut [Served],
    gc_members: &mut [MemberSet],
    ssd: &Ssd,
    member: u32,
    op: &Taken,
    request: &TakenRequest,
    served: Served,
) {
    if served.met_gc() {
        gc_members[op.request as usize].insert(member);
    }
    ssd.keep_later(request.arrival, request.kind, &mut last[op.request as usize], served);
}

impl Ahead {
    /// Returns the number of threads to use for this batch.
    fn threads_for(&self, members: usize) -> usize {
        self.threads.min(members).min(self.sorted.len() / self.operations_per_thread)
    }

    /// Divides the members among `threads` threads. Returns for each thread the number of consecutive members and of their operations. All
    /// threads get about equally many operations.
    fn shares(&self, members: usize, dies: u32, threads: usize) -> Vec<(usize, usize)> {
        let mut shares = vec![(0, 0); threads];
        let (mut thread, mut before) = (0, 0);
        for member in 0..members {
            let end = self.sorted.partition_point(|op| (op.die / dies) as usize <= member);
            shares[thread].0 += 1;
            shares[thread].1 += end - before;
            before = end;
            if end * threads >= self.sorted.len() * (thread + 1) && thread + 1 < threads {
                thread += 1;
            }
        }
        shares
    }

    /// Sorts the operations by die into `sorted`. The operations of a die keep their order.
    fn sort_by_die(&mut self) {
        let mut cursor = 0;
        for count in &mut self.cursors {
            cursor += std::mem::replace(count, cursor);
        }
        let nothing = Taken { request: 0, lpn: Lpn(0), die: 0 };
        self.sorted.resize(self.operations.len(), nothing);
        for op in self.operations.drain(..) {
            let cursor = &mut self.cursors[op.die as usize];
            self.sorted[*cursor as usize] = op;
            *cursor += 1;
        }
        self.cursors.fill(0);
    }
}
