//! Small examples of how mechanisms compose (rules 90 to 109), worked out by hand.

use flashraid_model::coordination::{
    CoordinationParams, ForcedCollectionAmount, JointCollectionRequestTiming, MessageKind, ReactiveInclusive,
};
use flashraid_model::flash::DieToChannelAssignment;
use flashraid_model::ids::MemberSet;
use flashraid_model::request::OpKind;
use flashraid_model::space::victim::Fifo;
use flashraid_model::ssd::*;
use flashraid_model::units::{Duration, Fraction, GcStopThreshold};

use super::by_hand::{at, two_dies, two_planes};
use super::simulate;
use crate::agreement::seeds;
use crate::cases::{PAGE_BYTES, one_plane};
use crate::draw::draw_mixed_case;
use crate::outcome::{Case, PhysicalPage};

const SEMI: GcPreemption = GcPreemption {
    poll: Duration { ns: 10 },
    t_hard: Fraction(0.0),
    pipeline: HostOverlapWithMoves::NoOverlap,
    merge: false,
    reorder: false,
    suspension: None,
};
const SUSPEND: GcPreemption =
    GcPreemption { suspension: Some(ProgramEraseSuspension { suspend_ns: 5, resume_ns: 6, suspensions_max: 1 }), ..SEMI };

impl Case {
    fn trim(self, at_ns: u64, page: u64) -> Case {
        self.request(at_ns, page * PAGE_BYTES, PAGE_BYTES, OpKind::Trim)
    }

    fn preempted(mut self, preemption: GcPreemption) -> Case {
        self.params.ssd.gc.preemption = Some(preemption);
        self
    }
}

/// Two dies like that of `one_plane` on one channel. Die 0 holds even pages. After these writes, it has one free block at 1035, and its
/// block 1 has only page 10 valid.
fn on_a_channel() -> Case {
    let mut case = two_dies().writes(0, &[0, 6, 8, 12]);
    case.params.ssd.channel = Some(DieToChannelAssignment::consecutive(2));
    case.params.ssd.gc.rules.copy_back = false;
    case
}

/// Planes are blocked one by one. After seven writes, at 1862, plane 0 has one free block, and its block 0 has only page 2 valid. One more
/// write does the same to plane 1, with page 5.
fn plane_blocking(writes: usize) -> Case {
    let mut case = two_planes().writes(0, &[0, 3, 6, 9, 12, 15, 1, 4][..writes]);
    case.params.ssd.writes.plane_choice = PlaneChoice::Rotate;
    case.params.ssd.gc.rules.blocking = CollectionBlockingScope::Plane;
    case
}

#[test]
fn a_point_on_a_channel() {
    let outcome = simulate(&on_a_channel().preempted(SEMI).read(1035, 0, 1).read(1040, 1, 1).read(1090, 1, 1));
    // The poll ends at 1045, and the array read of page 0 at 1066. Die 1 transfers from 1061 to 1068, then die 0. A poll lasts to 1085. The
    // clean reads to 1105 and transfers out to 1112. Die 1 asks at 1111 and transfers to 1119, then die 0 transfers in to 1126. A poll
    // follows, the program to 1336, a poll, and the erase.
    assert_eq!(outcome.done()[4..], [1075, 1068, 1119]);
    assert_eq!(outcome.runs(), [(0, 1035, 2346, 1, 1)]);
    assert_eq!(outcome.members[0].counters.preemptions, 1);
}

#[test]
fn pipelining_on_a_channel() {
    let pipeline = GcPreemption { pipeline: HostOverlapWithMoves::RequestsWaitingAtStepStart, ..SEMI };
    let case = on_a_channel().preempted(pipeline).read(1035, 0, 1).read(1070, 1, 1).write(1105, 16, 1);
    let outcome = simulate(&case);
    // Both overlap from 1045 on. The host's array read lasts to 1066, and its transfer to 1073. The clean's array read lasts to 1086, and
    // its transfer out to 1093. Die 1 asked at 1091 and transfers to 1100, then the clean transfers in to 1107. A poll lasts to 1117. Both
    // overlap again. The host's page is transferred by 1125 and programmed to 1325, then the clean programs to 1525. That fills the block,
    // so the summary is transferred to 1528 and programmed to 1728. A poll lasts to 1738, and the erase follows.
    assert_eq!(outcome.done()[4..], [1073, 1100, 1325]);
    assert_eq!(outcome.runs(), [(0, 1035, 2738, 1, 1)]);
    assert_eq!((outcome.members[0].counters.pipelined_operations, outcome.members[0].counters.preemptions), (2, 0));
}

