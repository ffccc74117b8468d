//! Parity, locks, failure and rebuilding on tiny arrays, to the nanosecond (rules 50 to 67).
//!
//! Each member has one die that never collects, and 12 pages. A read takes 28, a write 208.

use super::events::dones;
use super::*;
use crate::coordination::{CoordinationParams, KINDS, Notify, Work, tiny as schemes};
use crate::events::TimeParts;
use crate::ids::MemberSet;
use crate::ssd::MemberCounters;
use crate::ssd::tiny::{self, READ, WRITE};
use proptest::prelude::*;

/// A write that has to read before.
const READ_WRITE: TimeNs = READ + WRITE;

/// Time, first page, number of pages, and true for a write.
type Asked = (TimeNs, u64, u32, bool);

fn params(level: Level, members: u32, strip_pages: u32) -> ArrayParams {
    let ssd = tiny::ssd(1, 603, 600);
    ArrayParams {
        level,
        members,
        stripe_unit_pages: strip_pages,
        ssd,
        coordination: None,
        failures: Vec::new(),
        rebuild: None,
        read_plan: ReadPlan::Home,
        cache: None,
        host_port: None,
    }
}

fn failing(level: Level, members: u32, strip_pages: u32, member: u32, at_ns: TimeNs) -> ArrayParams {
    ArrayParams { failures: vec![FailureParams { member, at_ns }], ..params(level, members, strip_pages) }
}

fn rebuilt(mut params: ArrayParams, delay_ns: u64, strip_ns: u64, in_flight: u32) -> ArrayParams {
    let spares = params.failures.len() as u32;
    params.rebuild = Some(RebuildParams { delay_ns, strip_ns, in_flight, spares, spare: Spare::Fresh, finish: true });
    params
}

struct Outcome {
    /// Time at which each request was done.
    done: Vec<TimeNs>,
    met: Vec<u32>,
    /// Parts of the time of each request.
    parts: Vec<TimeParts>,
    /// Number of pages that each member has read and written.
    pages: Vec<(u64, u64)>,
    members: Vec<MemberCounters>,
    counters: StripeCounters,
    progress: Option<FailureProgress>,
    failures: Vec<FailureProgress>,
    /// Number of pages of each request that were lost.
    lost: Vec<u32>,
    host_port: Option<HostPortCounters>,
    health: Health,
}

impl Outcome {
    /// Returns the sub-requests that write, by kind: full stripe, reconstruct, read-modify, no parity.
    fn kinds(&self) -> [u64; 4] {
        let c = &self.counters;
        [c.full_stripe_writes, c.reconstruct_writes, c.read_modify_writes, c.no_parity_writes]
    }

    /// Returns the data pages read for parity, parity pages read, and parity pages written.
    fn traffic(&self) -> [u64; 3] {
        [self.counters.data_pages_read, self.counters.parity_pages_read, self.counters.parity_pages_written]
    }
}

fn run(params: &ArrayParams, asked: &[Asked]) -> Outcome {
    let mut array = Array::new(params, 1, Setup::default());
    let mut events: Vec<Event> = Vec::new();
    for (tag, &(at, first_page, pages, write)) in asked.iter().enumerate() {
        while let Some(event) = array.next_time().filter(|&event| event < at) {
            array.advance(event, &mut events);
        }
        array
            .submit(
                at,
                &PageRequest {
                    tag: tag as u64,
                    first_page,
                    pages,
                    kind: OpKind::of(write),
                    fua: false,
                    high_priority: false,
                    stream: 0,
                    one_member: false,
                },
            )
            .unwrap();
    }
    let mut is_over = false;
    while let Some(event) = array.next_time() {
        if dones(&events).len() == asked.len() && !is_over {
            is_over = true;
            array.reach(event, Milestone::RequestsEnd, &mut events);
            continue;
        }
        array.advance(event, &mut events);
    }
    array.verify().expect("the state is consistent");
    let mut done = dones(&events);
    assert!(array.volume.stripes.as_ref().is_none_or(|stripes| stripes.is_idle()));
    assert!(array.volume.members.completions.is_empty());
    assert!(array.port.as_ref().is_none_or(|port| port.is_empty()));
    assert_eq!(done.len(), asked.len(), "every request is done once");
    done.sort_by_key(|done| done.tag);
    assert!(done.iter().enumerate().all(|(tag, done)| done.tag == tag as u64));
    let members: Vec<_> = array.members().iter().map(|member| *member.counters()).collect();
    let counts = array.counters(TimeNs::MAX);
    Outcome {
        done: done.iter().map(|done| done.at).collect(),
        met: done.iter().map(|done| done.gc_members_met).collect(),
        parts: done.iter().map(|done| done.parts).collect(),
        pages: members.iter().map(|member| (member.host_pages_read, member.host_pages_written)).collect(),
        members,
        counters: counts.stripes.unwrap_or_default(),
        progress: counts.failures.first().copied(),
        failures: counts.failures,
        lost: done.iter().map(|done| done.pages_lost).collect(),
        host_port: counts.host_port,
        health: array.health,
    }
}

#[test]
fn a_full_stripe_is_written_without_reading() {
    // There are two data columns of two pages, and their parity.
    let got = run(&params(Level::Raid5, 3, 2), &[(0, 0, 4, true)]);
    assert_eq!(got.done, [2 * WRITE]);
    assert_eq!(got.pages, [(0, 2); 3]);
    assert_eq!((got.kinds(), got.traffic()), ([1, 0, 0, 0], [0, 0, 2]));
}

