//! Section 24 of the rules, written down as plainly as possible: one drive, every list searched, nothing kept that can be found out. With a
//! controller it is the only member, which is forced whenever it has asked.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flashraid_model::coordination::{CoordinationParams, Kind};
use flashraid_model::events::TimeParts;
use flashraid_model::request::OpKind;
use flashraid_model::rng;
use flashraid_model::space::victim::{Blocks, Candidate, DChoices, Draws, GreedyWearAware};
use flashraid_model::ssd::{OperationSuspension, Pipeline, PlaneReads, SlcRoom, SsdParams, SuperblockParams, VictimPolicy};

/// What a host asks: when, what, first page, pages, whether a write is to survive a loss of power, and the source: its stream in a mix.
pub type Asked = (u64, OpKind, u32, u32, bool, u8);

/// What the two implementations must agree on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// By request: when it was done.
    pub done_ns: Vec<u64>,
    /// And where its time went.
    pub parts: Vec<TimeParts>,
    /// By unit: its place.
    pub places: Vec<Option<u32>>,
    /// By superblock.
    pub erases: Vec<u32>,
    /// By placement handle: pages received, units programmed by its streams of host and collection.
    pub handles: Vec<[u64; 3]>,
    /// By name.
    pub counts: BTreeMap<&'static str, u64>,
}

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

#[derive(Debug, Clone)]
struct Read {
    flash_page: u32,
    die: usize,
    plane: usize,
    ns: u64,
    /// Units of the flash page, requests or superpages, and where the time of these pages has gone.
    readers: Vec<(u32, Reader, TimeParts)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Request(usize),
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

#[derive(Debug, Clone, Default)]
struct Die {
    reads: Vec<Read>,
    programs: VecDeque<u64>,
    erases: VecDeque<u32>,
    moved: VecDeque<u64>,
    parts: VecDeque<usize>,
    /// By plane: reads now; pages that have not left.
    reading: Vec<bool>,
    holding: Vec<u32>,
    /// The job, and whether its array works.
    job: Option<(Job, bool)>,
    /// When the array work of the job ends; a halt comes in between if reads suspend it.
    array_ends: u64,
    halt: Option<Halt>,
    times_suspended: u32,
    /// The array has to work until then before it is suspended again.
    works_until: u64,
    /// A read has come since the job began, or waited when it went on.
    read_came: bool,
    in_a_row: u32,
    ends: u64,
    stalls: Option<Stalls>,
}

/// Rule 230.
#[derive(Debug, Clone)]
struct Stalls {
    every_ns: u64,
    lasts_ns: u64,
    gaps: rng::Stream,
    due: u64,
    until: u64,
    /// The end of the one that something was last told to wait for.
    awaited: u64,
}

impl Stalls {
    fn begins(&mut self, at: u64) {
        self.until = at + self.lasts_ns;
        self.is_drawn();
    }

    fn is_drawn(&mut self) {
        self.due += (self.every_ns as f64 * rng::exponential(&mut self.gaps)) as u64;
    }

    /// A die rests until `at`.
    fn rests_until(&mut self, now: u64, at: u64) {
        while self.due.max(self.until).max(now) <= at {
            self.begins(self.due.max(self.until).max(now));
        }
    }
}

/// Reads have the die; so much of the job is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    Coming(u64),
    There(u64),
    Leaving(u64),
}

#[derive(Debug, Clone)]
enum Event {
    Begin(usize),
    /// A command that was fetched is done.
    IsDone,
    CoreDone(usize),
    Work(usize),
    Crossed(usize),
    ArrayRead(Read),
    ReadOut(Read),
    JobStep(usize),
    /// The array work of a job would end now.
    ArrayEnds(usize),
    Halt(usize),
    MayHalt(usize),
    StallOver(usize),
    Linger(u64),
    Idle(usize),
}

/// What arrives by mail, in the order in which it does at the same nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Letter {
    Done,
    Request,
    Begin,
    Force,
}

