//! Large flat tables that use huge pages of the operating system where possible, and prefetching of their entries.

#![expect(unsafe_code, reason = "memory of huge pages is allocated by the layout")]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Size of a huge page, in bytes.
const HUGE: usize = 2 << 20;

/// A table of many megabytes that is read at random positions. Copies of it are tables of the same kind.
///
/// It begins with a huge page and asks the system for such pages, which save an address translation on nearly every access.
/// Pages of a table of zeros take memory when they are first written.
#[derive(Debug)]
pub(crate) struct LargeTable<T> {
    start: NonNull<T>,
    len: usize,
    /// Memory that the entries lie in, which begins before them by less than a huge page.
    allocation: NonNull<u8>,
}

/// Numbers whose bytes are all 0 when they are 0.
///
/// # Safety
/// Zeros in all bytes must be a value of the type.
pub(crate) unsafe trait Number: Copy {}
// SAFETY: an integer may have any bytes.
unsafe impl Number for u32 {}
// SAFETY: an integer may have any bytes.
unsafe impl Number for u64 {}
// SAFETY: an integer may have any bytes.
unsafe impl Number for u128 {}

// SAFETY: a table owns its entries alone, as a vector does.
unsafe impl<T: Send> Send for LargeTable<T> {}
// SAFETY: a shared table only gives shared access to its entries.
unsafe impl<T: Sync> Sync for LargeTable<T> {}

impl<T> LargeTable<T> {
    /// Returns the size and alignment of the memory for `len` entries, of which there is at least one. A large table has room for its
    /// begin to be moved to a huge page. An allocation of that alignment would do, too, but systems write to all of it when it is to be 0.
    fn layout(len: usize) -> Layout {
        let entries = Layout::array::<T>(len).expect("a table fits the memory");
        let room = if entries.size() < HUGE { 0 } else { HUGE };
        Layout::from_size_align(entries.size() + room, entries.align()).expect("a table fits the memory")
    }

    /// Returns a table in memory from `allocate`, which may be uninitialised.
    fn allocated(len: usize, allocate: unsafe fn(Layout) -> *mut u8) -> Self {
        if len == 0 || size_of::<T>() == 0 {
            return Self { start: NonNull::dangling(), len, allocation: NonNull::dangling() };
        }
        let layout = Self::layout(len);
        // SAFETY: the size is not 0.
        let Some(allocation) = NonNull::new(unsafe { allocate(layout) }) else { handle_alloc_error(layout) };
        let size = len * size_of::<T>();
        let moved = if size < HUGE { 0 } else { allocation.as_ptr().align_offset(HUGE) };
        // SAFETY: the memory of a large table is a huge page larger than its entries, and `moved` is less.
        let start = unsafe { allocation.add(moved) };
        #[cfg(target_os = "linux")]
        if size >= HUGE {
            // SAFETY: the range lies inside the allocation made above. The advice changes how the kernel backs the memory, not its
            // contents. A refusal is harmless.
            unsafe { libc::madvise(start.as_ptr().cast(), size / HUGE * HUGE, libc::MADV_HUGEPAGE) };
        }
        Self { start: start.cast(), len, allocation }
    }
}

impl<T: Number> LargeTable<T> {
    /// Returns a table of `len` zeros.
    pub(crate) fn zeroed(len: usize) -> Self {
        Self::allocated(len, alloc_zeroed)
    }

    /// Returns a table with `len` copies of `value`.
    pub(crate) fn filled(len: usize, value: T) -> Self {
        let table = Self::allocated(len, alloc);
        for index in 0..len {
            // SAFETY: the entry lies inside the allocation.
            unsafe { table.start.add(index).write(value) };
        }
        table
    }
}

impl<T> Drop for LargeTable<T> {
    fn drop(&mut self) {
        if self.len > 0 && size_of::<T>() > 0 {
            // SAFETY: the table was allocated with this layout, and its entries need no drop because they are numbers.
            unsafe { dealloc(self.allocation.as_ptr(), Self::layout(self.len)) };
        }
    }
}

impl<T: PartialEq> PartialEq for LargeTable<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Number> Clone for LargeTable<T> {
    fn clone(&self) -> Self {
        let copy = Self::allocated(self.len, alloc);
        // SAFETY: both have `len` entries, and one was just made.
        unsafe { copy.start.copy_from_nonoverlapping(self.start, self.len) };
        copy
    }
}