#[test]
fn small_writes_read_old_data_and_parity_large_ones_the_rest() {
    let small = run(&params(Level::Raid5, 5, 1), &[(0, 0, 1, true)]);
    assert_eq!(small.done, [READ_WRITE]);
    assert_eq!(small.pages, [(1, 1), (0, 0), (0, 0), (0, 0), (1, 1)]);
    assert_eq!((small.kinds(), small.traffic()), ([0, 0, 1, 0], [1, 1, 1]));

    let large = run(&params(Level::Raid5, 5, 1), &[(0, 0, 3, true)]);
    assert_eq!(large.done, [READ_WRITE]);
    assert_eq!(large.pages, [(0, 1), (0, 1), (0, 1), (1, 0), (0, 1)]);
    assert_eq!((large.kinds(), large.traffic()), ([0, 1, 0, 0], [1, 0, 1]));

    // RAID-4 always has parity on the last member, RAID-5 in stripe 1 on the one before.
    let second = |level| run(&params(level, 5, 1), &[(0, 4, 1, true)]).pages;
    assert_eq!(second(Level::Raid4), [(1, 1), (0, 0), (0, 0), (0, 0), (1, 1)]);
    assert_eq!(second(Level::Raid5), [(0, 0), (0, 0), (0, 0), (1, 1), (1, 1)]);
}

#[test]
fn pages_of_several_strips_share_parity_by_offset() {
    // The second page of column 0 and the first of column 1 are two offsets, so two pages of parity.
    let got = run(&params(Level::Raid5, 5, 2), &[(0, 1, 2, true)]);
    assert_eq!((got.kinds(), got.traffic()), ([0, 0, 1, 0], [2, 2, 2]));
    assert_eq!(got.done, [2 * READ + 2 * WRITE]);
    // For both pages of column 0 and the first of column 1, read-modify-write reads 3 + 2 pages, and reconstruct 1 + 2 · 2.
    let got = run(&params(Level::Raid5, 5, 2), &[(0, 0, 3, true)]);
    assert_eq!((got.kinds(), got.traffic()), ([0, 1, 0, 0], [5, 0, 2]));
}

#[test]
fn a_request_over_stripes_is_done_with_its_last_part() {
    // The request has the last page of stripe 0, all of stripe 1, and the first page of stripe 2.
    let got = run(&params(Level::Raid5, 5, 1), &[(0, 3, 6, true)]);
    assert_eq!((got.kinds(), got.traffic()), ([1, 0, 2, 0], [2, 2, 3]));
    // Member 4 reads P of stripe 0 (28), writes column 0 of stripe 1 (236), then writes P of stripe 0, asked for by 56. Member 3 reads
    // column 3 of stripe 0 (28), writes P of stripe 1 (236), and reads column 0 of stripe 2 (264). Then it does both writes.
    assert_eq!(got.pages[3], (2, 3));
    assert_eq!(got.done, [READ + WRITE + READ + 2 * WRITE]);
}

#[test]
fn writes_to_a_stripe_go_one_after_another() {
    let asked = [(0, 0, 1, true), (0, 1, 1, true), (0, 4, 1, true), (10, 0, 1, true)];
    let got = run(&params(Level::Raid5, 9, 1), &asked);
    // The second waits for the first. The third is in the same stripe, and the fourth waits behind them all.
    assert_eq!(got.done, [READ_WRITE, 2 * READ_WRITE, 3 * READ_WRITE, 4 * READ_WRITE]);
    assert_eq!((got.counters.lock_waits, got.counters.lock_wait_ns), (3, READ_WRITE * 6 - 10));
    // Other stripes do not wait. Column 2 of stripe 1 lies on member 1, and P on member 7.
    let apart = run(&params(Level::Raid5, 9, 1), &[(0, 0, 1, true), (0, 10, 1, true)]);
    assert_eq!((apart.done, apart.counters.lock_waits), (vec![READ_WRITE; 2], 0));
}

#[test]
fn reads_need_no_lock() {
    let got = run(&params(Level::Raid5, 5, 1), &[(0, 0, 1, true), (10, 0, 1, false), (40, 0, 1, false)]);
    // The first read stands between the phases of the write, the second behind the write.
    assert_eq!(got.done, [2 * READ + WRITE, 2 * READ, 3 * READ + WRITE]);
}

#[test]
fn raid6_keeps_two_parities() {
    let small = run(&params(Level::Raid6, 7, 1), &[(0, 0, 1, true)]);
    assert_eq!(small.done, [READ_WRITE]);
    // P lies on member 6, Q on member 0, column 0 on member 1.
    assert_eq!(small.pages, [(1, 1), (1, 1), (0, 0), (0, 0), (0, 0), (0, 0), (1, 1)]);
    assert_eq!((small.kinds(), small.traffic()), ([0, 0, 1, 0], [1, 2, 2]));
    // With four columns, both methods read three pages, so reconstruct is chosen.
    let tie = run(&params(Level::Raid6, 6, 1), &[(0, 0, 1, true)]);
    assert_eq!((tie.kinds(), tie.traffic()), ([0, 1, 0, 0], [3, 0, 2]));
    let full = run(&params(Level::Raid6, 6, 2), &[(0, 0, 8, true)]);
    assert_eq!((full.done[0], full.kinds(), full.traffic()), (2 * WRITE, [1, 0, 0, 0], [0, 0, 4]));
}

