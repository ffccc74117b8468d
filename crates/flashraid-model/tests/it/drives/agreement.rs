//! Model and reference on random small drives and loads, parts of the response time included.
//!
//! A case is one drive by itself, some with a controller that forces it whenever it has asked. Not compared: arrays of such drives, with parity,
//! caches, other schemes or a host port before them.

use flashraid_model::array::{Array, ArrayParams, Event, Level, PageRequest, ReadPlan, Setup};
use flashraid_model::coordination::{CoordinationParams, KINDS, Kind, Notify, ReactiveInclusive, Work};
use flashraid_model::events::TimeParts;
use flashraid_model::flash::{Geometry, Timing};
use flashraid_model::ids::MemberSet;
use flashraid_model::request::OpKind;
use flashraid_model::rng::{self, Stream};
use flashraid_model::ssd::{
    Allocation, Blocking, BufferParams, ChannelParams, FirmwareParams, GcParams, LinkParams, Mechanisms, OperationSuspension, Pipeline,
    PlacementHandles, PlaneChoice, PlaneReads, Pool, Preemption, Procedure, QueueParams, SlcParams, SlcRoom, SsdParams,
    SuperblockCollection, SuperblockParams, SuperblockSuspension, Trigger, UpkeepParams, VictimPolicy,
};

use super::reference::{Asked, Drive, Outcome};
use crate::cases::PAGE_BYTES;

/// Random cases of a run, unless `FLASHRAID_AGREEMENT_CASES` asks for fewer.
const CASES: u64 = 600;

/// Cases in which the host once waited for good: nothing was useful before the last superblock was sealed, and nobody looked again then.
const ONCE_STUCK: [u64; 5] = [3773, 6614, 8046, 10_873, 14_181];

#[derive(Debug)]
struct Case {
    ssd: SsdParams,
    coordination: Option<CoordinationParams>,
    /// Without: it begins in the steady state.
    overwrites: Option<f64>,
    asked: Vec<Asked>,
}

struct Draw(Stream);

impl Draw {
    fn between(&mut self, min: u64, max: u64) -> u64 {
        min + rng::below(&mut self.0, max - min + 1)
    }