/// What the drive and the controller of the array know of each other (rules 44 and 216).
struct Protocol {
    params: CoordinationParams,
    is_forced: bool,
    /// The controller: a cycle is in progress, or has been asked for.
    collects: bool,
    is_coming: bool,
    /// By time, and by order of sending within a kind.
    mail: BTreeMap<(u64, Letter, u64), ()>,
    sent: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnCore {
    Request(usize),
    Part(usize),
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

pub struct Drive {
    ssd: SsdParams,
    own: SuperblockParams,
    asked: Vec<Asked>,
    now: u64,
    events: BTreeMap<(u64, u64), Event>,
    scheduled: u64,
    lanes: [u64; 2],
    channels: Vec<u64>,
    cores: Vec<Option<OnCore>>,
    /// Commands that have come and have not been fetched, in order of arrival; those that are fetched and not done.
    unfetched: Vec<usize>,
    in_flight: usize,
    /// The queue that was fetched from last, and how often in a row since its turn began; whether that is over.
    fetched: (usize, u32, bool),
    /// By request: pages that are not done.
    pages_left: Vec<u32>,
    waiting_requests: VecDeque<usize>,
    waiting_parts: VecDeque<usize>,
    units: Vec<Where>,
    written: Vec<Option<u32>>,
    blocks: Vec<Block>,
    erases: Vec<u32>,
    /// By superblock: array reads for the host since it was erased.
    reads: Vec<u64>,
    programmed: Vec<u32>,
    /// By superblock: the placement handle of what it holds, if that stays apart for ever.
    handle_of: Vec<usize>,
    /// By superblock: it holds one bit per cell.
    slc: Vec<bool>,
    /// Superblocks that streams have taken so far, and by superblock: the number that it was.
    openings: u32,
    opened: Vec<u32>,
    /// What victim policies draw from.
    victims_drawn: rng::Stream,
    free: VecDeque<u32>,
    /// First places of superpages with data whose programs have begun since their superblock was free.
    begun: BTreeSet<u32>,
    /// Superpages of parity that were written in no time.
    parity_in_no_time: u64,
    /// By stream, those of the host first, by handle, then those of collection, then that of the host with one bit per cell: superblock, rows
    /// left by die.
    open: Vec<Vec<(u32, Vec<Vec<u32>>)>>,
    dies: Vec<Die>,
    turn: usize,
    /// By stream: the die at which what is written in no time goes on.
    turns_in_no_time: Vec<usize>,
    /// By stream: the superpage of collection in no time that is not full, and how many units it has.
    left_off: Vec<Option<(u32, u32)>>,
    asks: VecDeque<usize>,
    superpages: BTreeMap<u64, Superpage>,
    superpages_begun: u64,
    /// By stream.
    filling: Vec<Option<u64>>,
    /// Of the host, and of collection.
    to_place: [VecDeque<u64>; 2],
    entering: VecDeque<usize>,
    entered: Vec<u32>,
    /// By request: when the last of its pages is done, and where its time goes; the greatest, if several are (rule 113).
    done: Vec<(u64, TimeParts)>,
    /// The time that its command has spent.
    spent: Vec<TimeParts>,
    /// By request: how long it waits for room; what the dies work meanwhile, and what of that is for collection.
    waits_for_room: Vec<[u64; 3]>,
    flushes: Vec<(usize, BTreeSet<u64>)>,
    /// Forced writes: superpages that hold their units, and when they would be done otherwise.
    forced: Vec<(usize, BTreeSet<u64>, u64)>,
    credits: i128,
    victim: Option<Victim>,
    has_levelled: bool,
    ways: BTreeMap<u32, Way>,
    parts: Vec<Part>,
    room: u64,
    commands: usize,
    is_idle: bool,
    in_foreground: bool,
    protocol: Option<Protocol>,
    handles: Vec<[u64; 3]>,
    counts: BTreeMap<&'static str, u64>,
}

impl Drive {
    /// `overwrites`: so often at random after the fill, or, without, in the steady state.
    pub fn new(ssd: &SsdParams, coordination: Option<&CoordinationParams>, overwrites: Option<f64>, seed: u64) -> Self {
        let own = ssd.superblock.clone().expect("a drive with superblocks");
        let g = ssd.geometry;
        let per_channel = ssd.channel.map_or(1, |channel| channel.dies_per_channel);
        let exported = (u64::from(g.exported_pages_per_die()) * u64::from(g.dies) / u64::from(own.unit_pages)) as usize;
        let die = Die { reading: vec![false; g.planes as usize], holding: vec![0; g.planes as usize], ..Die::default() };
        let stalls = |number: u32| {
            ssd.mechanisms.background.map(|background| {
                let (every_ns, lasts_ns) = (background.every.ns, background.lasts.ns);
                let gaps = rng::stream(seed, "background", u64::from(number));
                let mut stalls = Stalls { every_ns, lasts_ns, gaps, due: 0, until: 0, awaited: 0 };
                stalls.is_drawn();
                stalls
            })
        };
        let mut drive = Self {
            asked: Vec::new(),
            now: 0,
            events: BTreeMap::new(),
            scheduled: 0,
            lanes: [0; 2],
            channels: vec![0; g.dies.div_ceil(per_channel) as usize],
            cores: vec![None; own.firmware.cores as usize],
            unfetched: Vec::new(),
            in_flight: 0,
            fetched: (0, 0, false),
            pages_left: Vec::new(),
            waiting_requests: VecDeque::new(),
            waiting_parts: VecDeque::new(),
            units: vec![Where::Nowhere; exported],
            written: Vec::new(),
            blocks: vec![Block::Free; g.blocks_per_plane as usize],
            erases: vec![0; g.blocks_per_plane as usize],
            reads: vec![0; g.blocks_per_plane as usize],
            programmed: vec![0; g.blocks_per_plane as usize],
            slc: vec![false; g.blocks_per_plane as usize],
            openings: 0,
            opened: vec![0; g.blocks_per_plane as usize],
            victims_drawn: rng::stream(seed, "victim", 0),
            free: (0..g.blocks_per_plane).collect(),
            begun: BTreeSet::new(),
            parity_in_no_time: 0,
            handle_of: vec![0; g.blocks_per_plane as usize],
            open: vec![Vec::new(); 2 * own.placement.handles as usize + 1],
            dies: (0..g.dies).map(|number| Die { stalls: stalls(number), ..die.clone() }).collect(),
            turn: 0,
            turns_in_no_time: vec![0; 2 * own.placement.handles as usize],
            left_off: vec![None; 2 * own.placement.handles as usize],
            asks: VecDeque::new(),
            superpages: BTreeMap::new(),
            superpages_begun: 0,
            filling: vec![None; 2 * own.placement.handles as usize],
            to_place: Default::default(),
            entering: VecDeque::new(),
            entered: Vec::new(),
            done: Vec::new(),
            spent: Vec::new(),
            waits_for_room: Vec::new(),
            flushes: Vec::new(),
            forced: Vec::new(),
            credits: 0,
            victim: None,
            has_levelled: false,
            ways: BTreeMap::new(),
            parts: Vec::new(),
            room: 0,
            commands: 0,
            is_idle: false,
            in_foreground: false,
            protocol: coordination.map(|params| Protocol {
                params: params.clone(),
                is_forced: false,
                collects: false,
                is_coming: false,
                mail: BTreeMap::new(),
                sent: 0,
            }),
            handles: vec![[0; 3]; own.placement.handles as usize],
            counts: BTreeMap::new(),
            ssd: ssd.clone(),
            own,
        };
        drive.written = vec![None; (drive.per_block() * g.blocks_per_plane) as usize];
        drive.room = 2 * u64::from(g.dies) * u64::from(drive.per_superpage());
        let Some(overwrites) = overwrites else {
            drive.is_steady(seed);
            return drive;
        };
        if !drive.own.fresh {
            drive.write_untimed(0, &(0..exported as u32).collect::<Vec<_>>());
        }
        drive.warm_up(overwrites, seed);
        drive
    }

    fn is_steady(&mut self, seed: u64) {
        let mut stream = rng::stream(seed, "warm-up", 0);
        let (per_block, exported) = (self.per_block(), self.units.len() as u32);
        let streams = self.own.placement.handles + if self.own.placement.is_persistent { self.own.placement.handles } else { 1 };
        let streams = streams + u32::from(self.own.slc.is_some());
        let sealed = self.blocks.len() as u32 - self.own.collection.target - streams;
        let left = |lambda: f64| -> Vec<f64> {
            (0..sealed).map(|age| f64::from(self.data_per_block()) * (-lambda * (f64::from(age) + 0.5) / f64::from(sealed)).exp()).collect()
        };
        let (mut low, mut high) = (0.0, 1000.0);
        for _ in 0..64 {
            let middle = (low + high) / 2.0;
            if left(middle).iter().sum::<f64>() > f64::from(exported) { low = middle } else { high = middle }
        }
        let left = left(high);
        let until = |block: u32| match block + 1 == sealed {
            true => exported,
            false => (left[..=block as usize].iter().sum::<f64>() + 0.5) as u32,
        };
        let mut units: Vec<u32> = (0..exported).collect();
        for block in 0..sealed {
            assert_eq!(self.free.pop_front(), Some(block));
            let mut valid = until(block) - if block == 0 { 0 } else { until(block - 1) };
            let places: Vec<u32> = (block * per_block..(block + 1) * per_block).filter(|&place| !self.is_parity(place)).collect();
            for (at, &place) in places.iter().enumerate() {
                if rng::below(&mut stream, (places.len() - at) as u64) >= u64::from(valid) {
                    continue;
                }
                // What is drawn makes room for the first of those that are left.
                let drawn = rng::below(&mut stream, units.len() as u64) as usize;
                let unit = units[drawn];
                units[drawn] = units[0];
                units.remove(0);
                self.units[unit as usize] = Where::Flash(place);
                self.written[place as usize] = Some(unit);
                valid -= 1;
            }
            self.programmed[block as usize] = self.per_block() / self.per_superpage();
            self.blocks[block as usize] = Block::Sealed;
            // The oldest one comes last.
            self.opened[block as usize] = sealed - block;
        }
        self.openings = sealed;
    }

    fn warm_up(&mut self, overwrites: f64, seed: u64) {
        let mut stream = rng::stream(seed, "warm-up", 0);
        let exported = self.units.len() as u64;
        let writes = (overwrites * exported as f64) as u64;
        let drawn: Vec<u32> = (0..writes).map(|_| rng::below(&mut stream, exported) as u32).collect();
        // Each stream goes over the dies by itself, from die 0 on.
        self.turns_in_no_time.fill(0);
        let mut left = drawn.as_slice();
        while !left.is_empty() {
            self.collect_whole();
            let stream = self.stream_of_host(0);
            let (units, others) = left.split_at(left.len().min(self.units_of_stream(stream) as usize));
            self.superpage_untimed(stream, units);
            left = others;
        }
        for stream in 0..self.left_off.len() {
            if let Some((first, _)) = self.left_off[stream].take() {
                self.is_programmed_in_no_time(first);
            }
        }
        self.turns_in_no_time.fill(0);
    }

    fn write_untimed(&mut self, stream: usize, units: &[u32]) {
        for units in units.chunks(self.per_superpage() as usize) {
            self.superpage_untimed(stream, units);
        }
    }

    /// Before a superpage: whole superblocks while no more than the target are free.
    fn collect_whole(&mut self) {
        while self.free.len() as u32 <= self.own.collection.target
            && let Some(block) = self.pick()
        {
            self.blocks[block as usize] = Block::Victim;
            let valid: Vec<u32> = self.valid_places(block).iter().map(|&place| self.written[place as usize].unwrap()).collect();
            self.moves_untimed(self.moves_to(block), &valid);
            self.free_block(block);
        }
    }

    /// Units of collection go on where the last one has left off.
    fn moves_untimed(&mut self, stream: usize, units: &[u32]) {
        for &unit in units {
            let (first, filled) = match self.left_off[stream].take() {
                Some(left_off) => left_off,
                None => (self.row_untimed(stream), 0),
            };
            self.units[unit as usize] = Where::Flash(first + filled);
            self.written[(first + filled) as usize] = Some(unit);
            if filled + 1 == self.per_superpage() {
                self.is_programmed_in_no_time(first);
            } else {
                self.left_off[stream] = Some((first, filled + 1));
            }
        }
    }

    fn row_untimed(&mut self, stream: usize) -> u32 {
        let (dies, order) = (self.dies.len(), self.channels_first());
        // What the host writes has one turn, with whatever bits per cell.
        let of_host = if stream == self.slc_stream() { 0 } else { stream };
        let turn = self.turns_in_no_time[of_host];
        let at = (0..dies).map(|step| (turn + step) % dies).find(|&at| self.has_row(stream, order[at])).expect("room");
        self.turns_in_no_time[of_host] = (at + 1) % dies;
        self.take_row(stream, order[at])
    }

    fn superpage_untimed(&mut self, stream: usize, units: &[u32]) {
        let first = self.row_untimed(stream);
        for (at, &unit) in units.iter().enumerate() {
            self.units[unit as usize] = Where::Flash(first + at as u32);
            self.written[first as usize + at] = Some(unit);
        }
        self.is_programmed_in_no_time(first);
    }

    fn is_programmed_in_no_time(&mut self, first: u32) {
        self.superpage_is_programmed(first);
        if let Some(parity) = self.begins_to_be_written(first) {
            self.superpage_is_programmed(parity);
            self.parity_in_no_time += 1;
        }
    }

    // Placement handles (rule 221).

    fn handle_count(&self) -> usize {
        self.own.placement.handles as usize
    }

    fn handle_of_request(&self, request: usize) -> usize {
        usize::from(self.asked[request].5) % self.handle_count()
    }

    /// The stream of what is moved out of a superblock: behind those of the host one for each handle, or one.
    fn moves_to(&self, block: u32) -> usize {
        self.handle_count() + if self.own.placement.is_persistent { self.handle_of[block as usize] } else { 0 }
    }

    /// What a stream has programmed.
    fn count_of_stream(&mut self, stream: usize, units: u64) {
        let handles = self.handle_count();
        let of_host = stream < handles || stream == self.slc_stream();
        self.handles[stream % handles][if of_host { 1 } else { 2 }] += units;
    }

    // One bit per cell (rule 222).

    fn slc_stream(&self) -> usize {
        2 * self.handle_count()
    }

    fn units_of_stream(&self, stream: usize) -> u32 {
        if stream == self.slc_stream() { self.per_superpage() / self.own.pages_per_cell } else { self.per_superpage() }
    }

    /// Where the next superpage of the host goes.
    fn stream_of_host(&self, handle: usize) -> usize {
        let stream = self.slc_stream();
        let Some(slc) = self.own.slc else { return handle };
        let in_use = self.slc.iter().filter(|&&slc| slc).count();
        let most = match slc.room {
            SlcRoom::Superblocks(superblocks) => superblocks as usize,
            SlcRoom::ShareOfFree { millionths } => {
                let beyond = self.free.len().saturating_sub(self.own.collection.target as usize);
                (beyond + in_use) * millionths as usize / 1_000_000
            }
        };
        let left: usize = self.open[stream].iter().flat_map(|(_, left)| left).map(Vec::len).sum();
        let more = most.saturating_sub(in_use) * (self.data_per_block() / self.per_superpage()) as usize;
        let waits = |superpage: &&Superpage| superpage.stream == stream && !superpage.is_parity && !superpage.has_place;
        if self.superpages.values().filter(waits).count() < left + more { stream } else { handle }
    }

    /// The sealed superblock with one bit per cell that is folded next.
    fn to_fold(&self) -> Option<u32> {
        let sealed =
            (0..self.blocks.len() as u32).filter(|&block| self.blocks[block as usize] == Block::Sealed && self.slc[block as usize]);
        sealed.min_by_key(|&block| (self.valid_places(block).len(), u32::MAX - block))
    }

    /// What idle collection aims at; what is set aside for one bit per cell is to be free, if it takes no units.
    fn idle_goal(&self) -> u32 {
        let set_aside = match self.own.slc.map(|slc| slc.room) {
            Some(SlcRoom::Superblocks(superblocks)) => superblocks.saturating_sub(self.open[self.slc_stream()].len() as u32),
            _ => 0,
        };
        self.own.collection.target + self.own.collection.span + set_aside
    }

    /// Enough is free, and nothing but what takes units holds one bit per cell.
    fn idle_has_nothing_to_do(&self) -> bool {
        let goal = self.idle_goal();
        let takes_units = |block: u32| self.open[self.slc_stream()].iter().any(|&(open, _)| open == block);
        self.free.len() as u32 >= goal && (0..self.blocks.len() as u32).all(|block| !self.slc[block as usize] || takes_units(block))
    }

    /// Superpages of collection that nothing is worth waiting for are closed.
    fn close_those_without_more(&mut self) {
        for stream in self.handle_count()..self.filling.len() {
            let parts_of = |drive: &Self, block: u32, way: &Way| drive.moves_to(block) == stream && way.parts > 0;
            let closes = match &self.victim {
                // The last units wait for others, unless none will come and they are needed.
                None => self.is_urgent() && self.ways.values().all(|way| way.parts == 0),
                Some(victim) => self.moves_to(victim.block) != stream && !self.ways.iter().any(|(&block, way)| parts_of(self, block, way)),
            };
            if closes {
                self.close(stream);
            }
        }
    }

    // Parity (rule 218).

    fn is_parity(&self, place: u32) -> bool {
        let superpage = place / self.per_superpage();
        let dies = self.ssd.geometry.dies;
        self.own.rain && superpage / dies % dies == superpage % dies
    }

    fn place_of(&self, block: u32, row: u32, die: usize) -> u32 {
        block * self.per_block() + (row * self.ssd.geometry.dies + die as u32) * self.per_superpage()
    }

    /// Rows of the superblock in which the die takes units.
    fn data_rows(&self, block: u32, die: usize) -> Vec<u32> {
        (0..self.rows()).filter(|&row| !self.is_parity(self.place_of(block, row, die))).collect()
    }

    fn data_per_block(&self) -> u32 {
        let rain = u32::from(self.own.rain);
        self.per_superpage() * self.rows() * (self.ssd.geometry.dies - rain)
    }

    /// Where the parity of its row goes, if that is complete by this superpage.
    fn begins_to_be_written(&mut self, first: u32) -> Option<u32> {
        self.begun.insert(first);
        let (block, row) = (first / self.per_block(), self.row_of(first));
        let of_row: Vec<u32> = (0..self.dies.len()).map(|die| self.place_of(block, row, die)).collect();
        let all = of_row.iter().all(|&place| self.is_parity(place) || self.begun.contains(&place));
        of_row.into_iter().find(|&place| all && self.is_parity(place))
    }

    // Shape.

    fn per_superpage(&self) -> u32 {
        self.ssd.geometry.planes * self.own.pages_per_cell * self.own.flash_page_units
    }

    fn rows(&self) -> u32 {
        self.ssd.geometry.pages_per_block / (self.own.pages_per_cell * self.own.flash_page_units * self.own.unit_pages)
    }

    fn per_block(&self) -> u32 {
        self.per_superpage() * self.rows() * self.ssd.geometry.dies
    }

    fn die_of(&self, place: u32) -> usize {
        (place / self.per_superpage() % self.ssd.geometry.dies) as usize
    }

    fn row_of(&self, place: u32) -> u32 {
        place % self.per_block() / self.per_superpage() / self.ssd.geometry.dies
    }

    fn type_of(&self, place: u32) -> u32 {
        place % self.per_superpage() / self.own.flash_page_units / self.ssd.geometry.planes
    }

    fn array_read_ns(&self, place: u32) -> u64 {
        if let Some(slc) = self.own.slc.filter(|_| self.slc[(place / self.per_block()) as usize]) {
            return slc.read_ns;
        }
        let page = self.row_of(place) * self.own.pages_per_cell + self.type_of(place);
        self.own.page_read_ns[page as usize % self.own.page_read_ns.len()]
    }

    fn superpage_transfer_ns(&self, number: u64) -> u64 {
        u64::from(self.units_of_stream(self.superpages[&number].stream)) * self.own.unit_transfer_ns
    }

    fn program_ns(&self, number: u64) -> u64 {
        let slc = self.own.slc.filter(|_| self.superpages[&number].stream == self.slc_stream());
        slc.map_or(self.ssd.timing.page_program_ns, |slc| slc.program_ns)
    }

    // Superblocks.

    fn is_valid(&self, place: u32) -> bool {
        self.written[place as usize].is_some_and(|unit| self.units[unit as usize] == Where::Flash(place))
    }

    fn valid_places(&self, block: u32) -> Vec<u32> {
        (block * self.per_block()..(block + 1) * self.per_block()).filter(|&place| self.is_valid(place)).collect()
    }

    /// Sealed superblocks whose moves need fewer superpages than they give back.
    fn useful(&self) -> Vec<u32> {
        let superpages = |block: u32| self.valid(block).div_ceil(self.per_superpage());
        let sealed = (0..self.blocks.len() as u32).filter(|&block| self.blocks[block as usize] == Block::Sealed);
        sealed.filter(|&block| superpages(block) < self.data_per_block() / self.per_superpage()).collect()
    }

    fn valid(&self, block: u32) -> u32 {
        self.valid_places(block).len() as u32
    }

    /// The victim by rule 13, of all superblocks of the drive.
    fn pick(&mut self) -> Option<u32> {
        let useful = self.useful();
        let emptiest = |blocks: &[u32]| blocks.iter().copied().min_by_key(|&block| (self.valid(block), u32::MAX - block));
        let greedy = emptiest(&useful)?;
        let all = self.blocks.len() as u64;
        let stream = &mut self.victims_drawn.clone();
        let draw = |stream: &mut rng::Stream| loop {
            let block = rng::below(stream, all) as u32;
            if useful.contains(&block) {
                return block;
            }
        };
        let victim = match self.ssd.gc.victim {
            VictimPolicy::Greedy(_) => greedy,
            VictimPolicy::Fifo(_) => useful.iter().copied().min_by_key(|&block| self.opened[block as usize])?,
            VictimPolicy::Random(_) => draw(stream),
            VictimPolicy::DChoices(DChoices { d }) => emptiest(&(0..d).map(|_| draw(stream)).collect::<Vec<_>>())?,
            VictimPolicy::CostBenefit(_) => {
                // Age and room that is gained against the moves; one without moves is better than any with some.
                let gain = |block: u32| {
                    let age = self.openings + 1 - self.opened[block as usize];
                    u128::from(age) * u128::from(self.data_per_block() - self.valid(block))
                };
                let is_better = |block: u32, than: u32| match (self.valid(block), self.valid(than)) {
                    (0, 0) => gain(block) >= gain(than),
                    (moves, best) => gain(block) * u128::from(best) >= gain(than) * u128::from(moves),
                };
                useful.iter().copied().reduce(|best, block| if is_better(block, best) { block } else { best })?
            }
            VictimPolicy::GreedyWearAware(GreedyWearAware { threshold, endurance_erases }) => {
                let life = |block: u32| u64::from(endurance_erases.saturating_sub(self.erases[block as usize]));
                let limit = threshold.0 * (0..all as u32).map(life).sum::<u64>() as f64;
                let mut in_order = useful.clone();
                in_order.sort_by_key(|&block| (self.valid(block), u32::MAX - block));
                let is_taken = |&block: &u32| {
                    let scaled = (life(block) * all) as f64;
                    scaled >= limit || rng::unit(stream) * limit < scaled
                };
                in_order.into_iter().find(is_taken).unwrap_or(greedy)
            }
            #[allow(unreachable_patterns, reason = "all that are listed may have rules")]
            policy => {
                // A policy without a rule has no second opinion, but everything around it has.
                let candidate = |block: u32| Candidate {
                    valid: if self.blocks[block as usize] == Block::Sealed { self.valid(block) } else { u32::MAX },
                    sequence: self.opened[block as usize],
                    erases: self.erases[block as usize],
                };
                let candidates: Vec<Candidate> = (0..all as u32).map(candidate).collect();
                let below = self.data_per_block() - self.per_superpage() + 1;
                let blocks = Blocks::of_superblocks(&candidates, self.data_per_block(), below, self.openings + 1);
                policy.pick(&blocks, &mut Draws::new(Some(stream)))? as u32
            }
        };
        self.victims_drawn = stream.clone();
        Some(victim)
    }

    fn has_row(&self, stream: usize, die: usize) -> bool {
        let another = self.free.front().filter(|_| self.open[stream].len() < 2);
        self.open[stream].iter().any(|(_, left)| !left[die].is_empty())
            || another.is_some_and(|&block| !self.data_rows(block, die).is_empty())
    }

    fn take_row(&mut self, stream: usize, die: usize) -> u32 {
        if !self.open[stream].iter().any(|(_, left)| !left[die].is_empty()) {
            let block = self.free.pop_front().expect("a free superblock");
            self.blocks[block as usize] = Block::Open;
            self.openings += 1;
            self.opened[block as usize] = self.openings;
            self.handle_of[block as usize] = stream % self.handle_count();
            self.slc[block as usize] = stream == self.slc_stream();
            let left = (0..self.dies.len()).map(|die| self.data_rows(block, die)).collect();
            self.open[stream].push((block, left));
        }
        let (block, left) = self.open[stream].iter_mut().find(|(_, left)| !left[die].is_empty()).unwrap();
        let (block, row) = (*block, left[die].remove(0));
        self.open[stream].retain(|(_, left)| left.iter().any(|rows| !rows.is_empty()));
        self.place_of(block, row, die)
    }

    fn superpage_is_programmed(&mut self, first: u32) {
        let block = (first / self.per_block()) as usize;
        self.programmed[block] += 1;
        if self.programmed[block] == self.per_block() / self.per_superpage() {
            self.blocks[block] = Block::Sealed;
        }
    }

    fn free_block(&mut self, block: u32) {
        assert!(self.valid_places(block).is_empty() || self.blocks[block as usize] == Block::Victim);
        self.blocks[block as usize] = Block::Free;
        self.programmed[block as usize] = 0;
        self.slc[block as usize] = false;
        self.reads[block as usize] = 0;
        self.erases[block as usize] += 1;
        let per_block = self.per_block();
        self.begun.retain(|&first| first / per_block != block);
        self.free.push_back(block);
    }

    // Time.

    pub fn run(mut self, asked: &[Asked]) -> Outcome {
        self.asked = asked.to_vec();
        self.done = vec![(0, TimeParts::default()); asked.len()];
        self.spent = vec![TimeParts::default(); asked.len()];
        self.entered = vec![0; asked.len()];
        self.waits_for_room = vec![[0; 3]; asked.len()];
        let pages = |&(_, kind, _, pages, ..): &Asked| if kind == OpKind::Read { pages } else { 1 };
        self.pages_left = asked.iter().map(pages).collect();
        if let Some(idle_ns) = self.idle_ns() {
            self.schedule(idle_ns, Event::Idle(0));
        }
        let mut next = 0;
        loop {
            let event = self.events.first_key_value().map(|(&(at, _), _)| at);
            let letter = self.protocol.as_ref().and_then(|protocol| protocol.mail.keys().next()).map(|&(at, ..)| at);
            let first = event.into_iter().chain(letter).min();
            if next < asked.len() && first.is_none_or(|at| asked[next].0 <= at) {
                self.passes_until(asked[next].0);
                self.schedule(self.now, Event::Begin(next));
                next += 1;
            } else if let Some(at) = first {
                self.passes_until(at);
                // Letters come after all else of their nanosecond.
                if event == Some(at) {
                    let (_, event) = self.events.pop_first().unwrap();
                    self.happens(event);
                } else {
                    let ((_, letter, _), ()) = self.protocol.as_mut().unwrap().mail.pop_first().unwrap();
                    self.arrives(letter);
                }
            } else {
                break;
            }
        }
        assert!(self.entering.is_empty() && self.superpages.values().all(|superpage| !superpage.is_full), "nothing waits for good");
        let place = |unit: &Where| if let Where::Flash(place) = *unit { Some(place) } else { None };
        let (done_ns, parts) = self.done.iter().copied().unzip();
        Outcome {
            done_ns,
            parts,
            places: self.units.iter().map(place).collect(),
            erases: self.erases,
            handles: self.handles,
            counts: self.counts,
        }
    }

    /// Nothing happens until then; a read that waits for its die waits for collection or for something else (rule 214).
    fn passes_until(&mut self, at: u64) {
        let ns = at - self.now;
        let dies = 0..self.dies.len();
        let work = [1, dies.clone().filter(|&die| self.works(die)).count(), dies.filter(|&die| self.collects(die)).count()];
        for &request in &self.entering {
            self.waits_for_room[request].iter_mut().zip(work).for_each(|(sum, dies)| *sum += ns * dies as u64);
        }
        for die in 0..self.dies.len() {
            let (collects, works, now) = (self.collects(die), self.works(die), self.now);
            let stalled = self.dies[die].stalls.as_ref().is_some_and(|stalls| !works && stalls.until > now);
            for (.., parts) in self.dies[die].reads.iter_mut().flat_map(|read| &mut read.readers) {
                let part = match (collects, stalled) {
                    (true, _) => &mut parts.collection_ns,
                    (_, true) => &mut parts.other_ns,
                    _ => &mut parts.queue_ns,
                };
                *part += ns;
            }
            if let Some(stalls) = self.dies[die].stalls.as_mut().filter(|_| !works) {
                stalls.rests_until(now, at);
            }
        }
        self.now = at;
    }

    /// A job of collection has the die, and reads have not.
    fn collects(&self, die: usize) -> bool {
        let Die { job, halt, .. } = &self.dies[die];
        let of_host = |job: Job| matches!(job, Job::Program(number) if self.superpages[&number].of_host);
        job.is_some_and(|(job, _)| !of_host(job)) && !matches!(halt, Some(Halt::There(_)))
    }

    /// A job has the die, or a plane reads or holds what it has read.
    fn works(&self, die: usize) -> bool {
        let Die { job, reading, holding, .. } = &self.dies[die];
        job.is_some() || reading.contains(&true) || holding.iter().any(|&pages| pages > 0)
    }

    fn idle_ns(&self) -> Option<u64> {
        self.ssd.gc.idle_ns.filter(|_| !self.ssd.gc.instantaneous)
    }

    fn schedule(&mut self, at: u64, event: Event) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    fn count(&mut self, what: &'static str, many: u64) {
        if many > 0 {
            *self.counts.entry(what).or_insert(0) += many;
        }
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Begin(request) => {
                self.count("commands", 1);
                self.commands += 1;
                self.is_idle = false;
                if let Some(idle_ns) = self.idle_ns() {
                    self.schedule(self.now + idle_ns, Event::Idle(self.commands));
                }
                self.unfetched.push(request);
                self.fetch();
            }
            Event::IsDone => {
                self.in_flight -= 1;
                self.fetch();
            }
            Event::CoreDone(core) => {
                match self.cores[core].take().unwrap() {
                    OnCore::Request(request) => self.schedule(self.now + self.own.firmware.latency_ns, Event::Work(request)),
                    OnCore::Part(part) => {
                        let die = self.die_of(self.parts[part].first);
                        self.dies[die].parts.push_back(part);
                        self.die_looks(die);
                    }
                }
                self.cores_look();
            }
            Event::Work(request) => self.work(request),
            Event::Crossed(request) => {
                self.entering.push_back(request);
                self.bring_in();
            }
            Event::ArrayRead(mut read) => {
                self.dies[read.die].reading[read.plane] = false;
                self.dies[read.die].holding[read.plane] += 1;
                let units: BTreeSet<u32> = read.readers.iter().map(|&(unit, ..)| unit).collect();
                let die = read.die;
                let out = self.over_channel(die, units.len() as u64 * self.own.unit_transfer_ns);
                for (.., parts) in &mut read.readers {
                    parts.flash_ns += read.ns;
                    parts.transfer_ns += out - self.now;
                }
                self.schedule(out, Event::ReadOut(read));
                if self.own.cache_read {
                    self.die_looks(die);
                }
            }
            Event::ReadOut(read) => {
                self.dies[read.die].holding[read.plane] -= 1;
                for (_, reader, parts) in read.readers {
                    self.gets(reader, parts);
                }
                self.die_looks(read.die);
                let block = read.flash_page * self.own.flash_page_units / self.per_block();
                if self.own.upkeep.refresh_reads.is_some_and(|reads| self.reads[block as usize] >= reads) {
                    self.begin_parts();
                }
            }
            Event::JobStep(die) => self.job_goes_on(die),
            Event::ArrayEnds(die) => {
                if self.dies[die].halt.is_none() && self.dies[die].array_ends == self.now {
                    self.job_goes_on(die);
                }
            }
            Event::Halt(die) => self.halt_goes_on(die),
            Event::MayHalt(die) => self.halts(die),
            Event::StallOver(die) => self.die_looks(die),
            Event::Linger(superpage) => {
                if let Some(handle) = self.filling.iter().position(|&filling| filling == Some(superpage)) {
                    self.close(handle);
                }
            }
            Event::Idle(commands) => {
                if commands == self.commands && !self.idle_has_nothing_to_do() {
                    self.is_idle = true;
                    self.begin_parts();
                    self.place_host();
                }
            }
        }
    }

    /// Rule 219; without queues a command goes to the cores when it comes.
    fn fetch(&mut self) {
        let Some(own) = self.own.queues else {
            self.waiting_requests.extend(self.unfetched.drain(..));
            return self.cores_look();
        };
        while self.in_flight < own.commands as usize && !self.unfetched.is_empty() {
            let of = |request: usize| usize::from(self.asked[request].5) % own.queues as usize;
            let (last, in_a_row, is_over) = self.fetched;
            // A turn ends with its burst, or when nothing is left; the next one is that of the queue after it.
            let first = if is_over { last + 1 } else { last };
            let (at, &request) = self
                .unfetched
                .iter()
                .enumerate()
                .min_by_key(|&(at, &request)| ((of(request) + 2 * own.queues as usize - first) % own.queues as usize, at))
                .unwrap();
            let queue = of(request);
            let in_a_row = if queue == last && !is_over { in_a_row + 1 } else { 1 };
            let is_left = self.unfetched.iter().any(|&other| other != request && of(other) == queue);
            self.fetched = (queue, in_a_row, in_a_row == own.burst || !is_left);
            self.unfetched.remove(at);
            self.in_flight += 1;
            self.count("fetch_waits", u64::from(self.now > self.asked[request].0));
            self.count("fetch_wait_ns", self.now - self.asked[request].0);
            self.waiting_requests.push_back(request);
            self.cores_look();
        }
    }

    fn cores_look(&mut self) {
        while let Some(core) = self.cores.iter().position(Option::is_none) {
            let firmware = self.own.firmware;
            let (job, ns) = if let Some(request) = self.waiting_requests.pop_front() {
                let (arrived, kind, _, pages, ..) = self.asked[request];
                self.spent[request].queue_ns = self.now - arrived;
                let ns = match kind {
                    OpKind::Read => firmware.read_ns,
                    OpKind::Trim => firmware.trim_ns + u64::from(pages.div_ceil(self.own.unit_pages)) * firmware.trim_unit_ns,
                    _ => firmware.write_ns,
                };
                self.spent[request].other_ns = ns + firmware.latency_ns;
                (OnCore::Request(request), ns)
            } else if let Some(part) = self.waiting_parts.pop_front() {
                (OnCore::Part(part), self.parts[part].units.len() as u64 * firmware.move_ns)
            } else {
                return;
            };
            self.cores[core] = Some(job);
            self.schedule(self.now + ns, Event::CoreDone(core));
        }
    }

    fn over_channel(&mut self, die: usize, ns: u64) -> u64 {
        let per_channel = self.ssd.channel.map_or(1, |channel| channel.dies_per_channel) as usize;
        let channel = &mut self.channels[die / per_channel];
        *channel = self.now.max(*channel) + ns;
        *channel
    }

    fn over_link(&mut self, to_host: bool, pages: u64) -> u64 {
        let Some(link) = self.ssd.link else { return self.now };
        let lane = &mut self.lanes[usize::from(to_host && link.full_duplex)];
        *lane = self.now.max(*lane) + pages * link.page_ns;
        *lane
    }

    fn page_done(&mut self, request: usize, at: u64, parts: TimeParts) {
        assert_eq!(parts.total_ns(), at - self.asked[request].0, "{parts:?} of {:?}", self.asked[request]);
        self.done[request] = self.done[request].max((at, parts));
        self.pages_left[request] -= 1;
        if self.own.queues.is_some() && self.pages_left[request] == 0 {
            self.schedule(self.done[request].0, Event::IsDone);
        }
    }

    /// A write is done: what has passed since its data crossed is the buffer's, but for the share of collection in its wait for room (rule
    /// 231).
    fn write_done(&mut self, request: usize, at: u64) {
        let mut parts = self.spent[request];
        let [wait_ns, work_ns, collection_ns] = self.waits_for_room[request].map(u128::from);
        parts.collection_ns = (wait_ns * collection_ns).checked_div(work_ns).unwrap_or(0) as u64;
        parts.cache_ns = at - self.asked[request].0 - parts.total_ns();
        self.page_done(request, at, parts);
    }

    /// Units of a request, each with its pages.
    fn units_of(&self, request: usize) -> Vec<(u32, u32)> {
        let (_, _, first, pages, ..) = self.asked[request];
        let mut units: Vec<(u32, u32)> = Vec::new();
        for page in first..first + pages {
            match units.last_mut() {
                Some((unit, pages)) if *unit == page / self.own.unit_pages => *pages += 1,
                _ => units.push((page / self.own.unit_pages, 1)),
            }
        }
        units
    }

    fn work(&mut self, request: usize) {
        let (_, kind, first, pages, ..) = self.asked[request];
        match kind {
            OpKind::Read => {
                let mut touched = Vec::new();
                for page in first..first + pages {
                    match self.units[(page / self.own.unit_pages) as usize] {
                        Where::Flash(place) => {
                            let is_held = self.is_held(place);
                            self.wants(place, Reader::Request(request));
                            let die = self.die_of(place);
                            // A die that has got nothing does not look.
                            if !is_held && !touched.contains(&die) {
                                touched.push(die);
                            }
                        }
                        found => {
                            self.count("buffer_hits", u64::from(found != Where::Nowhere));
                            let at = self.over_link(true, 1);
                            let transfer_ns = at - self.now;
                            self.page_done(request, at, TimeParts { transfer_ns, ..self.spent[request] });
                        }
                    }
                }
                touched.into_iter().for_each(|die| self.die_looks(die));
            }
            OpKind::Write => {
                self.count("pages_received", u64::from(pages));
                let handle = self.handle_of_request(request);
                self.handles[handle][0] += u64::from(pages);
                let at = self.over_link(false, u64::from(pages));
                self.spent[request].transfer_ns = at - self.now;
                self.schedule(at, Event::Crossed(request));
            }
            OpKind::Trim => {
                for (unit, pages) in self.units_of(request) {
                    if pages == self.own.unit_pages {
                        self.units[unit as usize] = Where::Nowhere;
                    } else {
                        self.count("trimmed_in_part", u64::from(pages));
                    }
                }
                self.page_done(request, self.now, self.spent[request]);
            }
            OpKind::Flush => {
                let waits_for: BTreeSet<u64> = self
                    .superpages
                    .iter()
                    .filter(|(_, superpage)| superpage.of_host && !superpage.is_parity)
                    .map(|(&number, _)| number)
                    .collect();
                if self.own.buffer.is_protected || waits_for.is_empty() {
                    self.page_done(request, self.now, self.spent[request]);
                } else {
                    self.flushes.push((request, waits_for));
                    (0..self.handle_count()).for_each(|handle| self.close(handle));
                }
            }
        }
    }

    fn wants(&mut self, place: u32, reader: Reader) {
        if self.is_held(place) {
            let spent = if let Reader::Request(request) = reader { self.spent[request] } else { TimeParts::default() };
            return self.serve_held(reader, spent);
        }
        let (die, flash_page) = (self.die_of(place), place / self.own.flash_page_units);
        let unit = place % self.own.flash_page_units;
        self.dies[die].read_came = true;
        let spent = match reader {
            Reader::Request(request) => self.spent[request],
            Reader::Rest(_) => TimeParts::default(),
        };
        if let Some(read) = self.dies[die].reads.iter_mut().find(|read| read.flash_page == flash_page) {
            read.readers.push((unit, reader, spent));
            self.count("joined", 1);
            return;
        }
        let plane = (flash_page % (self.per_superpage() / self.own.flash_page_units) % self.ssd.geometry.planes) as usize;
        let ns = self.array_read_ns(place);
        self.dies[die].reads.push(Read { flash_page, die, plane, ns, readers: vec![(unit, reader, spent)] });
    }

    // The buffer.

    fn buffered(&self) -> u32 {
        self.superpages.values().filter(|superpage| superpage.of_host).map(|superpage| superpage.units.len() as u32).sum()
    }

    fn bring_in(&mut self) {
        while let Some(&request) = self.entering.front() {
            let units = self.units_of(request);
            while let Some(&(unit, pages)) = units.get(self.entered[request] as usize) {
                let handle = self.handle_of_request(request);
                if !self.enters(unit, handle, pages < self.own.unit_pages) {
                    return;
                }
                self.entered[request] += 1;
            }
            self.entering.pop_front();
            let acknowledged = self.now + self.own.buffer.ack_ns;
            if self.asked[request].4 && !self.own.buffer.is_protected {
                self.must_survive(request, acknowledged);
            } else {
                self.write_done(request, acknowledged);
            }
        }
    }

    fn must_survive(&mut self, request: usize, acknowledged: u64) {
        let holds = |(unit, _): (u32, u32)| match self.units[unit as usize] {
            Where::Buffer(superpage, _) => Some(superpage),
            _ => None,
        };
        let waits_for: BTreeSet<u64> = self.units_of(request).into_iter().filter_map(holds).collect();
        let in_it = |handle: &usize| self.filling[*handle].is_some_and(|filling| waits_for.contains(&filling));
        let closes: Vec<usize> = (0..self.handle_count()).filter(in_it).collect();
        if waits_for.is_empty() {
            return self.write_done(request, acknowledged);
        }
        self.count("forced_waits", 1);
        self.forced.push((request, waits_for, acknowledged));
        closes.into_iter().for_each(|handle| self.close(handle));
    }

    fn enters(&mut self, unit: u32, handle: usize, is_partial: bool) -> bool {
        let before = self.units[unit as usize];
        if let Where::Buffer(superpage, _) = before
            && !self.superpages[&superpage].begun
        {
            self.count("overwritten", 1);
            return true;
        }
        if self.buffered() == self.own.buffer.units {
            return false;
        }
        let number = self.opened(handle);
        if self.superpages[&number].units.is_empty()
            && let Some(linger_ns) = self.own.buffer.linger_ns
        {
            self.schedule(self.now + linger_ns, Event::Linger(number));
        }
        let all = self.units_of_stream(self.superpages[&number].stream) as usize;
        let is_held = matches!(before, Where::Flash(place) if self.is_held(place));
        let superpage = self.superpages.get_mut(&number).unwrap();
        self.units[unit as usize] = Where::Buffer(number, superpage.units.len());
        superpage.units.push(unit);
        let is_full = superpage.units.len() == all;
        let reads = match before {
            Where::Flash(place) if is_partial && !is_held => Some(place),
            _ => None,
        };
        superpage.missing += u32::from(reads.is_some());
        if is_full {
            self.close(handle);
        }
        if let Some(place) = reads {
            self.count("rmw_reads", 1);
            self.wants(place, Reader::Rest(number));
            self.die_looks(self.die_of(place));
        }
        true
    }

    fn opened(&mut self, stream: usize) -> u64 {
        if let Some(number) = self.filling[stream] {
            return number;
        }
        let number = self.superpages_begun;
        self.superpages_begun += 1;
        let (units, sources) = (Vec::new(), Vec::new());
        let (is_parity, is_full, has_place, begun) = (false, false, false, false);
        let of_host = stream < self.handle_count();
        self.filling[stream] = Some(number);
        let stream = if of_host { self.stream_of_host(stream) } else { stream };
        let superpage = Superpage { stream, of_host, is_parity, units, sources, missing: 0, is_full, has_place, begun, first: 0 };
        self.superpages.insert(number, superpage);
        number
    }

    fn close(&mut self, stream: usize) {
        let Some(number) = self.filling[stream].take() else { return };
        self.superpages.get_mut(&number).unwrap().is_full = true;
        self.is_complete(number);
    }

    fn is_complete(&mut self, number: u64) {
        let superpage = &self.superpages[&number];
        if !superpage.is_full || superpage.missing > 0 {
            return;
        }
        if superpage.of_host {
            self.to_place[0].push_back(number);
            self.place_host();
        } else {
            self.to_place[1].push_back(number);
            self.place_moved();
        }
    }

    fn owed(&self) -> i128 {
        match &self.victim {
            Some(victim) if self.credits > 0 && !victim.for_upkeep => self.credits / self.cost(victim.valid),
            _ => 0,
        }
    }

    fn cost(&self, valid: u32) -> i128 {
        i128::from(self.data_per_block() - valid) * i128::from(self.own.collection.span)
    }

    fn place_host(&mut self) {
        while let Some(&number) = self.to_place[0].front() {
            if self.ssd.gc.instantaneous {
                self.collect_in_no_time();
            }
            if self.free.len() as u32 <= self.own.collection.floor {
                if !std::mem::replace(&mut self.in_foreground, true) {
                    self.count("foreground", 1);
                }
                return self.begin_parts();
            }
            self.in_foreground = false;
            let debt = i128::from(self.own.collection.debt_units);
            if self.owed() > debt {
                self.begin_parts();
            }
            if self.owed() > debt {
                return;
            }
            let Some(die) = self.best_die(self.superpages[&number].stream) else { return };
            self.to_place[0].pop_front();
            self.gets_place(number, die);
            let of = &self.superpages[&number];
            let times = if of.stream == self.slc_stream() { self.own.pages_per_cell } else { 1 };
            let units = of.units.len() as i128 * i128::from(times);
            let pace = if self.is_urgent() { 0 } else { i128::from(self.pace()) };
            if pace > 0 && self.victim.is_none() {
                self.choose();
            }
            if let Some(victim) = self.victim.as_ref().filter(|victim| !victim.for_upkeep) {
                self.credits += units * i128::from(victim.valid) * pace;
            }
            self.die_looks(die);
            self.begin_parts();
        }
    }

    fn place_moved(&mut self) {
        for number in self.to_place[1].clone() {
            if let Some(die) = self.best_die(self.superpages[&number].stream) {
                self.to_place[1].retain(|&other| other != number);
                self.gets_place(number, die);
                self.die_looks(die);
            }
        }
    }

    fn gets_place(&mut self, number: u64, die: usize) {
        let Superpage { stream, of_host, .. } = self.superpages[&number];
        let free = self.free.len();
        let first = self.take_row(stream, die);
        let superpage = self.superpages.get_mut(&number).unwrap();
        (superpage.first, superpage.has_place) = (first, true);
        if of_host {
            self.dies[die].programs.push_back(number)
        } else {
            self.dies[die].moved.push_back(number)
        }
        if self.free.len() < free {
            self.may_ask();
        }
    }

    fn channels_first(&self) -> Vec<usize> {
        let per_channel = self.ssd.channel.map_or(1, |channel| channel.dies_per_channel) as usize;
        let mut order: Vec<usize> = (0..self.dies.len()).collect();
        order.sort_by_key(|die| (die % per_channel, die / per_channel));
        order
    }

    fn best_die(&mut self, stream: usize) -> Option<usize> {
        let dies = self.dies.len();
        let mut order = self.channels_first();
        order.rotate_left(self.turn);
        let rows_left = |die: usize| self.open[stream].iter().map(|(_, left)| left[die].len()).sum::<usize>();
        let with_row = order.iter().enumerate().filter(|&(_, &die)| self.has_row(stream, die));
        let (at, &die) = with_row.min_by_key(|&(_, &die)| (self.start(die), std::cmp::Reverse(rows_left(die))))?;
        self.turn = (self.turn + at + 1) % dies;
        Some(die)
    }

    /// When something that joins the queues of a die could start.
    fn start(&self, die: usize) -> u64 {
        let state = &self.dies[die];
        // What is suspended waits, too.
        let halted = match state.halt {
            Some(Halt::Coming(rest) | Halt::There(rest)) => rest + self.of_suspension(die).unwrap().resume_ns,
            _ => 0,
        };
        let programs: u64 = state.programs.iter().chain(&state.moved).map(|&number| self.program_plain_ns(number)).sum();
        let reads: u64 = state.reads.iter().map(|read| read.ns + self.own.unit_transfer_ns).sum();
        let erases = state.erases.len() as u64 * self.ssd.timing.block_erase_ns;
        let parts: u64 = state.parts.iter().map(|&part| self.part_plain_ns(part)).sum();
        self.now.max(state.ends) + halted + programs + reads + erases + parts
    }

    fn program_plain_ns(&self, number: u64) -> u64 {
        self.superpage_transfer_ns(number) + self.program_ns(number)
    }

    fn part_plain_ns(&self, part: usize) -> u64 {
        let part = &self.parts[part];
        part.types.iter().map(|&of| self.step(part, of)).map(|(ns, units)| ns + units * self.own.unit_transfer_ns).sum()
    }

    /// Array time and units of one type of page.
    fn step(&self, part: &Part, of: u32) -> (u64, u64) {
        let units: Vec<&u32> = part.units.iter().filter(|&&place| self.type_of(place) == of).collect();
        (self.array_read_ns(*units[0]), units.len() as u64)
    }

    // Dies.

    fn next_job(&mut self, die: usize) -> Option<Job> {
        let in_programs = self.dies.iter().filter(|die| matches!(die.job, Some((Job::Program(_), _)))).count();
        let may_program = in_programs < self.own.programs_at_once as usize;
        let state = &self.dies[die];
        let wants_to = !state.programs.is_empty() || !state.moved.is_empty();
        if wants_to && !may_program && !self.asks.contains(&die) {
            self.asks.push_back(die);
        }
        let program = state.programs.front().filter(|_| may_program).map(|&number| Job::Program(number));
        let moved = state.moved.front().filter(|_| may_program).map(|&number| Job::Program(number));
        let erase = state.erases.front().map(|&block| Job::Erase(block));
        let part = state.parts.front().map(|&part| Job::Part(part));
        let order = if self.pace() > self.own.collection.span { [erase, moved, part, program] } else { [program, erase, moved, part] };
        order.into_iter().flatten().next()
    }

    fn die_looks(&mut self, die: usize) {
        self.halts(die);
        if self.is_stalled(die) {
            return;
        }
        while self.dies[die].job.is_none() || matches!(self.dies[die].halt, Some(Halt::There(_))) {
            let is_halted = self.dies[die].halt.is_some();
            let next = if is_halted { None } else { self.next_job(die) };
            let something_waits = is_halted || next.is_some();
            let state = &mut self.dies[die];
            let busy = (0..state.reading.len()).any(|plane| state.reading[plane] || state.holding[plane] > 0);
            // With pipelining a step needs no more than a host read does, in all planes.
            let almost_free = (0..state.reading.len()).all(|plane| !state.reading[plane] && state.holding[plane] <= 1);
            let may_overlap = almost_free && matches!(next, Some(Job::Part(_))) && self.pipeline() != Pipeline::Off;
            let state = &mut self.dies[die];
            if !state.reads.is_empty() && (!something_waits || state.in_a_row < self.own.reads_ahead) {
                if !self.begins_a_read(die, something_waits) {
                    return;
                }
            } else if is_halted && !busy {
                let Some(Halt::There(rest)) = state.halt else { unreachable!() };
                state.halt = Some(Halt::Leaving(rest));
                state.in_a_row = 0;
                let resume_ns = self.of_suspension(die).unwrap().resume_ns;
                self.dies[die].ends = self.now + resume_ns + rest;
                self.schedule(self.now + resume_ns, Event::Halt(die));
            } else if let Some(job) = next.filter(|_| !busy || may_overlap) {
                self.count("pipelined", u64::from(busy));
                let ends = if busy { self.dies[die].ends } else { 0 };
                self.begins(die, job);
                self.dies[die].ends = self.dies[die].ends.max(ends);
            } else {
                return;
            }
        }
        // The data of a step leave: host reads go beside them (rule 229).
        while self.pipeline() == Pipeline::InFlight
            && matches!(self.dies[die].job, Some((Job::Part(_), false)))
            && !self.dies[die].reads.is_empty()
            && self.dies[die].in_a_row < self.own.reads_ahead
            && self.begins_a_read(die, true)
        {
            self.count("pipelined", 1);
        }
    }

    /// The first waiting read whose plane is free, if there is one.
    fn begins_a_read(&mut self, die: usize, something_waits: bool) -> bool {
        let of_step = self.planes_of_step(die);
        let state = &mut self.dies[die];
        let busy = (0..state.reading.len()).any(|plane| state.reading[plane] || state.holding[plane] > 0);
        if self.own.plane_reads == PlaneReads::Die && busy {
            return false;
        }
        let most = u32::from(self.own.cache_read);
        let may = |read: &Read| !state.reading[read.plane] && state.holding[read.plane] + u32::from(of_step.contains(&read.plane)) <= most;
        let Some(at) = state.reads.iter().position(may) else { return false };
        let read = state.reads.remove(at);
        state.reading[read.plane] = true;
        state.in_a_row += u32::from(something_waits);
        let units: BTreeSet<u32> = read.readers.iter().map(|&(unit, ..)| unit).collect();
        state.ends = state.ends.max(self.now + read.ns + units.len() as u64 * self.own.unit_transfer_ns);
        self.count("array_reads", 1);
        let block = read.flash_page * self.own.flash_page_units / self.per_block();
        self.reads[block as usize] += 1;
        self.schedule(self.now + read.ns, Event::ArrayRead(read));
        true
    }

    // Preemption (rule 229).

    fn pipeline(&self) -> Pipeline {
        let has_registers = self.own.cache_read && self.own.plane_reads == PlaneReads::Independent;
        self.ssd.gc.preemption.filter(|_| has_registers).map_or(Pipeline::Off, |preemption| preemption.pipeline)
    }

    fn places_of_step(&self, part: usize) -> Vec<u32> {
        let part = &self.parts[part];
        part.units.iter().copied().filter(|&place| self.type_of(place) == part.types[0]).collect()
    }

    fn plane_of(&self, place: u32) -> usize {
        (place % self.per_superpage() / self.own.flash_page_units % self.ssd.geometry.planes) as usize
    }

    /// Planes whose registers hold the data of a step.
    fn planes_of_step(&self, die: usize) -> BTreeSet<usize> {
        match self.dies[die].job {
            Some((Job::Part(part), false)) => self.places_of_step(part).into_iter().map(|place| self.plane_of(place)).collect(),
            _ => BTreeSet::new(),
        }
    }

    fn merges(&self) -> bool {
        self.ssd.gc.preemption.is_some_and(|preemption| preemption.merge)
    }

    /// Collection has read it and not programmed it.
    fn is_held(&self, place: u32) -> bool {
        let has_read = |part: &Part| part.units.contains(&place) && !part.types.is_empty() && !part.types.contains(&self.type_of(place));
        self.merges() && (self.parts.iter().any(has_read) || self.superpages.values().any(|superpage| superpage.sources.contains(&place)))
    }

    fn serve_held(&mut self, reader: Reader, parts: TimeParts) {
        if matches!(reader, Reader::Request(_)) {
            self.count("merges", 1);
        }
        self.gets(reader, parts);
    }

    /// The data of a read are in the controller.
    fn gets(&mut self, reader: Reader, mut parts: TimeParts) {
        match reader {
            Reader::Request(request) => {
                let at = self.over_link(true, 1);
                parts.transfer_ns += at - self.now;
                self.page_done(request, at, parts);
            }
            Reader::Rest(superpage) => {
                self.superpages.get_mut(&superpage).unwrap().missing -= 1;
                self.is_complete(superpage);
            }
        }
    }

    /// Waiting reads that want nothing but what a step has read are served.
    fn serve_those_that_want(&mut self, die: usize, places: &[u32]) {
        let units = self.own.flash_page_units;
        let has_all = |read: &Read| read.readers.iter().all(|&(unit, ..)| places.contains(&(read.flash_page * units + unit)));
        let (served, left): (Vec<Read>, Vec<Read>) = std::mem::take(&mut self.dies[die].reads).into_iter().partition(has_all);
        self.dies[die].reads = left;
        for read in served {
            for (_, reader, parts) in read.readers {
                self.serve_held(reader, parts);
            }
        }
    }

    /// Rule 230: a stall has the die, or waits for its reads.
    fn is_stalled(&mut self, die: usize) -> bool {
        let works = self.works(die);
        let now = self.now;
        let Die { job, stalls: Some(stalls), reads, programs, erases, moved, parts, .. } = &mut self.dies[die] else { return false };
        if job.is_some() {
            return false;
        }
        if works {
            return stalls.due <= now;
        }
        if reads.is_empty() && programs.is_empty() && erases.is_empty() && moved.is_empty() && parts.is_empty() {
            return false;
        }
        if stalls.until <= now && stalls.due <= now {
            stalls.begins(now);
        }
        let until = stalls.until;
        if until > now && until != stalls.awaited {
            stalls.awaited = until;
            self.count("stalls", 1);
            self.count("stall_waits_ns", until - now);
            self.schedule(until, Event::StallOver(die));
        }
        until > now
    }

    fn begins(&mut self, die: usize, job: Job) {
        self.dies[die].in_a_row = 0;
        let plain_ns = match job {
            Job::Program(number) => {
                if self.superpages[&number].of_host {
                    self.dies[die].programs.pop_front()
                } else {
                    self.dies[die].moved.pop_front()
                };
                self.superpages.get_mut(&number).unwrap().begun = true;
                self.program_plain_ns(number)
            }
            Job::Erase(_) => {
                self.dies[die].erases.pop_front();
                self.ssd.timing.block_erase_ns
            }
            Job::Part(part) => {
                self.dies[die].parts.pop_front();
                self.part_plain_ns(part)
            }
        };
        let state = &mut self.dies[die];
        state.ends = self.now + plain_ns;
        state.job = Some((job, !matches!(job, Job::Program(_))));
        (state.times_suspended, state.works_until, state.read_came) = (0, 0, false);
        match job {
            Job::Program(number) => {
                let at = self.over_channel(die, self.superpage_transfer_ns(number));
                self.schedule(at, Event::JobStep(die));
                self.parity_follows(number);
            }
            Job::Erase(_) => self.array_works(die, self.ssd.timing.block_erase_ns),
            Job::Part(part) => {
                let at = self.now + self.step(&self.parts[part], self.parts[part].types[0]).0;
                self.schedule(at, Event::JobStep(die));
            }
        }
    }

    // Suspension.

    fn of_suspension(&self, die: usize) -> Option<OperationSuspension> {
        let suspension = self.own.suspension?;
        match self.dies[die].job?.0 {
            Job::Program(_) => Some(suspension.program),
            Job::Erase(_) => Some(suspension.erase),
            Job::Part(_) => None,
        }
    }

    /// A program or an erase works until its end, if nothing suspends it.
    fn array_works(&mut self, die: usize, ns: u64) {
        self.dies[die].array_ends = self.now + ns;
        self.schedule(self.now + ns, Event::ArrayEnds(die));
        self.halts(die);
    }

    /// A read that has come makes the array halt, if it may.
    fn halts(&mut self, die: usize) {
        let Some(of) = self.of_suspension(die) else { return };
        let state = &self.dies[die];
        let works = state.halt.is_none() && state.job.is_some_and(|(_, works)| works);
        let rest = state.array_ends.saturating_sub(self.now);
        let worth_it = rest > of.suspend_ns && state.times_suspended < of.times_max;
        if works && state.read_came && worth_it && self.now >= state.works_until {
            let state = &mut self.dies[die];
            state.halt = Some(Halt::Coming(rest));
            state.times_suspended += 1;
            state.ends = self.now + of.suspend_ns;
            self.count("suspensions", 1);
            self.schedule(self.now + of.suspend_ns, Event::Halt(die));
        }
    }

    fn halt_goes_on(&mut self, die: usize) {
        match self.dies[die].halt.unwrap() {
            Halt::Coming(rest) => {
                self.dies[die].halt = Some(Halt::There(rest));
                self.die_looks(die);
            }
            Halt::Leaving(rest) => {
                let of = self.of_suspension(die).unwrap();
                let state = &mut self.dies[die];
                state.halt = None;
                state.works_until = self.now + of.progress_ns;
                state.read_came = !state.reads.is_empty();
                let again = state.times_suspended < of.times_max && rest > of.progress_ns + of.suspend_ns;
                if again && of.progress_ns > 0 {
                    self.schedule(self.now + of.progress_ns, Event::MayHalt(die));
                }
                self.array_works(die, rest);
            }
            Halt::There(_) => unreachable!("reads go in"),
        }
    }

    fn job_goes_on(&mut self, die: usize) {
        match self.dies[die].job.unwrap() {
            (Job::Program(number), false) => {
                self.dies[die].job = Some((Job::Program(number), true));
                return self.array_works(die, self.program_ns(number));
            }
            (Job::Part(part), true) => {
                let (_, units) = self.step(&self.parts[part], self.parts[part].types[0]);
                let at = self.over_channel(die, units * self.own.unit_transfer_ns);
                self.dies[die].job = Some((Job::Part(part), false));
                self.schedule(at, Event::JobStep(die));
                return self.die_looks(die);
            }
            (Job::Part(part), false) => {
                let places = self.places_of_step(part);
                self.parts[part].types.remove(0);
                let is_over = self.parts[part].types.is_empty();
                if !is_over && self.ssd.gc.preemption.is_none() {
                    self.dies[die].job = Some((Job::Part(part), true));
                    let at = self.now + self.step(&self.parts[part], self.parts[part].types[0]).0;
                    return self.schedule(at, Event::JobStep(die));
                }
                self.dies[die].job = None;
                if !is_over {
                    self.dies[die].parts.push_front(part);
                }
                if self.merges() {
                    self.serve_those_that_want(die, &places);
                }
                if is_over {
                    self.part_is_read(part);
                }
            }
            (Job::Program(number), true) => {
                self.dies[die].job = None;
                self.is_programmed(number);
                while let Some(&other) = self.asks.front() {
                    let in_programs = self.dies.iter().filter(|die| matches!(die.job, Some((Job::Program(_), _)))).count();
                    if in_programs >= self.own.programs_at_once as usize {
                        break;
                    }
                    self.asks.pop_front();
                    self.die_looks(other);
                }
            }
            (Job::Erase(block), _) => {
                self.dies[die].job = None;
                let way = self.ways.get_mut(&block).unwrap();
                let left = way.erases.unwrap() - 1;
                way.erases = Some(left);
                if left == 0 {
                    self.ways.remove(&block);
                    assert!(self.valid_places(block).is_empty());
                    self.free_block(block);
                    self.is_idle &= !self.idle_has_nothing_to_do();
                    self.may_be_done();
                    self.place_moved();
                    self.begin_parts();
                    self.place_host();
                }
            }
        }
        self.die_looks(die);
    }

    /// The program of a superpage has begun; the parity of its row may have to be written now.
    fn parity_follows(&mut self, number: u64) {
        let of = self.superpages[&number].clone();
        if of.is_parity {
            return;
        }
        let Some(first) = self.begins_to_be_written(of.first) else { return };
        let number = self.superpages_begun;
        self.superpages_begun += 1;
        let parity = Superpage { is_parity: true, is_full: true, begun: false, first, units: Vec::new(), sources: Vec::new(), ..of };
        self.superpages.insert(number, parity);
        let die = self.die_of(first);
        if of.of_host {
            self.dies[die].programs.push_back(number)
        } else {
            self.dies[die].moved.push_back(number)
        }
        self.die_looks(die);
    }

    fn is_sealed(&self, first: u32) -> bool {
        self.blocks[(first / self.per_block()) as usize] == Block::Sealed
    }

    fn is_programmed(&mut self, number: u64) {
        if self.superpages[&number].is_parity {
            let Superpage { first, stream, .. } = self.superpages.remove(&number).unwrap();
            self.count("units_parity", u64::from(self.units_of_stream(stream)));
            self.count_of_stream(stream, u64::from(self.units_of_stream(stream)));
            self.superpage_is_programmed(first);
            if self.is_sealed(first) {
                self.begin_parts();
                self.place_host();
            }
            return;
        }
        let Superpage { stream, of_host, units, sources, first, .. } = self.superpages.remove(&number).unwrap();
        let all = u64::from(self.units_of_stream(stream));
        self.count_of_stream(stream, all);
        self.count("units_padded", all - units.len() as u64);
        self.count("units_slc", if stream == self.slc_stream() { units.len() as u64 } else { 0 });
        self.count("units_folded", sources.iter().filter(|&source| self.slc[(source / self.per_block()) as usize]).count() as u64);
        self.count(if of_host { "units_programmed" } else { "units_moved" }, units.len() as u64);
        for (at, &unit) in units.iter().enumerate() {
            let before = if of_host { Where::Buffer(number, at) } else { Where::Flash(sources[at]) };
            if self.units[unit as usize] == before {
                self.units[unit as usize] = Where::Flash(first + at as u32);
                self.written[first as usize + at] = Some(unit);
            }
        }
        self.superpage_is_programmed(first);
        let seals = self.is_sealed(first);
        if of_host {
            for (_, waits_for) in &mut self.flushes {
                waits_for.remove(&number);
            }
            let (over, left): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.flushes).into_iter().partition(|(_, waits_for)| waits_for.is_empty());
            self.flushes = left;
            for (request, _) in over {
                // It waited behind the programs of others.
                let mut parts = self.spent[request];
                parts.queue_ns += self.now - self.asked[request].0 - parts.total_ns();
                self.page_done(request, self.now, parts);
            }
            for (request, waits_for, acknowledged) in std::mem::take(&mut self.forced) {
                let left: BTreeSet<u64> = waits_for.into_iter().filter(|&superpage| superpage != number).collect();
                if left.is_empty() {
                    self.write_done(request, acknowledged.max(self.now));
                } else {
                    self.forced.push((request, left, acknowledged));
                }
            }
            self.bring_in();
            if seals {
                self.begin_parts();
                self.place_host();
            }
            return;
        }
        self.room += sources.len() as u64;
        // A superpage holds units of victims one after the other.
        let mut blocks: Vec<u32> = sources.iter().map(|source| source / self.per_block()).collect();
        while let Some(&block) = blocks.first() {
            let of_block = blocks.iter().take_while(|&&other| other == block).count();
            blocks.drain(..of_block);
            self.ways.get_mut(&block).unwrap().units -= of_block as u32;
            self.victim_goes_on(block);
        }
        self.begin_parts();
        self.place_host();
    }