#[test]
fn a_read_of_a_lost_page_costs_the_reads_of_its_stripe() {
    let got =
        run(&failing(Level::Raid5, 5, 1, 0, 1000), &[(999, 0, 1, false), (2000, 0, 1, false), (3000, 0, 3, false), (4000, 1, 3, false)]);
    assert_eq!(got.done, [1027, 2028, 3028, 4028]);
    // One read comes before the failure. The next reads the other columns and P, and so does the third, each page once. The last has no
    // lost page, so three reads.
    assert_eq!(got.pages, [(1, 0), (3, 0), (3, 0), (3, 0), (2, 0)]);
    assert_eq!((got.counters.pages_reconstructed, got.counters.pages_read_to_reconstruct), (2, 4 + 2));
    // RAID-6 does not need Q (on member 0, for member 1).
    let got = run(&failing(Level::Raid6, 6, 1, 1, 1000), &[(2000, 0, 1, false)]);
    assert_eq!(got.pages, [(0, 0), (0, 0), (1, 0), (1, 0), (1, 0), (1, 0)]);
    assert_eq!(got.health, Health::Degraded);
}

#[test]
fn reads_that_reconstruct_share_the_lock_and_wait_for_writes() {
    let asked = [(2000, 1, 1, true), (2001, 0, 1, false), (2002, 0, 1, false), (2003, 1, 1, true)];
    let got = run(&failing(Level::Raid5, 5, 1, 0, 1000), &asked);
    // The first write reads member 1 and P. Both reads begin when it is done and read the members in turn. Then the second write follows.
    let reads_from = 2000 + READ_WRITE;
    assert_eq!(got.done, [reads_from, reads_from + READ, reads_from + 2 * READ, reads_from + 2 * READ + READ_WRITE]);
    assert_eq!(got.counters.lock_waits, 3);
}

#[test]
fn writes_with_a_lost_strip() {
    let write = |member, first_page, pages| run(&failing(Level::Raid5, 5, 1, member, 1000), &[(2000, first_page, pages, true)]);
    // For the lost column, the other columns are read and P is written.
    let lost = write(0, 0, 1);
    assert_eq!(lost.pages, [(0, 0), (1, 0), (1, 0), (1, 0), (0, 1)]);
    assert_eq!((lost.done.as_slice(), lost.kinds()), ([2000 + READ_WRITE].as_slice(), [0, 1, 0, 0]));
    // For another column, old data and P are read.
    assert_eq!(write(0, 1, 1).pages, [(0, 0), (1, 1), (0, 0), (0, 0), (1, 1)]);
    // If P is lost, nothing is read.
    let bare = write(4, 0, 1);
    assert_eq!((bare.pages[0], bare.done[0], bare.kinds()), ((0, 1), 2000 + WRITE, [0, 0, 0, 1]));
    assert_eq!(bare.traffic(), [0, 0, 0]);
    // A full stripe leaves the lost strip out.
    let full = write(0, 0, 4);
    assert_eq!((full.pages.clone(), full.kinds()), (vec![(0, 0), (0, 1), (0, 1), (0, 1), (0, 1)], [1, 0, 0, 0]));
    // RAID-6 with Q left reads and writes Q.
    let q = run(&failing(Level::Raid6, 7, 1, 6, 1000), &[(2000, 0, 1, true)]);
    assert_eq!((q.pages.clone(), q.traffic()), (vec![(1, 1), (1, 1), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)], [1, 1, 1]));
}

#[test]
fn what_was_issued_before_the_failure_is_served() {
    // Member 0 fails between the phases of a write. The read is served, and the write is left out.
    let got = run(&failing(Level::Raid5, 5, 1, 0, 10), &[(0, 0, 1, true), (5, 0, 1, false)]);
    assert_eq!(got.done, [READ_WRITE, 2 * READ]);
    assert_eq!(got.pages, [(2, 0), (0, 0), (0, 0), (0, 0), (1, 1)]);
    // An arrival at the moment of the failure comes before it, and so does the end of a phase.
    let at = |failure| run(&failing(Level::Raid5, 5, 1, 0, failure), &[(0, 0, 1, true), (READ, 0, 1, false)]).pages[0];
    assert_eq!((at(READ - 1), at(READ)), ((1, 0), (2, 1)));
}

#[test]
fn strips_are_rebuilt_in_order_at_the_rate() {
    // Twelve strips of one page are rebuilt in 236 each.
    let rebuild = |strip_ns, in_flight| {
        let got = run(&rebuilt(failing(Level::Raid5, 3, 1, 1, 1000), 500, strip_ns, in_flight), &[(0, 0, 1, false), (1400, 0, 1, false)]);
        let progress = got.progress.unwrap();
        assert_eq!((progress.failed_ns, progress.rebuild_began_ns, progress.spare), (Some(1000), Some(1500), Some(3)));
        assert_eq!((progress.strips_rebuilt, progress.strips, got.health), (12, 12, Health::Rebuilt));
        assert_eq!((got.counters.rebuild_pages_read, got.counters.rebuild_pages_written), (24, 12));
        assert_eq!((got.pages[1], got.pages[3]), ((0, 0), (0, 12)));
        progress.rebuild_ended_ns.unwrap() - 1500
    };
    assert_eq!(rebuild(300, 1), 11 * 300 + READ_WRITE);
    assert_eq!(rebuild(100, 1), 12 * READ_WRITE);
    // With two at a time, all members read both, and the spare writes all.
    assert_eq!(rebuild(0, 12), 12 * WRITE + READ);
    // The second reads behind the first and ends a write later. Then the next two follow.
    assert_eq!(rebuild(150, 2), READ + 12 * WRITE);
}