    fn small(&mut self, min: u64, max: u64) -> u32 {
        self.between(min, max) as u32
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// Handles, one bit per cell, upkeep, victim policies and mechanisms are drawn apart, so that a case without is what it was before there were any.
    fn case(seed: u64, extras: bool) -> Case {
        let mut draw = Self(rng::stream(seed, "drives", 0));
        let mut apart = Self(rng::stream(seed, "handles", 0));
        let handles = extras && apart.chance(60);
        let mut one_bit = Self(rng::stream(seed, "slc", 0));
        let slc = extras && one_bit.chance(60);
        let mut of_upkeep = Self(rng::stream(seed, "upkeep", 0));
        let mut of_victims = Self(rng::stream(seed, "victims", 0));
        let mut of_preemption = Self(rng::stream(seed, "preemption", 0));
        let mut of_mechanisms = Self(rng::stream(seed, "mechanisms", 0));
        loop {
            let mut ssd = draw.ssd();
            if handles {
                apart.handles(&mut ssd);
            } else if slc {
                one_bit.slc(&mut ssd);
            }
            if extras {
                of_upkeep.upkeep(&mut ssd);
                ssd.gc.victim = VictimPolicy::any(&mut of_victims.0);
                of_preemption.preemption(&mut ssd);
                if of_mechanisms.chance(40) {
                    ssd.mechanisms = Mechanisms::any(&mut of_mechanisms.0, ssd.timing.page_program_ns);
                }
            }
            let superblock = ssd.superblock.as_ref().unwrap();
            let shape = superblock.shape(&ssd.geometry);
            if shape.exported_units >= 4 && shape.units() <= 3000 && shape.never_stops(superblock.collection.floor) {
                let overwrites = if draw.chance(40) { 0.0 } else { draw.between(0, 1500) as f64 / 1000.0 };
                let overwrites = (ssd.superblock.as_ref().is_some_and(|own| own.fresh) || draw.chance(80)).then_some(overwrites);
                let mut asked = draw.requests(&ssd);
                if handles {
                    asked.iter_mut().for_each(|asked| asked.5 = apart.small(0, 6) as u8);
                }
                let coordination = (!ssd.gc.instantaneous && draw.chance(30)).then(|| draw.coordination(&ssd));
                let (ssd, asked) = draw.queues(ssd, asked);
                return Case { ssd, coordination, overwrites, asked };
            }
        }
    }

    /// Gives the drive placement handles, and as many more superblocks as these need.
    fn handles(&mut self, ssd: &mut SsdParams) {
        let own = ssd.superblock.as_mut().unwrap();
        own.placement = PlacementHandles { handles: self.small(2, 4), is_persistent: self.chance(60) };
        let shape = own.shape(&ssd.geometry);
        let before = own.collection;
        own.collection.floor = before.floor.max(shape.floor_min());
        own.collection.target += own.collection.floor - before.floor;
        let more = shape.open_max() - 4 + own.collection.floor - before.floor;
        ssd.geometry.blocks_per_plane += more;
        ssd.geometry.reserved_blocks_per_plane += more;
        (ssd.gc.start_free_blocks, ssd.gc.stop_free_blocks) = (own.collection.target, own.collection.target + 1);
        own.buffer.units = own.buffer.units.max(shape.buffer_units_min() + self.small(0, 3));
    }

    /// Some drives move what has been read often or erased seldom.
    fn upkeep(&mut self, ssd: &mut SsdParams) {
        let own = ssd.superblock.as_mut().unwrap();
        own.upkeep = UpkeepParams {
            refresh_reads: self.chance(40).then(|| self.between(1, 60)),
            wear_difference: self.chance(40).then(|| self.small(1, 6)),
        };
    }

    /// Some drives merge host reads with steps of collection, or overlap them.
    fn preemption(&mut self, ssd: &mut SsdParams) {
        if let Some(preemption) = &mut ssd.gc.preemption {
            preemption.merge = self.chance(50);
            preemption.pipeline = [Pipeline::Off, Pipeline::AtPoints, Pipeline::InFlight][self.between(0, 2) as usize];
        }
    }

    /// Lets superblocks of the drive hold one bit per cell, and gives it as many more as these need.
    fn slc(&mut self, ssd: &mut SsdParams) {
        let own = ssd.superblock.as_mut().unwrap();
        if own.pages_per_cell == 1 {
            return;
        }
        let room = if self.chance(50) {
            SlcRoom::Superblocks(self.small(1, 6))
        } else {
            SlcRoom::ShareOfFree { millionths: self.small(1, 1_000_000) }
        };
        own.slc = Some(SlcParams { room, program_ns: self.between(1, 3_000), read_ns: self.between(1, 300) });
        let more = 2 + if let SlcRoom::Superblocks(superblocks) = room { superblocks } else { 0 };
        ssd.geometry.blocks_per_plane += more;
        ssd.geometry.reserved_blocks_per_plane += more;
        // There is more idle time to fold in.
        if self.chance(40) {
            ssd.gc.idle_ns = Some(self.between(1, 2_000));
        }
    }

    fn ssd(&mut self) -> SsdParams {
        let (planes, pages_per_cell, flash_page_units) = (self.small(1, 3), self.small(1, 3), self.small(1, 4));
        let unit_pages = if self.chance(60) { 1 } else { self.small(2, 4) };
        let (dies, rows, superblocks) = (self.small(1, 4), self.small(1, 6), self.small(14, 40));
        let floor = self.small(2, 3);
        let target = floor + self.small(1, 3);
        let geometry = Geometry {
            dies,
            planes,
            blocks_per_plane: superblocks,
            pages_per_block: rows * pages_per_cell * flash_page_units * unit_pages,
            page_bytes: PAGE_BYTES as u32,
            reserved_blocks_per_plane: self.small(u64::from(target) + 4, u64::from(superblocks) - 1),
            summary_page: false,
        };
        let superpage_units = planes * pages_per_cell * flash_page_units;
        let timing = Timing {
            page_read_ns: 0,
            page_program_ns: self.between(1, 9_000),
            block_erase_ns: self.between(1, 20_000),
            page_transfer_ns: 0,
            summary_transfer_ns: 0,
            command_overhead_ns: 0,
            spread_summaries: false,
        };
        let superblock = SuperblockParams {
            unit_pages,
            flash_page_units,
            pages_per_cell,
            page_read_ns: (0..self.between(1, 3)).map(|_| self.between(1, 900)).collect(),
            unit_transfer_ns: if self.chance(20) { 0 } else { self.between(1, 70) },
            plane_reads: if self.chance(60) { PlaneReads::Independent } else { PlaneReads::Die },
            cache_read: self.chance(50),
            reads_ahead: self.small(1, 5),
            programs_at_once: self.small(1, u64::from(dies)),
            rain: dies > 1 && self.chance(40),
            placement: PlacementHandles::ONE,
            slc: None,
            buffer: BufferParams {
                units: superpage_units * self.small(2, 6) + self.small(0, 3),
                ack_ns: self.between(0, 50),
                is_protected: self.chance(50),
                linger_ns: self.chance(40).then(|| self.between(1, 20_000)),
            },
            queues: None,
            firmware: FirmwareParams {
                cores: self.small(1, 3),
                read_ns: self.between(0, 60),
                write_ns: self.between(0, 90),
                move_ns: self.between(0, 40),
                trim_ns: self.between(0, 60),
                trim_unit_ns: self.between(0, 5),
                latency_ns: self.between(0, 200),
            },
            collection: SuperblockCollection {
                target,
                span: self.small(1, 3),
                floor,
                debt_units: u64::from(superpage_units) * self.between(0, 2 * u64::from(dies)),
            },
            upkeep: UpkeepParams::default(),
            suspension: self.chance(50).then(|| SuperblockSuspension { program: self.suspension(), erase: self.suspension() }),
            fresh: self.chance(20),
        };
        let preemption = Preemption { poll_ns: 0, t_hard: 0.0, pipeline: Pipeline::Off, merge: false, reorder: false, suspension: None };
        let gc = GcParams {
            procedure: Procedure::AsSet,
            pool: Pool::Plane,
            blocking: Blocking::Die,
            start_free_blocks: target,
            stop_free_blocks: target + 1,
            trigger: Trigger::Request,
            victim: VictimPolicy::default(),
            separate_open_block: false,
            copy_back: true,
            instantaneous: self.chance(15),
            preemption: (superblock.suspension.is_some() || self.chance(30)).then_some(preemption),
            idle_ns: self.chance(25).then(|| self.between(1, 40_000)),
        };
        SsdParams {
            geometry,
            timing,
            die_stride_pages: 1,
            allocation: Allocation::Static,
            plane_choice: PlaneChoice::MostFree,
            gc,
            fill_seals_last_block: true,
            channel: self.chance(50).then(|| ChannelParams { dies_per_channel: self.small(1, u64::from(dies)) }),
            link: self.chance(60).then(|| LinkParams { page_ns: self.between(1, 300), full_duplex: self.chance(70) }),
            front: None,
            mechanisms: Mechanisms::default(),
            superblock: Some(superblock),
        }
    }

    /// A controller that forces the drive whenever it has asked, or never answers.
    fn coordination(&mut self, ssd: &SsdParams) -> CoordinationParams {
        let mut latency_ns = [0; KINDS];
        latency_ns.fill_with(|| if self.chance(20) { 0 } else { self.between(1, 5_000) });
        CoordinationParams {
            scheme: ReactiveInclusive {}.into(),
            work: Work::Watermark,
            t_soft_free_blocks: ssd.gc.start_free_blocks + 1,
            notify: Notify::AtStart,
            delay_ns: if self.chance(50) { 0 } else { self.between(1, 20_000) },
            at_idle: false,
            across_dies: true,
            answers: self.chance(85),
            ggc_aware: MemberSet::of(0),
            latency_ns,
        }
    }

    /// Some drives have queues. It is drawn last, so that the other cases stay what they were.
    fn queues(&mut self, mut ssd: SsdParams, mut asked: Vec<Asked>) -> (SsdParams, Vec<Asked>) {
        if self.chance(40) {
            let most = if self.chance(70) { 6 } else { 100 };
            let queues = QueueParams { queues: self.small(1, 5), burst: self.small(1, 4), commands: self.small(1, most) };
            ssd.superblock.as_mut().unwrap().queues = Some(queues);
            let sources = self.between(1, 6);
            asked.iter_mut().for_each(|asked| asked.5 = self.between(0, sources - 1) as u8);
        }
        (ssd, asked)
    }

    fn suspension(&mut self) -> OperationSuspension {
        OperationSuspension {
            suspend_ns: if self.chance(20) { 0 } else { self.between(0, 800) },
            resume_ns: if self.chance(30) { 0 } else { self.between(0, 300) },
            times_max: self.small(0, 5),
            progress_ns: if self.chance(30) { 0 } else { self.between(0, 2_000) },
        }
    }

    fn requests(&mut self, ssd: &SsdParams) -> Vec<Asked> {
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
                let kind = if drawn <= reads {
                    OpKind::Read
                } else if drawn <= reads + trims {
                    OpKind::Trim
                } else if drawn <= reads + trims + flushes {
                    return (now, OpKind::Flush, 0, 0, false, 0);
                } else {
                    OpKind::Write
                };
                let first = self.between(0, pages - 1);
                let length = self.between(1, longest).min(pages - first);
                (now, kind, first as u32, length as u32, kind == OpKind::Write && self.chance(forced), 0)
            })
            .collect()
    }
}