#[test]
fn joining_a_step_in_flight_on_a_channel() {
    let in_flight = GcPreemption { pipeline: HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep, ..SEMI };
    let case = on_a_channel().preempted(in_flight).read(1035, 16, 1).read(1050, 0, 1).read(1100, 4, 1).write(1200, 2, 1);
    let outcome = simulate(&case);
    // Together from 1045: page 16 is read in the array to 1066 and transferred to 1073, the clean reads to 1086. Page 0 joins at 1050: its
    // array read follows to 1106. The clean transfers from 1086 to 1100; page 4, which comes at that nanosecond, joins, too: its array
    // read follows to 1126. Page 0 is transferred from 1106 to 1113, page 4 from 1126 to 1133. A poll to 1143, the program to 1343. The
    // write joins it: transferred by 1208, its program follows and fills the block: to 1543, the summary to 1546 and to 1746. A poll to
    // 1756, the erase.
    assert_eq!(outcome.done()[4..], [1073, 1113, 1133, 1746]);
    assert_eq!(outcome.runs(), [(0, 1035, 2756, 1, 1)]);
    assert_eq!((outcome.members[0].counters.pipelined_operations, outcome.members[0].counters.preemptions), (4, 0));
}

#[test]
fn suspension_on_a_channel() {
    let mut case = one_plane().preempted(SUSPEND).write(0, 0, 1).read(5, 3, 1).read(100, 6, 1);
    case = case.write(1000, 1, 1).write(2000, 2, 1).read(2209, 3, 1).read(2300, 6, 1).read(2375, 3, 1);
    case.params.ssd.channel = Some(DieToChannelAssignment::consecutive(1));
    let outcome = simulate(&case);
    // At 5 the page is being transferred, and its program is interrupted when it begins at 8. Page 3 is read from 13 to 41, and the program
    // takes from 47 to 247. It is not suspended once more at 100.
    // The third write fills the block: a program from 2008 to 2208, the summary's transfer, and another program from 2211 on. Page 3 was
    // asked for during the transfer, and is read from 2216 to 2244. The program takes from 2250 to 2450, and the other reads follow.
    assert_eq!(outcome.done(), [247, 41, 275, 1208, 2450, 2244, 2478, 2506]);
    assert_eq!(outcome.members[0].counters.suspensions, 2);
}

#[test]
fn points_with_plane_blocking() {
    let outcome = simulate(&plane_blocking(8).preempted(SEMI).read(2070, 2, 1).read(2090, 5, 1));
    // In plane 0, the clean begins at 1862, when the eighth write is served in plane 1. The poll ends at 1872 while the slot is taken. The
    // clean reads to 1892, polls, programs from 1902 to 2102, and polls to 2112. Page 2, for which the head waits, is then read to 2140. A
    // poll follows, and the erase to 3150.
    //
    // In plane 1, the clean begins at 2070, before the head is served. The poll at 2080 finds no read of its plane. The clean reads to
    // 2100, polls to 2110, programs to 2310, and polls to 2320. Page 5 is then read, for which the head has waited since 2140. A poll
    // follows, and the erase.
    assert_eq!(outcome.done()[7..], [2070, 2140, 2348]);
    assert_eq!(outcome.met()[7..], [0, 1, 1]);
    assert_eq!(outcome.runs(), [(0, 1862, 3150, 1, 1), (0, 2070, 3358, 1, 1)]);
    assert_eq!(outcome.members[0].counters.preemptions, 2);
}

#[test]
fn a_write_at_a_point_goes_to_the_plane_of_the_clean() {
    let outcome = simulate(&plane_blocking(7).preempted(SEMI).read(1862, 5, 1).read(1863, 2, 1).write(1864, 9, 1));
    // Page 5 is read beside the clean, to 1890. Then page 2 waits for plane 0, and page 9 behind it. The clean reads from 1872 to 1892 and
    // polls to 1902. Page 9 is written in its plane to 2110, although the other plane has its turn. After a poll, page 2 of the clean fills
    // the block, which takes from 2120 to 2523. After a poll to 2533, the read is served to 2561.
    assert_eq!(outcome.done()[7..], [1890, 2561, 2110]);
    assert_eq!(outcome.members[0].pages[9], at(0, 0, 4, 1));
    assert_eq!(outcome.met()[7..], [0, 1, 1]);
    assert_eq!(outcome.runs(), [(0, 1862, 2571 + 1000, 1, 1)]);
}

