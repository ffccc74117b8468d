//! Ends the program with a message and exit status 1 when memory runs out. The standard library would abort with a core dump, and leave
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