impl<T> Deref for LargeTable<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: all `len` entries were written or zeroed when the table was made.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for LargeTable<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: all `len` entries were written or zeroed when the table was made, and nobody else has access to them.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Number of bits that tables of a drive have for a place or a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// 32 bits, for drives of up to [`NARROW_MAX`] places.
    Narrow,
    /// 64 bits, for larger drives.
    Wide,
}

/// Number of places up to which 32 bits are enough. The other half of the numbers is for what is no place.
pub(crate) const NARROW_MAX: u64 = 1 << 31;

/// A large table of numbers. Narrow ones are extended by their sign, so that those that are no place are the highest numbers in both.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Numbers {
    Narrow(LargeTable<u32>),
    Wide(LargeTable<u64>),
}

/// Returns the number that 32 bits of a table stand for.
#[inline(always)]
pub(crate) fn widened(number: u32) -> u64 {
    i64::from(number as i32) as u64
}

impl Numbers {
    /// Returns a table of `len` zeros.
    pub(crate) fn zeroed(width: Width, len: usize) -> Self {
        match width {
            Width::Narrow => Self::Narrow(LargeTable::zeroed(len)),
            Width::Wide => Self::Wide(LargeTable::zeroed(len)),
        }
    }

    /// Returns a table with `len` copies of `number`.
    pub(crate) fn filled(width: Width, len: usize, number: u64) -> Self {
        match width {
            Width::Narrow => Self::Narrow(LargeTable::filled(len, number as u32)),
            Width::Wide => Self::Wide(LargeTable::filled(len, number)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.memory_bytes() == 0
    }

    /// Returns the number of bytes that the numbers occupy.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Narrow(numbers) => size_of_val(&**numbers),
            Self::Wide(numbers) => size_of_val(&**numbers),
        }
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> u64 {
        match self {
            Self::Narrow(numbers) => widened(numbers[index]),
            Self::Wide(numbers) => numbers[index],
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, index: usize, number: u64) {
        match self {
            Self::Narrow(numbers) => {
                debug_assert_eq!(widened(number as u32), number, "a number fits a narrow table");
                numbers[index] = number as u32;
            }
            Self::Wide(numbers) => numbers[index] = number,
        }
    }

    /// Starts to load a number into the processor's cache.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        match self {
            Self::Narrow(numbers) => prefetch(numbers, index),
            Self::Wide(numbers) => prefetch(numbers, index),
        }
    }
}

/// Number of words of a chunk of [`Bits`], which is a huge page.
const CHUNK_WORDS: u64 = HUGE as u64 / 8;

/// A bit for each of many numbers, of which most may never be touched. A chunk of bits takes memory once one of them has been set.
#[derive(Debug, Clone)]
pub(crate) struct Bits {
    words: u64,
    /// Words by chunk; empty if no bit of the chunk was ever set.
    chunks: Vec<LargeTable<u64>>,
}

impl Bits {
    /// Returns the bits of so many numbers, none of which is set.
    pub(crate) fn unset(numbers: u64) -> Self {
        let words = numbers.div_ceil(64);
        Self { words, chunks: (0..words.div_ceil(CHUNK_WORDS)).map(|_| LargeTable::zeroed(0)).collect() }
    }

