//! Writes without simulated time: the initial fill, a warm-up, and instantaneous collection.

use super::changes::Changes;
use super::open::parity_written;
use super::origin::{InOrder, Origin, Steady};
use super::{
    BegunVictim, CollectionCourse, Contents, Open, PlacementHandles, PointOfCycle, State, Stream, Superblock, SuperblockMapping,
    SuperblockShape,
};
use crate::rng;

/// Number of entries by which prefetching runs ahead.
pub(super) const AHEAD: usize = 16;
/// Number of overwrites of each unit from which on most units change.
const EXPECT_ALL_FROM: f64 = 0.2;

impl SuperblockMapping {
    /// Maps all exported units of the mapping (one page or several, `ssd.superblock.unit`) in order, as the initial fill does.
    pub(super) fn fill(&mut self) {
        if InOrder::holds_for(&self.shape) {
            return self.fill_computed();
        }
        let mut writer = UntimedWriter::new(Stream::Host(0));
        (0..self.shape.exported_mapping_units).for_each(|unit| writer.put(self, unit));
        writer.close(self);
    }

    /// Puts the drive into the state after the fill. The places of the units are computed later.
    fn fill_computed(&mut self) {
        let (shape, in_order) = (self.shape, InOrder::new(&self.die_order));
        let SuperblockShape { dies, superpages_of_superblock_per_die: rows, exported_mapping_units: units, .. } = shape;
        // Row of the first superpage of each die that is not written.
        let until: Vec<u32> = (0..dies).map(|die| shape.row_of_data_superpage(die, in_order.superpages_on(&shape, die))).collect();
        // The last superpage may be filled only in part.
        let padding = (u64::from(shape.superpages_exported()) * u64::from(shape.mapping_units_per_superpage()) - units) as u32;
        let last_block = shape.superblock_of(in_order.place_of(&shape, units - 1));
        while let Some(&block) = self.free.front() {
            let next_row = |die: u32| shape.data_row(block, die, until[die as usize].saturating_sub(block * rows).min(rows));
            let next_row: Vec<u32> = (0..dies).map(next_row).collect();
            let left: u32 = (0..).zip(&next_row).map(|(die, &row)| shape.data_rows(block, die, row)).sum();
            if left == shape.data_superpages() {
                break;
            }
            self.free.pop_front();
            self.sequence += 1;
            let written = shape.data_superpages() - left;
            self.superblocks[block as usize] = Superblock {
                state: if left == 0 { State::Sealed } else { State::Open },
                valid: written * shape.mapping_units_per_superpage() - if block == last_block { padding } else { 0 },
                programmed: written + parity_written(&shape, block, &next_row, &mut self.rows_begun),
                sequence: self.sequence,
                ..Superblock::free(0)
            };
            self.computed[block as usize] = 0..shape.mapping_units_per_superblock();
            if left > 0 {
                let stream = self.number_of(Stream::Host(0));
                self.open[stream].push(Open { block, next_row, superpages_left: left });
            }
        }
        self.origin = Origin::InOrder(in_order);
    }

    /// Moves the valid units of the mapping (one page or several, `ssd.superblock.unit`) out of a victim superblock and erases it,
    /// without simulated time. The units continue the superpage that earlier moves have begun.
    pub(crate) fn collect_untimed(&mut self, block: u32) -> MovedUntimed {
        let mut writers = std::mem::take(&mut self.untimed);
        let moved = writers.collect_one(self, block);
        self.untimed = writers;
        moved
    }

    /// Overwrites units of the mapping (one page or several, `ssd.superblock.unit`) in the given order, without simulated time. Each
    /// unit comes with a placement handle, which decides the superblocks that it is written to.
    pub fn overwrite_untimed(&mut self, writes: impl Iterator<Item = (u64, u8)>) {
        let mut writers = std::mem::take(&mut self.untimed);
        writes.for_each(|(unit, handle)| writers.write(self, unit, handle));
        self.untimed = writers;
    }

    /// Ends a warm-up: closes the superpages that it has left open. The drive then continues as if its state had been loaded from a file.
    pub fn end_warm_up_and_close_superpages(&mut self) {
        std::mem::take(&mut self.untimed).close(self);
        self.untimed = UntimedWriters::new(self.shape.placement_handles);
    }