#[test]
fn during_rebuilding_each_stripe_is_served_by_what_it_has() {
    // Strips begin at 1000, 2000, …, and stripe 1 is rebuilt at 2236. Member 2 holds column 1 of stripe 1 (page 3) and P of stripe 0.
    let params = rebuilt(failing(Level::Raid4, 3, 1, 1, 1000), 0, 1000, 1);
    let got = run(&params, &[(2100, 3, 1, false), (2500, 3, 1, false), (2600, 5, 1, false), (2700, 1, 1, true), (3050, 5, 1, true)]);
    // The first read waits for the stripe being rebuilt and reads the spare. The second reads the spare at once. The third reads member 0
    // and P.
    assert_eq!(got.done[..3], [2236 + READ, 2500 + READ, 2600 + READ]);
    // Stripe 0 is rebuilt: column 0 is read (a tie of two reads), the spare and P are written. Stripe 2 is being rebuilt.
    assert_eq!(got.done[3..], [2700 + READ_WRITE, 3236 + READ_WRITE]);
    assert_eq!(got.counters.lock_waits, 2);
    // The spare has twelve pages from rebuilding and two from the writes.
    assert_eq!(got.pages[3], (2, 14));
    assert_eq!(got.pages[1], (0, 0));
}

#[test]
fn without_finish_rebuilding_ends_with_the_load() {
    let mut params = rebuilt(failing(Level::Raid5, 3, 1, 1, 1000), 0, 1000, 1);
    let finish = |params: &mut ArrayParams, finish| {
        params.rebuild.as_mut().unwrap().finish = finish;
        run(params, &[(3500, 0, 1, false)]).progress.unwrap().strips_rebuilt
    };
    assert_eq!((finish(&mut params, false), finish(&mut params, true)), (3, 12));
    // A failure after the last request does not happen.
    let late = run(&rebuilt(failing(Level::Raid5, 3, 1, 1, 1000), 0, 1000, 1), &[(0, 0, 1, false)]);
    assert_eq!((late.health, late.progress.unwrap().failed_ns), (Health::Normal, None));
}

#[test]
fn mirrors_fail_and_are_rebuilt() {
    let asked = [(2000, 0, 1, false), (2000, 1, 1, false), (2000, 2, 1, true)];
    let mirror = run(&failing(Level::Raid1, 3, 1, 1, 1000), &asked);
    // The read of strip 1 goes to the copy behind the lost one.
    assert_eq!(mirror.done, [2000 + READ, 2000 + READ, 2000 + READ + WRITE]);
    assert_eq!(mirror.pages, [(1, 1), (0, 0), (1, 1)]);

    // Member 2 belongs to the second of two pairs, which holds strips 1, 3, …. Reads of odd rows go to copy 1 in any case.
    let params = rebuilt(failing(Level::Raid10, 4, 1, 2, 1000), 0, 1000, 1);
    let got = run(&params, &[(3100, 5, 1, true), (3100, 4, 1, true), (3500, 5, 1, true), (3600, 5, 1, false), (20_000, 7, 1, false)]);
    // Row 2 is being rebuilt at 3100, which does not concern the other pair.
    assert_eq!(got.done, [3236 + WRITE, 3100 + WRITE, 3500 + WRITE, 3708 + READ, 20_000 + READ]);
    assert_eq!(got.pages[..2], [(0, 1), (0, 1)]);
    // Twelve pages are rebuilt, and two written. The read of row 2 goes to the spare instead of copy 0.
    assert_eq!((got.pages[2], got.pages[3], got.pages[4]), ((0, 0), (13, 2), (1, 14)));
    assert_eq!((got.counters.lock_waits, got.counters.lock_wait_ns), (1, 136));
}

/// Requests that come after the rebuild take as long as if nothing had ever failed.
#[test]
fn after_rebuilding_the_array_is_what_it_was() {
    for (level, members) in [(Level::Raid1, 2), (Level::Raid10, 4), (Level::Raid4, 4), (Level::Raid5, 5), (Level::Raid6, 6)] {
        let later: Vec<Asked> = (0..60).map(|i| (50_000 + i * 97, i * 7 % 10, 1 + (i % 3) as u32, i % 2 == 0)).collect();
        let plain = run(&params(level, members, 2), &later);
        for member in 0..members {
            let params = rebuilt(failing(level, members, 2, member, 0), 0, 10, 2);
            let asked: Vec<Asked> = std::iter::once((0, 0, 1, false)).chain(later.iter().copied()).collect();
            let got = run(&params, &asked);
            assert!(got.progress.unwrap().rebuild_ended_ns.unwrap() < 50_000);
            assert_eq!(got.done[1..], plain.done, "{level:?}, member {member}");
            assert_eq!((got.kinds(), got.traffic()), (plain.kinds(), plain.traffic()), "{level:?}, member {member}");
        }
    }
}