    // Collection.

    fn pace(&self) -> u32 {
        let collection = self.own.collection;
        if self.ssd.gc.instantaneous {
            return 0;
        }
        match &self.protocol {
            Some(protocol) if protocol.is_forced => return 4 * collection.span,
            Some(_) if self.free.len() as u32 > collection.floor => return 0,
            _ => {}
        }
        let erased_soon = self.ways.values().filter(|way| way.erases.is_some()).count();
        (collection.target + collection.span).saturating_sub((self.free.len() + erased_soon) as u32).min(4 * collection.span)
    }

    fn choose(&mut self) -> bool {
        let Some(block) = self.pick() else { return false };
        self.begin_victim(block, None);
        true
    }

    // Upkeep (rule 223).

    /// What is moved for its own sake, and under what name that counts.
    fn overdue(&self) -> Option<(u32, &'static str)> {
        let upkeep = self.own.upkeep;
        let sealed: Vec<u32> = (0..self.blocks.len() as u32).filter(|&block| self.blocks[block as usize] == Block::Sealed).collect();
        let reads = |block: u32| self.reads[block as usize];
        let most_read = sealed.iter().copied().max_by_key(|&block| (reads(block), block));
        if let Some(block) = most_read.filter(|&block| upkeep.refresh_reads.is_some_and(|most| reads(block) >= most)) {
            return Some((block, "refreshed"));
        }
        let erases = |block: u32| self.erases[block as usize];
        let least = sealed.into_iter().min_by_key(|&block| (erases(block), u32::MAX - block))?;
        let most = *self.erases.iter().max().unwrap();
        let is_due = upkeep.wear_difference.is_some_and(|difference| !self.has_levelled && most - erases(least) >= difference);
        is_due.then_some((least, "levelled"))
    }

