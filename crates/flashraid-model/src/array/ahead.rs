//! Requests taken before their turn.
//!
//! Dies of immediate members know nothing of each other: what a die does depends on the operations that reach it and on when
//! they do. The arrivals of an open loop do not depend on completions either. So many requests can be taken at once and be served
//! die by die, while the tables of the die are in the processor's cache, with the same result.

use super::PageRequest;
use super::members::{Continuation, Members, Wake};
use super::volume::Volume;
use crate::TimeNs;
use crate::events::{GcInterval, TimeParts};
use crate::ids::{DieId, Lpn, MemberSet};
use crate::request::OpKind;
use crate::ssd::{Hint, Served, Ssd};

/// Operations known ahead: hints for a page of a die and what it leads to.
const HINTS: [(Hint, usize); 2] = [(Hint::Map, 16), (Hint::Block, 8)];

/// A page operation that waits to be served.
#[derive(Debug, Clone, Copy)]
struct Taken {
    arrival: TimeNs,
    /// The request that it is of, counted in the batch.
    request: u32,
    lpn: Lpn,
    /// Die, counted over the array.
    die: u32,
    kind: OpKind,
}

// Two of them to a line of the processor's cache.
const _: () = assert!(size_of::<Taken>() <= 32);

/// A request whose operations are taken.
#[derive(Debug, Clone, Copy)]
struct TakenRequest {
    arrival: TimeNs,
    completion: u32,
    operations: u32,
    kind: OpKind,
}

/// Operations for each thread that are worth starting it.
const OPERATIONS_PER_THREAD: usize = 1 << 14;

/// What has been taken and not served.
#[derive(Debug, Clone, Default)]
pub(super) struct Ahead {
    /// Threads that serve large batches, if there may be more than one.
    threads: usize,
    /// Least operations of a thread.
    operations_per_thread: usize,
    operations: Vec<Taken>,
    /// The operations by die; kept for its memory.
    sorted: Vec<Taken>,
    requests: Vec<TakenRequest>,
    /// The operation of each request that ended last. Dies meet the requests in any order, so that this has to be small: completions are five
    /// times as large, and waiting for them was half the time of a run of small requests.
    last: Vec<Served>,
    /// The members on which each request met collection.
    gc_members: Vec<MemberSet>,
    /// Operations per die; then, while sorting, where the next one of each goes.
    cursors: Vec<u32>,
}

impl Ahead {
    /// Serves by up to `threads` threads, each of them at least `operations_per_thread` operations or, if none are named, as many as are
    /// worth a thread.
    pub fn by(threads: usize, operations_per_thread: Option<usize>) -> Self {
        let operations_per_thread = operations_per_thread.unwrap_or(OPERATIONS_PER_THREAD).max(1);
        Self { threads, operations_per_thread, ..Self::default() }
    }

    /// Takes a request, whose operations wait for [`Ahead::serve`], which must come before anything else. Arrivals must not run
    /// backwards, and may lie after events that are yet to happen.
    #[inline]
    pub fn take(&mut self, volume: &mut Volume, now: TimeNs, request: &PageRequest) {
        let Volume { layout, read_plan, members, .. } = volume;
        let dies = members.ssds[0].dies();
        let completion = members.open(Continuation::Host(request.tag)).into_number();
        self.cursors.resize(dies as usize * members.ssds.len(), 0);
        let operations_before = self.operations.len();
        let (kind, index) = (request.kind, self.requests.len() as u32);
        for extent in layout.extents(request) {
            let copies = read_plan.members(layout, &extent, kind);
            for page in extent.first_page..extent.first_page + extent.pages {
                for member in copies.clone() {
                    let (die, lpn) = members.ssds[member as usize].home(page);
                    let die = member * dies + die.0;
                    self.cursors[die as usize] += 1;
                    self.operations.push(Taken { arrival: now, request: index, lpn, die, kind });
                }
            }
        }
        let operations = (self.operations.len() - operations_before) as u32;
        self.requests.push(TakenRequest { arrival: now, completion, operations, kind });
    }

