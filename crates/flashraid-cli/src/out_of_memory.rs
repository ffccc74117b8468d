//! When memory runs out: a message and exit status 1, where the standard library would abort with a core dump and leave files half-written.
//!
//! Before a simulation begins, its memory is estimated and refused if it is not there ([`crate::machine`]); this is for what no estimate sees.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// The system's allocator, which ends the program where it has nothing left to give.
pub struct OrEnd;

/// What is said; nothing can be put together any more.
const MESSAGE: &[u8] = b"error: memory has run out; reduce --jobs, array.members or ssd.geometry, or vary fewer values\n";

static ENDING: AtomicBool = AtomicBool::new(false);

#[cold]
fn end() -> *mut u8 {
    // What is done here may need memory itself; then the library's own way is taken.
    if ENDING.swap(true, Ordering::SeqCst) {
        return std::ptr::null_mut();
    }
    let _ = std::io::stderr().write_all(MESSAGE);
    crate::files::try_discard_unfinished();
    std::process::exit(1);
}

// SAFETY: every call is passed on to the system's allocator, which keeps the contract; a null is never turned into anything else.
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
