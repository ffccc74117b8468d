//! Everything that takes no time: fill, steady state and warm-up (rule 215), and the scheme `ideal` (rule 216).

use flashraid_model::rng;
use flashraid_model::space::superblocks::{CollectionCourse, PointOfCycle};

use super::{Block, Drive, Where};

impl Drive {
    pub(super) fn is_steady(&mut self, seed: u64, point: PointOfCycle) {
        let (per_block, data_per_block, exported) = (self.per_block(), self.data_per_block(), self.units.len() as u32);
        let (rows, superpages) = (self.rows(), data_per_block / self.per_superpage());
        let handles = self.own.placement_handles.count;
        let stay_apart = self.own.placement_handles.collection_separates_handles();
        let streams = handles + if stay_apart { handles } else { 1 } + u32::from(self.own.slc.is_some());
        // Data that have superblocks of their own: those of each handle, or all.
        let groups: Vec<(usize, Vec<u32>)> = if stay_apart {
            let units_of = |handle: usize| (0..exported).filter(|&unit| self.owners[unit as usize] == handle).collect::<Vec<_>>();
            (0..handles as usize).map(|handle| (handle, units_of(handle))).filter(|(_, units)| !units.is_empty()).collect()
        } else {
            vec![(0, (0..exported).collect())]
        };
        let large: Vec<usize> = (0..groups.len()).filter(|&group| groups[group].1.len() as u32 >= 4 * data_per_block).collect();
        // Full rows of the open superblocks of host and collection, by group.
        let mut drawn = rng::stream(seed, "cycle", u64::from(point.index) << 32);
        let mut full: Vec<[u32; 2]> = groups.iter().map(|_| [(); 2].map(|()| rng::below(&mut drawn, u64::from(rows)) as u32)).collect();
        for (group, full) in full.iter_mut().enumerate() {
            if !large.contains(&group) {
                *full = [0, 0];
            }
        }
        let in_open: f64 = full.iter().flatten().filter(|&&full| full > 0).map(|&full| f64::from(rows - full)).sum();
        let mut above_target = 1.0;
        // The share of the victim in progress that has been moved, and its group.
        let mut moved = None;
        if large.is_empty() {
            above_target = 0.0;
        } else if let CollectionCourse::WithHostWrites = point.course {
            let rest = (large.len() as f64 + 0.5) * f64::from(rows) - in_open;
            above_target = (rest / f64::from(rows)).floor();
            let share = rest - above_target * f64::from(rows);
            above_target = above_target.clamp(-1.0, 1.0);
            let mut at = if large.len() > 1 {
                let units: usize = large.iter().map(|&group| groups[group].1.len()).sum();
                rng::below(&mut drawn, units as u64) as usize
            } else {
                0
            };
            let mut of = 0;
            while at >= groups[large[of]].1.len() {
                at -= groups[large[of]].1.len();
                of += 1;
            }
            moved = Some((large[of], share));
        } else if let CollectionCourse::WhenTold { span } = point.course {
            above_target = 1.0 + rng::below(&mut drawn, u64::from(span)) as f64;
        }
        let open = full.iter().flatten().filter(|&&full| full > 0).count() as u32;
        let further = streams - 2 * large.len() as u32;
        let free = (f64::from(self.own.collection.target + further) + above_target) as u32;
        let needed: u32 = groups.iter().map(|(_, units)| (units.len() as u32).div_ceil(data_per_block)).sum();
        let spare = self.blocks.len() as u32 - needed;
        let written = self.blocks.len() as u32 - free.min(spare - (open + 1).min(spare)) - open;
        // Whole superpages of the victim that have been moved.
        let moved = moved.map(|(group, moved)| (group, (moved * f64::from(superpages / rows)).floor() as u32));
        let in_row = data_per_block / rows;
        let in_closed: Vec<u32> =
            groups.iter().zip(&full).map(|((_, units), full)| units.len() as u32 - (full[0] + full[1]) * in_row).collect();
        // Superblocks are given to the group with the strongest claim, one after another.
        let mut shares: Vec<u32> = (0..groups.len())
            .map(|group| {
                let of_victim = u32::from(moved.is_some_and(|(of, _)| of == group));
                (groups[group].1.len() as u32).div_ceil(data_per_block) + of_victim
            })
            .collect();
        while groups.len() > 1 && shares.iter().sum::<u32>() < written {
            let claim = |group: usize| (u128::from(in_closed[group]) << 64) / u128::from(2 * shares[group] + 1);
            let best = (0..groups.len()).rev().max_by_key(|&group| claim(group)).unwrap();
            shares[best] += 1;
        }
        if groups.len() == 1 {
            shares = vec![written];
        }
        let member = self.member as u64;
        let key = |index: u32| rng::derive_seed(seed, "steady", (member << 32) + u64::from(index));
        // The unit of each rank of a group.
        let mut ranks: Vec<std::vec::IntoIter<u32>> = groups
            .iter()
            .map(|(handle, units)| {
                let key = if groups.len() > 1 { rng::derive_seed(seed, "steady-handles", (member << 32) + *handle as u64) } else { key(0) };
                let mut of_ranks = vec![0; units.len()];
                for (&unit, rank) in units.iter().zip(shuffled(key, units.len() as u32)) {
                    of_ranks[rank as usize] = unit;
                }
                of_ranks.into_iter()
            })
            .collect();
        // Sealed superblocks by group, the youngest first, and behind them the victim: group, age, valid units.
        let (mut closed, mut begun) = (Vec::new(), Vec::new());
        for group in 0..groups.len() {
            let of_group = moved.filter(|&(of, _)| of == group).map(|(_, superpages)| superpages);
            let (counts, victim) = self.valid_of_ages(shares[group], of_group, in_closed[group]);
            for (at, valid) in (0..).zip(counts) {
                let age = (group, f64::from(2 * at + 1) / f64::from(shares[group]), valid);
                match victim.filter(|_| at + 1 == shares[group]) {
                    Some(before) => begun.push((age, before)),
                    None => closed.push(age),
                }
            }
        }
        let sealed = closed.len();
        closed.extend(begun.iter().map(|&(age, _)| age));
        let mut by_age: Vec<usize> = (0..closed.len()).collect();
        by_age.sort_by(|&a, &b| closed[a].1.total_cmp(&closed[b].1).then(closed[a].0.cmp(&closed[b].0)));
        let mut lies = |drive: &mut Self, group: usize, place: u32| {
            let unit = ranks[group].next().expect("a unit for each valid place");
            drive.units[unit as usize] = Where::Flash(place);
            drive.written[place as usize] = Some(unit);
        };
        for (block, &(group, _, valid)) in (0..).zip(&closed) {
            assert_eq!(self.free.pop_front(), Some(block));
            let mut places: Vec<u32> = (block * per_block..(block + 1) * per_block).filter(|&place| !self.is_parity(place)).collect();
            if block as usize == sealed {
                self.begun_victim = Some((block, begun[0].1));
                places.drain(..(moved.unwrap().1 * self.per_superpage()) as usize);
            }
            for &slot in &shuffled(key(1 + block), places.len() as u32)[..valid as usize] {
                lies(self, group, places[slot as usize]);
            }
            self.programmed[block as usize] = self.per_block() / self.per_superpage();
            self.blocks[block as usize] = Block::Sealed;
            // The oldest one comes last.
            let position = by_age.iter().position(|&of| of == block as usize).unwrap() as u32;
            self.opened[block as usize] = written - position;
            self.handle_of[block as usize] = groups[group].0;
        }
        self.openings = written;
        let opened: Vec<(usize, usize, u32)> = groups
            .iter()
            .enumerate()
            .flat_map(|(group, &(handle, _))| [(group, handle, full[group][0]), (group, self.handle_count() + handle, full[group][1])])
            .collect();
        for (group, stream, full) in opened {
            if full == 0 {
                continue;
            }
            let block = self.free.pop_front().expect("a free superblock for each stream");
            for place in block * per_block..(block + 1) * per_block {
                if self.row_of(place) < full && !self.is_parity(place) {
                    lies(self, group, place);
                }
            }
            self.openings += 1;
            (self.blocks[block as usize], self.opened[block as usize]) = (Block::Open, self.openings);
            self.handle_of[block as usize] = groups[group].0;
            self.programmed[block as usize] = full * self.dies.len() as u32;
            let left = (0..self.dies.len()).map(|die| self.data_rows(block, die).into_iter().filter(|&row| row >= full).collect());
            let left = left.collect();
            self.open[stream].push((block, left));
        }
    }