#[test]
fn collections_met_in_any_phase_count() {
    // Twelve pages lie in three full blocks, and two blocks are free. Member 4 collects when it writes parity.
    let mut params = params(Level::Raid4, 5, 1);
    params.ssd.geometry.blocks_per_plane = 6;
    params.ssd.geometry.reserved_blocks_per_plane = 3;
    let worn: Vec<Asked> = [0, 1, 4, 5, 8].iter().enumerate().map(|(i, &row)| (i as u64 * 1000, row * 4 + i as u64 % 3, 1, true)).collect();
    let asked: Vec<Asked> = worn.into_iter().chain([(10_000, 3, 1, true)]).collect();
    let got = run(&params, &asked);
    assert_eq!(got.met, [0, 0, 0, 0, 0, 1]);
    assert_eq!(got.members[4].erases, 1);
    // P is read behind the clean of two valid pages (2 · 220 + 1000).
    assert_eq!(got.done[5], 10_000 + 1440 + READ_WRITE);
}

/// Duration of a clean that moves two pages.
const CLEAN: TimeNs = 2 * 220 + 1000;

/// Parts of the time of a write that reads old data and parity and waits for nothing.
const READ_WRITE_PARTS: TimeParts =
    TimeParts { collection_ns: 0, queue_ns: 0, parity_ns: READ, cache_ns: 0, transfer_ns: 7, flash_ns: 200, other_ns: 1 };

/// Runs five small writes that use up member 4, which holds P of their stripes, so that its next operation waits for a clean. Then it runs
/// `asked`, to stripe 0.
fn run_on_a_worn_member(asked: &[Asked]) -> (Vec<TimeNs>, Vec<TimeParts>) {
    let mut params = params(Level::Raid5, 5, 1);
    params.ssd.geometry.blocks_per_plane = 6;
    params.ssd.geometry.reserved_blocks_per_plane = 3;
    let worn = [0, 5, 10, 0, 5].iter().zip(0..).map(|(stripe, i)| (i * 1000, stripe * 4 + i % 3, 1, true));
    let got = run(&params, &worn.chain(asked.iter().copied()).collect::<Vec<Asked>>());
    assert_eq!(got.parts[..5], [READ_WRITE_PARTS; 5]);
    (got.done[5..].to_vec(), got.parts[5..].to_vec())
}

#[test]
fn a_read_of_parity_that_waits_for_collection_is_booked_as_collection() {
    let (done, parts) = run_on_a_worn_member(&[(10_000, 3, 1, true)]);
    assert_eq!(done, [10_000 + CLEAN + READ_WRITE]);
    assert_eq!(parts, [TimeParts { collection_ns: CLEAN, ..READ_WRITE_PARTS }]);
}

#[test]
fn a_wait_for_a_lock_is_booked_as_what_its_holders_wait_for() {
    // One write holds the lock and waits for a clean from 10,000 on, and two more wait for the lock. The first two use up member 4 again,
    // so that the last one meets its own clean.
    let (done, parts) = run_on_a_worn_member(&[(10_000, 3, 1, true), (10_500, 2, 1, true), (11_000, 1, 1, true)]);
    let first = 10_000 + CLEAN + READ_WRITE;
    assert_eq!(done, [first, first + READ_WRITE, first + 2 * READ_WRITE + CLEAN]);
    let waits = |collection_ns, parity_ns| TimeParts { collection_ns, parity_ns: parity_ns + READ, ..READ_WRITE_PARTS };
    assert_eq!(parts, [waits(CLEAN, 0), waits(CLEAN - 500, READ_WRITE), waits(CLEAN - 1000 + CLEAN, 2 * READ_WRITE)]);
}

fn requests(pages: u64) -> impl Strategy<Value = Vec<Asked>> {
    let request = (0_u64..400, 0..pages, 1_u32..20, any::<bool>());
    prop::collection::vec(request, 1..60).prop_map(move |drawn| {
        let mut at = 0;
        let asked = |(gap, first, length, write): (u64, u64, u32, bool)| {
            // Many requests arrive together, and many at the ends of phases.
            at += [0, gap, READ, WRITE, READ_WRITE][gap as usize % 5];
            (at, first, length.min((pages - first) as u32), write)
        };
        drawn.into_iter().map(asked).collect()
    })
}

fn any_case() -> impl Strategy<Value = (ArrayParams, Vec<Asked>)> {
    let levels = vec![Level::Raid0, Level::Raid1, Level::Raid10, Level::Raid4, Level::Raid5, Level::Raid6];
    let rebuild = prop::option::of((0_u64..2000, 0_u64..600, 1_u32..4, 1_u32..3, any::<bool>()));
    let failures = prop::collection::vec((0_u32..6, 0_u64..8000), 0..4);
    let shape = (prop::sample::select(levels), 1_u32..4, 1_u32..4, any::<bool>());
    (shape, failures, rebuild).prop_flat_map(|((level, size, strip_pages, collects), failures, rebuild)| {
        let members = match level {
            Level::Raid10 => 2 * size,
            _ => size + 1 + level.parity_strips(),
        };
        let mut params = params(level, members, strip_pages);
        if collects {
            params.ssd.geometry.blocks_per_plane = 6;
            params.ssd.geometry.reserved_blocks_per_plane = 3;
        }
        for (member, at_ns) in failures.into_iter().filter(|_| level.survives_a_failure()) {
            if params.failures.iter().all(|failure| failure.member != member % members) {
                params.failures.push(FailureParams { member: member % members, at_ns });
            }
        }
        params.rebuild = rebuild.map(|(delay_ns, strip_ns, in_flight, spares, finish)| RebuildParams {
            delay_ns,
            strip_ns,
            in_flight,
            spares,
            spare: Spare::Warm,
            finish,
        });
        let pages = params.layout().exported_pages();
        (Just(params), requests(pages))
    })
}

