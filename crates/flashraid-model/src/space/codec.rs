//! States as bytes and back: the parts that both mappings use.
//!
//! ```text
//!  the map, packed: as many bits an entry as a place needs │ words of 32 bits │ random streams, a line each
//! ```
//!
//! A saved state has only data that cannot be derived. Everything that is read is checked before it is used as an index, so that a forged
//! state is refused or consistent.
//!
//! Numbers are little-endian. The caller adds a name that identifies the state, and a checksum.

use crate::rng::{self, RandomStream};

/// Upper limit of saved counts of erases and opened blocks. No real device reaches it, and a count at the limit can still grow without
/// overflow.
pub(super) const COUNT_MAX: u32 = 1 << 31;
/// Maximum number of bytes that a saved random stream takes.
pub(super) const STREAM_BYTES_MAX: usize = 512;

/// Returns the number of bits that an entry needs to hold any number from 0 to `most`.
pub(super) fn bits_for(most: u64) -> u32 {
    (u64::BITS - most.leading_zeros()).max(1)
}

/// Returns the number of bytes that `entries` packed entries of `bits` bits take.
pub(super) fn packed_bytes(entries: usize, bits: u32) -> usize {
    // Eight more bytes let every entry be read as part of a whole word.
    (entries * bits as usize).div_ceil(64) * 8 + 8
}

/// Packs entries of a fixed number of bits into bytes.
pub(super) struct Packer<'a> {
    out: &'a mut Vec<u8>,
    bits: u32,
    word: u64,
    filled: u32,
}

impl<'a> Packer<'a> {
    /// Returns a packer that appends entries of `bits` bits, at most 57, to `out`.
    pub(super) fn new(out: &'a mut Vec<u8>, bits: u32) -> Self {
        Self { out, bits, word: 0, filled: 0 }
    }

    /// Appends one entry, which must fit into its bits.
    #[inline]
    pub(super) fn put(&mut self, entry: u64) {
        debug_assert!(entry >> self.bits == 0, "an entry fits its bits");
        self.word |= entry << self.filled;
        self.filled += self.bits;
        if self.filled >= 64 {
            self.out.extend_from_slice(&self.word.to_le_bytes());
            self.filled -= 64;
            self.word = if self.filled == 0 { 0 } else { entry >> (self.bits - self.filled) };
        }
    }

    /// Appends the bits that do not fill a word yet.
    pub(super) fn end(self) {
        if self.filled > 0 {
            self.out.extend_from_slice(&self.word.to_le_bytes());
        }
        self.out.extend_from_slice(&[0; 8]);
    }
}

/// Reads the entries that a [`Packer`] has written.
pub(super) struct Unpacker<'a> {
    packed: &'a [u8],
    bits: usize,
    at_bit: usize,
}

impl<'a> Unpacker<'a> {
    /// Returns a reader for entries of `bits` bits. `packed` must have as many bytes as [`packed_bytes`] returns.
    pub(super) fn new(packed: &'a [u8], bits: u32) -> Self {
        Self { packed, bits: bits as usize, at_bit: 0 }
    }

    /// Returns the next entry. The caller must not read more entries than there are.
    #[inline]
    pub(super) fn entry(&mut self) -> u64 {
        let at = self.at_bit / 8;
        let word: [u8; 8] = self.packed[at..at + 8].try_into().expect("eight bytes");
        let entry = u64::from_le_bytes(word) >> (self.at_bit % 8) & ((1 << self.bits) - 1);
        self.at_bit += self.bits;
        entry
    }
}

/// Appends words of 32 bits, in little-endian order.
pub(super) fn put_words(out: &mut Vec<u8>, words: impl IntoIterator<Item = u32>) {
    words.into_iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// Reads the parts of a saved state from front to back.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the next `length` bytes.
    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("it is cut off")?;
        self.0 = rest;
        Ok(taken)
    }

    /// Returns the next word.
    pub(super) fn word(&mut self) -> Result<u32, String> {
        let (word, rest) = self.0.split_first_chunk().ok_or("it is cut off")?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*word))
    }

    /// Returns the next word, which must lie below [`COUNT_MAX`].
    pub(super) fn count(&mut self) -> Result<u32, String> {
        match self.word()? {
            count if count > COUNT_MAX => Err(format!("it counts {count} erases or opened blocks")),
            count => Ok(count),
        }
    }

    /// Reads random streams from the rest of the bytes, which must hold exactly as many as `streams`.
    pub(super) fn streams(self, streams: &mut [RandomStream]) -> Result<(), String> {
        let mut lines = self.0.split_inclusive(|byte| *byte == b'\n');
        for stream in streams {
            *stream = serde_json::from_slice(lines.next().unwrap_or_default()).map_err(|error| format!("a random stream: {error}"))?;
            // The generator never leaves the state of zeros only.
            let mut probe = stream.clone();
            if (0..4).all(|_| rng::next_u64(&mut probe) == 0) {
                return Err("a random stream gives zeros only".to_owned());
            }
        }
        if lines.next().is_some() { Err("there is more than the state".to_owned()) } else { Ok(()) }
    }
}

/// Appends random streams, one on each line.
pub(super) fn put_streams(out: &mut Vec<u8>, streams: &[RandomStream]) {
    for stream in streams {
        out.extend_from_slice(serde_json::to_string(stream).expect("numbers").as_bytes());
        out.push(b'\n');
    }
}

/// Computes a checksum that shows whether the bytes of a state are damaged.
///
/// It is as fast as memory can be read: four sums of products with different odd factors, mixed at the end.
pub fn checksum(bytes: &[u8]) -> u64 {
    const FACTORS: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];
    let mut sums = FACTORS;
    let mut add = |chunk: &[u8]| {
        for ((sum, factor), word) in sums.iter_mut().zip(FACTORS).zip(chunk.chunks_exact(8)) {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            *sum = (*sum ^ word).wrapping_mul(factor).rotate_left(29);
        }
    };
    let mut chunks = bytes.chunks_exact(32);
    chunks.by_ref().for_each(&mut add);
    let mut rest = [0; 32];
    rest[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    add(&rest);
    sums.iter().fold(bytes.len() as u64, |all, sum| rng::mix_bits(all ^ sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        for bits in [1, 3, 13, 16, 31, 32, 33, 40, 57] {
            let mask = (1_u64 << bits) - 1;
            let entries: Vec<u64> = (0..200_u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
            let mut out = Vec::new();
            let mut packer = Packer::new(&mut out, bits);
            entries.iter().for_each(|&entry| packer.put(entry));
            packer.end();
            assert_eq!(out.len(), packed_bytes(entries.len(), bits));
            let mut unpacker = Unpacker::new(&out, bits);
            assert_eq!(entries, (0..200).map(|_| unpacker.entry()).collect::<Vec<_>>(), "{bits} bits");
        }
    }

    #[test]
    fn an_entry_has_the_bits_of_the_greatest_one() {
        assert_eq!([0, 1, 2, 255, 256, u64::from(u32::MAX), 1 << 32].map(bits_for), [1, 1, 2, 8, 9, 32, 33]);
    }

    #[test]
    fn a_damaged_byte_changes_the_checksum_wherever_it_is() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in [1, 7, 8, 31, 32, 100, 256] {
            let whole = checksum(&bytes[..length]);
            for at in 0..length {
                let mut damaged = bytes[..length].to_vec();
                damaged[at] ^= 1;
                assert_ne!(checksum(&damaged), whole, "byte {at} of {length}");
            }
        }
    }
}
