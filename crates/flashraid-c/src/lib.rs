//! The C library: an array of SSDs under simulation, driven by four verbs.
//!
//! A device is a number, not a pointer, so that one that was closed or never opened is refused instead of used. Every function can be
//! called from any thread. Calls of one device wait for each other. There are no callbacks and no threads, and a panic ends at the
//! border.
#![allow(unsafe_code)] // Pointers come from C.
#![allow(non_camel_case_types)]

mod devices;
mod failure;

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use devices::with_device;
use failure::{Failure, fail};
use flashraid::{Answer, OpKind, Request, Simulation};

/// A device: a number that flashraid_open gave. 0 is none.
pub type flashraid_device = u64;

/// The call has succeeded.
pub const FLASHRAID_OK: i64 = 0;
/// A null pointer, a text that is not UTF-8, or an unknown kind, flag or stream.
pub const FLASHRAID_BAD_ARGUMENT: i64 = -1;
/// The device is 0, was never opened, or has been closed.
pub const FLASHRAID_BAD_DEVICE: i64 = -2;
/// The configuration cannot be used. The message lists every problem.
pub const FLASHRAID_BAD_CONFIG: i64 = -3;
/// The time lies before that of an earlier call. Nothing has changed.
pub const FLASHRAID_TIME_GOES_BACK: i64 = -4;
/// Simulated time would pass 2^62 ns.
pub const FLASHRAID_CLOCK_ENDS: i64 = -5;
/// The request reaches beyond the array, or has no bytes. Nothing has changed.
pub const FLASHRAID_BAD_EXTENT: i64 = -6;
/// The buffer is too small for the report.
pub const FLASHRAID_NO_ROOM: i64 = -7;
/// A file, memory or the number of open devices: the message says which.
pub const FLASHRAID_FAILED: i64 = -8;
/// A bug of flashraid. The device is closed.
pub const FLASHRAID_BUG: i64 = -9;

/// Kind of a request: reads bytes.
pub const FLASHRAID_READ: u32 = 0;
/// Kind of a request: writes bytes.
pub const FLASHRAID_WRITE: u32 = 1;
/// Kind of a request: says that bytes are not needed any more.
pub const FLASHRAID_TRIM: u32 = 2;
/// Kind of a request: makes durable what has been written. Its offset and bytes may be 0.
pub const FLASHRAID_FLUSH: u32 = 3;

/// Flag that may be added to a kind: the write is done only when its data survive a loss of power.
pub const FLASHRAID_FUA: u32 = 256;
/// Flag that may be added to a kind: the request must not wait for garbage collection.
pub const FLASHRAID_HIGH_PRIORITY: u32 = 512;

/// The moment that never comes. flashraid_advance takes it for "until every request is answered".
pub const FLASHRAID_NEVER: u64 = u64::MAX;

/// The answer to a request. The seven last times add up to done_ns - arrival_ns.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct flashraid_answer {
    /// The tag of flashraid_submit.
    pub tag: u64,
    /// Moment of the submission.
    pub arrival_ns: u64,
    /// Moment at which the last byte was done.
    pub done_ns: u64,
    /// FLASHRAID_READ, _WRITE, _TRIM or _FLUSH.
    pub kind: u32,
    /// Members of the array on which a page waited for garbage collection.
    pub members_in_collection: u32,
    /// Pages that were not served, because too many members had failed.
    pub pages_lost: u32,
    /// Room for later additions; always 0.
    pub reserved: u32,
    /// Time behind other operations.
    pub queue_ns: u64,
    /// Time behind garbage collection.
    pub collection_ns: u64,
    /// Time for parity: reads ahead of writes, and locks.
    pub parity_ns: u64,
    /// Time for the write cache, and waiting for room in it.
    pub cache_ns: u64,
    /// Time of transfers over channel and link.
    pub transfer_ns: u64,
    /// Time of the flash array's own reads and programs.
    pub flash_ns: u64,
    /// All other time, such as that of commands.
    pub other_ns: u64,
}

impl From<&Answer> for flashraid_answer {
    #[inline]
    fn from(answer: &Answer) -> Self {
        let time = &answer.time_parts;
        Self {
            tag: answer.tag,
            arrival_ns: answer.arrival_ns,
            done_ns: answer.done_ns,
            kind: number_of(answer.kind),
            members_in_collection: answer.gc_members_met,
            pages_lost: answer.pages_lost,
            reserved: 0,
            queue_ns: time.queue_ns,
            collection_ns: time.collection_ns,
            parity_ns: time.parity_ns,
            cache_ns: time.cache_ns,
            transfer_ns: time.transfer_ns,
            flash_ns: time.flash_ns,
            other_ns: time.other_ns,
        }
    }
}

