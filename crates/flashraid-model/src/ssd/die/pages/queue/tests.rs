//! The queue against a vector that is searched from its begin, short and long. Another queue is so long that a walk through it would
//! show.

use super::*;
use crate::ids::DieId;
use crate::ssd::LogicalPageOp;
use proptest::prelude::*;

fn operation(page: u32, kind: u32) -> Waiting {
    let kinds = [OpKind::Read, OpKind::Write, OpKind::Write, OpKind::Trim];
    let op = LogicalPageOp {
        logical_page: u64::from(page),
        kind: kinds[kind as usize],
        fua: false,
        must_not_wait_for_gc: kind == 2,
        workload_stream: 0,
        placement_handle: 0,
        completion_tag: 0,
    };
    Waiting::new(0, op, Lpn(page), DieId(0))
}

/// A slow but plain queue.
#[derive(Default)]
struct Naive(Vec<u32>);

impl Naive {
    fn first_on(&self, lpn: Lpn, pending: &Slab<Waiting>) -> Option<u32> {
        self.0.iter().copied().find(|&id| pending[id].lpn == lpn)
    }

    fn candidates(&self, kinds: Kinds, pending: &Slab<Waiting>) -> Vec<u32> {
        let first = |id: u32| self.first_on(pending[id].lpn, pending) == Some(id);
        self.0.iter().copied().filter(|&id| kinds[kind_of(&pending[id])] && first(id)).collect()
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Push {
        page: u32,
        kind: u32,
    },
    /// The one in a certain place leaves, which may be blocked.
    Leave(prop::sample::Index),
    /// The first one that may be admitted leaves.
    GoIn(Kinds),
    Refuse,
}

/// Mostly more, then mostly fewer operations, so that the queue is short and long in turn.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let push = (0..12u32, 0..KINDS as u32).prop_map(|(page, kind)| Step::Push { page, kind }).boxed();
    let leave = prop_oneof![
        3 => any::<prop::sample::Index>().prop_map(Step::Leave),
        3 => any::<Kinds>().prop_map(Step::GoIn),
        1 => Just(Step::Refuse),
    ]
    .boxed();
    let phase = |pushes, leaves| prop::collection::vec(prop_oneof![pushes => push.clone(), leaves => leave.clone()], 0..60);
    prop::collection::vec((phase(3, 1), phase(1, 3)), 1..4)
        .prop_map(|phases| phases.into_iter().flat_map(|(up, down)| [up, down]).flatten().collect())
}

const ALL_KINDS: [Kinds; 16] = {
    let mut all = [[false; KINDS]; 16];
    let mut i = 0;
    while i < 16 {
        all[i] = [i & 1 > 0, i & 2 > 0, i & 4 > 0, i & 8 > 0];
        i += 1;
    }
    all
};

proptest! {
    #[test]
    fn agrees_with_a_searched_vector(steps in steps()) {
        let (mut queue, mut naive, mut pending) = (Queue::default(), Naive::default(), Slab::default());
        let mut refused_at = std::collections::BTreeMap::new();
        for (now, step) in (0..).zip(steps) {
            let leaves = match step {
                Step::Push { page, kind } => {
                    let id = pending.insert(operation(page, kind));
                    queue.push(id, &mut pending);
                    naive.0.push(id);
                    refused_at.insert(id, TimeNs::MAX);
                    None
                }
                Step::Leave(which) => (!naive.0.is_empty()).then(|| *which.get(&naive.0)),
                Step::GoIn(kinds) => naive.candidates(kinds, &pending).first().copied(),
                Step::Refuse => {
                    queue.refuse_writes(now, &mut pending);
                    for id in naive.0.iter().filter(|id| pending[**id].op.kind == OpKind::Write) {
                        refused_at.entry(*id).and_modify(|at| *at = now.min(*at));
                    }
                    None
                }
            };
            if let Some(id) = leaves {
                queue.remove(id, &mut pending);
                naive.0.retain(|&other| other != id);
                pending.remove(id);
            }
            prop_assert_eq!(queue.head(), naive.0.first().copied().unwrap_or(NONE));
            prop_assert_eq!(list::from(queue.head(), &pending).collect::<Vec<_>>(), &naive.0[..]);
            let count = |kind| naive.0.iter().filter(|&&id| kind_of(&pending[id]) == kind).count() as u32;
            prop_assert_eq!(queue.waiting, [count(0), count(1), count(2), count(3)]);
            for lpn in (0..12).map(Lpn) {
                prop_assert_eq!(queue.first_on(lpn, &pending), naive.first_on(lpn, &pending));
            }
            for kinds in ALL_KINDS {
                prop_assert_eq!(queue.candidates_of(kinds, &pending).collect::<Vec<_>>(), naive.candidates(kinds, &pending));
            }
            for &id in &naive.0 {
                prop_assert_eq!(pending[id].refused_at, refused_at[&id]);
            }
            let length = naive.0.len() as u32;
            // All of this has searched it.
            prop_assert!(queue.index.get().is_some() || length <= SHORT);
            prop_assert!(queue.index.get().is_none() || length > SHORT / 2);
        }
    }
}

/// An overload: reads in front that block the writes behind them, writes that want room, and a check of all of it after each step.
/// Walking through the queue at each would take 10¹¹ steps.
#[test]
fn a_long_queue_is_not_walked_through() {
    const LENGTH: u32 = 300_000;
    let (mut queue, mut pending) = (Queue::default(), Slab::default());
    let page_of = |i: u32| i % (LENGTH / 3);
    for i in 0..LENGTH {
        // On each page a read, a write and a high-priority write.
        let id = pending.insert(operation(page_of(i), i / (LENGTH / 3)));
        queue.push(id, &mut pending);
        queue.refuse_writes(u64::from(i), &mut pending);
        assert_eq!(queue.candidates_of([false, true, true, false], &pending).next(), None);
    }
    // Every page gets through, the last one first.
    for lpn in (0..LENGTH / 3).rev().map(Lpn) {
        for kind in 0..3 {
            let id = queue.first_on(lpn, &pending).expect("one waits");
            let operation = pending[id];
            assert_eq!(kind_of(&operation), kind);
            assert_eq!(operation.refused_at, if kind == 0 { TimeNs::MAX } else { u64::from(id) });
            queue.remove(id, &mut pending);
            queue.refuse_writes(TimeNs::MAX, &mut pending);
            let behind = if kind < 2 { queue.first_on(lpn, &pending) } else { None };
            let expected = [kind == 0, kind == 1].map(|waits| if waits { behind } else { None });
            assert_eq!(queue.candidates_of([false, true, false, false], &pending).next(), expected[0]);
            assert_eq!(queue.first_high_priority_write(&pending), expected[1]);
        }
    }
    assert!(queue.is_empty() && queue.index.get().is_none());
}