    /// Serves what has been taken.
    pub fn serve(&mut self, members: &mut Members) {
        let dies = members.ssds[0].dies();
        self.sort_by_die();
        self.last.resize(self.requests.len(), Served::default());
        self.gc_members.resize(self.requests.len(), MemberSet::NONE);
        let threads = self.threads_for(members.ssds.len());
        if threads > 1 {
            self.serve_on_threads(threads, members);
        } else {
            let Members { ssds, told, .. } = members;
            let cleans = &mut told.collections;
            let Ahead { sorted, last, gc_members, .. } = self;
            serve(ssds, 0, dies, sorted, cleans, |ssd, member, op, served| book(last, gc_members, ssd, member, op, served));
        }
        let Members { ssds, completions, agenda, .. } = members;
        let Ahead { requests, last, gc_members, .. } = self;
        for ((request, last), gc_members) in requests.drain(..).zip(last.drain(..)).zip(gc_members.drain(..)) {
            let TakenRequest { arrival, completion, operations, kind } = request;
            let (end, time) = match operations {
                0 => (arrival, TimeParts::default()),
                // Members are alike.
                _ => (last.end, ssds[0].time_of(arrival, kind, &last)),
            };
            completions[completion].end_at(end, gc_members, time);
            agenda.schedule(end, Wake::Completed(completion));
        }
    }

    /// Each thread serves some members in a row; then everything is told in the order in which one thread would have told it.
    fn serve_on_threads(&mut self, threads: usize, members: &mut Members) {
        let Members { ssds, told, .. } = members;
        let cleans = &mut told.collections;
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
        let work = |(ssds, operations, first_member): (&mut [Ssd], &[Taken], u32)| {
            let (mut cleans, mut all_served) = (Vec::new(), Vec::with_capacity(operations.len()));
            serve(ssds, first_member, dies, operations, &mut cleans, |_, _, _, served| all_served.push(served));
            (cleans, all_served)
        };
        let results: Vec<(Vec<GcInterval>, Vec<Served>)> = std::thread::scope(|scope| {
            let mut tasks = tasks.into_iter();
            let own = tasks.next();
            // Where the system refuses another thread, this one does its work.
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
        let Ahead { sorted, last, gc_members, .. } = self;
        let mut operations = sorted.iter();
        for (member_cleans, all_served) in results {
            cleans.extend(member_cleans);
            for (op, served) in operations.by_ref().take(all_served.len()).zip(&all_served) {
                let member = op.die / dies;
                book(last, gc_members, &ssds[member as usize], member, op, *served);
            }
        }
    }
}

/// Serves operations sorted by die on the members `ssds`, of which the first is number `first_member`.
#[inline(always)]
fn serve(
    ssds: &mut [Ssd],
    first_member: u32,
    dies: u32,
    operations: &[Taken],
    cleans: &mut Vec<GcInterval>,
    mut tell: impl FnMut(&Ssd, u32, &Taken, Served),
) {
    for (index, op) in operations.iter().enumerate() {
        for (hint, distance) in HINTS {
            if let Some(later) = operations.get(index + distance) {
                ssds[(later.die / dies - first_member) as usize].prefetch_lpn(hint, later.lpn);
            }
        }
        let (member, die) = (op.die / dies, DieId(op.die % dies));
        let ssd = &mut ssds[(member - first_member) as usize];
        let served = ssd.serve_now(op.arrival, die, op.lpn, op.kind, cleans);
        tell(ssd, member, op, served);
    }
}

/// Books an end of a request in `last` if there is none that ended later.
#[inline]
fn book(last: &mut [Served], gc_members: &mut [MemberSet], ssd: &Ssd, member: u32, op: &Taken, served: Served) {
    if served.met_gc {
        gc_members[op.request as usize].insert(member);
    }
    let last = &mut last[op.request as usize];
    let time = |served| ssd.time_of(op.arrival, op.kind, served);
    // Which of two that end at once is told first must not matter, as in `Completion::book`.
    if served.end > last.end || (served.end == last.end && time(&served) > time(last)) {
        *last = served;
    }
}

impl Ahead {
    /// Threads that this batch is worth.
    fn threads_for(&self, members: usize) -> usize {
        self.threads.min(members).min(self.sorted.len() / self.operations_per_thread)
    }

    /// Members in a row and their operations for each of `threads` threads, about equally many operations.
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

    /// Moves the operations to `sorted`; those of a die keep their order.
    fn sort_by_die(&mut self) {
        let mut cursor = 0;
        for count in &mut self.cursors {
            cursor += std::mem::replace(count, cursor);
        }
        let nothing = Taken { arrival: 0, request: 0, lpn: Lpn(0), die: 0, kind: OpKind::Read };
        self.sorted.resize(self.operations.len(), nothing);
        for op in self.operations.drain(..) {
            let cursor = &mut self.cursors[op.die as usize];
            self.sorted[*cursor as usize] = op;
            *cursor += 1;
        }
        self.cursors.fill(0);
    }
}
