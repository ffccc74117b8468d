//! Large flat tables that use huge pages of the operating system where possible, and prefetching of their entries.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Size of a huge page, in bytes.
const HUGE: usize = 2 << 20;

/// A table of many megabytes that is read at random positions. Copies of it are tables of the same kind.
///
/// It begins with a huge page and asks the system for such pages, which save an address translation on nearly every access.
#[derive(Debug)]
pub(crate) struct LargeTable<T> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: a table owns its entries alone, as a vector does.
unsafe impl<T: Send> Send for LargeTable<T> {}
// SAFETY: a shared table only gives shared access to its entries.
unsafe impl<T: Sync> Sync for LargeTable<T> {}

impl<T> LargeTable<T> {
    /// Returns the size and alignment of a table of `len` entries, of which there is at least one.
    fn layout(len: usize) -> Layout {
        let layout = Layout::array::<T>(len).expect("a table fits the memory");
        if layout.size() < HUGE { layout } else { layout.align_to(HUGE).expect("a table fits the memory") }
    }
}

impl<T: Copy + Default> LargeTable<T> {
    /// Returns a table of `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        Self::filled(len, T::default())
    }

    /// Returns a table with `len` copies of `value`.
    pub fn filled(len: usize, value: T) -> Self {
        if len == 0 || size_of::<T>() == 0 {
            return Self { start: NonNull::dangling(), len };
        }
        let layout = Self::layout(len);
        // SAFETY: the size is not 0.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }.cast::<T>()) else { handle_alloc_error(layout) };
        #[cfg(target_os = "linux")]
        if layout.size() >= HUGE {
            // SAFETY: the range lies inside the allocation made above. The advice changes how the kernel backs the memory, not its
            // contents. A refusal is harmless.
            unsafe { libc::madvise(start.as_ptr().cast(), layout.size() / HUGE * HUGE, libc::MADV_HUGEPAGE) };
        }
        for index in 0..len {
            // SAFETY: the entry lies inside the allocation.
            unsafe { start.add(index).write(value) };
        }
        Self { start, len }
    }
}

impl<T> Drop for LargeTable<T> {
    fn drop(&mut self) {
        if self.len > 0 && size_of::<T>() > 0 {
            // SAFETY: the table was allocated with this layout, and its entries need no drop because they are `Copy`.
            unsafe { dealloc(self.start.as_ptr().cast(), Self::layout(self.len)) };
        }
    }
}

impl<T: PartialEq> PartialEq for LargeTable<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Copy + Default> Clone for LargeTable<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeroed(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<T> Deref for LargeTable<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: all `len` entries were written when the table was made.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for LargeTable<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: all `len` entries were written when the table was made, and nobody else has access to them.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

/// Starts to load `table[index]` into the processor's cache. It is only a hint, and harmless for any index.
#[inline(always)]
pub(super) fn prefetch<T>(table: &[T], index: usize) {
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
}
