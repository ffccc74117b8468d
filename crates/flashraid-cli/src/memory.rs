//! Memory of the program.
//!
//! When it runs out, the program ends with a message and exit status 1. The standard library would abort with a core dump, and leave
//! half-written files.
//!
//! Before a simulation begins, its memory is estimated, and refused if the machine has less ([`crate::machine`]). This module handles the
//! cases that the estimate misses.

#![expect(unsafe_code, reason = "an allocator is unsafe by its nature")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Makes all threads allocate from one heap. The GNU C library would reserve 64 MiB of addresses for each, so that a thread can't begin
/// under a limit of them (`ulimit -v`). The standard library then aborts.
pub fn use_one_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: this is a setting of the allocator, made before another thread begins. If it is refused, nothing changes.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Makes the allocator keep memory that is freed, for simulations of drives with pools of blocks that follow each other. They use the same
/// hundreds of megabytes, which the system would have to clear each time. In reproductions that took up to an eighth of the time.
///
/// Drives with superblocks begin with tables of zeros, of which they use little. Only new memory has zeros that cost nothing, so that other
/// commands do not keep what they free.
pub fn keep_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: these are settings of the allocator, which it takes at any time. One that is refused changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT_BLOCK_BYTES_MAX);
        libc::mallopt(libc::M_TRIM_THRESHOLD, std::ffi::c_int::MAX);
    }
}

/// Largest block of memory that is kept, the most that the GNU C library allows.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BLOCK_BYTES_MAX: std::ffi::c_int = 32 << 20;

/// Allocator of the system that ends the program when memory has run out.
pub struct OrEnd;

/// The message. It is constant, because formatting needs memory.
const MESSAGE: &[u8] = b"error: memory has run out; reduce --jobs, array.members or ssd.geometry, or vary fewer values\n";

static ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// True in the thread that ends the program.
    static IS_ENDING: Cell<bool> = const { Cell::new(false) };
}

#[cold]
fn end() -> *mut u8 {
    // Cleaning up may need memory itself, and then calls this again. The second call returns null, so that the standard library aborts.
    if IS_ENDING.get() {
        return std::ptr::null_mut();
    }
    // Another thread that runs out of memory meanwhile waits for the end.
    while ENDING.swap(true, Ordering::SeqCst) {
        std::thread::sleep(Duration::from_secs(1));
    }
    IS_ENDING.set(true);
    let _ = std::io::stderr().write_all(MESSAGE);
    crate::files::try_discard_unfinished_files();
    std::process::exit(1);
}

// SAFETY: every call is passed to the system's allocator, which keeps the contract. A null pointer is only ever passed on, or ends the
// program.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() { end() } else { memory }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if memory.is_null() { end() } else { memory }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let memory = unsafe { System.realloc(memory, layout, size) };
        if memory.is_null() { end() } else { memory }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}
