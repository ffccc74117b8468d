#![no_main]
//! Compression and format found out from the content.

use flashraid_fuzz::read_trace;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| read_trace(None, bytes));
