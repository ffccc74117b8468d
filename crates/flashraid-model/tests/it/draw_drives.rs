//! Random small drives with superblocks, and loads for a single drive.

use flashraid_model::array::{ArrayParams, RaidLevel, ReadPlan, WarmUp, WarmUpPattern};
use flashraid_model::coordination::{ControllerAnswer, CoordinationParams, JointCollectionRequestTiming, MESSAGE_KINDS, ReactiveInclusive};
use flashraid_model::flash::{DieNumbering, DieToChannelAssignment, Geometry, Timing};
use flashraid_model::ids::MemberSet;
use flashraid_model::request::{HostLoop, OpKind, Request};
use flashraid_model::rng::{self, RandomStream};
use flashraid_model::ssd::{
    BufferParams, CollectionRules, ControllerCores, DieChoiceForWrites, DieDelayMechanisms, Duplex, GcAlgorithm, GcParams, GcPreemption,
    HandleIsolation, HostLinkParams, HostOverlapWithMoves, OperationSuspension, PlacementHandles, PlaneChoice, PlaneReadMode, PlaneReads,
    PoolWrites, RefreshAndWearLevellingParams, SlcSuperblockCountLimit, SlcSuperblockParams, SlcTimes, SsdParams, SubmissionQueues,
    SuperblockCollectionParams, SuperblockDriveParams, Suspension, VictimPolicy, WriteBuffer,
};
use flashraid_model::units::{Duration, Fraction, GcStopThreshold, TimePerByte};

use crate::cases::PAGE_BYTES;
use crate::draw::draw_owners;
use crate::draw_parts::{FORCED_WORK, latency_of_kinds};
use crate::outcome::Case;

/// Seeds of cases in which the host once waited for ever.
///
/// No superblock was a useful victim before the last one was sealed, and nothing looked for victims at that moment.
/// These cases are drawn without the mechanisms that came later.
pub(crate) const ONCE_STUCK: [u64; 5] = [3773, 6614, 8046, 10_873, 14_181];

/// Draws a single drive and a load for it. In some cases a controller forces the drive whenever it has asked.
///
/// Later mechanisms are drawn from streams of their own, so that a case without them stays as it was.
pub(crate) fn draw_drive_case(seed: u64) -> Case {
    let extras = !ONCE_STUCK.contains(&seed);
    let mut draw = DriveDraw(rng::stream(seed, "drives", 0));
    let mut extra = ExtraDraws::of(seed, extras);
    loop {
        let mut ssd = draw.ssd();
        extra.add_to(&mut ssd);
        let superblock = ssd.superblock.as_ref().unwrap();
        let shape = superblock.shape(&ssd.geometry);
        if shape.exported_mapping_units >= 4
            && shape.physical_mapping_units_per_drive() <= 3000
            && shape.always_has_victim_at_free_superblocks(superblock.collection.floor)
        {
            let overwrites = if draw.chance(40) { 0.0 } else { draw.between(0, 1500) as f64 / 1000.0 };
            let pattern =
                if superblock.starts_empty || draw.chance(80) { WarmUpPattern::Random } else { WarmUpPattern::SteadyStateWithoutWrites };
            let mut requests = draw.requests(&ssd);
            if extra.handles {
                requests.iter_mut().for_each(|request| request.stream = extra.apart.small(0, 6) as u8);
            }
            let coordination = (!ssd.gc.collection_takes_no_time && draw.chance(30)).then(|| draw.coordination());
            let (ssd, requests) = draw.queues(ssd, requests);
            let params = ArrayParams {
                level: RaidLevel::Single,
                members: 1,
                stripe_unit_pages: 1,
                parity_handle: Default::default(),
                ssd,
                coordination,
                failures: Vec::new(),
                rebuild: None,
                read_plan: ReadPlan::default(),
                slow: Vec::new(),
                cache: None,
                host_port: None,
            };
            let owners = if extra.handles { draw_owners(seed, &params) } else { Vec::new() };
            // More of these cases begin in the steady state of several handles.
            let pattern =
                if owners.len() > 1 && !params.ssd.superblock.as_ref().is_some_and(|own| own.starts_empty) && seed.is_multiple_of(2) {
                    WarmUpPattern::SteadyStateWithoutWrites
                } else {
                    pattern
                };
            let warm_up = WarmUp { overwrites_per_page: overwrites, pattern };
            return Case { params, warm_up, owners, seed, host: HostLoop::Open, requests };
        }
    }
}

