//! Large flat tables, with huge pages where the system has them, and prefetching.

/// Returns a vector of `len` zeros, for tables of many megabytes that are read at random.
///
/// It asks the system for huge pages, which save an address translation on nearly every access.
pub(super) fn zeroed_table<T: Copy + Default>(len: usize) -> Vec<T> {
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
    table
}

/// Starts to load `table[index]` into the cache. It is only a hint, and harmless for any index.
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
