//! Section 24 of the rules, written down as plainly as possible: a drive that programs superpages and collects superblocks. Every list is
//! searched, and nothing kept that can be found out. What stands before it is the front of all members.

mod buffer;
mod collect;
mod die;
mod space;
mod start;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flashraid_model::array::{WarmUp, WarmUpPattern};
use flashraid_model::coordination::ForcedCollectionAmount;
use flashraid_model::events::OperationTimeParts;
use flashraid_model::rng;
use flashraid_model::space::superblocks::PointOfCycle;
use flashraid_model::ssd::{SsdParams, SuperblockDriveParams};

use super::front::{Front, FrontEvent, Told};
use super::layout::Labels;
use super::retries::Retries;
use super::stalls::StallSchedule;
use super::transfer::Wires;
use super::{Event, Operation, Simulation};
use crate::outcome::{Collection, DriveOutcome};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    Nowhere,
    Flash(u32),
    /// A superpage and the number in it.
    Buffer(u64, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Free,
    Open,
    Sealed,
    Victim,
}

#[derive(Debug, Clone)]
struct Superpage {
    stream: usize,
    of_host: bool,
    is_parity: bool,
    units: Vec<u32>,
    sources: Vec<u32>,
    missing: u32,
    is_full: bool,
    has_place: bool,
    begun: bool,
    first: u32,
}

#[derive(Clone)]
pub(super) struct Read {
    flash_page: u32,
    die: usize,
    plane: usize,
    ns: u64,
    /// Units of the flash page, who wants them, and where the time of these pages has gone.
    readers: Vec<(u32, Reader, OperationTimeParts)>,
}

#[derive(Clone, Copy)]
enum Reader {
    /// A page of a command.
    Page(usize, Operation),
    /// The rest of a unit of which a superpage of the host has a part.
    Rest(u64),
}

#[derive(Debug, Clone)]
struct Part {
    block: u32,
    first: u32,
    units: Vec<u32>,
    /// Types of page that are still to be read.
    types: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Job {
    Program(u64),
    Erase(u32),
    Part(usize),
}

#[derive(Default)]
struct Die {
    reads: Vec<Read>,
    programs: VecDeque<u64>,
    erases: VecDeque<u32>,
    moved: VecDeque<u64>,
    parts: VecDeque<usize>,
    /// Planes that read now, and pages that are still in their registers.
    reading: Vec<bool>,
    holding: Vec<u32>,
    /// The job, and whether its array works.
    job: Option<(Job, bool)>,
    job_began: u64,
    /// End of the array work of the job; reads that suspend it come before that.
    array_ends: u64,
    halt: Option<Halt>,
    times_suspended: u32,
    /// The array has to work until then before it is suspended again.
    works_until: u64,
    /// A read has come since the job began, or waited when it went on.
    read_came: bool,
    in_a_row: u32,
    ends: u64,
    stalls: Option<StallSchedule>,
    /// The end of the stall that something was last told to wait for.
    stall_awaited: u64,
}

/// Reads have the die; so much of the job is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    Coming(u64),
    There(u64),
    Leaving(u64),
}

#[derive(Clone)]
pub(super) enum DriveEvent {
    ArrayRead(Read),
    ReadTransferred(Read),
    JobStep(usize),
    /// The array work of a job would end now.
    ArrayEnds(usize),
    Halt(usize),
    MayHalt(usize),
    StallOver(usize),
    Linger(u64),
    Idle(usize),
}

#[derive(Debug, Clone)]
struct Victim {
    block: u32,
    valid: u32,
    next: u32,
    for_upkeep: bool,
}

#[derive(Debug, Clone, Default)]
struct Way {
    all_begun: bool,
    parts: u32,
    units: u32,
    erases: Option<u32>,
}

/// Settings that a drive needs to follow the protocol.
#[derive(Clone, Copy)]
pub(super) struct Role {
    pub registers: bool,
    pub t_soft_free_blocks: u32,
    pub needs_leave: bool,
    pub takes_turns: bool,
}