    fn begin_victim(&mut self, block: u32, upkeep: Option<&'static str>) {
        let for_upkeep = upkeep.is_some();
        self.victim = Some(Victim { block, valid: self.valid_places(block).len() as u32, next: 0, for_upkeep });
        self.blocks[block as usize] = Block::Victim;
        self.ways.insert(block, Way::default());
        self.is_chosen(upkeep);
    }

    fn is_chosen(&mut self, upkeep: Option<&'static str>) {
        self.count("victims", 1);
        if let Some(upkeep) = upkeep {
            self.count(upkeep, 1);
        }
        self.has_levelled = upkeep == Some("levelled");
    }

    fn begin_parts(&mut self) {
        if self.ssd.gc.instantaneous {
            return;
        }
        self.begin_those_that_may();
        self.close_those_without_more();
    }

    fn is_urgent(&self) -> bool {
        self.is_forced() || self.is_idle || self.free.len() as u32 <= self.own.collection.floor
    }

    fn begin_those_that_may(&mut self) {
        let collection = self.own.collection;
        loop {
            let is_urgent = self.is_urgent();
            let Some(victim) = self.victim.clone() else {
                if let Some((block, upkeep)) = self.overdue().filter(|_| self.free.len() as u32 > collection.floor) {
                    self.begin_victim(block, Some(upkeep));
                    continue;
                }
                let coming = (self.free.len() + self.ways.len()) as u32;
                let goal = if self.is_idle { self.idle_goal() } else { collection.target + collection.span };
                if is_urgent && coming < goal && self.choose() {
                    continue;
                }
                if let Some(block) = self.to_fold().filter(|_| self.is_idle) {
                    self.begin_victim(block, None);
                    continue;
                }
                return;
            };
            let valid = self.valid_places(victim.block);
            let per_superpage = self.per_superpage();
            let number = |place: u32| place % self.per_block() / per_superpage;
            let Some(next) = valid.iter().map(|&place| number(place)).find(|&superpage| superpage >= victim.next) else {
                self.victim = None;
                self.ways.get_mut(&victim.block).unwrap().all_begun = true;
                self.victim_goes_on(victim.block);
                continue;
            };
            let units: Vec<u32> = valid.into_iter().filter(|&place| number(place) == next).collect();
            let cost = if victim.for_upkeep { 0 } else { self.cost(victim.valid) };
            let is_urgent = is_urgent || victim.for_upkeep;
            if units.len() as u64 > self.room || (!is_urgent && self.credits < cost) {
                return;
            }
            let pays = units.len() as i128 * cost;
            self.credits -= if is_urgent { pays.min(self.credits.max(0)) } else { pays };
            self.room -= units.len() as u64;
            self.victim = Some(Victim { next: next + 1, ..victim.clone() });
            self.ways.get_mut(&victim.block).unwrap().parts += 1;
            let types: BTreeSet<u32> = units.iter().map(|&place| self.type_of(place)).collect();
            let first = victim.block * self.per_block() + next * per_superpage;
            self.parts.push(Part { block: victim.block, first, units, types: types.into_iter().collect() });
            self.waiting_parts.push_back(self.parts.len() - 1);
            self.cores_look();
        }
    }

