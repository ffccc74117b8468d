//! Writes without simulated time: the initial fill, a warm-up, and instantaneous collection.

use super::changes::Changes;
use super::open::parity_written;
use super::origin::{InOrder, Origin, Steady};
use super::{
    BegunVictim, CollectionCourse, Open, PlacementHandles, PointOfCycle, State, Stream, Superblock, SuperblockMapping, SuperblockShape,
    UnitOwners,
};
use crate::rng;

/// Number of entries by which prefetching runs ahead.
pub(super) const AHEAD: usize = 16;
/// Number of overwrites of each unit from which on most units change.
const EXPECT_ALL_FROM: f64 = 0.2;

impl SuperblockMapping {
    /// Maps all exported units of the mapping (one page or several, `ssd.superblock.unit`) in order, as the initial fill does.
    ///
    /// With owners, the handles are filled one after another, each from a superblock of its own on.
    pub(super) fn fill(&mut self) {
        if InOrder::holds_for(&self.shape) {
            return self.fill_computed();
        }
        for (handle, units) in self.units_by_handle() {
            let mut writer = UntimedWriter::new(Stream::Host(handle));
            for number in 0..units {
                let unit = self.owners.as_ref().map_or(number, |owners| owners.unit_of(handle, number));
                writer.put(self, unit);
            }
            writer.close(self);
        }
    }

    /// Returns the handles that have units at the start, and the numbers of their units.
    fn units_by_handle(&self) -> Vec<(u8, u64)> {
        match &self.owners {
            None => vec![(0, self.shape.exported_mapping_units)],
            Some(owners) => (0..owners.handles()).map(|of| (of, owners.units_of(of))).filter(|&(_, units)| units > 0).collect(),
        }
    }

    /// Fills the drive anew, so that each unit has the placement handle of its owner. An empty drive stays empty, but its warm-up writes
    /// units with their handles.
    pub fn fill_by_owner(&mut self, owners: UnitOwners) {
        let is_empty = self.sequence == 0;
        self.owners = Some(owners);
        if !is_empty {
            self.empty();
            self.fill();
        }
    }

    /// Resets the drive to the newly filled state `filled`. Units keep their owners.
    pub(in crate::space) fn reset_to(&mut self, filled: Self) {
        let owners = self.owners.take();
        *self = filled;
        if let Some(owners) = owners {
            self.fill_by_owner(owners);
        }
    }

    /// Puts the drive into the state after the fill. The places of the units are computed later.
    fn fill_computed(&mut self) {
        let shape = self.shape;
        let SuperblockShape { dies, superpages_of_superblock_per_die: rows, .. } = shape;
        let mut in_order = InOrder::new(&self.die_order, self.owners.clone());
        for (handle, units) in self.units_by_handle() {
            let Some(&first) = self.free.front() else { unreachable!("the reserve has a superblock for each handle") };
            // Row of the first superpage of each die that is not written.
            let (until, last_row) = in_order.add_part(&shape, handle, units, first * rows);
            // The last superpage may be filled only in part.
            let padding = (units.next_multiple_of(u64::from(shape.mapping_units_per_superpage())) - units) as u32;
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
                let stream = Stream::Host(handle);
                self.superblocks[block as usize] = Superblock {
                    state: if left == 0 { State::Sealed } else { State::Open },
                    handle: self.handle_of_superblocks(stream),
                    valid: written * shape.mapping_units_per_superpage() - if block == last_row / rows { padding } else { 0 },
                    programmed: written + parity_written(&shape, block, &next_row, &mut self.rows_begun),
                    sequence: self.sequence,
                    ..Superblock::free(0)
                };
                self.computed[block as usize] = 0..shape.mapping_units_per_superblock();
                if left > 0 {
                    let stream = self.number_of(stream);
                    self.open[stream].push(Open { block, next_row, superpages_left: left });
                }
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
            let unit = rng::below(&mut stream, exported);
            let handle = self.owners.as_ref().map_or(0, |owners| owners.handle_of(unit));
            writers.write(self, unit, handle);
        }
        writers.close(self);
        go_on(1.0)
    }

