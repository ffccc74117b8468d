//! A minimal loop that only maps pages and collects blocks. It measures the least that the benchmark *device* can cost.

use super::processor_seconds;
use flashraid_model::array::ArrayParams;
use flashraid_model::flash::Geometry;
use flashraid_model::rng;

/// Maps pages and collects blocks as the benchmark *device* does, without time, queues, and requests. Pages are mapped statically to dies,
/// each plane is a pool, planes take turns, and the victim is greedy.
pub(super) struct Floor {
    geometry: Geometry,
    start_free_blocks: u32,
    data_pages: u32,
    map: Vec<u32>,
    rmap: Vec<u32>,
    valid: Vec<u64>,
    score: Vec<i16>,
    free_blocks: Vec<u32>,
    open: Vec<(u32, u32)>,
    rotation: Vec<u32>,
    turn: Vec<u32>,
}

/// Score of a block that can't be a victim.
const NOT_SEALED: i16 = i16::MAX;

impl Floor {
    pub(super) fn new(params: &ArrayParams) -> Self {
        let g = params.ssd.geometry;
        assert!(g.pages_per_block <= 64 && g.pages_per_block.is_power_of_two(), "one word of valid bits per block");
        let (planes, data_pages) = (g.dies * g.planes, g.data_pages_per_block());
        let blocks = planes * g.blocks_per_plane;
        let filled = g.blocks_per_plane - g.overprovisioned_blocks_per_plane;
        let mut floor = Self {
            geometry: g,
            start_free_blocks: params.ssd.gc.start_threshold_free_blocks,
            data_pages,
            map: vec![0; g.exported_pages_per_die() as usize * g.dies as usize],
            rmap: vec![0; (blocks * g.pages_per_block) as usize],
            valid: vec![0; blocks as usize],
            score: vec![NOT_SEALED; blocks as usize],
            free_blocks: vec![g.overprovisioned_blocks_per_plane - 1; planes as usize],
            open: (0..planes).map(|p| (p * g.blocks_per_plane + filled, 0)).collect(),
            rotation: vec![filled + 1; planes as usize],
            turn: vec![0; g.dies as usize],
        };
        for plane in 0..planes {
            for block in 0..filled {
                let number = plane * g.blocks_per_plane + block;
                floor.score[number as usize] = data_pages as i16;
                floor.valid[number as usize] = (1 << data_pages) - 1;
                for page in 0..data_pages {
                    let lpn = (plane * filled + block) * data_pages + page;
                    floor.map[lpn as usize] = number * g.pages_per_block + page;
                    floor.rmap[(number * g.pages_per_block + page) as usize] = lpn;
                }
            }
        }
        floor
    }

    pub(super) fn warm_and_time(&mut self, requests: u64) -> f64 {
        let mut stream = rng::stream(1, "floor", 0);
        let pages = self.map.len() as u64;
        for _ in 0..2 * pages {
            self.write(rng::below(&mut stream, pages) as u32);
        }
        let begin = processor_seconds();
        for _ in 0..requests {
            self.write(rng::below(&mut stream, pages) as u32);
        }
        let seconds = processor_seconds() - begin;
        std::hint::black_box(&self.map);
        seconds
    }

    fn write(&mut self, lpn: u32) {
        let planes = self.geometry.planes;
        let die = lpn / (self.map.len() as u32 / self.geometry.dies);
        let first = (die * planes) as usize;
        while let Some(plane) = (first..first + planes as usize).find(|&p| self.free_blocks[p] <= self.start_free_blocks) {
            if !self.clean(plane) {
                break;
            }
        }
        let old = self.map[lpn as usize];
        let (old_block, page) = ((old / self.geometry.pages_per_block) as usize, old % self.geometry.pages_per_block);
        self.valid[old_block] &= !(1 << page);
        if self.score[old_block] != NOT_SEALED {
            self.score[old_block] -= 1;
        }
        let turn = &mut self.turn[die as usize];
        let plane = first + *turn as usize;
        *turn = if *turn + 1 == planes { 0 } else { *turn + 1 };
        self.program(plane, lpn);
    }

    fn program(&mut self, plane: usize, lpn: u32) {
        if self.open[plane].1 == self.data_pages {
            self.open_block(plane);
        }
        let (block, page) = &mut self.open[plane];
        let physical = *block * self.geometry.pages_per_block + *page;
        self.valid[*block as usize] |= 1 << *page;
        *page += 1;
        if *page == self.data_pages {
            self.score[*block as usize] = self.valid[*block as usize].count_ones() as i16;
        }
        self.map[lpn as usize] = physical;
        self.rmap[physical as usize] = lpn;
    }

    fn open_block(&mut self, plane: usize) {
        let blocks = self.geometry.blocks_per_plane;
        let first = plane as u32 * blocks;
        let is_free = |b: u32| {
            let block = (first + b) as usize;
            self.score[block] == NOT_SEALED && self.valid[block] == 0 && first + b != self.open[plane].0
        };
        let from = self.rotation[plane];
        let found = (from..blocks).chain(0..from).find(|&b| is_free(b)).expect("collection keeps blocks free");
        self.rotation[plane] = (found + 1) % blocks;
        self.free_blocks[plane] -= 1;
        self.open[plane] = (first + found, 0);
    }

    /// Collects the block with the fewest valid pages, and returns false if no block has garbage.
    fn clean(&mut self, plane: usize) -> bool {
        let blocks = self.geometry.blocks_per_plane as usize;
        let scores = &self.score[plane * blocks..(plane + 1) * blocks];
        let min = scores.iter().copied().fold(i16::MAX, i16::min);
        if min >= self.data_pages as i16 {
            return false;
        }
        let victim = plane * blocks + scores.iter().rposition(|&s| s == min).expect("it was found");
        let mut bits = self.valid[victim];
        while bits != 0 {
            let lpn = self.rmap[victim * self.geometry.pages_per_block as usize + bits.trailing_zeros() as usize];
            bits &= bits - 1;
            self.program(plane, lpn);
        }
        // The victim becomes free only now. Otherwise moved pages could open the victim itself.
        self.valid[victim] = 0;
        self.score[victim] = NOT_SEALED;
        self.free_blocks[plane] += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchSize, scenario, work};

    #[test]
    fn the_floor_maps_every_page_to_a_place_of_its_own() {
        let scenario = scenario(work::DEVICE, &[], BenchSize::SMOKE).unwrap();
        let mut floor = Floor::new(&scenario.array);
        floor.warm_and_time(10_000);
        assert!(floor.map.iter().enumerate().all(|(lpn, &p)| floor.rmap[p as usize] == lpn as u32));
        let valid: u32 = floor.valid.iter().map(|v| v.count_ones()).sum();
        assert_eq!(valid as usize, floor.map.len());
    }
}