    fn part_is_read(&mut self, part: usize) {
        let Part { block, units, .. } = self.parts[part].clone();
        self.ways.get_mut(&block).unwrap().parts -= 1;
        for place in units {
            if !self.is_valid(place) {
                self.count("units_dropped", 1);
                self.room += 1;
                continue;
            }
            self.ways.get_mut(&block).unwrap().units += 1;
            let stream = self.moves_to(block);
            let number = self.opened(stream);
            let (unit, all) = (self.written[place as usize].unwrap(), self.per_superpage() as usize);
            let superpage = self.superpages.get_mut(&number).unwrap();
            superpage.units.push(unit);
            superpage.sources.push(place);
            if superpage.units.len() == all {
                self.close(stream);
            }
        }
        self.victim_goes_on(block);
        self.begin_parts();
        self.place_host();
    }

    fn victim_goes_on(&mut self, block: u32) {
        let way = self.ways.get_mut(&block).unwrap();
        if !way.all_begun || way.parts > 0 || way.units > 0 || way.erases.is_some() {
            return;
        }
        self.ways.get_mut(&block).unwrap().erases = Some(self.dies.len() as u32);
        self.dies.iter_mut().for_each(|die| die.erases.push_back(block));
        (0..self.dies.len()).for_each(|die| self.die_looks(die));
    }

