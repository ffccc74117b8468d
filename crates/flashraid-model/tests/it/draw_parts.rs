//! Random parts of arrays and loads, of which cases are put together.

use flashraid_model::array::{
    ArrayParams, ArrayProcessor, ControllerLimits, InitialSpareState, MemberFailure, RaidLevel, ReadPlan, RebuildParams, Rebuilding,
    StripeLock,
};
use flashraid_model::cache::{CachePolicy, CapacityUnit, RecencyBit, StripeAndMemberCaches, WriteCacheParams};
use flashraid_model::coordination::{
    ControllerAnswer, CoordinationParams, CoordinationPolicy, ForcedCollectionAmount, JointCollectionRequestTiming, MESSAGE_KINDS,
    MessageKind, MessageLatency,
};
use flashraid_model::flash::{DieNumbering, DieToChannelAssignment, Geometry, Timing};
use flashraid_model::ids::MemberSet;
use flashraid_model::policy::PolicyEnum;
use flashraid_model::request::{OpKind, Request};
use flashraid_model::rng::{self, RandomStream};
use flashraid_model::ssd::{
    BlockPoolScope, BufferParams, CollectionBlockingScope, CollectionRules, ControllerCores, DieChoiceForWrites, Duplex, FrontEndParams,
    GcAlgorithm, GcParams, GcPreemption, HostLinkParams, HostOverlapWithMoves, HostRequestKindsThatMayStartGc, PlaneChoice, PoolWrites,
    ProgramEraseSuspension, SsdParams, SubmissionQueues, VictimPolicy, WriteBuffer,
};
use flashraid_model::units::{ByteRate, Duration, Fraction, GcStopThreshold, TimePerByte};

use crate::cases::PAGE_BYTES;
use crate::draw::has_rule;
use crate::outcome::Case;
use crate::reference;

/// Draws from a stream of random numbers.
pub(crate) struct Draw(pub RandomStream);

/// Returns latencies of which each is that of one kind of message.
pub(crate) fn latency_of_kinds(ns: [u64; MESSAGE_KINDS]) -> MessageLatency {
    let of = |kind: MessageKind| Duration { ns: ns[kind as usize] };
    MessageLatency {
        gc_request: of(MessageKind::GcRequest),
        participate: of(MessageKind::Participate),
        force_gc: of(MessageKind::ForceGc),
        gc_state: of(MessageKind::GcState),
        gc_done: of(MessageKind::GcDone),
    }
}

/// Works that a member can be forced to do.
pub(crate) const FORCED_WORK: [ForcedCollectionAmount; 5] = [
    ForcedCollectionAmount::OneVictimPerDie,
    ForcedCollectionAmount::ToWatermark,
    ForcedCollectionAmount::OneVictimThenUntilStopThreshold,
    ForcedCollectionAmount::OneVictimPerPool,
    ForcedCollectionAmount::OneVictimPerPoolThenWatermark,
];