proptest! {
    /// Every request is done once (which `run` asserts), and every page is accounted for.
    #[test]
    fn requests_and_pages_are_conserved((params, asked) in any_case()) {
        let got = run(&params, &asked);
        let counters = &got.counters;
        let sum = |pick: fn(&(u64, u64)) -> u64| got.pages.iter().map(pick).sum::<u64>();
        let asked_pages = |write| asked.iter().filter(|a| a.3 == write).map(|a| u64::from(a.2)).sum::<u64>();
        let has_failed = got.health != Health::Normal;
        let lost: u64 = got.lost.iter().map(|&pages| u64::from(pages)).sum();
        prop_assert_eq!(lost, counters.pages_lost);
        let lost_to = |write| (0..asked.len()).filter(|&i| asked[i].3 == write).map(|i| u64::from(got.lost[i])).sum::<u64>();
        let copies = match params.level {
            Level::Raid1 => u64::from(params.members),
            Level::Raid10 => 2,
            _ => 1,
        };
        let read = asked_pages(false) - lost_to(false) + counters.data_pages_read + counters.parity_pages_read + counters.pages_read_to_reconstruct
            + counters.rebuild_pages_read;
        prop_assert_eq!(sum(|pages| pages.0) + counters.pages_reconstructed, read);
        let written = asked_pages(true) * copies + counters.parity_pages_written + counters.rebuild_pages_written;
        if has_failed {
            prop_assert!(sum(|pages| pages.1) <= written - lost_to(true));
        } else {
            prop_assert_eq!(sum(|pages| pages.1), written);
        }
        if params.level.parity_strips() == 0 {
            prop_assert_eq!(got.kinds(), [0; 4]);
        }
    }

    /// Members that proceed in steps and members that know their ends in advance give the same array. Events of one nanosecond do not
    /// depend on it (rule 55).
    #[test]
    fn immediate_and_stepwise_members_agree((params, asked) in any_case()) {
        let deaf = CoordinationParams {
            scheme: schemes::inclusive(),
            work: Work::OneVictim,
            t_soft_free_blocks: 0,
            notify: Notify::AtStart,
            delay_ns: 0,
            at_idle: false,
            across_dies: true,
            answers: false,
            ggc_aware: MemberSet(u128::MAX),
            latency_ns: [0; KINDS],
        };
        let stepwise = ArrayParams { coordination: Some(deaf), ..params.clone() };
        let (immediate, stepwise) = (run(&params, &asked), run(&stepwise, &asked));
        prop_assert_eq!(&immediate.done, &stepwise.done);
        prop_assert_eq!(&immediate.met, &stepwise.met);
        prop_assert_eq!(&immediate.pages, &stepwise.pages);
        prop_assert_eq!(&immediate.failures, &stepwise.failures);
        prop_assert_eq!(&immediate.lost, &stepwise.lost);
    }

    /// Arrays with parity come to an end under coordination, too: nothing hangs or is lost.
    #[test]
    fn coordinated_arrays_with_parity_come_to_an_end(
        (params, asked) in any_case(),
        scheme in prop::sample::select(vec![schemes::inclusive(), schemes::selective(), schemes::idle(), schemes::soft_limit(2, 1)]),
        latency in 0_u64..500,
        delay_ns in 0_u64..500,
    ) {
        let coordination = CoordinationParams {
            scheme,
            work: Work::OneVictim,
            t_soft_free_blocks: 2,
            notify: Notify::AtStart,
            delay_ns,
            at_idle: false,
            across_dies: true,
            answers: true,
            ggc_aware: MemberSet::first(params.members),
            latency_ns: [latency; KINDS],
        };
        run(&ArrayParams { coordination: Some(coordination), ..params }, &asked);
    }
}

/// Returns two members behind these limits. A page passes in 100.
fn limited(outstanding: Option<u32>, bandwidth: bool) -> ArrayParams {
    let params = params(Level::Raid0, 2, 1);
    let page_bytes = u64::from(params.ssd.geometry.page_bytes);
    let host_port = Some(HostPortParams { outstanding, bytes_per_s: bandwidth.then_some(page_bytes * 10_000_000) });
    ArrayParams { host_port, ..params }
}

