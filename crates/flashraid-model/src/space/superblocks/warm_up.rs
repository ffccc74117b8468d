//! Writes without simulated time: the initial fill, a warm-up, and instantaneous collection.

use super::{NONE, PlacementHandles, State, Stream, Superblock, SuperblockMapping, SuperblockShape};
use crate::rng;
use crate::space::tables::prefetch;

/// Number of entries by which prefetching runs ahead.
const AHEAD: usize = 16;

impl SuperblockMapping {
    /// Maps all exported units of the mapping (one page or several, `ssd.superblock.unit`) in order, as the initial fill does.
    pub(super) fn fill(&mut self) {
        let mut writer = UntimedWriter::new(Stream::Host(0));
        (0..self.shape.exported_mapping_units).for_each(|unit| writer.put(self, unit));
        writer.close(self);
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
    pub fn overwrite_untimed(&mut self, writes: impl Iterator<Item = (u32, u8)>) {
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
        let exported = u64::from(self.shape.exported_mapping_units);
        let writes = (overwrites * exported as f64) as u64;
        let mut writers = UntimedWriters::new(self.shape.placement_handles);
        for done in 0..writes {
            if done % (1 << 14) == 0 && !go_on(done as f64 / writes as f64) {
                return false;
            }
            writers.write(self, rng::below(&mut stream, exported) as u32, 0);
        }
        writers.close(self);
        go_on(1.0)
    }

    /// Empties the drive: no unit has data, and no superblock was ever opened or erased.
    fn empty(&mut self) {
        self.map.fill(NONE);
        self.units.fill(NONE);
        self.valid.fill(0);
        self.superblocks.iter_mut().for_each(|superblock| *superblock = Superblock::free(0));
        self.free = (0..self.shape.superblocks).collect();
        self.open.iter_mut().for_each(Vec::clear);
        (self.slc_in_use, self.sequence) = (0, 0);
        self.rows_begun.clear();
    }

    /// Puts the drive into the steady state of uniform random writes in one pass (rule 215).
    ///
    /// Superblocks get all ages, and each gets as many valid units of the mapping (one page or several, `ssd.superblock.unit`) as its
    /// age would leave. As many superblocks stay free as collection aims to keep free (`ssd.superblock.target`). One more stays free
    /// for each stream (writes that share open superblocks).
    ///
    /// `go_on` is called with the share of the work that is done, from 0 to 1. If `go_on` returns false, this function stops and
    /// returns false.
    pub(crate) fn make_steady(&mut self, seed: u64, member: u32, go_on: &mut dyn FnMut(f64) -> bool) -> bool {
        let stream = &mut warm_up_stream(seed, member);
        let SuperblockShape { superblocks, exported_mapping_units: exported_units, .. } = self.shape;
        let (sealed, per_block) =
            (superblocks - self.target_free_superblocks - self.shape.streams(), self.shape.mapping_units_per_superblock());
        self.empty();
        let mut order: Vec<u32> = (0..exported_units).collect();
        let (mut drawn, mut taken) = (0, Vec::new());
        for (block, valid) in valid_by_age(sealed, self.shape.data_mapping_units_per_superblock(), exported_units).into_iter().enumerate() {
            if !go_on(block as f64 / f64::from(sealed)) {
                return false;
            }
            let block = self.free.pop_front().expect("all are free");
            let superblock = &mut self.superblocks[block as usize];
            // The youngest superblock comes first.
            (superblock.state, superblock.sequence) = (State::Open, sealed - block);
            superblock.programmed = self.shape.superpages_per_superblock();
            // The numbers are drawn first, so that the memory that they lead to can be prefetched.
            taken.clear();
            let (mut left, mut places_left) = (valid, self.shape.data_mapping_units_per_superblock());
            for place in block * per_block..(block + 1) * per_block {
                if self.shape.is_parity(place) {
                    continue;
                }
                places_left -= 1;
                if rng::below(stream, u64::from(places_left + 1)) < u64::from(left) {
                    let at = drawn + valid - left;
                    taken.push((place, at + rng::below(stream, u64::from(exported_units - at)) as u32));
                    left -= 1;
                }
            }
            for (at, &(_, other)) in taken.iter().enumerate() {
                if let Some(&(_, later)) = taken.get(at + AHEAD) {
                    prefetch(&order, later as usize);
                }
                order.swap(drawn as usize + at, other as usize);
            }
            let units = &order[drawn as usize..][..taken.len()];
            for (at, (&unit, &(place, _))) in units.iter().zip(&taken).enumerate() {
                if let Some(&later) = units.get(at + AHEAD) {
                    prefetch(&self.map, later as usize);
                }
                self.record_program(unit, place);
            }
            drawn += taken.len() as u32;
            self.superblocks[block as usize].state = State::Sealed;
        }
        self.sequence = sealed;
        assert_eq!(drawn, exported_units, "every exported unit lies somewhere");
        go_on(1.0)
    }
}

/// Returns the number of valid units of each superblock in the steady state, the youngest superblock first. The sum is `exported`.
///
/// The model writes superblocks one after another and overwrites units uniformly. If the age of a superblock is a times that of the oldest,
/// a share e^(−λa) of its units is still valid.
fn valid_by_age(superblocks: u32, per_block: u32, exported: u32) -> Vec<u32> {
    let left = |lambda: f64, block: u32| f64::from(per_block) * libm::exp(-lambda * (f64::from(block) + 0.5) / f64::from(superblocks));
    let all = |lambda: f64| (0..superblocks).map(|block| left(lambda, block)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1000.0);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if all(middle) > f64::from(exported) { low = middle } else { high = middle }
    }
    let (mut sum, mut given) = (0.0, 0);
    let share = |block| {
        sum += left(high, block);
        let until = if block + 1 == superblocks { exported } else { (sum + 0.5) as u32 };
        until - std::mem::replace(&mut given, until)
    };
    (0..superblocks).map(share).collect()
}