    // Coordination.

    fn is_forced(&self) -> bool {
        self.protocol.as_ref().is_some_and(|protocol| protocol.is_forced)
    }

    fn sends(&mut self, kind: Option<Kind>, letter: Letter) {
        let Some(protocol) = &mut self.protocol else { return };
        let ns = kind.map_or(protocol.params.delay_ns, |kind| protocol.params.latency_ns[kind as usize]);
        protocol.mail.insert((self.now + ns, letter, protocol.sent), ());
        protocol.sent += 1;
    }

    fn may_ask(&mut self) {
        if !self.is_forced() && self.free.len() as u32 <= self.own.collection.target {
            self.sends(Some(Kind::GcRequest), Letter::Request);
        }
    }

    fn may_be_done(&mut self) {
        let goal = self.own.collection.target + self.own.collection.span;
        let nothing_is_left = self.ways.is_empty() && self.useful().is_empty();
        if self.is_forced() && (self.free.len() as u32 >= goal || nothing_is_left) {
            self.protocol.as_mut().unwrap().is_forced = false;
            self.sends(Some(Kind::GcDone), Letter::Done);
            self.may_ask();
        }
    }

    fn arrives(&mut self, letter: Letter) {
        let protocol = self.protocol.as_mut().unwrap();
        match letter {
            Letter::Done => protocol.collects = false,
            Letter::Request => {
                if protocol.params.answers && !protocol.collects && !protocol.is_coming {
                    protocol.is_coming = true;
                    self.sends(None, Letter::Begin);
                }
            }
            Letter::Begin => {
                (protocol.is_coming, protocol.collects) = (false, true);
                self.sends(Some(Kind::ForceGc), Letter::Force);
            }
            Letter::Force => {
                protocol.is_forced = true;
                self.count("forced", 1);
                self.begin_parts();
                self.may_be_done();
                self.place_host();
            }
        }
    }