/// Mechanisms that are drawn from streams of their own.
struct ExtraDraws {
    extras: bool,
    handles: bool,
    slc: bool,
    apart: DriveDraw,
    one_bit: DriveDraw,
    of_upkeep: DriveDraw,
    of_victims: DriveDraw,
    of_preemption: DriveDraw,
    of_mechanisms: DriveDraw,
    of_channels: DriveDraw,
}

impl ExtraDraws {
    fn of(seed: u64, extras: bool) -> Self {
        let stream = |name| DriveDraw(rng::stream(seed, name, 0));
        let (mut apart, mut one_bit) = (stream("handles"), stream("slc"));
        Self {
            extras,
            handles: extras && apart.chance(60),
            slc: extras && one_bit.chance(60),
            apart,
            one_bit,
            of_upkeep: stream("upkeep"),
            of_victims: stream("victims"),
            of_preemption: stream("preemption"),
            of_mechanisms: stream("mechanisms"),
            of_channels: stream("channels"),
        }
    }

    fn add_to(&mut self, ssd: &mut SsdParams) {
        if self.handles {
            self.apart.handles(ssd);
        } else if self.slc {
            self.one_bit.slc(ssd);
        }
        if self.extras {
            self.of_upkeep.upkeep(ssd);
            ssd.gc.victim = VictimPolicy::random_for_tests(&mut self.of_victims.0);
            self.of_preemption.preemption(ssd);
            if self.of_mechanisms.chance(40) {
                ssd.die_delay_mechanisms = DieDelayMechanisms::random_for_tests(&mut self.of_mechanisms.0, ssd.timing.page_program.ns);
            }
            if let Some(channel) = ssd.channel.as_mut().filter(|_| self.of_channels.chance(50)) {
                channel.die_numbering = DieNumbering::InterleavedDies;
            }
        }
    }
}

/// Factor between the times of the fastest drives and those of drives that are about as fast as the dies with pools.
pub(crate) const SLOWEST: u64 = 43;

/// Draws a drive that becomes a member of an array, and the factor by which its operations take longer than those of the fastest drives.
pub(crate) fn draw_drive(seed: u64) -> (SsdParams, u64) {
    let mut draw = DriveDraw(rng::stream(seed, "drives", 1));
    let mut extra = ExtraDraws::of(seed, true);
    loop {
        let mut ssd = draw.ssd();
        extra.add_to(&mut ssd);
        let superblock = ssd.superblock.as_ref().unwrap();
        let shape = superblock.shape(&ssd.geometry);
        if shape.exported_mapping_units >= 16
            && shape.physical_mapping_units_per_drive() <= 1500
            && shape.always_has_victim_at_free_superblocks(superblock.collection.floor)
        {
            let ssd = draw.queues(ssd, Vec::new()).0;
            let times = [1, 7, SLOWEST, SLOWEST][draw.between(0, 3) as usize];
            return (slower(ssd, times), times);
        }
    }
}

/// Multiplies all times of a drive.
fn slower(mut ssd: SsdParams, times: u64) -> SsdParams {
    let own = ssd.superblock.as_mut().unwrap();
    own.read_ns_by_page_type.iter_mut().for_each(|ns| *ns *= times);
    for ns in [
        &mut own.mapping_unit_transfer_ns,
        &mut own.buffer.settings.ack.ns,
        &mut ssd.timing.page_program.ns,
        &mut ssd.timing.block_erase.ns,
    ] {
        *ns *= times;
    }
    let firmware = &mut own.firmware;
    for ns in [&mut firmware.read.ns, &mut firmware.write.ns, &mut firmware.move_.ns, &mut firmware.trim.ns, &mut firmware.latency.ns] {
        *ns *= times;
    }
    if let Some(slc) = &mut own.slc {
        slc.times.program.ns *= times;
        slc.times.read.ns *= times;
    }
    for of in own.suspension.iter_mut().flat_map(|suspension| [&mut suspension.program, &mut suspension.erase]) {
        *of = of.scaled(|ns| ns * times);
    }
    own.buffer.settings.linger = own.buffer.settings.linger.map(|time| Duration { ns: time.ns * times });
    ssd.gc.idle_collection_after_ns = ssd.gc.idle_collection_after_ns.map(|ns| ns * times);
    if let Some(link) = &mut ssd.link {
        link.page_transfer_ns *= times;
    }
    ssd
}