#[test]
fn only_so_many_requests_are_in_work() {
    // Even pages lie on member 0. The second request waits for the first, the third for the second. The fourth comes when all are done.
    let asked = [(0, 0, 1, false), (0, 1, 1, false), (10, 1, 1, true), (500, 0, 1, false)];
    let got = run(&limited(Some(1), false), &asked);
    assert_eq!(got.done, [READ, 2 * READ, 2 * READ + WRITE, 500 + READ]);
    let waited = HostPortCounters { waits: 2, wait_ns: READ + 2 * READ - 10, busy_ns: 0 };
    assert_eq!(got.host_port, Some(waited));
    let got = run(&limited(Some(2), false), &asked);
    assert_eq!(got.done, [READ, READ, READ + WRITE, 500 + READ]);
    assert_eq!(got.host_port.map(|counters| counters.wait_ns), Some(READ - 10));
}

#[test]
fn data_pass_one_after_another() {
    // The write's data pass first. The member finishes the read at 28; its data wait until the write's have passed.
    let got = run(&limited(None, true), &[(0, 0, 1, true), (0, 1, 1, false)]);
    assert_eq!(got.done, [100 + WRITE, 200]);
    assert_eq!(got.host_port, Some(HostPortCounters { waits: 0, wait_ns: 0, busy_ns: 200 }));
    // Both reads are read at 28, and pass in order of arrival. The pages of a request pass together.
    let got = run(&limited(None, true), &[(0, 1, 1, false), (0, 0, 1, false), (1000, 0, 2, false)]);
    assert_eq!(got.done, [READ + 100, READ + 200, 1000 + READ + 200]);
    // A request is in work until its data have passed.
    let got = run(&limited(Some(1), true), &[(0, 0, 1, false), (0, 1, 1, true)]);
    assert_eq!(got.done, [READ + 100, READ + 200 + WRITE]);
    assert_eq!(HostPortParams { outstanding: None, bytes_per_s: Some(3) }.passing_ns(1), 333_333_334);
}

fn failing_all(level: Level, members: u32, failures: &[(u32, TimeNs)]) -> ArrayParams {
    let failures = failures.iter().map(|&(member, at_ns)| FailureParams { member, at_ns }).collect();
    ArrayParams { failures, ..params(level, members, 1) }
}

#[test]
fn raid6_goes_on_without_two_members() {
    // The strips of stripe 0 are Q 0 1 2 3 P.
    let two_columns = |asked: Asked| run(&failing_all(Level::Raid6, 6, &[(1, 1000), (2, 1000)]), &[asked]);
    let reads = |members: [u64; 6]| members.map(|pages| (pages, 0)).to_vec();
    let one = two_columns((2000, 0, 1, false));
    assert_eq!((one.done[0], one.pages.clone()), (2000 + READ, reads([1, 0, 0, 1, 1, 1])));
    assert_eq!((one.counters.pages_reconstructed, one.counters.pages_read_to_reconstruct), (1, 4));
    let both = two_columns((2000, 0, 2, false));
    assert_eq!((both.pages.clone(), both.counters.pages_reconstructed), (reads([1, 0, 0, 1, 1, 1]), 2));
    // If a column and P are lost, the other columns and Q are read.
    let got = run(&failing_all(Level::Raid6, 6, &[(5, 900), (1, 1000)]), &[(2000, 0, 1, false)]);
    assert_eq!(got.pages, reads([1, 0, 1, 1, 1, 0]));
    // A write to one of two lost columns reads everything that is left of the stripe.
    let write = two_columns((2000, 0, 1, true));
    assert_eq!((write.done[0], write.kinds(), write.traffic()), (2000 + READ_WRITE, [0, 1, 0, 0], [2, 2, 2]));
    assert_eq!((write.pages[0], write.pages[3], write.pages[5]), ((1, 1), (1, 0), (1, 1)));
    // Without P and Q, only data are written.
    let bare = run(&failing_all(Level::Raid6, 6, &[(5, 1000), (0, 1000)]), &[(2000, 0, 1, true)]);
    assert_eq!((bare.done[0], bare.kinds(), bare.lost[0]), (2000 + WRITE, [0, 0, 0, 1], 0));
}

#[test]
fn what_too_many_failures_take_is_lost_and_not_served() {
    // The strips of stripe 0 are 0 1 2 3 P. Two columns are lost, and a parity is left.
    let params = failing_all(Level::Raid5, 5, &[(0, 1000), (1, 1500)]);
    let asked = [(1200, 0, 1, false), (2000, 0, 1, false), (2000, 0, 4, false), (3000, 2, 1, true), (4000, 0, 1, true), (5000, 1, 2, true)];
    let got = run(&params, &asked);
    assert_eq!(got.done, [1200 + READ, 2000, 2000 + READ, 3000 + WRITE, 4000, 5000 + WRITE]);
    assert_eq!((got.lost.clone(), got.counters.pages_lost), (vec![0, 1, 2, 0, 1, 1], 5));
    assert_eq!((got.kinds(), got.traffic()), ([0, 0, 0, 3], [0, 0, 0]));
    // Data that are left are read and written, and parity is not.
    assert_eq!(got.pages, [(0, 0), (1, 0), (2, 2), (2, 0), (1, 0)]);
    // Both copies of a mirror are lost.
    let got = run(&failing_all(Level::Raid1, 2, &[(0, 1000), (1, 1000)]), &[(0, 0, 1, true), (2000, 0, 2, false), (2000, 0, 3, true)]);
    assert_eq!((got.lost.clone(), got.health), (vec![0, 2, 3], Health::Degraded));
    assert_eq!(got.done, [WRITE, 2000, 2000]);
}