/// Writes units of a stream without simulated time, superpage by superpage. It takes the dies in turn and changes the channel each time,
/// like timed writes that find idle dies.
#[derive(Debug, Clone, PartialEq)]
struct UntimedWriter {
    stream: Stream,
    first: u32,
    filled: u32,
    /// Position in the order of dies at which the search for the next superpage begins.
    next_die: usize,
    /// Number of parity superpages that were written.
    parity_superpages: u64,
}

impl UntimedWriter {
    fn new(stream: Stream) -> Self {
        Self { stream, first: 0, filled: 0, next_die: 0, parity_superpages: 0 }
    }

    fn put(&mut self, space: &mut SuperblockMapping, unit: u32) {
        if self.filled == 0 {
            self.begin(space);
        }
        space.record_program(unit, self.first + self.filled);
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
    fn close(&mut self, space: &mut SuperblockMapping) {
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
    fn write(&mut self, space: &mut SuperblockMapping, unit: u32, handle: u8) {
        if self.host[usize::from(handle)].filled == 0 {
            self.collect(space);
            self.host[usize::from(handle)].stream = space.stream_of_host(handle, 0);
        }
        if let Some(place) = space.physical_slot_of_mapping_unit(unit) {
            space.invalidate(place);
        }
        self.host[usize::from(handle)].put(space, unit);
    }

    /// Moves all units of a victim and erases it.
    fn collect_one(&mut self, space: &mut SuperblockMapping, victim: u32) -> MovedUntimed {
        let stream = space.collection_of(victim);
        let writer = &mut self.collection[usize::from(stream.handle())];
        let parity_before = writer.parity_superpages;
        space.begin_victim(victim);
        let places = space.shape.mapping_units_per_superblock();
        let mut units = 0;
        for place in victim * places..(victim + 1) * places {
            if space.is_valid(place) {
                let unit = space.unit_at(place);
                space.invalidate(place);
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
