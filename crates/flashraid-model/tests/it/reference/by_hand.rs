//! The reference itself, held against small examples worked out by hand.

use flashraid_model::array::RaidLevel;
use flashraid_model::flash::{DieNumbering, DieToChannelAssignment};
use flashraid_model::request::{HostLoop, OpKind};
use flashraid_model::space::victim::{CostBenefit, DChoices, Fifo, Greedy, GreedyWearAware, Random};
use flashraid_model::ssd::*;
use flashraid_model::units::Fraction;

use super::simulate;
use crate::cases::{PAGE_BYTES, one_plane};
use crate::outcome::{Case, Outcome, PhysicalPage};

/// Two dies like that of `one_plane`.
pub(super) fn two_dies() -> Case {
    let mut case = one_plane();
    case.params.ssd.geometry.dies = 2;
    case
}

/// One die of two such planes. Blocks alternate between them, so plane 0 holds pages 0 to 2, 6 to 8 and 12 to 14. Plane 1 holds the others.
pub(super) fn two_planes() -> Case {
    let mut case = one_plane();
    case.params.ssd.geometry.planes = 2;
    case
}

impl Outcome {
    pub(crate) fn done(&self) -> Vec<u64> {
        self.requests.iter().map(|request| request.done_ns).collect()
    }

    pub(crate) fn met(&self) -> Vec<u32> {
        self.requests.iter().map(|request| request.gc_members_met).collect()
    }

    /// Die, start, end, victims, pages moved.
    pub(crate) fn runs(&self) -> Vec<(u32, u64, u64, u32, u32)> {
        self.gc_intervals.iter().map(|gc| (gc.die, gc.start_ns, gc.end_ns, gc.victims, gc.pages_moved)).collect()
    }
}

pub(super) fn at(die: u32, plane: u32, block: u32, page: u32) -> PhysicalPage {
    PhysicalPage { die, plane, block, page }
}

#[test]
fn idle_latencies() {
    let outcome = simulate(&one_plane().read(10, 0, 1).write(1000, 4, 1).read(2000, 0, 2));
    assert_eq!(outcome.done(), [38, 1208, 2056]);
    assert_eq!(outcome.members[0].pages[4], at(0, 0, 3, 0));
    assert_eq!(outcome.members[0].pages[5], at(0, 0, 1, 2), "the fill goes block by block");
}

#[test]
fn a_page_touched_in_part_counts_whole() {
    let outcome = simulate(&one_plane().request(0, PAGE_BYTES - 1, 2, OpKind::Read));
    assert_eq!(outcome.done(), [56]);
    assert_eq!(outcome.members[0].counters.host_pages_read, 2);
}

#[test]
fn the_write_that_fills_a_block_writes_its_summary_too() {
    let outcome = simulate(&one_plane().writes(0, &[0, 1, 2]));
    assert_eq!(outcome.done(), [208, 416, 416 + 208 + 203]);
    assert_eq!(outcome.members[0].counters.block_summary_pages_programmed, 1);
    assert_eq!(outcome.members[0].pages[2], at(0, 0, 3, 2));
}

#[test]
fn one_clean_before_a_read() {
    // Writes fill block 3 and open block 4: one block is free. Block 1 has one valid page, page 5, which moves to block 4.
    let case = one_plane().writes(0, &[0, 3, 4, 6]).read(500, 0, 1);
    let outcome = simulate(&case);
    assert_eq!(outcome.done(), [208, 416, 827, 1035, 1035 + 220 + 1000 + 28]);
    assert_eq!(outcome.met(), [0, 0, 0, 0, 1]);
    assert_eq!(outcome.runs(), [(0, 1035, 2255, 1, 1)]);
    assert_eq!(outcome.members[0].block_erases, [0, 1, 0, 0, 0, 0]);
    assert_eq!(outcome.members[0].pages[5], at(0, 0, 4, 1));
    assert_eq!(outcome.members[0].counters.gc_time_ns, 1220);

    let mut over_the_pins = case.clone();
    over_the_pins.params.ssd.gc.rules.copy_back = false;
    assert_eq!(simulate(&over_the_pins).done()[4], 1035 + 220 + 2 * 7 + 1000 + 28);

    let mut before_writes = case.clone();
    before_writes.params.ssd.gc.rules.trigger = HostRequestKindsThatMayStartGc::OnlyWrites;
    assert_eq!(simulate(&before_writes).done()[4], 1035 + 28);

    let mut ideal = case;
    ideal.params.ssd.gc.collection_takes_no_time = true;
    let outcome = simulate(&ideal);
    assert_eq!((outcome.done()[4], outcome.met()[4]), (1035 + 28, 0));
    assert_eq!(outcome.runs(), [(0, 1035, 1035, 1, 1)]);
}