#[test]
fn a_clean_in_state_3_with_plane_blocking() {
    // Two blocks of T_hard: with one free block every clean begins in state 2.
    let mut case = plane_blocking(7).preempted(GcPreemption { t_hard: Fraction(2.0), ..SEMI }).read(1862, 2, 1).write(1863, 9, 1);
    case.requests[8].high_priority = true;
    let outcome = simulate(&case);
    // Page 2 waits for plane 0. The poll at 1872 finds the write of high priority, and there are no more polls. The clean reads to 1892,
    // programs to 2092, and erases to 3092. Then the write comes first, in plane 1. The check after it finds that plane 1 needs a clean
    // now. It moves two pages, which fill a block, with five polls. Page 2 is read beside it.
    assert_eq!(outcome.runs(), [(0, 1862, 3092, 1, 1), (0, 3300, 3300 + 1643 + 50, 1, 2)]);
    assert_eq!(outcome.done()[7..], [3300 + 28, 3300]);
    let counters = outcome.members[0].counters;
    assert_eq!((counters.gc_preemptible_by_all_requests_ns, counters.gc_preemptible_by_reads_only_ns), (0, 10 + 1693));
}

#[test]
fn suspension_with_plane_blocking() {
    let outcome = simulate(&plane_blocking(8).preempted(SUSPEND).read(2000, 2, 1).read(2010, 10, 1).read(2500, 8, 1));
    // The eighth write is in progress in plane 1 from 1870 to 2070. The read of page 2 at 2000 is for plane 0, which is being cleaned, and
    // does not interrupt the write. The read of page 10 at 2010 does, and is served alone from 2015 to 2043. The write continues at 2049
    // and ends at 2109. The clean of plane 0 programs from 1902 to 2102, serves page 2 at 2112, and erases from 2150 on. The read of page 8
    // suspends it at 2500, with 650 left, and is served from 2505 to 2533. The erase continues at 2539. In plane 1, a
    // poll from 2109 on is followed by a read from 2119 to 2139 and a poll. A program to 2349, a poll and the erase come next.
    assert_eq!(outcome.done()[7..], [2109, 2140, 2043, 2533]);
    assert_eq!(outcome.met()[7..], [0, 1, 0, 1]);
    assert_eq!(outcome.runs(), [(0, 1862, 3189, 1, 1), (0, 2109, 3359, 1, 1)]);
    assert_eq!(outcome.members[0].counters.suspensions, 2);
}

/// All writes but the second go to die 0, because a write of the same page waits there. They end at 7 · 208 + 2 · 203 and leave one free
/// block.
fn merging_on_two_dies() -> Case {
    let mut case = two_dies().preempted(GcPreemption { merge: true, ..SEMI }).writes(0, &[0; 8]);
    case.params.ssd.writes.allocation = DieChoiceForWrites::Dynamic;
    case.params.ssd.geometry.blocks_per_plane = 7;
    case.params.ssd.geometry.overprovisioned_blocks_per_plane = 4;
    case.params.ssd.gc.victim = Fifo {}.into();
    case
}

#[test]
fn merging_where_pages_change_dies() {
    let case = merging_on_two_dies().read(1862, 6, 1).read(1911, 2, 1).write(1915, 2, 1).read(2000, 4, 1);
    let outcome = simulate(&case);
    // Block 0 of die 0, with pages 2 and 4, is cleaned from 1862 on. At 1872 page 6 is served to 1900, and a poll follows. Page 2 is read
    // from 1910 to 1930, and has been awaited since 1911. At 1915 it is written on die 1. At 1940 it is dropped, and at 1950 the read is
    // served to 1978. After a poll, page 4 is read from 1988 to 2008, with a poll to 2018. The read of page 4 is merged, to 2025. Then
    // follow a poll, a program from 2035 on, a poll, and an erase from 2245 on.
    assert_eq!(outcome.done()[8..], [1900, 1978, 2123, 2025]);
    assert_eq!(outcome.met()[8..], [1, 1, 0, 1]);
    assert_eq!(outcome.runs(), [(0, 1862, 3245, 1, 1)]);
    let counters = outcome.members[0].counters;
    assert_eq!((counters.preemptions, counters.operations_served_from_move_register, counters.gc_pages_read_in_vain), (2, 1, 1));
    assert_eq!(outcome.members[0].pages[1], at(1, 0, 3, 1));
}