pub(super) struct Drive {
    member: usize,
    ssd: SsdParams,
    own: SuperblockDriveParams,
    now: u64,
    pub front: Front,
    channels: Vec<Wires>,
    retries: Retries,
    units: Vec<Where>,
    /// Handle that each unit has before the run.
    owners: Vec<usize>,
    labels: Labels,
    written: Vec<Option<u32>>,
    blocks: Vec<Block>,
    erases: Vec<u32>,
    /// Array reads for the host since the last erase, by superblock.
    reads: Vec<u64>,
    programmed: Vec<u32>,
    /// Placement handle of each superblock, if handles stay apart forever.
    handle_of: Vec<usize>,
    /// True for each superblock with one bit per cell.
    slc: Vec<bool>,
    /// Superblocks that streams have taken so far, and by superblock: the number that it was.
    openings: u32,
    opened: Vec<u32>,
    /// Random stream of the victim policies.
    victims_drawn: rng::RandomStream,
    free: VecDeque<u32>,
    /// First places of superpages with data whose programs have begun since their superblock was free.
    begun: BTreeSet<u32>,
    /// Superpages of parity that were written in no time.
    parity_in_no_time: u64,
    /// Open superblocks by stream: superblock, and rows left by die. Streams of the host come first, by handle, then those of collection,
    /// then that with one bit per cell.
    open: Vec<Vec<(u32, Vec<Vec<u32>>)>>,
    dies: Vec<Die>,
    turn: usize,
    /// Die at which writes without time continue, by stream.
    turns_in_no_time: Vec<usize>,
    /// Superpage of collection without time that is not full, with the number of its units, by stream.
    left_off: Vec<Option<(u32, u32)>>,
    asks: VecDeque<usize>,
    superpages: BTreeMap<u64, Superpage>,
    superpages_begun: u64,
    /// Superpage that takes units, by stream.
    filling: Vec<Option<u64>>,
    /// Superpages without a place: those of the host, then those of collection.
    to_place: [VecDeque<u64>; 2],
    credits: i128,
    victim: Option<Victim>,
    /// A victim of which a part was moved before the run, and its valid units before that.
    begun_victim: Option<(u32, u32)>,
    has_levelled: bool,
    ways: BTreeMap<u32, Way>,
    parts: Vec<Part>,
    room: u64,
    commands: usize,
    is_idle: bool,
    /// The run is over, and no idle time is used any more.
    idle_is_over: bool,
    in_foreground: bool,
    /// Role of the drive, if it knows the protocol (rule 216).
    role: Option<Role>,
    forced: Option<ForcedCollectionAmount>,
    /// True if the drive has freed a superblock since it was forced (rule 123).
    has_freed: bool,
    has_registered: bool,
    has_asked: bool,
    /// The present stretch of collection: since when, and if it was forced; those that have ended, with their ends.
    collects_since: Option<(u64, bool)>,
    collections: Vec<(u64, u64, bool)>,
    handles: Vec<[u64; 3]>,
    counts: BTreeMap<&'static str, u64>,
}

impl Drive {
    /// A drive after its fill, and after its warm-up if there is one. In the steady state it stands at `point` of its cycle.
    ///
    /// Units have the handles in `labels`, or handle 0 behind the end of that list.
    pub(super) fn new(ssd: &SsdParams, (seed, member): (u64, usize), warm_up: Option<WarmUp>, point: PointOfCycle, labels: Labels) -> Self {
        let own = ssd.superblock.clone().expect("a drive with superblocks");
        let g = ssd.geometry;
        let superblocks = g.blocks_per_plane as usize;
        let streams = 2 * own.placement_handles.count as usize;
        let per_channel = ssd.channel.map_or(1, |channel| channel.dies_per_channel);
        let exported = (u64::from(g.exported_pages_per_die()) * u64::from(g.dies) / u64::from(own.pages_per_mapping_unit)) as usize;
        let mut owners = labels.owners.clone();
        owners.resize(exported, 0);
        let die = |number: usize| Die {
            reading: vec![false; g.planes as usize],
            holding: vec![0; g.planes as usize],
            stalls: StallSchedule::of(&ssd.die_delay_mechanisms, seed, member, number),
            ..Die::default()
        };
        let mut drive = Self {
            member,
            now: 0,
            front: Front::of(ssd, member).expect("drives have a front"),
            channels: (0..g.dies.div_ceil(per_channel)).map(|_| Wires::default()).collect(),
            retries: Retries::of(&ssd.die_delay_mechanisms, seed, member),
            units: vec![Where::Nowhere; exported],
            owners,
            labels,
            written: Vec::new(),
            blocks: vec![Block::Free; superblocks],
            erases: vec![0; superblocks],
            reads: vec![0; superblocks],
            programmed: vec![0; superblocks],
            slc: vec![false; superblocks],
            openings: 0,
            opened: vec![0; superblocks],
            victims_drawn: rng::stream(seed, "victim", (member as u64) << 32),
            free: (0..g.blocks_per_plane).collect(),
            begun: BTreeSet::new(),
            parity_in_no_time: 0,
            handle_of: vec![0; superblocks],
            open: vec![Vec::new(); streams + 1],
            dies: (0..g.dies as usize).map(die).collect(),
            turn: 0,
            turns_in_no_time: vec![0; streams],
            left_off: vec![None; streams],
            asks: VecDeque::new(),
            superpages: BTreeMap::new(),
            superpages_begun: 0,
            filling: vec![None; streams],
            to_place: Default::default(),
            credits: 0,
            victim: None,
            begun_victim: None,
            has_levelled: false,
            ways: BTreeMap::new(),
            parts: Vec::new(),
            room: 0,
            commands: 0,
            is_idle: false,
            idle_is_over: false,
            in_foreground: false,
            role: None,
            forced: None,
            has_freed: false,
            has_registered: false,
            has_asked: false,
            collects_since: None,
            collections: Vec::new(),
            handles: vec![[0; 3]; own.placement_handles.count as usize],
            counts: BTreeMap::new(),
            ssd: ssd.clone(),
            own,
        };
        drive.written = vec![None; (drive.per_block() * g.blocks_per_plane) as usize];
        drive.room = 2 * u64::from(g.dies) * u64::from(drive.per_superpage());
        if let Some(WarmUp { pattern: WarmUpPattern::SteadyStateWithoutWrites, .. }) = warm_up {
            drive.is_steady(seed, point);
            return drive;
        }
        if !drive.own.starts_empty {
            for handle in 0..drive.handle_count() {
                let units: Vec<u32> = (0..exported as u32).filter(|&unit| drive.owners[unit as usize] == handle).collect();
                drive.write_untimed(handle, &units);
            }
        }
        // What is written later in no time begins at the first die again.
        drive.turns_in_no_time.fill(0);
        if let Some(WarmUp { pattern: WarmUpPattern::Random, overwrites_per_page: overwrites }) = warm_up {
            drive.warm_up(overwrites, seed);
        }
        drive
    }