#[test]
fn equal_victims_and_a_block_filled_by_moves() {
    // Blocks 0 to 3 have two valid pages each; the highest is 3, with pages 3 and 6, and they fill block 4.
    let outcome = simulate(&one_plane().writes(0, &[0, 3, 6, 0]).read(1035, 0, 1));
    assert_eq!(outcome.runs(), [(0, 1035, 1035 + 2 * 220 + 203 + 1000, 1, 2)]);
    assert_eq!(outcome.members[0].pages[6], at(0, 0, 4, 2));
    assert_eq!(outcome.members[0].counters.block_summary_pages_programmed, 2);
    assert_eq!(outcome.met()[4], 1, "the read arrived as the clean began");
}

#[test]
fn victims_by_policy() {
    // Sealed blocks before the read, with valid pages and sequence numbers: 0: 2, 1; 1: 1, 2; 2: 2, 3; 3: 3, 4. The next opened block gets
    // 6.
    let victim = |policy: VictimPolicy| {
        let mut case = one_plane().writes(0, &[0, 3, 4, 6]).read(1035, 0, 1);
        case.params.ssd.gc.victim = policy;
        simulate(&case).members[0].block_erases.iter().position(|&erases| erases == 1)
    };
    assert_eq!(victim(Greedy {}.into()), Some(1));
    assert_eq!(victim(Fifo {}.into()), Some(0));
    // age × invalid / valid: 5 · 1/2, 4 · 2/1, 3 · 1/2.
    assert_eq!(victim(CostBenefit {}.into()), Some(1));
    assert_eq!(victim(DChoices { d: 100 }.into()), Some(1), "with many draws d-choices is greedy");
    assert_eq!(victim(GreedyWearAware { threshold: Fraction(0.5), endurance_erases: 100 }.into()), Some(1));
    let random = victim(Random {}.into()).expect("a block is erased");
    assert!(random < 3, "a block without garbage is no victim");
}

#[test]
fn the_block_that_the_fill_reaches_last_may_stay_unsealed() {
    // Page 6, 7 and 8 lie in block 2, which nothing valid is left in; block 0, with one page left, goes instead.
    let mut case = one_plane().writes(0, &[6, 7, 8, 0, 1, 3]);
    let erased = |case: &Case| simulate(case).members[0].block_erases.iter().position(|&erases| erases == 1);
    assert_eq!(erased(&case), Some(2));
    case.params.ssd.writes.fill_seals_last_block = false;
    assert_eq!(erased(&case), Some(0));
}

#[test]
fn moves_to_a_block_of_their_own() {
    let mut case = one_plane().writes(0, &[0, 3, 4, 6]).read(500, 0, 1).write(3000, 7, 1);
    case.params.ssd.gc.rules.separate_open_block = true;
    let outcome = simulate(&case);
    // Page 5 takes block 5, the last free one. Block 1 becomes free, which is again only one. A full scan finds blocks 0 and 2 with one
    // invalid page each. Block 2 goes first, and its pages 7 and 8 fill block 5.
    assert_eq!(outcome.runs()[0], (0, 1035, 1035 + 1220 + 2 * 220 + 203 + 1000, 2, 3));
    assert_eq!(outcome.members[0].pages[5], at(0, 0, 5, 0));
    assert_eq!(outcome.members[0].pages[8], at(0, 0, 5, 2));
    assert_eq!(outcome.members[0].pages[7], at(0, 0, 4, 1), "host writes go on in their own block");
}