    /// Empties the drive: no unit has data, and no superblock was ever opened or erased.
    fn empty(&mut self) {
        (self.origin, self.changes) = (Origin::Empty, Changes::none(self.width, self.shape.exported_mapping_units));
        self.computed.fill(0..0);
        self.forget_contents();
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
    ///
    /// If collection keeps handles apart, each handle has a share of the superblocks, with all ages, and open superblocks of its own (rule
    /// 221).
    pub(crate) fn make_steady(&mut self, seed: u64, member: u32, point: PointOfCycle) {
        let shape = self.shape;
        self.empty();
        let groups = self.steady_groups();
        let drawn = self.draw_point(&groups, &mut rng::stream(seed, "cycle", u64::from(point.index) << 32), point.course);
        let units_in = |rows: u32| shape.data_mapping_units_per_superblock() / shape.superpages_of_superblock_per_die * rows;
        let in_open =
            |group: usize| -> u64 { drawn.open.iter().filter(|open| open.group == group).map(|open| u64::from(units_in(open.rows))).sum() };
        let left: Vec<u64> = groups.iter().enumerate().map(|(at, group)| group.units - in_open(at)).collect();
        let aged = shape.superblocks - drawn.free - drawn.open.len() as u32;
        let least = groups.iter().map(|group| group.units.div_ceil(u64::from(shape.data_mapping_units_per_superblock())) as u32);
        let least = (0..).zip(least).map(|(at, least)| least + u32::from(drawn.moved.is_some_and(|(group, _)| group == at)));
        let shares = shares_of(aged, &left, least.collect());
        // The sealed superblocks of all groups come first, then the victim, then the open ones.
        let (mut valid, mut victim, mut ages, mut blocks) = (Vec::new(), None, Vec::new(), vec![Vec::new(); groups.len()]);
        for (group, &share) in shares.iter().enumerate() {
            let moved = drawn.moved.filter(|&(of, _)| of == group).map(|(_, superpages)| superpages);
            let (mut of_group, before) = valid_by_age(&shape, share, moved, left[group]);
            if let Some(before) = before {
                victim = of_group.pop().map(|valid| (group, before, valid));
            }
            let first = valid.len() as u32;
            ages.extend((0..of_group.len() as u32).map(|at| (2 * at + 1, share, group)));
            valid.append(&mut of_group);
            blocks[group].push(first..valid.len() as u32);
        }
        let sealed = valid.len() as u32;
        if let Some((group, _, left)) = victim {
            ages.push((2 * shares[group] - 1, shares[group], group));
            blocks[group].push(sealed..sealed + 1);
            valid.push(left);
        }
        for open in &drawn.open {
            let block = valid.len() as u32;
            blocks[open.group].push(block..block + 1);
            valid.push(units_in(open.rows));
        }
        let moved = drawn.moved.filter(|_| victim.is_some()).map(|(_, superpages)| superpages);
        let by_handle = self.owners.clone().filter(|_| groups.len() > 1).map(|owners| {
            let mut of_handles = vec![Vec::new(); usize::from(owners.handles())];
            groups.iter().zip(blocks).for_each(|(group, blocks)| of_handles[usize::from(group.handle)] = blocks);
            (owners, of_handles)
        });
        self.origin = Origin::Steady(Steady::new(&shape, &valid, sealed, moved, by_handle, (seed, member)));
        self.begun = victim.map(|(_, valid, _)| BegunVictim { block: sealed, valid });
        self.free.drain(..valid.len());
        for (superblock, &valid) in self.superblocks.iter_mut().zip(&valid) {
            superblock.valid = valid;
        }
        self.computed[..aged as usize].fill(0..shape.mapping_units_per_superblock());
        // The youngest superblock has the highest number. Equally old ones follow the order of their groups.
        let mut youngest_first: Vec<usize> = (0..ages.len()).collect();
        youngest_first.sort_by(|&a, &b| {
            let ((age, of, group), (other, than, other_group)) = (ages[a], ages[b]);
            (u64::from(age) * u64::from(than)).cmp(&(u64::from(other) * u64::from(of))).then(group.cmp(&other_group))
        });
        for (&block, sequence) in youngest_first.iter().zip((1..=aged).rev()) {
            let handle = self.handle_of_superblocks(Stream::Collection(groups[ages[block].2].handle));
            let superblock = &mut self.superblocks[block];
            (superblock.state, superblock.programmed) = (State::Sealed, shape.superpages_per_superblock());
            (superblock.handle, superblock.sequence) = (handle, sequence);
        }
        for (block, open) in (aged..).zip(&drawn.open) {
            let &SteadyOpen { stream, rows: row, .. } = open;
            let next_row: Vec<u32> = (0..shape.dies).map(|die| shape.data_row(block, die, row)).collect();
            let superpages_left = (0..).zip(&next_row).map(|(die, &row)| shape.data_rows(block, die, row)).sum();
            self.computed[block as usize] = 0..row * shape.dies * shape.mapping_units_per_superpage();
            let handle = self.handle_of_superblocks(stream);
            let superblock = &mut self.superblocks[block as usize];
            (superblock.state, superblock.programmed, superblock.sequence) = (State::Open, row * shape.dies, block + 1);
            superblock.handle = handle;
            let stream = self.number_of(stream);
            self.open[stream].push(Open { block, next_row, superpages_left });
        }
        self.sequence = valid.len() as u32;
    }

    /// Returns the data that have superblocks of their own in the steady state: those of each handle, if collection keeps handles apart,
    /// and otherwise all.
    fn steady_groups(&self) -> Vec<SteadyGroup> {
        if !self.shape.placement_handles.collection_separates_handles() {
            return vec![SteadyGroup { handle: 0, units: self.shape.exported_mapping_units }];
        }
        self.units_by_handle().into_iter().map(|(handle, units)| SteadyGroup { handle, units }).collect()
    }

    /// Draws the point between two collections at which the drive stands.
    fn draw_point(&self, groups: &[SteadyGroup], stream: &mut rng::RandomStream, course: CollectionCourse) -> Drawn {
        let (shape, rows) = (self.shape, self.shape.superpages_of_superblock_per_die);
        let units_of_superblock = shape.data_mapping_units_per_superblock();
        let (mut open, mut large) = (Vec::new(), Vec::new());
        for (at, group) in groups.iter().enumerate() {
            let filled = [Stream::Host(group.handle), Stream::Collection(group.handle)];
            let filled = filled.map(|of| (of, rng::below(stream, u64::from(rows)) as u32));
            // Of few data, open superblocks could hold everything.
            if group.units >= 4 * u64::from(units_of_superblock) {
                large.push(at);
                // A stream without filled rows has no open superblock. Before it takes a unit, it needs a free one.
                open.extend(filled.into_iter().filter(|&(_, rows)| rows > 0).map(|(stream, rows)| SteadyOpen { group: at, stream, rows }));
            }
        }
        let streams = 2 * large.len() as u32;
        // Streams that have no open superblock will open one.
        let others = shape.streams() - streams;
        if large.is_empty() {
            return Drawn { free: self.target_free_superblocks + others, open, moved: None };
        }
        let rows_left: u32 = open.iter().map(|open| rows - open.rows).sum();
        let (above_target, moved) = match course {
            CollectionCourse::WithHostWrites => {
                // In halves of a row. Free space, open superblocks and the victim have more room than the target. It is half a
                // superblock for each stream, and half a one for the victim.
                let halves = i64::from((streams + 1) * rows) - 2 * i64::from(rows_left);
                let of_superblock = i64::from(2 * rows);
                let moved = halves.rem_euclid(of_superblock) as u32 * (shape.data_superpages() / rows) / 2;
                // Many streams do not move the number of free superblocks farther: the pace of collection holds it near the target.
                (halves.div_euclid(of_superblock).clamp(-1, 1), Some(moved))
            }
            CollectionCourse::WhenTold { span } => (1 + rng::below(stream, u64::from(span)) as i64, None),
            CollectionCourse::InNoTime => (1, None),
        };
        let of_victim = if large.len() > 1 && moved.is_some() {
            let units: u64 = large.iter().map(|&group| groups[group].units).sum();
            let mut at = rng::below(stream, units);
            let is_in = |&&group: &&usize| {
                let units = groups[group].units;
                let is_here = at < units;
                at -= if is_here { 0 } else { units };
                is_here
            };
            *large.iter().find(is_in).expect("the number is less than the sum")
        } else {
            large[0]
        };
        let free = (i64::from(self.target_free_superblocks + others) + above_target) as u32;
        // Whatever the thresholds are, the data need room.
        let needed: u32 = groups.iter().map(|group| group.units.div_ceil(u64::from(units_of_superblock)) as u32).sum();
        let free = free.min(shape.superblocks.saturating_sub(needed).saturating_sub(open.len() as u32 + 1));
        Drawn { free, open, moved: moved.map(|superpages| (of_victim, superpages)) }
    }
}

/// Data that lie in superblocks of their own in the steady state.
struct SteadyGroup {
    handle: u8,
    units: u64,
}

/// An open superblock in the steady state.
struct SteadyOpen {
    group: usize,
    stream: Stream,
    /// Number of its full rows.
    rows: u32,
}

/// A point between two collections.
struct Drawn {
    free: u32,
    open: Vec<SteadyOpen>,
    /// Group of the victim in progress, and number of its superpages of data whose valid units have been moved. It is `None` if there is
    /// no victim.
    moved: Option<(usize, u32)>,
}

/// Divides superblocks among groups in proportion to their units, as seats are divided among parties by the method of Sainte-Laguë. Each
/// group has at least its number in `least`.
fn shares_of(superblocks: u32, units: &[u64], least: Vec<u32>) -> Vec<u32> {
    let mut shares = least;
    let given: u32 = shares.iter().sum();
    if let [share] = &mut shares[..] {
        *share = superblocks;
        return shares;
    }
    for _ in given..superblocks {
        // Of equal claims, the first group has the better one.
        let claim_is_better = |a: usize, b: usize| units[a] * u64::from(2 * shares[b] + 1) > units[b] * u64::from(2 * shares[a] + 1);
        let next = (1..units.len()).fold(0, |best, group| if claim_is_better(group, best) { group } else { best });
        shares[next] += 1;
    }
    shares
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