#[test]
fn a_merged_write_is_done_when_its_page_is_dropped() {
    let case = merging_on_two_dies().write(1737, 1, 1).read(1862, 6, 1).write(1912, 2, 1).write(1950, 2, 1);
    let outcome = simulate(&case);
    // Everything is the same until 1940, when the first write of page 2 is merged, to 1947. At 1912, die 1 was busy for longer than the
    // step of die 0. At 1950 it is not, and the second write goes there and fills a block. At 1957 page 2 is dropped. After a poll, page 4
    // is read from 1967 to 1987. Then follow a poll, a program from 1997 on, a poll, and an erase from 2207 on.
    assert_eq!(outcome.done()[8..], [1945, 1900, 1957, 1950 + 208 + 203]);
    assert_eq!(outcome.runs(), [(0, 1862, 3207, 1, 1)]);
    let counters = outcome.members[0].counters;
    assert_eq!(
        (counters.operations_served_from_move_register, counters.moves_replaced_by_host_writes, counters.gc_pages_read_in_vain),
        (1, 0, 1)
    );
    assert_eq!(outcome.members[0].pages[1], at(1, 0, 3, 2));
}

#[test]
fn idle_collection_with_plane_blocking() {
    let mut case = plane_blocking(8).read(2400, 2, 1);
    case.params.ssd.geometry.blocks_per_plane = 7;
    case.params.ssd.geometry.overprovisioned_blocks_per_plane = 4;
    case.params.ssd.gc.idle_collection_after_ns = Some(100);
    let outcome = simulate(&case);
    // No pool needs a clean, but both have one free block fewer than after the fill when the die has rested, from 2070 to 2170.
    assert_eq!(outcome.runs(), [(0, 2170, 3390, 1, 1), (0, 2170, 3390, 1, 1)]);
    assert_eq!((outcome.done()[8], outcome.met()[8]), (3390 + 28, 1));
    assert_eq!(outcome.members[0].counters.idle_cleans, 2);
}

#[test]
fn forced_collection_with_plane_blocking() {
    let mut case = plane_blocking(8).read(2070, 2, 1);
    case.params.coordination = Some(CoordinationParams {
        scheme: ReactiveInclusive {}.into(),
        force_until: ForcedCollectionAmount::ToWatermark,
        t_soft: GcStopThreshold::FreeBlocks(0),
        notify: Some(JointCollectionRequestTiming::AtStartThreshold),
        coordinated_members: MemberSet::single(0),
        ..CoordinationParams::default()
    });
    let outcome = simulate(&case);
    // Plane 0 needs a clean at 1862. The member asks and is forced at the same nanosecond, when the eighth write has the slot. At 2070
    // plane 1 follows. Each plane is cleaned until it has more than two free blocks. Page 2 or 5 moves (1220), then two pages that fill a
    // block (1643), and again two (1643). The read of page 2 waits for the last of them.
    let (first, second) = (1862 + 1220 + 2 * 1643, 2070 + 1220 + 2 * 1643);
    assert_eq!(outcome.runs(), [(0, 1862, first, 3, 5), (0, 2070, second, 3, 5)]);
    let forced: Vec<bool> = outcome.gc_intervals.iter().map(|gc| gc.forced).collect();
    assert_eq!(forced, [false, true]);
    assert_eq!((outcome.done()[8], outcome.met()[8]), (first + 28, 1));
    let sent = outcome.messages.expect("there is a controller");
    assert_eq!([MessageKind::GcRequest, MessageKind::ForceGc, MessageKind::GcDone].map(|kind| sent[kind as usize]), [1, 1, 1]);

    // The clean in progress counts as the one victim, and the member is done when it ends. Page 2 is read then; at 2070 plane 1 needed
    // a clean, for which the member does not ask, being forced.
    case.params.coordination.as_mut().expect("there is a controller").force_until = ForcedCollectionAmount::OneVictimPerDie;
    let outcome = simulate(&case);
    assert_eq!(outcome.runs(), [(0, 1862, 3082, 1, 1), (0, 2070, 3290, 1, 1)]);
    assert_eq!(outcome.done()[8], 3082 + 28);
    let sent = outcome.messages.expect("there is a controller");
    assert_eq!([MessageKind::GcRequest, MessageKind::ForceGc, MessageKind::GcDone].map(|kind| sent[kind as usize]), [1, 1, 1]);

    // Each plane owes one: the clean in progress is plane 0's, plane 1 gets its own when the slot is free.
    case.params.coordination.as_mut().expect("there is a controller").force_until = ForcedCollectionAmount::OneVictimPerPool;
    let outcome = simulate(&case);
    assert_eq!(outcome.runs(), [(0, 1862, 3082, 1, 1), (0, 2070, 3290, 1, 1)]);
    let forced: Vec<bool> = outcome.gc_intervals.iter().map(|gc| gc.forced).collect();
    assert_eq!(forced, [false, true]);
    assert_eq!(outcome.done()[8], 3082 + 28);

    // When both victims are clean, at 3290, it goes on as with the watermark: both planes still need blocks, for two more victims each.
    case.params.coordination.as_mut().expect("there is a controller").force_until = ForcedCollectionAmount::OneVictimPerPoolThenWatermark;
    assert_eq!(simulate(&case).runs(), [(0, 1862, 3082, 1, 1), (0, 2070, second, 3, 5), (0, 3290, second, 2, 4)]);
}