    /// Valid units of so many superblocks, the youngest first. With `moved`, the oldest is a victim without so many of its superpages. Then
    /// also returns the valid units that it had before, unless moving it would be of no use.
    fn valid_of_ages(&self, blocks: u32, moved: Option<u32>, units: u32) -> (Vec<u32>, Option<u32>) {
        let (data_per_block, superpages) = (self.data_per_block(), self.data_per_block() / self.per_superpage());
        let rest = f64::from(superpages - moved.unwrap_or(0)) / f64::from(superpages);
        let shares = |lambda: f64| -> Vec<f64> {
            (0..blocks).map(|age| f64::from(data_per_block) * (-lambda * (f64::from(age) + 0.5) / f64::from(blocks)).exp()).collect()
        };
        let sum = |shares: Vec<f64>| {
            let (oldest, younger) = shares.split_last().unwrap();
            younger.iter().sum::<f64>() + rest * oldest
        };
        let (mut low, mut high) = (0.0, 1000.0);
        for _ in 0..64 {
            let middle = (low + high) / 2.0;
            if sum(shares(middle)) > f64::from(units) { low = middle } else { high = middle }
        }
        let shares = shares(high);
        let victim = moved.map(|_| (shares.last().unwrap() + 0.5) as u32);
        if victim.is_some_and(|valid| valid.div_ceil(self.per_superpage()) >= superpages) {
            return self.valid_of_ages(blocks, None, units);
        }
        let of_victim = victim.map(|valid| units.min((f64::from(valid) * rest + 0.5) as u32));
        let (in_sealed, sealed) = (units - of_victim.unwrap_or(0), blocks - u32::from(of_victim.is_some()));
        let until = |block: u32| match block + 1 == sealed {
            true => in_sealed,
            false => in_sealed.min((shares[..=block as usize].iter().sum::<f64>() + 0.5) as u32),
        };
        let counts = (0..sealed).map(|block| until(block) - if block == 0 { 0 } else { until(block - 1) });
        (counts.chain(of_victim).collect(), victim)
    }