impl Draw {
    /// Draws a number uniformly from `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + rng::below(&mut self.0, high - low + 1)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        rng::below(&mut self.0, 100) < percent
    }

    pub(crate) fn array(&mut self) -> ArrayParams {
        let level = [RaidLevel::Single, RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid10][self.between(0, 3) as usize];
        let members = match level {
            RaidLevel::Single => 1,
            RaidLevel::Raid0 => self.between(1, 6),
            RaidLevel::Raid1 => self.between(2, 6),
            RaidLevel::Raid10 => 2 * self.between(1, 3),
            RaidLevel::Raid4 | RaidLevel::Raid5 | RaidLevel::Raid6 => unreachable!("none of those drawn from"),
        };
        ArrayParams {
            level,
            members: members as u32,
            stripe_unit_pages: self.between(1, 8) as u32,
            parity_handle: Default::default(),
            ssd: self.ssd(),
            coordination: None,
            failures: Vec::new(),
            rebuild: None,
            read_plan: ReadPlan::default(),
            slow: Vec::new(),
            cache: None,
            host_port: None,
        }
    }

    pub(crate) fn ssd(&mut self) -> SsdParams {
        let planes = self.between(1, 4);
        let dynamic = self.chance(35);
        let pool = if self.chance(60) { BlockPoolScope::Plane } else { BlockPoolScope::Die };
        let blocking =
            if pool == BlockPoolScope::Plane && self.chance(40) { CollectionBlockingScope::Plane } else { CollectionBlockingScope::Die };
        let separate_open_block = self.chance(30);
        let planes_per_pool = if pool == BlockPoolScope::Plane { 1 } else { planes };
        let start = self.between(1, 3 * planes_per_pool);
        // The least that never runs dry (rules.md), and up to two blocks more.
        let fill_seals_last_block = self.chance(70);
        let more = u64::from(separate_open_block) + u64::from(dynamic) + u64::from(!fill_seals_last_block);
        let least_reserved = (start + 2 + more).div_ceil(planes_per_pool);
        let reserved = least_reserved + self.between(0, 2);
        let blocks = self.between(6.max(reserved + 1), 24);
        let stop = start + self.between(1, 3);
        let trigger =
            if self.chance(70) { HostRequestKindsThatMayStartGc::EveryRequest } else { HostRequestKindsThatMayStartGc::OnlyWrites };
        let victim = self.victim();
        let copy_back = self.chance(60);
        let gc = GcParams {
            gc_algorithm: GcAlgorithm::VictimByPolicy,
            rules: CollectionRules { trigger, pool, blocking, separate_open_block, copy_back, parallel_planes: false },
            start_threshold_free_blocks: start as u32,
            stop_threshold_free_blocks: stop as u32,
            victim,
            collection_takes_no_time: self.chance(10),
            preemption: None,
            idle_collection_after_ns: None,
        };
        let geometry = Geometry {
            dies: self.between(1, 4) as u32,
            planes: planes as u32,
            blocks_per_plane: blocks as u32,
            pages_per_block: self.between(4, 16) as u32,
            page_bytes: PAGE_BYTES as u32,
            overprovisioned_blocks_per_plane: reserved as u32,
            has_summary_page: self.chance(50),
        };
        let channel = self.chance(30).then(|| DieToChannelAssignment {
            dies_per_channel: self.between(1, u64::from(geometry.dies)) as u32,
            // Decided by an earlier draw, so that later ones stay as they were.
            die_numbering: if geometry.pages_per_block.is_multiple_of(2) {
                DieNumbering::InterleavedDies
            } else {
                DieNumbering::ConsecutiveWithinChannel
            },
        });
        let blocking = if channel.is_some() { CollectionBlockingScope::Die } else { blocking };
        let link = self.chance(30).then(|| HostLinkParams {
            page_transfer_ns: self.between(4_001, 60_000),
            duplex: if self.chance(50) { Duplex::Full } else { Duplex::Half },
        });
        SsdParams {
            geometry,
            timing: self.timing(channel.is_some()),
            writes: PoolWrites {
                die_stride: if self.chance(50) { 1 } else { self.between(1, 4) as u32 },
                allocation: if dynamic { DieChoiceForWrites::Dynamic } else { DieChoiceForWrites::Static },
                plane_choice: if self.chance(70) { PlaneChoice::MostFreePages } else { PlaneChoice::Rotate },
                fill_seals_last_block,
                ..PoolWrites::default()
            },
            gc: GcParams { rules: CollectionRules { blocking, ..gc.rules }, ..gc },
            pools_start_empty: false,
            channel,
            link,
            front_end: None,
            die_delay_mechanisms: Default::default(),
            superblock: None,
        }
    }

    /// All features on switches of their own; with such drives, if any are given.
    pub(crate) fn mixed_array(&mut self, drive: Option<&SsdParams>) -> ArrayParams {
        let mut params = self.array();
        if let Some(drive) = drive {
            params.ssd = drive.clone();
            if self.chance(50) && !drive.gc.collection_takes_no_time {
                let target = u64::from(drive.gc.start_threshold_free_blocks);
                params.coordination = Some(self.coordination(u64::from(params.members), target));
            }
            return params;
        }
        if self.chance(15) {
            self.make_blocks_large(&mut params);
        }
        let ssd = &mut params.ssd;
        let by_plane = ssd.gc.rules.pool == BlockPoolScope::Plane && self.chance(60);
        ssd.gc.rules.blocking = if by_plane { CollectionBlockingScope::Plane } else { CollectionBlockingScope::Die };
        if self.chance(70) {
            ssd.gc.preemption = self.preemption();
        }
        if self.chance(35) {
            ssd.gc.idle_collection_after_ns = Some(50_021 << self.between(0, 8));
        }
        // The scheme `ideal` is one of its own.
        if self.chance(40) && !ssd.gc.collection_takes_no_time {
            let start = u64::from(ssd.gc.start_threshold_free_blocks);
            params.coordination = Some(self.coordination(u64::from(params.members), start));
        }
        params
    }

    /// Few blocks of up to 512 pages in a small array.
    pub(crate) fn make_blocks_large(&mut self, params: &mut ArrayParams) {
        params.level = [RaidLevel::Single, RaidLevel::Raid0, RaidLevel::Raid1][self.between(0, 2) as usize];
        params.members = if params.level == RaidLevel::Single { 1 } else { 2 };
        let SsdParams { geometry, gc, .. } = &mut params.ssd;
        geometry.dies = geometry.dies.min(2);
        geometry.planes = geometry.planes.min(2);
        let most_pages = if self.chance(30) { 512 } else { 160 };
        geometry.pages_per_block = self.between(65, most_pages) as u32;
        let planes_per_pool = if gc.rules.pool == BlockPoolScope::Plane { 1 } else { geometry.planes };
        gc.start_threshold_free_blocks = self.between(1, 2) as u32;
        gc.stop_threshold_free_blocks = gc.start_threshold_free_blocks + 1;
        // What the least that never runs dry needs at most (rule 16).
        geometry.overprovisioned_blocks_per_plane = (gc.start_threshold_free_blocks + 5).div_ceil(planes_per_pool);
        geometry.blocks_per_plane = geometry.overprovisioned_blocks_per_plane + self.between(2, 4) as u32;
    }

    /// Requests come from up to four streams.
    pub(crate) fn set_streams(&mut self, case: &mut Case) {
        let streams = self.between(1, 4);
        for request in &mut case.requests {
            request.stream = self.between(0, streams - 1) as u8;
        }
    }

    /// Some requests trim, some of them whole stripes, and a few flush.
    pub(crate) fn trim_some(&mut self, case: &mut Case) {
        let percent = self.between(5, 60);
        let params = &case.params;
        let columns = reference::array_pages(params) / reference::stripes(params) / u64::from(params.stripe_unit_pages);
        let stripe_bytes = columns * u64::from(params.stripe_unit_pages) * PAGE_BYTES;
        let array_bytes = reference::array_pages(params) * PAGE_BYTES;
        for request in &mut case.requests {
            if self.chance(5) {
                request.kind = OpKind::Flush;
            } else if self.chance(percent) {
                request.kind = OpKind::Trim;
                if !request.contiguous_on_one_member && self.chance(50) {
                    request.offset_bytes = request.offset_bytes / stripe_bytes * stripe_bytes;
                    request.length_bytes = (stripe_bytes + self.between(0, 2 * stripe_bytes)).min(array_bytes - request.offset_bytes);
                }
            }
        }
    }

    /// Section 25 of the rules: queues, cores and a write buffer before the dies; flushes, and writes that are to survive a loss of power.
    pub(crate) fn put_front(&mut self, case: &mut Case) {
        let kinds = self.between(1, 7);
        let firmware = ControllerCores {
            cores: self.between(1, 3) as u32,
            read: Duration { ns: self.time_of_front() },
            write: Duration { ns: self.time_of_front() },
            move_: Duration { ns: 0 },
            trim: Duration { ns: self.time_of_front() },
            trim_unit: Duration { ns: self.between(0, 99) },
            latency: Duration { ns: self.time_of_front() },
        };
        let most_units = if self.chance(60) { 12 } else { 300 };
        let most_commands = if self.chance(60) { 4 } else { 60 };
        case.params.ssd.front_end = Some(FrontEndParams {
            write_buffer: (kinds & 1 > 0).then(|| BufferParams {
                capacity_mapping_units: self.between(1, most_units) as u32,
                settings: WriteBuffer { ack: Duration { ns: self.time_of_front() }, protected: self.chance(50), ..WriteBuffer::default() },
            }),
            queues: (kinds & 2 > 0).then(|| SubmissionQueues {
                queues: self.between(1, 4) as u32,
                burst: self.between(1, 3) as u32,
                commands: self.between(1, most_commands) as u32,
            }),
            firmware: if kinds & 4 > 0 { firmware } else { ControllerCores::WITHOUT_OVERHEAD },
        });
        self.want_safety(case);
    }

    /// Some requests flush, and some writes are to survive a loss of power.
    pub(crate) fn want_safety(&mut self, case: &mut Case) {
        let (flushes, forced) = (self.between(0, 8), if self.chance(50) { self.between(1, 60) } else { 0 });
        for request in &mut case.requests {
            if self.chance(flushes) {
                request.kind = OpKind::Flush;
            }
            request.fua = request.kind == OpKind::Write && self.chance(forced);
        }
    }

    pub(crate) fn time_of_front(&mut self) -> u64 {
        if self.chance(30) { 0 } else { self.between(1, 40_000) }
    }

    /// Some requests take pages of one member only (rule 50).
    pub(crate) fn aim_at_members(&mut self, case: &mut Case) {
        let percent = if self.chance(25) { self.between(10, 90) } else { 0 };
        for request in &mut case.requests {
            request.contiguous_on_one_member = self.chance(percent) && reference::fits_one_member(&case.params, request);
        }
    }

    /// Section 10 of the rules: preemption, idle collection, requests of high priority.
    pub(crate) fn make_interruptible(&mut self, case: &mut Case) {
        let ssd = &mut case.params.ssd;
        ssd.channel = None;
        ssd.writes.allocation = DieChoiceForWrites::Static;
        ssd.gc.rules.blocking = CollectionBlockingScope::Die;
        ssd.gc.collection_takes_no_time = false;
        ssd.gc.preemption = self.preemption();
        let with_idle = ssd.gc.preemption.is_none() || self.chance(30);
        ssd.gc.idle_collection_after_ns = with_idle.then(|| 50_021 << self.between(0, 8));
        if with_idle {
            // Dies that become idle together also end together. Their order on the link is left to the implementation (rule 38).
            ssd.link = None;
        }
        self.want_few_pages(case);
        self.set_priorities(case);
    }

    pub(crate) fn preemption(&mut self) -> Option<GcPreemption> {
        let merge = self.chance(40);
        let suspension = self.chance(30).then(|| ProgramEraseSuspension {
            suspend_ns: if self.chance(80) { self.between(1_003, 30_000) } else { 0 },
            resume_ns: if self.chance(80) { self.between(1_003, 30_000) } else { 0 },
            suspensions_max: self.between(1, 4) as u32,
        });
        self.chance(90).then(|| GcPreemption {
            poll: Duration { ns: if self.chance(80) { self.between(401, 900) } else { 0 } },
            t_hard: Fraction(if self.chance(30) { 0.0 } else { self.between(1, 100) as f64 / 100.0 }),
            pipeline: if self.chance(50) { HostOverlapWithMoves::RequestsWaitingAtStepStart } else { HostOverlapWithMoves::NoOverlap },
            merge,
            reorder: merge && self.chance(70),
            suspension,
        })
    }

    /// Few pages are wanted again and again, so that some are wanted while they move.
    pub(crate) fn want_few_pages(&mut self, case: &mut Case) {
        if self.chance(35) {
            let few_bytes = self.between(2, 30) * PAGE_BYTES;
            let array_bytes = reference::array_pages(&case.params) * PAGE_BYTES;
            for request in &mut case.requests {
                request.offset_bytes %= few_bytes.min(array_bytes);
                request.length_bytes = request.length_bytes.min(array_bytes - request.offset_bytes);
            }
        }
    }

    pub(crate) fn set_priorities(&mut self, case: &mut Case) {
        let high_priority_percent = if self.chance(30) { self.between(2, 60) } else { 0 };
        for request in &mut case.requests {
            request.high_priority = self.chance(high_priority_percent);
        }
    }

    /// Section 11 of the rules.
    pub(crate) fn coordinate(&mut self, case: &mut Case) {
        let ssd = &mut case.params.ssd;
        ssd.gc.idle_collection_after_ns = None;
        if self.chance(50) {
            ssd.gc.preemption = None;
        }
        let start = u64::from(ssd.gc.start_threshold_free_blocks);
        case.params.coordination = Some(self.coordination(u64::from(case.params.members), start));
    }

    pub(crate) fn coordination(&mut self, members: u64, start: u64) -> CoordinationParams {
        let scheme = loop {
            let scheme = CoordinationPolicy::random_for_tests(&mut self.0);
            if scheme.has_coordinating_controller() && has_rule(&scheme) {
                break scheme;
            }
        };
        let slow = self.chance(50);
        let mut latency_ns = [0; MESSAGE_KINDS];
        if slow {
            latency_ns = std::array::from_fn(|_| if self.chance(70) { self.between(1_003, 900_000) } else { 0 });
        }
        let all = (1 << members) - 1;
        CoordinationParams {
            scheme,
            force_until: FORCED_WORK[self.between(0, FORCED_WORK.len() as u64 - 1) as usize],
            t_soft: GcStopThreshold::FreeBlocks((start + self.between(1, 4)) as u32),
            notify: Some(JointCollectionRequestTiming::AtStartThreshold),
            delay: Duration { ns: if self.chance(30) { self.between(1_009, 3_000_000) } else { 0 } },
            answer: if self.chance(90) { ControllerAnswer::Prompt } else { ControllerAnswer::Never },
            coordinated_members: MemberSet(if self.chance(70) { all } else { u128::from(self.between(0, all as u64)) }),
            latency: latency_of_kinds(latency_ns),
            ..CoordinationParams::default()
        }
    }

    /// Section 12 of the rules.
    pub(crate) fn make_stripes(&mut self, case: &mut Case) {
        let params = &mut case.params;
        let (level, members) = match self.between(0, 9) {
            0 | 1 => (RaidLevel::Raid4, self.between(3, 6)),
            2..=4 => (RaidLevel::Raid5, self.between(3, 6)),
            5..=7 => (RaidLevel::Raid6, self.between(4, 7)),
            8 => (RaidLevel::Raid1, self.between(2, 4)),
            _ => (RaidLevel::Raid10, 2 * self.between(1, 3)),
        };
        (params.level, params.members) = (level, members as u32);
        if let Some(coordination) = &mut params.coordination {
            coordination.coordinated_members.0 =
                if self.chance(80) { (1 << members) - 1 } else { u128::from(self.between(0, (1 << members) - 1)) };
        }
        let array_bytes = reference::array_pages(params) * PAGE_BYTES;
        for request in &mut case.requests {
            request.offset_bytes %= array_bytes;
            request.length_bytes = request.length_bytes.min(array_bytes - request.offset_bytes);
            request.contiguous_on_one_member &= reference::fits_one_member(params, request);
        }
        let mirrors = matches!(level, RaidLevel::Raid1 | RaidLevel::Raid10);
        if mirrors || self.chance(60) {
            let (quicker, earlier) = (self.between(0, 8), self.between(0, 4));
            let last_ns = case.requests.iter().map(|request| request.arrival_ns).max().unwrap_or(0);
            params.rebuild = self.chance(75).then(|| {
                let delay = Duration { ns: if self.chance(50) { self.between(0, last_ns / 4) } else { 0 } };
                RebuildParams {
                    strip_interval_min_ns: 1 + self.between(0, (last_ns / 20) >> quicker),
                    settings: Rebuilding {
                        delay,
                        in_flight: self.between(1, 4) as u32,
                        spares: 1,
                        spare: if self.chance(50) { InitialSpareState::WarmedUpByOverwrites } else { InitialSpareState::Blank },
                        finish: self.chance(30),
                    },
                }
            });
            let at_ns = self.between(0, (last_ns * 11 / 10) >> earlier);
            params.failures = vec![MemberFailure { member: self.between(0, members - 1) as u32, at: Duration { ns: at_ns } }];
            if self.chance(40) {
                self.fail_more(params, last_ns);
            }
        }
    }

    /// Section 18 of the rules: a second member fails, at the same time, soon after, or at any time, and sometimes a third.
    pub(crate) fn fail_more(&mut self, params: &mut ArrayParams, last_ns: u64) {
        let first_ns = params.failures[0].at.ns;
        for _ in 0..if self.chance(25) { 2 } else { 1 } {
            let member = self.between(0, u64::from(params.members) - 1) as u32;
            let at_ns = match self.between(0, 3) {
                0 => first_ns,
                1 | 2 => first_ns + self.between(0, last_ns / 4),
                _ => self.between(0, last_ns),
            };
            if params.failures.iter().all(|failure| failure.member != member) {
                params.failures.push(MemberFailure { member, at: Duration { ns: at_ns } });
            }
        }
        if let Some(rebuild) = &mut params.rebuild {
            rebuild.settings.spares = self.between(1, 3) as u32;
        }
    }

    /// Section 13 of the rules.
    pub(crate) fn put_cache(&mut self, case: &mut Case) {
        let all: Vec<StripeAndMemberCaches> = CachePolicy::all_with_default_parameters()
            .iter()
            .map(CachePolicy::stripe_and_member_caches)
            .filter(|parts| !parts.has_no_cache())
            .collect();
        let parts = all[self.between(0, all.len() as u64 - 1) as usize];
        let size = self.between(1, 6);
        let (mut group_pages, mut member_pages) = (self.between(1, 1 << size) as u32, self.between(1, 1 << size) as u32);
        if parts.member_caches.is_none() {
            member_pages = 0;
        }
        if parts.dirty_stripe_cache.is_none() {
            group_pages = 0;
        }
        let high = if self.chance(50) { 0.0 } else { self.between(0, 1000) as f64 / 1000.0 };
        let memory = self.between(0, 2);
        case.params.cache = Some(WriteCacheParams {
            stripe_and_member_caches: parts,
            dirty_stripe_cache_capacity_pages: group_pages,
            member_cache_pages: member_pages,
            recency: RecencyBit::Hits,
            destage_start_fill: if self.chance(20) { high } else { high * self.between(0, 1000) as f64 / 1000.0 },
            full_speed_destage_fill_fraction: high,
            destages_in_flight_max: if self.chance(60) { 1 } else { self.between(2, 6) as u32 },
            destage_wait_for_other_members_max_ns: 10_007 << self.between(0, 12),
            nvm_page_read_ns: if memory > 0 { self.between(1, 5_000) } else { 0 },
            nvm_page_write_ns: if memory > 1 { self.between(1, 60_000) } else { 0 },
            // The room follows from the sizes, so that the other cases stay what they were.
            capacity_unit: [
                CapacityUnit::Pages,
                CapacityUnit::PagesAdmittingWholeWrites,
                CapacityUnit::Pages,
                CapacityUnit::DirtyStripesOrStrips,
            ][((group_pages + member_pages) % 4) as usize],
        });
    }

    /// Section 17 of the rules; data pass in a tenth of a page read to ten of them.
    pub(crate) fn limit_host(&mut self, case: &mut Case) {
        let page_ns = 2_000 << self.between(0, 7);
        let outstanding_max = 1 << self.between(0, 5);
        let outstanding = self.chance(75).then(|| self.between(1, outstanding_max) as u32);
        let bytes_per_s = self.chance(70).then(|| PAGE_BYTES * 1_000_000_000 / (page_ns + self.between(0, 1_999)));
        let processor = self.chance(50).then(|| self.processor());
        case.params.host_port =
            Some(ControllerLimits { outstanding, bandwidth: bytes_per_s.map(|bytes_per_s| ByteRate { bytes_per_s }), processor });
    }

    /// Requests keep one to sixteen cores from a twentieth of a page read to two of them; any of its times may be 0.
    fn processor(&mut self) -> ArrayProcessor {
        let cores = 1 << self.between(0, 4);
        let [request, shared, stripe, parity_page] =
            [100_000, 9_000, 30_000, 5_000].map(|ns| Duration { ns: if self.chance(70) { self.between(1, ns) } else { 0 } });
        let lock = if self.chance(50) { StripeLock::Stripe } else { StripeLock::All };
        ArrayProcessor { cores, request, shared, stripe, parity_page, lock }
    }

    /// Greedy, which takes shortcuts of its own, more often than any other of the list.
    pub(crate) fn victim(&mut self) -> VictimPolicy {
        if self.chance(30) { VictimPolicy::default() } else { VictimPolicy::random_for_tests(&mut self.0) }
    }

    /// Odd figures, so that sums of them are seldom equal by accident.
    pub(crate) fn timing(&mut self, channels: bool) -> Timing {
        Timing {
            page_read: Duration { ns: self.between(20_011, 90_000) },
            page_program: Duration { ns: self.between(150_001, 900_000) },
            block_erase: Duration { ns: self.between(1_000_001, 4_000_000) },
            page_transfer_ns: if channels || self.chance(70) { self.between(5_003, 120_000) } else { 0 },
            block_summary_page_transfer_ns: if channels || self.chance(70) { self.between(1_009, 20_000) } else { 0 },
            command_overhead: Duration { ns: if self.chance(50) { self.between(501, 9_000) } else { 0 } },
            transfer_per_byte: TimePerByte::default(),
            spare_bytes_per_sector: 0,
            spreads_summary_page_over_programs: false,
        }
    }

    pub(crate) fn requests(&mut self, params: &ArrayParams) -> Vec<Request> {
        let array_bytes = reference::array_pages(params) * PAGE_BYTES;
        let count = self.between(20, 200);
        let longest_pages = self.between(1, 20);
        let write_percent = [0, 20, 50, 80, 100, 100][self.between(0, 5) as usize];
        let hot_percent = if self.chance(50) { self.between(30, 95) } else { 0 };
        let hot_bytes = (array_bytes / self.between(2, 20)).max(1);
        let sequential_percent = if self.chance(50) { self.between(10, 80) } else { 0 };
        let burst_percent = if self.chance(50) { self.between(10, 95) } else { 0 };
        let together_percent = if self.chance(30) { 30 } else { 0 };
        let mean_gap_ns = 10_007 << self.between(0, 11);
        let partial = self.chance(50);
        let mut now = 0;
        let mut end_of_last = 0;
        let mut requests = Vec::new();
        for _ in 0..count {
            let mut length = self.between(1, longest_pages) * PAGE_BYTES;
            let mut offset = if self.chance(sequential_percent) {
                end_of_last
            } else if self.chance(hot_percent) {
                self.between(0, hot_bytes - 1)
            } else {
                self.between(0, array_bytes - 1)
            };
            if partial {
                length = self.between(1, length);
            } else {
                offset = offset / PAGE_BYTES * PAGE_BYTES;
            }
            offset %= array_bytes;
            length = length.min(array_bytes - offset);
            end_of_last = offset + length;
            now += if self.chance(together_percent) {
                0
            } else if self.chance(burst_percent) {
                self.between(1, mean_gap_ns / 10)
            } else {
                self.between(1, 2 * mean_gap_ns)
            };
            requests.push(Request {
                arrival_ns: now,
                offset_bytes: offset,
                length_bytes: length,
                kind: if self.chance(write_percent) { OpKind::Write } else { OpKind::Read },
                fua: false,
                zeroes: false,
                high_priority: false,
                stream: 0,
                contiguous_on_one_member: false,
            });
        }
        requests
    }
}
