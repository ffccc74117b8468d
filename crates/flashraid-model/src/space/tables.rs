//! Large flat tables that use huge pages of the operating system where possible, and prefetching of their entries.

use std::ops::{Deref, DerefMut};

/// A table of many megabytes that is read at random positions. Copies of it are tables of the same kind.
///
/// It asks the system for huge pages, which save an address translation on nearly every access.
#[derive(Debug, PartialEq)]
pub(crate) struct LargeTable<T>(Vec<T>);

impl<T: Copy + Default> LargeTable<T> {
    /// Returns a table of `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        // The system provides a zeroed allocation of this size untouched, so that the advice applies to all of it.
        let table = vec![T::default(); len];
        #[cfg(target_os = "linux")]
        {
            const HUGE: usize = 2 << 20;
            let start = (table.as_ptr() as usize).next_multiple_of(HUGE);
            let end = (table.as_ptr() as usize + len * size_of::<T>()) / HUGE * HUGE;
            if start < end {
                // SAFETY: the range lies inside the allocation made above. The advice changes how the kernel backs the memory, not its
                // contents. A refusal is harmless.
                unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
            }
        }
        Self(table)
    }

    /// Returns a table with `len` copies of `value`.
    pub fn filled(len: usize, value: T) -> Self {
        let mut table = Self::zeroed(len);
        table.fill(value);
        table
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
        &self.0
    }
}

impl<T> DerefMut for LargeTable<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
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
