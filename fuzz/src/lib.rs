//! What the fuzz targets share: read whatever the bytes are to the end, and hold what comes out to its promises.

use flashraid::workload::trace::{DevicePlacement, Format, TraceSortMethod, TraceSpec, info::trace_info_of_bytes, open_trace_bytes};
use flashraid::workload::{RequestSource, SourceError};

/// Reads `bytes` as a trace, of `format` if given, in several ways. Panics when a promise is broken.
pub fn read_trace(format: Option<Format>, bytes: &[u8]) {
    let strict = TraceSpec { format, ..TraceSpec::new("fuzz") };
    let lenient = TraceSpec {
        devices: DevicePlacement::Fold,
        reorder: TraceSortMethod::Window(8),
        skip_bad_lines: true,
        drop_repeats_within_ns: Some(1_000_000),
        ..strict.clone()
    };
    for spec in [&strict, &lenient] {
        if let Ok(mut reader) = open_trace_bytes(bytes, spec) {
            let mut last_ns = 0;
            loop {
                match reader.next_request() {
                    Ok(Some(request)) => {
                        assert!(request.length_bytes > 0, "a request of length 0");
                        assert!(request.arrival_ns >= last_ns, "a time that goes backwards");
                        last_ns = request.arrival_ns;
                    }
                    Ok(None) => break,
                    Err(SourceError::InvalidInput(_)) => break,
                    Err(error) => panic!("bytes in memory can't fail to be read: {error}"),
                }
            }
        }
        if let Err(error) = trace_info_of_bytes(bytes, spec) {
            assert!(matches!(error, SourceError::InvalidInput(_)), "bytes in memory can't fail to be read: {error}");
        }
    }
}