#[test]
fn a_trimmed_page_needs_no_move() {
    let case = one_plane().trim(0, 5).writes(0, &[0, 3, 4, 6]).read(500, 1, 1).read(3000, 5, 1).write(4000, 5, 1);
    let outcome = simulate(&case);
    // The trim takes the overhead. Block 1 has no valid page left, and is but erased. A read of nothing takes the overhead.
    assert_eq!(outcome.done(), [1, 209, 417, 828, 1036, 1036 + 1000 + 28, 3001, 4208]);
    assert_eq!(outcome.runs(), [(0, 1036, 2036, 1, 0)]);
    assert_eq!(outcome.members[0].pages[5], at(0, 0, 4, 1));
    assert_eq!(simulate(&one_plane().trim(0, 5)).members[0].pages[5], PhysicalPage::NOWHERE);
}

#[test]
fn a_trim_at_a_point() {
    let outcome = simulate(&one_plane().writes(0, &[0, 3, 4, 6]).trim(1035, 5).read(1035, 5, 1).preempted(SEMI));
    // A poll to 1045, the trim, a poll to 1056, the read, a poll, the erase from 1067 on.
    assert_eq!(outcome.done()[4..], [1046, 1057]);
    assert_eq!(outcome.met()[4..], [1, 1]);
    assert_eq!(outcome.runs(), [(0, 1035, 2067, 1, 0)]);
}

#[test]
fn a_page_in_the_register_is_trimmed() {
    let outcome = simulate(&plane_blocking(7).preempted(SEMI).read(1862, 10, 1).trim(1880, 2));
    // Page 10 is read in plane 1 to 1890, beside the clean of plane 0, which reads page 2 from 1872 to 1892. The trim needs no plane.
    // At 1902 page 2 is dropped; a poll, and the erase from 1912 on.
    assert_eq!(outcome.done()[7..], [1890, 1891]);
    assert_eq!(outcome.met()[7..], [0, 0]);
    assert_eq!(outcome.runs(), [(0, 1862, 2912, 1, 0)]);
    assert_eq!(outcome.members[0].counters.gc_pages_read_in_vain, 1);
}

#[test]
fn trims_cross_no_link_and_follow_writes_of_their_page() {
    let mut case = two_dies().write(0, 1, 1).write(0, 0, 1).write(0, 0, 1).trim(9, 0).trim(40, 0).read(50, 0, 1);
    case.params.ssd.writes.allocation = DieChoiceForWrites::Dynamic;
    case.params.ssd.geometry.blocks_per_plane = 7;
    case.params.ssd.geometry.overprovisioned_blocks_per_plane = 4;
    case.params.ssd.link = Some(HostLinkParams { page_transfer_ns: 10, duplex: Duplex::Full });
    let outcome = simulate(&case);
    // The writes arrive at 10, 20 and 30. The first goes to die 0, the second to die 1, and the third waits for die 0. At 40, the second
    // trim and then the read wait behind it, although page 0 lies on die 1. The first trim was done before, on die 0.
    assert_eq!(outcome.done(), [10 + 208, 20 + 208, 10 + 2 * 208, 10, 10 + 2 * 208 + 1, 10 + 2 * 208 + 2 + 10]);
}

/// The reference checks itself at the end of each.
#[test]
fn trims_among_everything() {
    for seed in seeds().into_iter().step_by(8) {
        let mut case = draw_mixed_case(seed);
        for request in case.requests.iter_mut().filter(|request| request.stream == 1) {
            request.kind = OpKind::Trim;
        }
        simulate(&case);
    }
}