    /// Makes the drive follow the protocol from now on.
    pub(super) fn gets_role(&mut self, role: Role) {
        self.role = Some(role);
        self.looks_if_it_collects();
    }

    pub(super) fn free_superblocks(&self) -> u32 {
        self.free.len() as u32
    }

    /// Begins the run, in which dies first rest.
    pub(super) fn begins_to_rest(&mut self) {
        if let Some(idle_ns) = self.idle_ns() {
            self.schedule(idle_ns, DriveEvent::Idle(0));
        }
    }

    /// Nothing happens until then; a read that waits for its die waits for collection or for something else (rule 214).
    pub(super) fn passes_until(&mut self, at: u64) {
        let ns = at - self.now;
        let dies = 0..self.dies.len();
        let work = dies.clone().filter(|&die| self.works(die)).count();
        let collect = dies.filter(|&die| self.collects(die)).count();
        self.front.passes(ns, work as u64, collect as u64);
        for die in 0..self.dies.len() {
            let (collects, works, now) = (self.collects(die), self.works(die), self.now);
            let stalled = self.dies[die].stalls.as_ref().is_some_and(|stalls| !works && stalls.ends_ns > now);
            for (.., parts) in self.dies[die].reads.iter_mut().flat_map(|read| &mut read.readers) {
                let part = match (collects, stalled) {
                    (true, _) => &mut parts.collection_ns,
                    (_, true) => &mut parts.other_ns,
                    _ => &mut parts.queue_ns,
                };
                *part += ns;
            }
            if let Some(stalls) = self.dies[die].stalls.as_mut().filter(|_| !works) {
                stalls.passes_at_rest(now, at);
            }
        }
        self.now = at;
    }

    fn schedule(&mut self, at: u64, what: DriveEvent) {
        self.front.told.push(Told::At(at, Event::Drive { member: self.member, what }));
    }

    fn count(&mut self, what: &'static str, many: u64) {
        if many > 0 {
            *self.counts.entry(what).or_insert(0) += many;
        }
    }

    pub(super) fn front_event(&mut self, what: FrontEvent) {
        match what {
            FrontEvent::Complete(number) => {
                self.front.is_complete(number);
                self.commands += 1;
                if std::mem::take(&mut self.is_idle) {
                    self.looks_if_it_collects();
                }
                if let Some(idle_ns) = self.idle_ns() {
                    self.schedule(self.now + idle_ns, DriveEvent::Idle(self.commands));
                }
                self.front.joins(number);
            }
            FrontEvent::Done => self.front.command_is_done(),
            FrontEvent::CoreDone(core) => {
                if let Some(part) = self.front.core_is_done(core) {
                    let die = self.die_of(self.parts[part].first);
                    self.dies[die].parts.push_back(part);
                    self.die_looks(die);
                }
                self.front.use_cores();
            }
            FrontEvent::LatencyOver(number) => self.work(number),
            FrontEvent::Crossed(number) => {
                self.front.command(number).crossed_ns = self.now;
                self.front.entering.push(number);
                self.bring_in();
            }
            FrontEvent::Begun(_) | FrontEvent::Programmed(_) => unreachable!("superpages are programmed, not pages"),
            FrontEvent::Ends(_) => unreachable!("it has ended"),
        }
    }