/// Opens a device: reads the text of a configuration in TOML, and warms the array up. Paths in it are relative to the working folder, and
/// its `[workload]` is not used. Returns 0 if that fails. flashraid_error and flashraid_message then tell why.
///
/// # Safety
/// `toml` is null or points to a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashraid_open(toml: *const c_char) -> flashraid_device {
    // SAFETY: the caller's promise is passed on.
    let opened = guarded(|| open(|| Ok(Simulation::from_toml(unsafe { text(toml, "toml") }?)?)));
    opened.unwrap_or(0)
}

/// The same of a configuration file; paths in it are relative to its folder.
///
/// # Safety
/// `path` is null or points to a text that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashraid_open_file(path: *const c_char) -> flashraid_device {
    // SAFETY: the caller's promise is passed on.
    let opened = guarded(|| open(|| Ok(Simulation::from_file(unsafe { text(path, "path") }?)?)));
    opened.unwrap_or(0)
}

/// Closes a device and frees what it holds. Returns 0 or an error.
#[unsafe(no_mangle)]
pub extern "C" fn flashraid_close(device: flashraid_device) -> i64 {
    code(guarded(|| devices::close(device).map(|()| FLASHRAID_OK)))
}

/// Writes the number of bytes that the array offers to `bytes`. Returns 0 or an error.
///
/// # Safety
/// `bytes` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashraid_capacity(device: flashraid_device, bytes: *mut u64) -> i64 {
    code(guarded(|| {
        let capacity = with_device(device, |device| Ok(device.capacity_bytes()))?;
        // SAFETY: the caller promises that it may be written, or is null.
        unsafe { put(bytes, "bytes", capacity) }
    }))
}

/// Submits a request at `now_ns`. `kind` may have flags, `offset` is its first byte, and `bytes` is its length. `stream`, from 0 to 255,
/// is what placement handles and streams of a configuration go by. `tag` comes back with the answer. Returns 0 or an error.
///
/// Time never goes back. At its moment a request comes before everything that has not been advanced over.
#[unsafe(no_mangle)]
pub extern "C" fn flashraid_submit(
    device: flashraid_device,
    now_ns: u64,
    kind: u32,
    offset: u64,
    bytes: u64,
    stream: u32,
    tag: u64,
) -> i64 {
    code(guarded(|| {
        let request = request(now_ns, kind, offset, bytes, stream)?;
        with_device(device, |device| Ok(device.submit(&request, tag)?))?;
        Ok(FLASHRAID_OK)
    }))
}

/// Writes the earliest moment at which something may happen to `next_ns`, FLASHRAID_NEVER if nothing is pending. Returns 0 or an error.
///
/// # Safety
/// `next_ns` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashraid_next_time(device: flashraid_device, next_ns: *mut u64) -> i64 {
    code(guarded(|| {
        let next = with_device(device, |device| Ok(device.next_time()))?;
        // SAFETY: the caller promises that it may be written, or is null.
        unsafe { put(next_ns, "next_ns", next.unwrap_or(FLASHRAID_NEVER)) }
    }))
}

/// Lets time pass up to and including `until_ns`, and writes at most `n` answers to `out`, in the order of their ends. Returns their
/// number, or an error, which is negative.
///
/// If it returns `n`, time stands still at the last of them, so that the caller can react to it. Another call then goes on.
/// FLASHRAID_NEVER as `until_ns` stands for "until every request is answered". If `n` is 0, answers wait for a later call.
///
/// # Safety
/// `out` is null or points to `n` answers that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashraid_advance(device: flashraid_device, until_ns: u64, out: *mut flashraid_answer, n: usize) -> i64 {
    code(guarded(|| {
        if out.is_null() && n > 0 {
            return Err(Failure::argument("out is null, but n is not 0"));
        }
        with_device(device, |device| {
            let mut next = out;
            let given = device.advance(until_ns, n, |answer| {
                // SAFETY: the device gives at most `n` answers, for which there is room behind `out`.
                unsafe {
                    next.write(answer.into());
                    next = next.add(1);
                }
            })?;
            Ok(given as i64)
        })
    }))
}