    pub(super) fn warm_up(&mut self, overwrites: f64, seed: u64) {
        let mut stream = rng::stream(seed, "warm-up", (self.member as u64) << 32);
        let exported = self.units.len() as u64;
        let writes = (overwrites * exported as f64) as u64;
        let units = (0..writes).map(|_| rng::below(&mut stream, exported) as u32);
        let drawn: Vec<(u32, usize)> = units.map(|unit| (unit, self.owners[unit as usize])).collect();
        // Each stream goes over the dies by itself, from die 0 on.
        self.turns_in_no_time.fill(0);
        self.overwrite_units(&drawn);
    }

    /// Writes the workload's units before the run, each with the source of its write.
    pub(crate) fn overwrite(&mut self, pages: &[(u64, u8)]) {
        let label = |&(page, source): &(u64, u8)| {
            let unit = page as u32 / self.own.pages_per_mapping_unit;
            (unit, self.labels.of_write(page, usize::from(source)))
        };
        let writes: Vec<(u32, usize)> = pages.iter().map(label).collect();
        self.overwrite_units(&writes);
    }

    /// Writes units in order, each stream superpage by superpage.
    pub(super) fn overwrite_units(&mut self, writes: &[(u32, usize)]) {
        // By handle: the superpage that is being filled, its stream, and the units in it.
        let mut filling: Vec<Option<(u32, usize, u32)>> = vec![None; self.handle_count()];
        for &(unit, handle) in writes {
            if filling[handle].is_none() {
                self.collect_whole();
                let stream = self.stream_of_host(handle);
                filling[handle] = Some((self.row_untimed(stream), stream, 0));
            }
            let (first, stream, filled) = filling[handle].expect("it is being filled");
            self.units[unit as usize] = Where::Flash(first + filled);
            self.written[(first + filled) as usize] = Some(unit);
            let is_full = filled + 1 == self.units_of_stream(stream);
            filling[handle] = if is_full { None } else { Some((first, stream, filled + 1)) };
            if is_full {
                self.is_programmed_in_no_time(first);
            }
        }
        for (first, ..) in filling.into_iter().flatten() {
            self.is_programmed_in_no_time(first);
        }
        self.nothing_is_open();
    }