fn by_model(case: &Case, seed: u64) -> Outcome {
    let params = ArrayParams {
        level: Level::Single,
        members: 1,
        stripe_unit_pages: 1,
        ssd: case.ssd.clone(),
        coordination: case.coordination.clone(),
        failures: Vec::new(),
        rebuild: None,
        read_plan: ReadPlan::Home,
        cache: None,
        host_port: None,
    };
    let mut array = Array::new(&params, seed, Setup::default());
    match case.overwrites {
        Some(overwrites) => array.untimed().members_to_warm_up()[0].warm_up(overwrites, seed),
        None => assert!(array.untimed().members_to_warm_up()[0].settle_down_while(seed, &mut |_| true)),
    }
    array.verify().unwrap();
    let mut events = Vec::new();
    for (tag, &(at, kind, first_page, pages, fua, stream)) in case.asked.iter().enumerate() {
        if at > 0 {
            array.advance(at - 1, &mut events);
        }
        let request = PageRequest {
            tag: tag as u64,
            first_page: u64::from(first_page),
            pages,
            kind,
            fua,
            high_priority: false,
            stream,
            one_member: false,
        };
        array.submit(at, &request).unwrap();
    }
    while let Some(at) = array.next_time() {
        array.advance(at, &mut events);
    }
    array.verify().unwrap();
    let mut done_ns = vec![0; case.asked.len()];
    let mut parts = vec![TimeParts::default(); case.asked.len()];
    for event in events {
        if let Event::Done(done) = event {
            assert_eq!(done.parts.total_ns(), done.at - case.asked[done.tag as usize].0, "the parts add up");
            done_ns[done.tag as usize] = done.at;
            parts[done.tag as usize] = done.parts;
        }
    }
    let ssd = &array.members()[0];
    let (media, counters, front) = (ssd.space().superblocks().unwrap(), ssd.drive_counters().unwrap(), ssd.front_counters().unwrap());
    let units = case.ssd.exported_pages() / u64::from(case.ssd.superblock.as_ref().unwrap().unit_pages);
    let counts = [
        ("commands", front.commands),
        ("fetch_waits", front.fetch_waits),
        ("fetch_wait_ns", front.fetch_wait_ns),
        ("pages_received", counters.pages_received),
        ("overwritten", front.overwritten),
        ("buffer_hits", front.buffer_hits),
        ("units_programmed", counters.units_programmed),
        ("units_slc", counters.units_slc),
        ("units_moved", counters.units_moved),
        ("units_folded", counters.units_folded),
        ("units_dropped", counters.units_dropped),
        ("units_padded", counters.units_padded),
        ("units_parity", counters.units_parity),
        ("rmw_reads", counters.rmw_reads),
        ("array_reads", counters.array_reads),
        ("joined", counters.joined),
        ("foreground", counters.foreground),
        ("forced_waits", front.forced_waits),
        ("victims", counters.victims),
        ("refreshed", counters.refreshed),
        ("levelled", counters.levelled),
        ("trimmed_in_part", counters.trimmed_in_part),
        ("suspensions", ssd.counters().suspensions),
        ("merges", ssd.counters().merges),
        ("pipelined", ssd.counters().pipelined),
        ("stalls", ssd.mechanism_counters().background.stalls),
        ("stall_waits_ns", ssd.mechanism_counters().background.waited_ns),
        ("forced", array.counters(u64::MAX).sent.map_or(0, |sent| sent[Kind::ForceGc as usize])),
    ];
    Outcome {
        done_ns,
        parts,
        places: (0..units as u32).map(|unit| media.location(unit)).collect(),
        erases: media.erase_counts().collect(),
        handles: (0..case.ssd.superblock.as_ref().unwrap().placement.handles as usize)
            .map(|at| {
                let of = counters.by_handle;
                [of.pages_received[at], of.host_units[at], of.collection_units[at]]
            })
            .collect(),
        counts: counts.into_iter().filter(|&(_, count)| count > 0).collect(),
    }
}

