//! Places in a drive with superblocks: units, streams, superblocks and victims.

use flashraid_model::rng;
use flashraid_model::space::victim::{DChoices, GreedyWearAware, SuperblockCandidate, VictimCandidates, VictimRandomness};
use flashraid_model::ssd::{SlcSuperblockCountLimit, VictimPolicy};

use super::{Block, Drive, Superpage, Where};

impl Drive {
    pub(super) fn handle_count(&self) -> usize {
        self.own.placement_handles.count as usize
    }

    pub(super) fn handle_of_command(&self, number: usize) -> usize {
        let first = &self.front.commands[number].operations[0];
        self.labels.of_write(first.page, usize::from(first.source))
    }

    /// The stream of what is moved out of a superblock: behind those of the host one for each handle, or one.
    pub(super) fn moves_to(&self, block: u32) -> usize {
        self.handle_count() + if self.own.placement_handles.collection_separates_handles() { self.handle_of[block as usize] } else { 0 }
    }

    /// Counts the units that a stream has programmed.
    pub(super) fn count_of_stream(&mut self, stream: usize, units: u64) {
        let handles = self.handle_count();
        let of_host = stream < handles || stream == self.slc_stream();
        self.handles[stream % handles][if of_host { 1 } else { 2 }] += units;
    }

    pub(super) fn slc_stream(&self) -> usize {
        2 * self.handle_count()
    }

    pub(super) fn units_of_stream(&self, stream: usize) -> u32 {
        if stream == self.slc_stream() { self.per_superpage() / self.own.bits_per_cell } else { self.per_superpage() }
    }

    /// Returns the stream for the next superpage of the host.
    pub(super) fn stream_of_host(&self, handle: usize) -> usize {
        let stream = self.slc_stream();
        let Some(slc) = self.own.slc else { return handle };
        let in_use = self.slc.iter().filter(|&&slc| slc).count();
        let most = match slc.superblock_limit {
            SlcSuperblockCountLimit::Superblocks(superblocks) => superblocks as usize,
            SlcSuperblockCountLimit::ShareOfSlcAndFreeSuperblocks { millionths_of_available } => {
                let beyond = self.free.len().saturating_sub(self.own.collection.target as usize);
                (beyond + in_use) * millionths_of_available as usize / 1_000_000
            }
        };
        let left: usize = self.open[stream].iter().flat_map(|(_, left)| left).map(Vec::len).sum();
        let more = most.saturating_sub(in_use) * (self.data_per_block() / self.per_superpage()) as usize;
        let waits = |superpage: &&Superpage| superpage.stream == stream && !superpage.is_parity && !superpage.has_place;
        if self.superpages.values().filter(waits).count() < left + more { stream } else { handle }
    }

    /// The sealed superblock with one bit per cell that is folded next.
    pub(super) fn to_fold(&self) -> Option<u32> {
        let sealed =
            (0..self.blocks.len() as u32).filter(|&block| self.blocks[block as usize] == Block::Sealed && self.slc[block as usize]);
        sealed.min_by_key(|&block| (self.valid_places(block).len(), u32::MAX - block))
    }

    pub(super) fn is_parity(&self, place: u32) -> bool {
        let superpage = place / self.per_superpage();
        let dies = self.ssd.geometry.dies;
        self.own.has_parity_superpages && superpage / dies % dies == superpage % dies
    }

    pub(super) fn place_of(&self, block: u32, row: u32, die: usize) -> u32 {
        block * self.per_block() + (row * self.ssd.geometry.dies + die as u32) * self.per_superpage()
    }

    /// Rows of the superblock in which the die takes units.
    pub(super) fn data_rows(&self, block: u32, die: usize) -> Vec<u32> {
        (0..self.rows()).filter(|&row| !self.is_parity(self.place_of(block, row, die))).collect()
    }

    pub(super) fn data_per_block(&self) -> u32 {
        let rain = u32::from(self.own.has_parity_superpages);
        self.per_superpage() * self.rows() * (self.ssd.geometry.dies - rain)
    }

    /// Returns the place for the parity of a row, if this superpage completes the row.
    pub(super) fn begins_to_be_written(&mut self, first: u32) -> Option<u32> {
        self.begun.insert(first);
        let (block, row) = (first / self.per_block(), self.row_of(first));
        let of_row: Vec<u32> = (0..self.dies.len()).map(|die| self.place_of(block, row, die)).collect();
        let all = of_row.iter().all(|&place| self.is_parity(place) || self.begun.contains(&place));
        of_row.into_iter().find(|&place| all && self.is_parity(place))
    }

    pub(super) fn per_superpage(&self) -> u32 {
        self.ssd.geometry.planes * self.own.bits_per_cell * self.own.mapping_units_per_flash_page
    }

    pub(super) fn rows(&self) -> u32 {
        self.ssd.geometry.pages_per_block
            / (self.own.bits_per_cell * self.own.mapping_units_per_flash_page * self.own.pages_per_mapping_unit)
    }

    pub(super) fn per_block(&self) -> u32 {
        self.per_superpage() * self.rows() * self.ssd.geometry.dies
    }

