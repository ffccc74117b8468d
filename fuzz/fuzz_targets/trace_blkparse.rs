#![no_main]
//! The parser of `blkparse`.

use flashraid::workload::trace::Format;
use flashraid_fuzz::read_trace;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| read_trace(Some(Format::Blkparse), bytes));