#[test]
fn one_of_each_pair_may_fail() {
    let mut params = failing_all(Level::Raid10, 4, &[(0, 1000), (3, 1000)]);
    let got = run(&params, &[(2000, 0, 4, false), (3000, 0, 4, true)]);
    assert_eq!((got.lost, got.pages), (vec![0, 0], vec![(0, 0), (2, 2), (2, 2), (0, 0)]));
    // Both are rebuilt at a time, each from its copy. The second of a stripe waits for the first, which holds the stripe's lock. With one
    // spare, only the first of the list is rebuilt.
    params = rebuilt(params, 0, 1000, 1);
    let got = run(&params, &[(0, 0, 1, false), (1100, 0, 1, false)]);
    assert_eq!(
        got.failures.iter().map(|f| (f.spare, f.rebuild_ended_ns)).collect::<Vec<_>>(),
        [(Some(4), Some(12_236)), (Some(5), Some(12_236 + 236))]
    );
    assert_eq!(got.pages[4..], [(0, 12), (0, 12)]);
    params.rebuild.as_mut().unwrap().spares = 1;
    let got = run(&params, &[(0, 0, 1, false), (1100, 0, 1, false)]);
    assert_eq!((got.failures[0].strips_rebuilt, got.failures[1].spare, got.health), (12, None, Health::Degraded));
    assert_eq!(got.pages.len(), 5);
}

#[test]
fn a_second_failure_during_rebuilding_takes_what_is_not_rebuilt() {
    // The strips of member 1 begin at 1000, 2000, …. Three are there when member 0 fails. Their column 0 is rebuilt from the first spare
    // and P.
    let params = rebuilt(failing_all(Level::Raid4, 3, &[(1, 1000), (0, 3500)]), 0, 1000, 1);
    let got = run(&params, &[(0, 0, 1, false), (3600, 4, 2, false), (3600, 6, 2, false)]);
    let progress = |at: usize| (got.failures[at].strips_rebuilt, got.failures[at].strips_lost, got.failures[at].rebuild_ended_ns);
    // Strips that are given up take no time except the time from one begin to the next.
    assert_eq!((progress(0), progress(1)), ((3, 9, Some(12_000)), (3, 9, Some(14_500))));
    assert_eq!((got.health, got.lost.clone()), (Health::Rebuilt, vec![0, 0, 2]));
    assert_eq!(got.done[1..], [3600 + READ, 3600]);
    assert_eq!((got.pages[3].1, got.pages[4].1), (3, 3));
    assert_eq!((got.counters.rebuild_pages_read, got.counters.rebuild_pages_written), (12, 6));
}

fn operation(kind: OpKind, first_page: u64, pages: u32) -> PageRequest {
    PageRequest { tag: 0, first_page, pages, kind, fua: false, high_priority: false, stream: 0, one_member: false }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut array = Array::new(&params(Level::Raid5, 3, 1), 1, Setup::default());
    let exported_pages = array.shape().layout.exported_pages();
    assert_eq!(array.submit(0, &operation(OpKind::Read, 0, 0)), Err(SubmitError::Empty));
    let beyond = SubmitError::BeyondTheArray { first_page: exported_pages - 1, pages: 2, exported_pages };
    assert_eq!(array.submit(0, &operation(OpKind::Write, exported_pages - 1, 2)), Err(beyond));
    assert_eq!(array.submit_many(&[(0, operation(OpKind::Trim, u64::MAX, 1))]).map_err(|error| error.to_string().is_empty()), Err(false));
    assert!(array.volume.members.completions.is_empty());
}

#[test]
fn whole_stripes_are_trimmed_with_their_parity_and_a_flush_is_done_at_once() {
    // With two data columns of one page, this is all of stripe 0 and half of stripe 1.
    let mut array = Array::new(&params(Level::Raid5, 3, 1), 1, Setup::default());
    array.submit(0, &operation(OpKind::Trim, 0, 3)).unwrap();
    array.submit(0, &operation(OpKind::Trim, 2, 1)).unwrap();
    array.submit(0, &operation(OpKind::Flush, 0, 0)).unwrap();
    let mut events = Vec::new();
    array.advance(0, &mut events);
    assert_eq!(dones(&events).len(), 2, "all but the stripe");
    while let Some(at) = array.next_time() {
        array.advance(at, &mut events);
    }
    assert_eq!(dones(&events).len(), 3);
    let trimmed: Vec<u64> = array.members().iter().map(|member| member.counters().host_pages_trimmed).collect();
    assert_eq!(trimmed, [1; 3]);
    assert_eq!(array.counters(0).stripes.map(|counters| counters.trim_pages_ignored), Some(2));
    assert_eq!(array.counters(0).host, HostCounters { trims: 2, flushes: 1 });
}

#[test]
fn an_array_is_made_member_by_member_while_it_is_wanted() {
    let params = params(Level::Raid0, 3, 1);
    let mut asked = 0;
    let stopped = Setup::default().array_while(&params, 1, &mut || {
        asked += 1;
        asked < 3
    });
    assert!(stopped.is_none() && asked == 3);
    let made = Setup::default().array_while(&params, 1, &mut || true).expect("nobody says no");
    assert_eq!(made.shape().members, Array::new(&params, 1, Setup::default()).shape().members);
}