    /// The scheme "ideal".
    fn collect_in_no_time(&mut self) {
        let may_collect = |drive: &Self| drive.free.len() as u32 <= drive.own.collection.target;
        loop {
            let overdue = self.overdue().filter(|_| !may_collect(self));
            let others = |drive: &mut Self| drive.to_fold().or_else(|| if may_collect(drive) { drive.pick() } else { None });
            let Some(block) = overdue.map(|(block, _)| block).or_else(|| others(self)) else { return };
            self.is_chosen(overdue.map(|(_, upkeep)| upkeep));
            self.count("units_folded", if self.slc[block as usize] { self.valid_places(block).len() as u64 } else { 0 });
            let (moved, stream) = (self.valid_places(block).len() as u64, self.moves_to(block));
            self.count("units_moved", moved);
            self.blocks[block as usize] = Block::Victim;
            let valid: Vec<u32> = self.valid_places(block).iter().map(|&place| self.written[place as usize].unwrap()).collect();
            let parity_before = self.parity_in_no_time;
            self.moves_untimed(stream, &valid);
            let parity = (self.parity_in_no_time - parity_before) * u64::from(self.per_superpage());
            self.count("units_parity", parity);
            self.count_of_stream(stream, moved + parity);
            self.free_block(block);
        }
    }
}
