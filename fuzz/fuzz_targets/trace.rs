#![no_main]
//! The readers of traces: the first byte chooses the format, or leaves it to detection.

use flashraid::workload::trace::Format;
use flashraid_fuzz::read_trace;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((&choice, trace)) = bytes.split_first() {
        read_trace(Format::ALL.get(usize::from(choice) % (Format::ALL.len() + 1)).copied(), trace);
    }
});