fn compare(seed: u64) -> (Case, Outcome) {
    let case = Draw::case(seed, seed < CASES || !ONCE_STUCK.contains(&seed));
    let expected = Drive::new(&case.ssd, case.coordination.as_ref(), case.overwrites, seed).run(&case.asked);
    let found = by_model(&case, seed);
    let end = |outcome: &Outcome, at: usize| (outcome.done_ns[at], outcome.parts[at]);
    let parted = (0..case.asked.len()).filter(|&at| end(&expected, at) != end(&found, at)).min_by_key(|&at| expected.done_ns[at]);
    if let Some(at) = parted {
        let (expected, found) = (end(&expected, at), end(&found, at));
        panic!("seed {seed}: request {at} {:?}:\n  expected {expected:?}\n  found    {found:?}\n{:#?}", case.asked[at], case.ssd);
    }
    assert_eq!(found.counts, expected.counts, "seed {seed}: {:#?}", case.ssd);
    assert_eq!(found, expected, "seed {seed}: {:#?}", case.ssd);
    (case, found)
}

#[test]
fn the_model_does_what_the_rules_say() {
    let mut reached = std::collections::BTreeMap::new();
    let cases = number("FLASHRAID_AGREEMENT_CASES", CASES).min(CASES);
    for seed in (0..cases).chain(ONCE_STUCK) {
        let (case, outcome) = compare(seed);
        assert!(outcome.done_ns.iter().zip(&case.asked).all(|(&done, asked)| done >= asked.0), "seed {seed}: all are done");
        let placement = case.ssd.superblock.as_ref().unwrap().placement;
        let moves_of = outcome.handles.iter().filter(|[.., moved]| *moved > 0).count();
        let shared = placement.handles > 1 && !placement.is_persistent && moves_of > 0;
        let of_handles = [("moved together", u64::from(shared)), ("moved apart", u64::from(moves_of > 1))];
        let victims = outcome.counts.get("victims").copied().unwrap_or(0);
        *reached.entry(case.ssd.gc.victim.name()).or_insert(0) += u64::from(victims > 0);
        for (what, count) in outcome.counts.into_iter().chain(of_handles) {
            *reached.entry(what).or_insert(0) += u64::from(count > 0);
        }
    }
    if cases < CASES {
        return;
    }
    for policy in VictimPolicy::NAMES {
        assert!(reached.get(policy).is_some_and(|&cases| cases >= 20), "{policy} picks a victim in {:?} cases", reached.get(policy));
    }
    for what in [
        "fetch_waits",
        "overwritten",
        "buffer_hits",
        "units_slc",
        "units_moved",
        "units_folded",
        "units_dropped",
        "units_padded",
        "units_parity",
        "rmw_reads",
        "joined",
        "foreground",
        "forced_waits",
        "victims",
        "refreshed",
        "levelled",
        "suspensions",
        "merges",
        "pipelined",
        "stalls",
        "forced",
        "moved together",
        "moved apart",
    ] {
        assert!(reached.get(what).is_some_and(|&cases| cases >= 20), "{what} is reached by {:?} cases of {CASES}", reached.get(what));
    }
}

/// As many cases as `FLASHRAID_CASES` says, from `FLASHRAID_SEED` on; for a longer look than a test has time for.
#[test]
#[ignore = "as long as wanted"]
fn the_model_does_what_the_rules_say_for_long() {
    let from = number("FLASHRAID_SEED", 100_000);
    for seed in from..from + number("FLASHRAID_CASES", 5000) {
        compare(seed);
    }
}

/// The number in a variable of the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}