struct DriveDraw(RandomStream);

impl DriveDraw {
    fn between(&mut self, min: u64, max: u64) -> u64 {
        min + rng::below(&mut self.0, max - min + 1)
    }

    fn small(&mut self, min: u64, max: u64) -> u32 {
        self.between(min, max) as u32
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// Gives the drive placement handles, and as many more superblocks as these need.
    fn handles(&mut self, ssd: &mut SsdParams) {
        let own = ssd.superblock.as_mut().unwrap();
        own.placement_handles = PlacementHandles {
            count: self.small(2, 4),
            isolation: if self.chance(60) { HandleIsolation::Persistently } else { HandleIsolation::Initially },
        };
        let shape = own.shape(&ssd.geometry);
        let before = own.collection;
        own.collection.floor = before.floor.max(shape.lowest_allowed_host_stall_superblocks());
        own.collection.target += own.collection.floor - before.floor;
        let more = shape.open_superblocks_max() - 4 + own.collection.floor - before.floor;
        ssd.geometry.blocks_per_plane += more;
        ssd.geometry.overprovisioned_blocks_per_plane += more;
        (ssd.gc.start_threshold_free_blocks, ssd.gc.stop_threshold_free_blocks) = (own.collection.target, own.collection.target + 1);
        own.buffer.capacity_mapping_units =
            own.buffer.capacity_mapping_units.max(shape.write_buffer_mapping_units_min() + self.small(0, 3));
    }

    /// Lets some drives move data that are read often or that lie in superblocks which are seldom erased.
    fn upkeep(&mut self, ssd: &mut SsdParams) {
        let own = ssd.superblock.as_mut().unwrap();
        own.upkeep = RefreshAndWearLevellingParams {
            reads_before_refresh: self.chance(40).then(|| self.between(1, 60)),
            erase_difference_to_level: self.chance(40).then(|| self.small(1, 6)),
        };
    }

    /// Lets some drives merge host reads with steps of collection, or overlap them.
    fn preemption(&mut self, ssd: &mut SsdParams) {
        if let Some(preemption) = &mut ssd.gc.preemption {
            preemption.merge = self.chance(50);
            preemption.pipeline = [
                HostOverlapWithMoves::NoOverlap,
                HostOverlapWithMoves::RequestsWaitingAtStepStart,
                HostOverlapWithMoves::RequestsWaitingOrArrivingDuringStep,
            ][self.between(0, 2) as usize];
        }
    }

    /// Lets superblocks of the drive hold one bit per cell, and gives it as many more as these need.
    fn slc(&mut self, ssd: &mut SsdParams) {
        let own = ssd.superblock.as_mut().unwrap();
        if own.bits_per_cell == 1 {
            return;
        }
        let room = if self.chance(50) {
            SlcSuperblockCountLimit::Superblocks(self.small(1, 6))
        } else {
            SlcSuperblockCountLimit::ShareOfSlcAndFreeSuperblocks { millionths_of_available: self.small(1, 1_000_000) }
        };
        let times = SlcTimes { program: Duration { ns: self.between(1, 3_000) }, read: Duration { ns: self.between(1, 300) } };
        own.slc = Some(SlcSuperblockParams { superblock_limit: room, times });
        let more = 2 + if let SlcSuperblockCountLimit::Superblocks(superblocks) = room { superblocks } else { 0 };
        ssd.geometry.blocks_per_plane += more;
        ssd.geometry.overprovisioned_blocks_per_plane += more;
        // Frequent idle time lets more superblocks be folded.
        if self.chance(40) {
            ssd.gc.idle_collection_after_ns = Some(self.between(1, 2_000));
        }
    }

    fn ssd(&mut self) -> SsdParams {
        let (planes, pages_per_cell, units_per_flash_page) = (self.small(1, 3), self.small(1, 3), self.small(1, 4));
        let unit_pages = if self.chance(60) { 1 } else { self.small(2, 4) };
        let (dies, rows, superblocks) = (self.small(1, 4), self.small(1, 6), self.small(14, 40));
        let floor = self.small(2, 3);
        let target = floor + self.small(1, 3);
        let geometry = Geometry {
            dies,
            planes,
            blocks_per_plane: superblocks,
            pages_per_block: rows * pages_per_cell * units_per_flash_page * unit_pages,
            page_bytes: PAGE_BYTES as u32,
            overprovisioned_blocks_per_plane: self.small(u64::from(target) + 4, u64::from(superblocks) - 1),
            has_summary_page: false,
        };
        let superpage_units = planes * pages_per_cell * units_per_flash_page;
        let timing = Timing {
            page_read: Duration { ns: 0 },
            page_program: Duration { ns: self.between(1, 9_000) },
            block_erase: Duration { ns: self.between(1, 20_000) },
            page_transfer_ns: 0,
            block_summary_page_transfer_ns: 0,
            command_overhead: Duration { ns: 0 },
            transfer_per_byte: TimePerByte::default(),
            spare_bytes_per_sector: 0,
            spreads_summary_page_over_programs: false,
        };
        let superblock = SuperblockDriveParams {
            pages_per_mapping_unit: unit_pages,
            mapping_units_per_flash_page: units_per_flash_page,
            bits_per_cell: pages_per_cell,
            read_ns_by_page_type: (0..self.between(1, 3)).map(|_| self.between(1, 900)).collect(),
            mapping_unit_transfer_ns: if self.chance(20) { 0 } else { self.between(1, 70) },
            reads: PlaneReads {
                plane_reads: if self.chance(60) { PlaneReadMode::EachPlaneIndependently } else { PlaneReadMode::OnePlaneAtATime },
                cache_read: self.chance(50),
                reads_ahead: self.small(1, 5),
            },
            dies_programming_max: self.small(1, u64::from(dies)),
            has_parity_superpages: dies > 1 && self.chance(40),
            placement_handles: PlacementHandles::SINGLE_HANDLE,
            slc: None,
            buffer: BufferParams {
                capacity_mapping_units: superpage_units * self.small(2, 6) + self.small(0, 3),
                settings: WriteBuffer {
                    ack: Duration { ns: self.between(0, 50) },
                    protected: self.chance(50),
                    linger: self.chance(40).then(|| Duration { ns: self.between(1, 20_000) }),
                },
            },
            submission_queues: None,
            firmware: ControllerCores {
                cores: self.small(1, 3),
                read: Duration { ns: self.between(0, 60) },
                write: Duration { ns: self.between(0, 90) },
                move_: Duration { ns: self.between(0, 40) },
                trim: Duration { ns: self.between(0, 60) },
                trim_unit: Duration { ns: self.between(0, 5) },
                latency: Duration { ns: self.between(0, 200) },
            },
            collection: SuperblockCollectionParams {
                target,
                span: self.small(1, 3),
                floor,
                move_backlog_max_mapping_units: u64::from(superpage_units) * self.between(0, 2 * u64::from(dies)),
            },
            upkeep: RefreshAndWearLevellingParams::default(),
            suspension: self.chance(50).then(|| Suspension { program: self.suspension(), erase: self.suspension() }),
            starts_empty: self.chance(20),
        };
        let preemption = GcPreemption {
            poll: Duration { ns: 0 },
            t_hard: Fraction(0.0),
            pipeline: HostOverlapWithMoves::NoOverlap,
            merge: false,
            reorder: false,
            suspension: None,
        };
        let gc = GcParams {
            gc_algorithm: GcAlgorithm::VictimByPolicy,
            rules: CollectionRules::default(),
            start_threshold_free_blocks: target,
            stop_threshold_free_blocks: target + 1,
            victim: VictimPolicy::default(),
            collection_takes_no_time: self.chance(15),
            preemption: (superblock.suspension.is_some() || self.chance(30)).then_some(preemption),
            idle_collection_after_ns: self.chance(25).then(|| self.between(1, 40_000)),
        };
        SsdParams {
            geometry,
            timing,
            writes: PoolWrites {
                die_stride: 1,
                allocation: DieChoiceForWrites::Static,
                plane_choice: PlaneChoice::MostFreePages,
                ..PoolWrites::default()
            },
            gc,
            pools_start_empty: false,
            channel: self.chance(50).then(|| DieToChannelAssignment::consecutive(self.small(1, u64::from(dies)))),
            link: self.chance(60).then(|| HostLinkParams {
                page_transfer_ns: self.between(1, 300),
                duplex: if self.chance(70) { Duplex::Full } else { Duplex::Half },
            }),
            front_end: None,
            die_delay_mechanisms: DieDelayMechanisms::default(),
            superblock: Some(superblock),
        }
    }

    fn suspension(&mut self) -> OperationSuspension {
        OperationSuspension {
            suspend: Some(Duration { ns: if self.chance(20) { 0 } else { self.between(0, 800) } }),
            resume: Duration { ns: if self.chance(30) { 0 } else { self.between(0, 300) } },
            suspensions_max: self.small(0, 5),
            progress: Some(Duration { ns: if self.chance(30) { 0 } else { self.between(0, 2_000) } }),
        }
    }

    /// Draws a controller that forces the drive whenever it has asked, or never answers.
    fn coordination(&mut self) -> CoordinationParams {
        let mut latency_ns = [0; MESSAGE_KINDS];
        latency_ns.fill_with(|| if self.chance(20) { 0 } else { self.between(1, 5_000) });
        CoordinationParams {
            scheme: ReactiveInclusive {}.into(),
            // The work follows from the latency, so that the other cases stay what they were.
            force_until: FORCED_WORK[(latency_ns[0] % FORCED_WORK.len() as u64) as usize],
            t_soft: GcStopThreshold::AboveStart(1),
            notify: Some(JointCollectionRequestTiming::AtStartThreshold),
            delay: Duration { ns: if self.chance(50) { 0 } else { self.between(1, 20_000) } },
            answer: if self.chance(85) { ControllerAnswer::Prompt } else { ControllerAnswer::Never },
            coordinated_members: MemberSet::single(0),
            latency: latency_of_kinds(latency_ns),
            ..CoordinationParams::default()
        }
    }

    /// Gives some drives queues. They are drawn last, so that the other cases stay as they were.
    fn queues(&mut self, mut ssd: SsdParams, mut requests: Vec<Request>) -> (SsdParams, Vec<Request>) {
        if self.chance(40) {
            let most = if self.chance(70) { 6 } else { 100 };
            let queues = SubmissionQueues { queues: self.small(1, 5), burst: self.small(1, 4), commands: self.small(1, most) };
            ssd.superblock.as_mut().unwrap().submission_queues = Some(queues);
            let sources = self.between(1, 6);
            requests.iter_mut().for_each(|request| request.stream = self.between(0, sources - 1) as u8);
        }
        (ssd, requests)
    }

    fn requests(&mut self, ssd: &SsdParams) -> Vec<Request> {
        let pages = ssd.exported_pages();
        let (reads, trims, flushes) = (self.between(0, 60), self.between(0, 10), self.between(0, 6));
        let forced = if self.chance(40) { self.between(1, 30) } else { 0 };
        let gap_max = [40, 400, 3_000][self.between(0, 2) as usize];
        let longest = if self.chance(50) { 3 } else { 40 };
        let mut now = 0;
        let count = self.between(20, 500);
        (0..count)
            .map(|_| {
                if self.chance(60) {
                    now += self.between(0, gap_max);
                } else if self.chance(3) {
                    now += self.between(0, 80_000);
                }
                let drawn = self.between(1, 100);
                let kind = match drawn {
                    _ if drawn <= reads => OpKind::Read,
                    _ if drawn <= reads + trims => OpKind::Trim,
                    _ if drawn <= reads + trims + flushes => return request(now, OpKind::Flush, 0, 1, false),
                    _ => OpKind::Write,
                };
                let first = self.between(0, pages - 1);
                let length = self.between(1, longest).min(pages - first);
                request(now, kind, first, length, kind == OpKind::Write && self.chance(forced))
            })
            .collect()
    }
}

fn request(arrival_ns: u64, kind: OpKind, first_page: u64, pages: u64, fua: bool) -> Request {
    Request {
        arrival_ns,
        offset_bytes: first_page * PAGE_BYTES,
        length_bytes: pages * PAGE_BYTES,
        kind,
        fua,
        zeroes: false,
        high_priority: false,
        stream: 0,
        contiguous_on_one_member: false,
    }
}