    /// Returns 64 bits, the first of which has the number `64 * index`. What lies behind the last one is not set.
    #[inline]
    pub(crate) fn word(&self, index: u64) -> u64 {
        let chunk = self.chunks.get((index / CHUNK_WORDS) as usize);
        chunk.and_then(|chunk| chunk.get((index % CHUNK_WORDS) as usize)).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn is_set(&self, number: u64) -> bool {
        self.word(number / 64) >> (number % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn set(&mut self, number: u64) {
        let (chunk, at) = ((number / 64 / CHUNK_WORDS) as usize, (number / 64 % CHUNK_WORDS) as usize);
        if self.chunks[chunk].is_empty() {
            self.make(chunk);
        }
        self.chunks[chunk][at] |= 1 << (number % 64);
    }

    #[cold]
    fn make(&mut self, chunk: usize) {
        let words = (self.words - chunk as u64 * CHUNK_WORDS).min(CHUNK_WORDS);
        self.chunks[chunk] = LargeTable::zeroed(words as usize);
    }

    /// Unsets a bit. Returns whether it was set.
    #[inline]
    pub(crate) fn unset_one(&mut self, number: u64) -> bool {
        let chunk = &mut self.chunks[(number / 64 / CHUNK_WORDS) as usize];
        let Some(word) = chunk.get_mut((number / 64 % CHUNK_WORDS) as usize) else { return false };
        let was_set = *word >> (number % 64) & 1 == 1;
        *word &= !(1 << (number % 64));
        was_set
    }

    /// Starts to load a bit into the processor's cache.
    #[inline]
    pub(crate) fn prefetch(&self, number: u64) {
        prefetch(&self.chunks[(number / 64 / CHUNK_WORDS) as usize], (number / 64 % CHUNK_WORDS) as usize);
    }

    /// Returns the number of bits that are set.
    pub(crate) fn count(&self) -> u64 {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the number of bytes that the bits occupy.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| size_of_val(&**chunk)).sum()
    }
}

impl PartialEq for Bits {
    /// A chunk that was never set equals one whose bits are all unset.
    fn eq(&self, other: &Self) -> bool {
        let is_unset = |chunk: &LargeTable<u64>| chunk.iter().all(|&word| word == 0);
        let are_equal = |one: &LargeTable<u64>, other: &LargeTable<u64>| match (one.is_empty(), other.is_empty()) {
            (true, _) => is_unset(other),
            (_, true) => is_unset(one),
            _ => one == other,
        };
        self.words == other.words && self.chunks.iter().zip(&other.chunks).all(|(one, other)| are_equal(one, other))
    }
}

/// Starts to load `table[index]` into the processor's cache. It is only a hint, and harmless for any index.
#[inline(always)]
pub(crate) fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(table.as_ptr().wrapping_add(index).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_all_sizes_are_aligned_and_copied() {
        for len in [0, 1, 1000, HUGE / 4 - 1, HUGE / 4, HUGE] {
            let mut table = LargeTable::<u32>::filled(len, 7);
            assert!(table.len() == len && table.iter().all(|&entry| entry == 7));
            assert!(len < HUGE / 4 || (table.as_ptr() as usize).is_multiple_of(HUGE));
            let copy = table.clone();
            assert!(copy == table);
            if let Some(last) = table.last_mut() {
                *last = 8;
                assert!(copy != table && copy[len - 1] == 7);
            }
            assert!(LargeTable::<u32>::zeroed(len).iter().all(|&entry| entry == 0));
        }
    }

    #[test]
    fn both_widths_keep_places_and_what_is_no_place() {
        for width in [Width::Narrow, Width::Wide] {
            let mut numbers = Numbers::zeroed(width, 4);
            for (at, number) in [NARROW_MAX - 1, 7, u64::MAX, u64::MAX - NARROW_MAX + 1].into_iter().enumerate() {
                numbers.set(at, number);
                assert_eq!(numbers.get(at), number, "{width:?}");
            }
            assert_eq!(Numbers::filled(width, 3, u64::MAX - 1).get(2), u64::MAX - 1);
        }
    }

    #[test]
    fn bits_are_set_and_unset_across_chunks() {
        const CHUNK: u64 = CHUNK_WORDS * 64;
        let mut bits = Bits::unset(2 * CHUNK + 70);
        assert!(bits.memory_bytes() == 0 && !bits.is_set(CHUNK) && !bits.unset_one(CHUNK));
        let untouched = bits.clone();
        for number in [0, 63, 64, CHUNK - 1, CHUNK, 2 * CHUNK + 69] {
            bits.set(number);
            assert!(bits.is_set(number) && !bits.is_set(number ^ 1) && bits != untouched);
            assert_eq!(bits.word(number / 64) >> (number % 64) & 1, 1);
            assert!(bits.unset_one(number) && !bits.unset_one(number));
            assert_eq!(bits, untouched);
            bits.set(number ^ 1);
            assert_eq!(bits.count(), 1);
            bits.unset_one(number ^ 1);
        }
        assert_eq!(bits.memory_bytes(), 2 * HUGE + 16);
        assert_eq!(bits.word(u64::MAX), 0);
    }

    /// Most of a large drive may never be touched.
    #[test]
    #[cfg(target_os = "linux")]
    fn zeros_take_no_memory_before_they_are_written() {
        let resident = || -> usize { std::fs::read_to_string("/proc/self/statm").unwrap().split(' ').nth(1).unwrap().parse().unwrap() };
        let before = resident();
        let mut table = LargeTable::<u64>::zeroed(1 << 27);
        table[1 << 26] = 1;
        // The other tests of this process have some, too; a page has at least 4 KiB.
        assert!(resident().saturating_sub(before) < (512 << 20) / 4096, "{before} pages before, {} after", resident());
    }
}
