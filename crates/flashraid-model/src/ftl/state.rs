//! Saving and loading the whole state of an FTL, so that a sweep pays for its warm-up once.
//!
//! Little-endian, in a fixed order; the caller adds what identifies the state and checks it.

use super::{DieState, Ftl, OpenBlock, PoolState, UNMAPPED};
use std::io::{self, Read, Write};

impl Ftl {
    /// Writes the state.
    ///
    /// # Errors
    /// Whatever `out` reports.
    pub fn save(&self, out: &mut impl Write) -> io::Result<()> {
        save_u32s(out, self.map.iter().copied())?;
        save_u32s(out, self.rmap.iter().copied())?;
        save_u32s(out, self.meta.iter().flat_map(|&m| [m as u32, (m >> 32) as u32]))?;
        save_u32s(out, self.score.iter().map(|&s| s as u16 as u32))?;
        save_u32s(
            out,
            self.pools.iter().flat_map(|p| {
                let open = |o: OpenBlock| [o.block, o.next_page, o.sequence];
                let gc = p.gc_open.unwrap_or(OpenBlock { block: u32::MAX, next_page: 0, sequence: 0 });
                [p.free_blocks, p.next_alloc].into_iter().chain(open(p.open)).chain(open(gc))
            }),
        )?;
        save_u32s(
            out,
            self.dies.iter().flat_map(|e| {
                [e.need as u32, (e.need >> 32) as u32, e.valid_pages, e.next_pool_to_clean, e.next_pool_to_write, e.sequence]
            }),
        )?;
        for stream in &self.streams {
            serde_json::to_writer(&mut *out, stream)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Replaces the state by one that [`Ftl::save`] wrote for the same parameters.
    ///
    /// # Errors
    /// Whatever `input` reports, and [`io::ErrorKind::InvalidData`] if the bytes are no consistent state.
    pub fn load(&mut self, input: &mut impl io::BufRead) -> io::Result<()> {
        load_u32s(input, &mut self.map)?;
        load_u32s(input, &mut self.rmap)?;
        let mut halves = vec![0u32; self.meta.len() * 2];
        load_u32s(input, &mut halves)?;
        for (meta, half) in self.meta.iter_mut().zip(halves.chunks_exact(2)) {
            *meta = u64::from(half[0]) | u64::from(half[1]) << 32;
        }
        let mut scores = vec![0u32; self.score.len()];
        load_u32s(input, &mut scores)?;
        for (score, &raw) in self.score.iter_mut().zip(&scores) {
            *score = raw as u16 as i16;
        }
        let mut raw = vec![0u32; self.pools.len() * 8];
        load_u32s(input, &mut raw)?;
        for (pool, r) in self.pools.iter_mut().zip(raw.chunks_exact(8)) {
            let open = |r: &[u32]| OpenBlock { block: r[0], next_page: r[1], sequence: r[2] };
            let gc = open(&r[5..8]);
            *pool = PoolState { free_blocks: r[0], next_alloc: r[1], open: open(&r[2..5]), gc_open: (gc.block != u32::MAX).then_some(gc) };
        }
        for pool in 0..self.pools.len() {
            self.rooms[pool] = self.room_of(pool);
        }
        let mut raw = vec![0u32; self.dies.len() * 6];
        load_u32s(input, &mut raw)?;
        for (die, r) in self.dies.iter_mut().zip(raw.chunks_exact(6)) {
            *die = DieState {
                need: u64::from(r[0]) | u64::from(r[1]) << 32,
                valid_pages: r[2],
                next_pool_to_clean: r[3],
                next_pool_to_write: r[4],
                sequence: r[5],
            };
        }
        for stream in &mut self.streams {
            let mut line = Vec::new();
            input.read_until(b'\n', &mut line)?;
            *stream = serde_json::from_slice(&line)?;
        }
        let in_range = self.map.iter().all(|&p| p == UNMAPPED || (p as usize) < self.rmap.len());
        if !in_range {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a page lies outside the device"));
        }
        self.verify().map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
    }
}

fn save_u32s(out: &mut impl Write, values: impl Iterator<Item = u32>) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(1 << 16);
    for value in values {
        buffer.extend_from_slice(&value.to_le_bytes());
        if buffer.len() >= 1 << 16 {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)
}

fn load_u32s(input: &mut impl Read, values: &mut [u32]) -> io::Result<()> {
    let mut buffer = [0u8; 1 << 14];
    for chunk in values.chunks_mut(buffer.len() / 4) {
        let bytes = &mut buffer[..chunk.len() * 4];
        input.read_exact(bytes)?;
        for (value, b) in chunk.iter_mut().zip(bytes.chunks_exact(4)) {
            *value = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
    }
    Ok(())
}