    /// Warms the drive up: overwrites random units of the mapping (one page or several, `ssd.superblock.unit`) without simulated time
    /// (rule 215). The number of overwrites is `overwrites` × the number of units that the drive offers the host.
    ///
    /// Each time that these writes begin a superpage, superblocks are first collected until more than `ssd.superblock.target` are
    /// free. Collection ends earlier if no superblock is worth collecting, because none would free more superpages than its moves
    /// take.
    ///
    /// `go_on` is called with the share of the overwrites that is done, from 0 to 1. If `go_on` returns false, the warm-up stops and
    /// returns false.
    pub fn warm_up(&mut self, overwrites: f64, seed: u64, member: u32, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let mut stream = warm_up_stream(seed, member);
        let exported = self.shape.exported_mapping_units;
        let writes = (overwrites * exported as f64) as u64;
        if overwrites > EXPECT_ALL_FROM {
            self.changes.expect_all();
        }
        let mut writers = UntimedWriters::new(self.shape.placement_handles);
        for done in 0..writes {
            if done % (1 << 14) == 0 && !go_on(done as f64 / writes as f64) {
                return false;
            }
            writers.write(self, rng::below(&mut stream, exported), 0);
        }
        writers.close(self);
        go_on(1.0)
    }

    /// Empties the drive: no unit has data, and no superblock was ever opened or erased.
    fn empty(&mut self) {
        (self.origin, self.changes) = (Origin::Empty, Changes::none(self.width, self.shape.exported_mapping_units));
        self.computed.fill(0..0);
        self.contents.fill(Contents::with_places(self.width, 0));
        self.superblocks.fill(Superblock::free(0));
        self.free = (0..self.shape.superblocks).collect();
        self.open.iter_mut().for_each(Vec::clear);
        (self.slc_in_use, self.sequence, self.begun) = (0, 0, None);
        self.rows_begun.clear();
    }

    /// Puts the drive into the steady state of uniform random writes (rule 215). The places of units are computed later.
    ///
    /// Superblocks get all ages, and each gets as many valid units of the mapping (one page or several, `ssd.superblock.unit`) as its
    /// age would leave. The point between two collections decides how many superblocks are free and how far the open ones are filled. It
    /// also decides which share of a victim has been moved.
    pub(crate) fn make_steady(&mut self, seed: u64, member: u32, point: PointOfCycle) {
        let shape = self.shape;
        self.empty();
        let Drawn { free, open, moved } = self.draw_point(&mut rng::stream(seed, "cycle", u64::from(point.index) << 32), point.course);
        let units_in = |rows: u32| shape.data_mapping_units_per_superblock() / shape.superpages_of_superblock_per_die * rows;
        let in_open: u64 = open.iter().map(|&(_, rows)| u64::from(units_in(rows))).sum();
        let aged = shape.superblocks - free - open.len() as u32;
        let (mut valid, victim) = valid_by_age(&shape, aged, moved, shape.exported_mapping_units - in_open);
        let moved = moved.filter(|_| victim.is_some());
        let sealed = aged - u32::from(victim.is_some());
        valid.extend(open.iter().map(|&(_, rows)| units_in(rows)));
        self.origin = Origin::Steady(Steady::new(&shape, &valid, sealed, moved, seed, member));
        self.begun = victim.map(|valid| BegunVictim { block: sealed, valid });
        self.free.drain(..valid.len());
        for (superblock, &valid) in self.superblocks.iter_mut().zip(&valid) {
            superblock.valid = valid;
        }
        self.computed[..aged as usize].fill(0..shape.mapping_units_per_superblock());
        for (block, superblock) in (0..aged).zip(&mut self.superblocks) {
            (superblock.state, superblock.programmed) = (State::Sealed, shape.superpages_per_superblock());
            // The youngest superblock comes first.
            superblock.sequence = aged - block;
        }
        for (block, &(stream, row)) in (aged..).zip(&open) {
            let next_row: Vec<u32> = (0..shape.dies).map(|die| shape.data_row(block, die, row)).collect();
            let superpages_left = (0..).zip(&next_row).map(|(die, &row)| shape.data_rows(block, die, row)).sum();
            self.computed[block as usize] = 0..row * shape.dies * shape.mapping_units_per_superpage();
            let superblock = &mut self.superblocks[block as usize];
            (superblock.state, superblock.programmed, superblock.sequence) = (State::Open, row * shape.dies, block + 1);
            let stream = self.number_of(stream);
            self.open[stream].push(Open { block, next_row, superpages_left });
        }
        self.sequence = valid.len() as u32;
    }