    pub(super) fn write_untimed(&mut self, stream: usize, units: &[u32]) {
        for units in units.chunks(self.per_superpage() as usize) {
            self.superpage_untimed(stream, units);
        }
    }

    /// Before a superpage: whole superblocks while no more than the target are free.
    pub(super) fn collect_whole(&mut self) {
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
    pub(super) fn moves_untimed(&mut self, stream: usize, units: &[u32]) {
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

    pub(super) fn row_untimed(&mut self, stream: usize) -> u32 {
        let (dies, order) = (self.dies.len(), self.channels_first());
        // What the host writes has one turn, with whatever bits per cell.
        let of_host = if stream == self.slc_stream() { 0 } else { stream };
        let turn = self.turns_in_no_time[of_host];
        let at = (0..dies).map(|step| (turn + step) % dies).find(|&at| self.has_row(stream, order[at])).expect("room");
        self.turns_in_no_time[of_host] = (at + 1) % dies;
        self.take_row(stream, order[at])
    }

    pub(super) fn superpage_untimed(&mut self, stream: usize, units: &[u32]) {
        let first = self.row_untimed(stream);
        for (at, &unit) in units.iter().enumerate() {
            self.units[unit as usize] = Where::Flash(first + at as u32);
            self.written[first as usize + at] = Some(unit);
        }
        self.is_programmed_in_no_time(first);
    }

    pub(super) fn is_programmed_in_no_time(&mut self, first: u32) {
        self.superpage_is_programmed(first);
        if let Some(parity) = self.begins_to_be_written(first) {
            self.superpage_is_programmed(parity);
            self.parity_in_no_time += 1;
        }
    }

    /// Closes everything that a warm-up has left open. Dies then have their turns from the first one on.
    pub(super) fn nothing_is_open(&mut self) {
        for stream in 0..self.left_off.len() {
            if let Some((first, _)) = self.left_off[stream].take() {
                self.is_programmed_in_no_time(first);
            }
        }
        self.turns_in_no_time.fill(0);
    }

    /// Collects without time, as the scheme "ideal" does.
    pub(super) fn collect_in_no_time(&mut self) {
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

/// The number at each position of the bijection below a bound (rule 215).
fn shuffled(key: u64, bound: u32) -> Vec<u32> {
    let columns = (1..).find(|columns| columns * columns >= bound).unwrap();
    let rows = bound.div_ceil(columns);
    let drawn = |round: u64, coordinate: u32, bound: u32| {
        let bits = rng::mix_bits(key ^ (round * (1 << 32) + u64::from(coordinate))) >> 32;
        (bits * u64::from(bound) / (1 << 32)) as u32
    };
    let step = |x: u32| {
        let (mut row, mut column) = (x / columns, x % columns);
        row = (row + drawn(0, column, rows)) % rows;
        column = (column + drawn(1, row, columns)) % columns;
        row = (row + drawn(2, column, rows)) % rows;
        column = (column + drawn(3, row, columns)) % columns;
        row * columns + column
    };
    let walk = |x: u32| {
        let mut x = step(x);
        while x >= bound {
            x = step(x);
        }
        x
    };
    (0..bound).map(walk).collect()
}