    pub(super) fn happens(&mut self, event: DriveEvent) {
        match event {
            DriveEvent::ArrayRead(mut read) => {
                self.dies[read.die].reading[read.plane] = false;
                self.dies[read.die].holding[read.plane] += 1;
                let units: BTreeSet<u32> = read.readers.iter().map(|&(unit, ..)| unit).collect();
                let die = read.die;
                let out = self.over_channel(die, units.len() as u64 * self.own.mapping_unit_transfer_ns);
                for (.., parts) in &mut read.readers {
                    parts.flash_ns += read.ns;
                    parts.transfer_ns += out - self.now;
                }
                self.schedule(out, DriveEvent::ReadTransferred(read));
                if self.own.reads.cache_read {
                    self.die_looks(die);
                }
            }
            DriveEvent::ReadTransferred(read) => {
                self.dies[read.die].holding[read.plane] -= 1;
                for (_, reader, parts) in read.readers {
                    self.gets(reader, parts);
                }
                self.die_looks(read.die);
                let block = read.flash_page * self.own.mapping_units_per_flash_page / self.per_block();
                if self.own.upkeep.reads_before_refresh.is_some_and(|reads| self.reads[block as usize] >= reads) {
                    self.begin_parts();
                }
            }
            DriveEvent::JobStep(die) => self.job_goes_on(die),
            DriveEvent::ArrayEnds(die) => {
                if self.dies[die].halt.is_none() && self.dies[die].array_ends == self.now {
                    self.job_goes_on(die);
                }
            }
            DriveEvent::Halt(die) => self.halt_goes_on(die),
            DriveEvent::MayHalt(die) => self.halts(die),
            DriveEvent::StallOver(die) => self.die_looks(die),
            DriveEvent::Linger(superpage) => {
                if let Some(handle) = self.filling.iter().position(|&filling| filling == Some(superpage)) {
                    self.close(handle);
                }
            }
            DriveEvent::Idle(commands) => {
                let may_idle = !self.idle_is_over && !self.needs_leave() && !self.takes_turns();
                if commands == self.commands && may_idle && !self.idle_has_nothing_to_do() {
                    self.is_idle = true;
                    self.looks_if_it_collects();
                    self.begin_parts();
                    self.place_host();
                }
            }
        }
    }

    pub(super) fn outcome(&self) -> DriveOutcome {
        assert!(self.front.rests() && self.superpages.values().all(|superpage| !superpage.is_full), "nothing waits for good");
        let place = |unit: &Where| if let Where::Flash(place) = *unit { Some(place) } else { None };
        DriveOutcome {
            places: self.units.iter().map(place).collect(),
            erases: self.erases.clone(),
            handles: self.handles.clone(),
            counts: self.counts.clone(),
        }
    }
}

/// Stretches of collection one behind the other are one collection, as cleans back to back are (rule 27).
pub(super) fn collections_of(member: usize, drive: &Drive) -> Vec<Collection> {
    let mut collections: Vec<Collection> = Vec::new();
    for &(start_ns, end_ns, forced) in &drive.collections {
        match collections.last_mut().filter(|last| last.end_ns == start_ns) {
            Some(last) => (last.end_ns, last.victims) = (end_ns, last.victims + 1),
            None => collections.push(Collection { member: member as u32, die: 0, start_ns, end_ns, victims: 1, pages_moved: 0, forced }),
        }
    }
    collections
}

// What the rest of the array has to do with drives.
impl Simulation<'_> {
    /// Lets the drive of a member act, and takes what it tells.
    pub(super) fn drive_does(&mut self, member: usize, act: impl FnOnce(&mut Drive)) {
        let drive = self.members[member].drive.as_mut().expect("it is a drive");
        act(drive);
        let told = std::mem::take(&mut drive.front.told);
        self.hears(member, told);
    }

    pub(super) fn is_drive(&self) -> bool {
        self.ssd.superblock.is_some()
    }

    fn drives(&self) -> std::ops::Range<usize> {
        if self.is_drive() { 0..self.members.len() } else { 0..0 }
    }

    pub(super) fn drives_begin(&mut self) {
        for member in self.drives() {
            if member < self.case.params.members as usize {
                self.drive_may_know_protocol(member);
            }
            self.drive_does(member, Drive::begins_to_rest);
        }
    }

    /// A member, or a spare that replaces one, knows the protocol from now on if it is one that does.
    pub(super) fn drive_may_know_protocol(&mut self, member: usize) {
        if let Some(role) = self.role_of(member) {
            self.drive_does(member, |drive| drive.gets_role(role));
        }
    }

    /// The nanosecond at which the last request was done has passed.
    pub(super) fn drives_see_end(&mut self) {
        self.end_is_told = true;
        self.drives().for_each(|member| self.drive_does(member, Drive::run_is_over));
    }
}