    pub(super) fn die_of(&self, place: u32) -> usize {
        (place / self.per_superpage() % self.ssd.geometry.dies) as usize
    }

    pub(super) fn row_of(&self, place: u32) -> u32 {
        place % self.per_block() / self.per_superpage() / self.ssd.geometry.dies
    }

    pub(super) fn type_of(&self, place: u32) -> u32 {
        place % self.per_superpage() / self.own.mapping_units_per_flash_page / self.ssd.geometry.planes
    }

    pub(super) fn plane_of(&self, place: u32) -> usize {
        (place % self.per_superpage() / self.own.mapping_units_per_flash_page % self.ssd.geometry.planes) as usize
    }

    pub(super) fn array_read_ns(&self, place: u32) -> u64 {
        if let Some(slc) = self.own.slc.filter(|_| self.slc[(place / self.per_block()) as usize]) {
            return slc.times.read.ns;
        }
        let page = self.row_of(place) * self.own.bits_per_cell + self.type_of(place);
        self.own.read_ns_by_page_type[page as usize % self.own.read_ns_by_page_type.len()]
    }

    pub(super) fn superpage_transfer_ns(&self, number: u64) -> u64 {
        u64::from(self.units_of_stream(self.superpages[&number].stream)) * self.own.mapping_unit_transfer_ns
    }

    pub(super) fn program_ns(&self, number: u64) -> u64 {
        let slc = self.own.slc.filter(|_| self.superpages[&number].stream == self.slc_stream());
        slc.map_or(self.ssd.timing.page_program.ns, |slc| slc.times.program.ns)
    }

    pub(super) fn is_valid(&self, place: u32) -> bool {
        self.written[place as usize].is_some_and(|unit| self.units[unit as usize] == Where::Flash(place))
    }

    pub(super) fn valid_places(&self, block: u32) -> Vec<u32> {
        (block * self.per_block()..(block + 1) * self.per_block()).filter(|&place| self.is_valid(place)).collect()
    }

    /// Sealed superblocks whose moves need fewer superpages than they give back.
    pub(super) fn useful(&self) -> Vec<u32> {
        let superpages = |block: u32| self.valid(block).div_ceil(self.per_superpage());
        let sealed = (0..self.blocks.len() as u32).filter(|&block| self.blocks[block as usize] == Block::Sealed);
        sealed.filter(|&block| superpages(block) < self.data_per_block() / self.per_superpage()).collect()
    }

    pub(super) fn valid(&self, block: u32) -> u32 {
        self.valid_places(block).len() as u32
    }

    /// Returns the victim among all superblocks of the drive (rule 13).
    pub(super) fn pick(&mut self) -> Option<u32> {
        if let Some((begun, _)) = self.begun_victim {
            return Some(begun);
        }
        let useful = self.useful();
        let emptiest = |blocks: &[u32]| blocks.iter().copied().min_by_key(|&block| (self.valid(block), u32::MAX - block));
        let greedy = emptiest(&useful)?;
        let all = self.blocks.len() as u64;
        let stream = &mut self.victims_drawn.clone();
        let draw = |stream: &mut rng::RandomStream| loop {
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
                    scaled >= limit || rng::uniform(stream) * limit < scaled
                };
                in_order.into_iter().find(is_taken).unwrap_or(greedy)
            }
            #[allow(unreachable_patterns, reason = "all that are listed may have rules")]
            policy => {
                // A policy without a rule has no second opinion, but everything around it has.
                let candidate = |block: u32| SuperblockCandidate {
                    valid_units: if self.blocks[block as usize] == Block::Sealed { self.valid(block) } else { u32::MAX },
                    open_sequence: self.opened[block as usize],
                    erases: self.erases[block as usize],
                };
                let candidates: Vec<SuperblockCandidate> = (0..all as u32).map(candidate).collect();
                let below = self.data_per_block() - self.per_superpage() + 1;
                let blocks = VictimCandidates::of_superblocks(&candidates, self.data_per_block(), below, self.openings + 1);
                policy.pick_victim(&blocks, &mut VictimRandomness::new(Some(stream)))? as u32
            }
        };
        self.victims_drawn = stream.clone();
        Some(victim)
    }

    pub(super) fn has_row(&self, stream: usize, die: usize) -> bool {
        let another = self.free.front().filter(|_| self.open[stream].len() < 2);
        self.open[stream].iter().any(|(_, left)| !left[die].is_empty())
            || another.is_some_and(|&block| !self.data_rows(block, die).is_empty())
    }

    pub(super) fn take_row(&mut self, stream: usize, die: usize) -> u32 {
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

    pub(super) fn superpage_is_programmed(&mut self, first: u32) {
        let block = (first / self.per_block()) as usize;
        self.programmed[block] += 1;
        if self.programmed[block] == self.per_block() / self.per_superpage() {
            self.blocks[block] = Block::Sealed;
        }
    }

    pub(super) fn is_sealed(&self, first: u32) -> bool {
        self.blocks[(first / self.per_block()) as usize] == Block::Sealed
    }

    pub(super) fn free_block(&mut self, block: u32) {
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
}