    /// Draws the point between two collections at which the drive stands.
    fn draw_point(&self, stream: &mut rng::RandomStream, course: CollectionCourse) -> Drawn {
        let (shape, rows) = (self.shape, self.shape.superpages_of_superblock_per_die);
        // Streams that have no open superblock will open one.
        let others = shape.streams() - 2;
        let filled = [Stream::Host(0), Stream::Collection(0)].map(|of| (of, rng::below(stream, u64::from(rows)) as u32));
        // On a tiny drive, open superblocks could hold everything.
        if shape.exported_mapping_units < 4 * u64::from(shape.data_mapping_units_per_superblock()) {
            return Drawn { free: self.target_free_superblocks + others + 2, open: Vec::new(), moved: None };
        }
        // A stream without filled rows has no open superblock. Before it takes a unit, it needs a free one.
        let open: Vec<(Stream, u32)> = filled.into_iter().filter(|&(_, rows)| rows > 0).collect();
        let rows_left: u32 = open.iter().map(|&(_, filled)| rows - filled).sum();
        let (above_target, moved) = match course {
            CollectionCourse::WithHostWrites => {
                // In halves of a row: what the free space and the victim have together is 3/2 superblocks more than the target.
                let halves = 5 * rows - 2 * rows_left;
                let moved = halves % (2 * rows) * (shape.data_superpages() / rows) / 2;
                (i64::from(halves / (2 * rows)) - 1, Some(moved))
            }
            CollectionCourse::WhenTold { span } => (1 + rng::below(stream, u64::from(span)) as i64, None),
            CollectionCourse::InNoTime => (1, None),
        };
        let free = (i64::from(self.target_free_superblocks + others) + above_target) as u32;
        // Whatever the thresholds are, the data need room.
        Drawn { free: free.min(shape.superblocks_beyond_capacity().saturating_sub(open.len() as u32 + 1)), open, moved }
    }
}

/// A point between two collections.
struct Drawn {
    free: u32,
    /// Streams with an open superblock, and its number of full rows.
    open: Vec<(Stream, u32)>,
    /// Number of superpages of data whose valid units have been moved out of the victim in progress; `None` if there is none.
    moved: Option<u32>,
}

/// Returns the number of valid units of each of `aged` superblocks in the steady state, the youngest first. The sum is `exported`.
///
/// With `moved`, the oldest one is a victim, of which the units in so many superpages of data have been moved. Then also returns the number
/// of valid units that it had before. There is no victim if that many are not worth moving.
///
/// The model writes superblocks one after another and overwrites units uniformly. If the age of a superblock is a times that of the oldest,
/// a share e^(−λa) of its units is still valid.
pub(super) fn valid_by_age(shape: &SuperblockShape, aged: u32, moved: Option<u32>, exported: u64) -> (Vec<u32>, Option<u32>) {
    let (per_block, superpages) = (shape.data_mapping_units_per_superblock(), shape.data_superpages());
    let superpages_left = superpages - moved.unwrap_or(0);
    let oldest = aged - 1;
    let left = |lambda: f64, block: u32| f64::from(per_block) * libm::exp(-lambda * (f64::from(block) + 0.5) / f64::from(aged));
    let share_of_oldest = f64::from(superpages_left) / f64::from(superpages);
    let all = |lambda: f64| (0..oldest).map(|block| left(lambda, block)).sum::<f64>() + share_of_oldest * left(lambda, oldest);
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if all(middle) > exported as f64 { low = middle } else { high = middle }
    }
    let victim = moved.map(|_| (left(high, oldest) + 0.5) as u32);
    if victim.is_some_and(|valid| !shape.is_useful(valid)) {
        return valid_by_age(shape, aged, None, exported);
    }
    let of_victim = victim.map(|valid| ((f64::from(valid) * share_of_oldest + 0.5) as u64).min(exported));
    let sealed = if of_victim.is_some() { oldest } else { aged };
    let in_sealed = exported - of_victim.unwrap_or(0);
    let (mut sum, mut given) = (0.0, 0);
    let share = |block| {
        sum += left(high, block);
        let until = if block + 1 == sealed { in_sealed } else { ((sum + 0.5) as u64).min(in_sealed) };
        (until - std::mem::replace(&mut given, until)) as u32
    };
    ((0..sealed).map(share).chain(of_victim.map(|valid| valid as u32)).collect(), victim)
}

/// Writes units of a stream without simulated time, superpage by superpage. It takes the dies in turn and changes the channel each time,
/// like timed writes that find idle dies.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UntimedWriter {
    stream: Stream,
    first: u64,
    filled: u32,
    /// Position in the order of dies at which the search for the next superpage begins.
    next_die: usize,
    /// Number of parity superpages that were written.
    parity_superpages: u64,
}