/// Writes a report of what has happened so far to `buffer`: the JSON document of `flashraid run --json`, ended by a zero byte. `length`,
/// which may be null, gets its length without that byte. A null buffer with a `room` of 0 asks for the length alone. Returns 0 or an
/// error, FLASHRAID_NO_ROOM if `room` bytes are too few. Requests without an answer are not counted. The device goes on as if nobody had
/// asked.
///
/// # Safety
/// `buffer` is null or points to `room` bytes that may be written; `length` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flashraid_report_json(device: flashraid_device, buffer: *mut c_char, room: usize, length: *mut usize) -> i64 {
    code(guarded(|| {
        if buffer.is_null() && room > 0 {
            return Err(Failure::argument("buffer is null, but room is not 0"));
        }
        devices::with_report(device, |report| {
            if !length.is_null() {
                // SAFETY: the caller promises that it may be written.
                unsafe { length.write(report.len()) };
            }
            if buffer.is_null() {
                return Ok(FLASHRAID_OK);
            }
            if report.len() >= room {
                let needed = report.len() + 1;
                return Err(Failure::new(FLASHRAID_NO_ROOM, format!("the report needs {needed} bytes, but there is room for {room}")));
            }
            // SAFETY: there is room for all of it and the zero byte.
            unsafe {
                ptr::copy_nonoverlapping(report.as_ptr().cast(), buffer, report.len());
                buffer.add(report.len()).write(0);
            }
            Ok(FLASHRAID_OK)
        })
    }))
}

/// Returns the error of this thread's latest call that failed, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn flashraid_error() -> i64 {
    failure::last_code()
}

/// Returns the message of this thread's latest call that failed, or an empty text. It stays valid until this thread's next call that fails.
#[unsafe(no_mangle)]
pub extern "C" fn flashraid_message() -> *const c_char {
    failure::last_message()
}

/// Returns the version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn flashraid_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero bytes"),
    };
    VERSION.as_ptr()
}

/// Opens what `read` reads.
fn open(read: impl FnOnce() -> Result<Simulation<'static>, Failure>) -> Result<flashraid_device, Failure> {
    devices::add(read()?.open()?)
}

#[inline]
fn request(now_ns: u64, kind: u32, offset: u64, bytes: u64, stream: u32) -> Result<Request, Failure> {
    let kind_of = match kind & 0xff {
        FLASHRAID_READ => OpKind::Read,
        FLASHRAID_WRITE => OpKind::Write,
        FLASHRAID_TRIM => OpKind::Trim,
        FLASHRAID_FLUSH => OpKind::Flush,
        _ => return Err(Failure::argument("kind is none of FLASHRAID_READ, _WRITE, _TRIM and _FLUSH")),
    };
    if kind & !(0xff | FLASHRAID_FUA | FLASHRAID_HIGH_PRIORITY) != 0 {
        return Err(Failure::argument("kind has flags other than FLASHRAID_FUA and FLASHRAID_HIGH_PRIORITY"));
    }
    let Ok(stream) = u8::try_from(stream) else { return Err(Failure::argument("stream is above 255")) };
    let (fua, high_priority) = (kind & FLASHRAID_FUA != 0, kind & FLASHRAID_HIGH_PRIORITY != 0);
    Ok(Request { stream, fua, high_priority, ..Request::new(kind_of, now_ns, offset, bytes) })
}

#[inline]
const fn number_of(kind: OpKind) -> u32 {
    match kind {
        OpKind::Read => FLASHRAID_READ,
        OpKind::Write => FLASHRAID_WRITE,
        OpKind::Trim => FLASHRAID_TRIM,
        OpKind::Flush => FLASHRAID_FLUSH,
    }
}

/// Reads a text of the caller's.
///
/// # Safety
/// `text` is null or points to a text that ends with a zero byte, and stays for `'a`.
unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::argument(&format!("{name} is null")));
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| Failure::argument(&format!("{name} is not UTF-8")))
}

/// Writes a value for the caller.
///
/// # Safety
/// `to` is null or may be written.
unsafe fn put(to: *mut u64, name: &str, value: u64) -> Result<i64, Failure> {
    if to.is_null() {
        return Err(Failure::argument(&format!("{name} is null")));
    }
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
    Ok(FLASHRAID_OK)
}

/// Does `work`, and keeps a panic from the caller. A failure is kept for flashraid_error and flashraid_message.
#[inline]
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, i64> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failure)) => Err(fail(failure)),
        Err(_) => Err(fail(Failure::new(FLASHRAID_BUG, "this is a bug of flashraid; the device is closed".to_owned()))),
    }
}

#[inline]
fn code(result: Result<i64, i64>) -> i64 {
    result.unwrap_or_else(|code| code)
}