#[test]
fn stripes_and_mirrors() {
    let members_read = |level, members, unit, first, pages| {
        let mut case = one_plane().read(0, first, pages);
        case.params.level = level;
        case.params.members = members;
        case.params.stripe_unit_pages = unit;
        let outcome = simulate(&case);
        let read: Vec<u64> = outcome.members.iter().map(|member| member.counters.host_pages_read).collect();
        (outcome.done()[0], read)
    };
    // Pages 1 | 2 3 | 4: strips 0, 1, 2 on members 0, 1, 0.
    assert_eq!(members_read(RaidLevel::Raid0, 2, 2, 1, 4), (56, vec![2, 2]));
    assert_eq!(members_read(RaidLevel::Raid0, 3, 2, 1, 4), (56, vec![1, 2, 1]));
    // Strips 0 to 3 on members 0, 1, 2, 0.
    assert_eq!(members_read(RaidLevel::Raid1, 3, 1, 0, 4), (56, vec![2, 1, 1]));
    // Strips 0 to 4 on pairs 0, 1, 0, 1, 0 and copies 0, 0, 1, 1, 0.
    assert_eq!(members_read(RaidLevel::Raid10, 4, 1, 0, 5), (56, vec![2, 1, 1, 1]));

    let mut case = one_plane().write(0, 2, 2);
    case.params.level = RaidLevel::Raid10;
    case.params.members = 4;
    let outcome = simulate(&case);
    assert_eq!(outcome.done(), [208]);
    // Strips 2 and 3 are logical page 1 of both pairs.
    assert!(outcome.members.iter().all(|member| member.pages[1] == at(0, 0, 3, 0) && member.counters.host_pages_written == 1));
}

#[test]
fn dies_by_stride() {
    let mut case = two_dies().read(0, 0, 5);
    case.params.ssd.writes.die_stride = 2;
    // Pages 0 1 | 2 3 | 4 on dies 0, 1, 0.
    assert_eq!(simulate(&case).done(), [3 * 28]);
    // Nine pages of a die hold four strides of two: the last page of each is not exported.
    assert_eq!(super::array_pages(&case.params), 16);
}

#[test]
fn a_channel_carries_one_page_at_a_time() {
    let mut case = two_dies().read(0, 0, 1).read(0, 1, 1).write(1000, 0, 2);
    case.params.ssd.channel = Some(DieToChannelAssignment::consecutive(2));
    // Reads end in the array at 21; writes ask at 1001.
    assert_eq!(simulate(&case).done(), [28, 35, 1001 + 2 * 7 + 200]);
}

#[test]
fn interleaved_dies_share_a_channel_with_those_far_away() {
    let mut case = two_dies().read(0, 0, 1).read(0, 1, 1).read(0, 2, 1);
    case.params.ssd.geometry.dies = 3;
    case.params.ssd.channel = Some(DieToChannelAssignment::consecutive(2));
    // Dies 0 and 1 share a channel.
    assert_eq!(simulate(&case).done(), [28, 35, 28]);
    case.params.ssd.channel = Some(DieToChannelAssignment { dies_per_channel: 2, die_numbering: DieNumbering::InterleavedDies });
    // Dies 0 and 2 do.
    assert_eq!(simulate(&case).done(), [28, 28, 35]);
}

#[test]
fn a_clean_on_a_channel_goes_step_by_step() {
    let mut case = one_plane().writes(0, &[0, 3, 4, 6]).read(1035, 0, 1);
    case.params.ssd.channel = Some(DieToChannelAssignment::consecutive(1));
    case.params.ssd.gc.rules.copy_back = false;
    assert_eq!(simulate(&case).done(), [208, 416, 827, 1035, 1035 + 234 + 1000 + 28]);
}

#[test]
fn a_link_carries_one_page_at_a_time_and_direction() {
    let mut case = two_dies().read(0, 0, 2).write(30, 3, 1);
    case.params.ssd.link = Some(HostLinkParams { page_transfer_ns: 10, duplex: Duplex::Full });
    // Both pages are read at 28 and arrive at 38 and 48; the write travels to 40 and is done 208 later.
    assert_eq!(simulate(&case).done(), [48, 248]);
    case.params.ssd.link = Some(HostLinkParams { page_transfer_ns: 10, duplex: Duplex::Half });
    // The write travels after the second page of the read, which had joined before it.
    assert_eq!(simulate(&case).done(), [48, 48 + 10 + 208]);
}