impl UntimedWriter {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, first: 0, filled: 0, next_die: 0, parity_superpages: 0 }
    }

    pub(super) fn put(&mut self, space: &mut SuperblockMapping, unit: u64) {
        if self.filled == 0 {
            self.begin(space);
        }
        space.record_program(unit, self.first + u64::from(self.filled));
        self.filled += 1;
        if self.filled == space.superpage_units(self.stream) {
            self.close(space);
        }
    }

    /// Begins a superpage on the next die that has room. At least one die must have room.
    fn begin(&mut self, space: &mut SuperblockMapping) {
        let dies = space.die_order.len();
        let mut positions = (self.next_die..dies).chain(0..self.next_die);
        let at = positions.find(|&at| space.has_room(self.stream, space.die_order[at])).expect("a die has room");
        // The dies take turns, so that rows fill evenly.
        self.next_die = (at + 1) % dies;
        self.first = space.take_place(self.stream, space.die_order[at]);
    }

    /// Closes the open superpage. Places that received no unit stay empty.
    pub(super) fn close(&mut self, space: &mut SuperblockMapping) {
        if self.filled > 0 {
            space.superpage_programmed(self.first);
            if let Some(parity) = space.superpage_began(self.first) {
                space.superpage_programmed(parity);
                self.parity_superpages += 1;
            }
            self.filled = 0;
        }
    }
}

/// One writer without simulated time for each stream.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct UntimedWriters {
    /// Writers for the host, one for each placement handle.
    host: Vec<UntimedWriter>,
    /// Writers for collection, one for each placement handle, or a single one if handles are mixed.
    collection: Vec<UntimedWriter>,
}

impl UntimedWriters {
    pub(super) fn new(placement: PlacementHandles) -> Self {
        let writers = |count: u32, stream: fn(u8) -> Stream| (0..count).map(|of| UntimedWriter::new(stream(of as u8))).collect();
        Self { host: writers(placement.count, Stream::Host), collection: writers(placement.collection_streams(), Stream::Collection) }
    }

    /// Writes one unit for the host.
    fn write(&mut self, space: &mut SuperblockMapping, unit: u64, handle: u8) {
        if self.host[usize::from(handle)].filled == 0 {
            self.collect(space);
            self.host[usize::from(handle)].stream = space.stream_of_host(handle, 0);
        }
        if let Some(place) = space.physical_slot_of_mapping_unit(unit) {
            space.invalidate(unit, place);
        }
        self.host[usize::from(handle)].put(space, unit);
    }

    /// Moves all units of a victim and erases it.
    fn collect_one(&mut self, space: &mut SuperblockMapping, victim: u32) -> MovedUntimed {
        let stream = space.collection_of(victim);
        let writer = &mut self.collection[usize::from(stream.handle())];
        let parity_before = writer.parity_superpages;
        space.begin_victim(victim);
        space.store_contents(victim);
        let mut units = 0;
        for place in space.shape.first_place_of(victim)..space.shape.first_place_of(victim + 1) {
            if space.is_valid(place) {
                let unit = space.unit_at(place);
                space.invalidate(unit, place);
                writer.put(space, unit);
                units += 1;
            }
        }
        space.erased(victim);
        MovedUntimed { stream, units, parity_superpages: writer.parity_superpages - parity_before }
    }

    /// Collects superblocks until more of them are free than collection aims to keep free (`ssd.superblock.target`), or until none is
    /// worth collecting.
    fn collect(&mut self, space: &mut SuperblockMapping) {
        while space.free() <= space.target_free_superblocks
            && let Some(victim) = space.pick_victim()
        {
            self.collect_one(space, victim);
        }
    }

    fn close(&mut self, space: &mut SuperblockMapping) {
        self.host.iter_mut().chain(&mut self.collection).for_each(|writer| writer.close(space));
    }
}

/// Result of a collection without simulated time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MovedUntimed {
    /// Stream that the units were moved to.
    pub(crate) stream: Stream,
    pub(crate) units: u32,
    /// Number of parity superpages written with them.
    pub(crate) parity_superpages: u64,
}

/// Returns the stream of random numbers for the warm-up of a member.
fn warm_up_stream(seed: u64, member: u32) -> rng::RandomStream {
    rng::stream(seed, "warm-up", u64::from(member) << 32)
}