#[test]
fn dynamic_writes_go_where_they_start_first() {
    let mut case = two_dies().writes(0, &[0, 0, 0]).read(50, 1, 1).write(60, 1, 1).read(1000, 1, 1);
    case.params.ssd.writes.allocation = DieChoiceForWrites::Dynamic;
    case.params.ssd.geometry.blocks_per_plane = 7;
    case.params.ssd.geometry.overprovisioned_blocks_per_plane = 4;
    let outcome = simulate(&case);
    // At 60 die 0 is free from 416 on, die 1, where page 1 is read after the write, from 236 on.
    assert_eq!(outcome.done(), [208, 208, 416, 236, 236 + 208, 1028]);
    assert_eq!(outcome.members[0].pages[0], at(0, 0, 3, 1));
    assert_eq!(outcome.members[0].pages[9], at(1, 0, 3, 1));
}

#[test]
fn equal_planes_take_turns() {
    for plane_choice in [PlaneChoice::MostFreePages, PlaneChoice::Rotate] {
        let mut case = two_planes().writes(0, &[0, 1, 2, 3]);
        case.params.ssd.writes.plane_choice = plane_choice;
        let planes: Vec<u32> = simulate(&case).members[0].pages[..4].iter().map(|page| page.plane).collect();
        assert_eq!(planes, [0, 1, 0, 1]);
    }
}

#[test]
fn a_plane_with_an_older_open_block_is_skipped() {
    // Open blocks have numbers 7 (plane 0) and 8 (plane 1). The second write of page 0 finds its old copy in plane 1, where the first one
    // had put it. The block of the copy is newer than the open block of plane 0. The page therefore stays in plane 1, although plane 0 has
    // as many free pages and the turn. After that, plane 0 has more free pages.
    let mut case = two_planes().writes(0, &[3, 0, 0, 1]);
    let places = |case: &Case| simulate(case).members[0].pages[..2].to_vec();
    assert_eq!(places(&case), [at(0, 1, 3, 1), at(0, 0, 3, 1)]);
    case.params.ssd.writes.plane_choice = PlaneChoice::Rotate;
    assert_eq!(places(&case), [at(0, 0, 3, 1), at(0, 1, 3, 1)]);
}

#[test]
fn only_the_plane_of_the_victim_is_held() {
    // The writes take the planes in turn. The seventh ends at 7 · 208 + 2 · 203 = 1862. It leaves plane 0 with one free block, and block 0
    // there has only page 2 valid. The eighth does the same to plane 1, where page 5 is left in block 0.
    let mut case = two_planes().writes(0, &[0, 3, 6, 9, 12, 15, 1, 4]).read(2070, 2, 1).read(2071, 5, 1).read(2072, 8, 1);
    case.params.ssd.writes.plane_choice = PlaneChoice::Rotate;
    let by_die = simulate(&case);
    // Clean plane 0, write, clean plane 1, read.
    assert_eq!(by_die.runs(), [(0, 1862, 3082, 1, 1), (0, 3290, 4510, 1, 1)]);
    assert_eq!(by_die.done()[7..], [3290, 4538, 4566, 4594]);
    assert_eq!(by_die.met()[7..], [1, 1, 1, 1]);

    case.params.ssd.gc.rules.blocking = CollectionBlockingScope::Plane;
    let by_plane = simulate(&case);
    // The eighth write goes to plane 1 beside the clean of plane 0. Then page 2 waits for plane 0, page 5 for plane 1, page 8 for nothing.
    assert_eq!(by_plane.runs(), [(0, 1862, 3082, 1, 1), (0, 2070, 3290, 1, 1)]);
    assert_eq!(by_plane.done()[7..], [2070, 3082 + 28, 3290 + 28, 3290 + 56]);
    assert_eq!(by_plane.met()[7..], [0, 1, 1, 0]);
}

#[test]
fn a_closed_loop_sends_the_next_when_one_is_done() {
    let mut case = one_plane().read(5, 0, 1).read(5, 1, 1).read(5, 2, 1);
    case.host = HostLoop::Closed { depth: 2, think_ns: 0 };
    let outcome = simulate(&case);
    assert_eq!(outcome.done(), [28, 56, 84]);
    assert_eq!(outcome.requests[2].arrival_ns, 28);
}

#[test]
fn blocks_of_an_die_wide_pool_alternate_between_planes() {
    let mut case = two_planes().writes(0, &[0, 1, 2, 3]);
    case.params.ssd.gc.rules.pool = BlockPoolScope::Die;
    let outcome = simulate(&case);
    assert_eq!(outcome.members[0].pages[2], at(0, 0, 3, 2), "the first reserved block is block 6 of the pool");
    assert_eq!(outcome.members[0].pages[3], at(0, 1, 3, 0));
}
