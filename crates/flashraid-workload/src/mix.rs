//! Several streams merged into one, in order of arrival.

use std::num::NonZeroU64;

use super::{HostLoop, Request, RequestSource, SourceError};

/// Several streams merged into one. If requests have the same time, the stream with the lower number comes first.
pub struct MixedSource {
    streams: Vec<Stream>,
}

struct Stream {
    source: Box<dyn RequestSource>,
    next: Option<Request>,
}

impl MixedSource {
    /// Maximum number of streams, because requests hold the stream number in a byte.
    pub const STREAMS_MAX: usize = 1 << u8::BITS;

    /// Merges `sources`, of which there are at most [`MixedSource::STREAMS_MAX`].
    ///
    /// # Errors
    /// Returns an error if one of them is a closed loop, or if its first request cannot be read.
    pub fn new(sources: Vec<Box<dyn RequestSource>>) -> Result<Self, SourceError> {
        debug_assert!(sources.len() <= Self::STREAMS_MAX);
        // A trace without times is noticed only when it is read.
        if let Some(index) = sources.iter().position(|source| source.host_loop() != HostLoop::Open) {
            return Err(SourceError::InvalidInput(format!("workload: mix[{index}] has no times of arrival, by which streams are merged")));
        }
        let open = |mut source: Box<dyn RequestSource>| Ok(Stream { next: source.next_request()?, source });
        Ok(Self { streams: sources.into_iter().map(open).collect::<Result<_, SourceError>>()? })
    }
}

impl RequestSource for MixedSource {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        // There are few streams, so that a scan is as fast as a heap. `min_by_key` returns the first among equals.
        let waiting = self.streams.iter().enumerate().filter_map(|(index, s)| s.next.map(|request| (index, request)));
        let Some((index, request)) = waiting.min_by_key(|(_, request)| request.arrival_ns) else { return Ok(None) };
        let stream = &mut self.streams[index];
        stream.next = stream.source.next_request()?;
        Ok(Some(Request { stream: index as u8, ..request }))
    }

    fn writes_per_flush(&self, stream: u8) -> Option<NonZeroU64> {
        self.streams.get(usize::from(stream))?.source.writes_per_flush(0)
    }

    /// Returns the progress of the stream that is furthest behind, because the mix ends with it.
    fn progress(&self) -> Option<f64> {
        self.streams.iter().filter_map(|s| s.source.progress()).min_by(f64::total_cmp)
    }

    fn notes(&self) -> Vec<String> {
        self.streams.iter().flat_map(|s| s.source.notes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpKind;

    /// A source with given arrivals, where the offset is the number of the request.
    struct Given(&'static [u64], u64);

    impl RequestSource for Given {
        fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
            let Some((&arrival_ns, rest)) = self.0.split_first() else { return Ok(None) };
            (self.0, self.1) = (rest, self.1 + 1);
            Ok(Some(Request {
                arrival_ns,
                offset_bytes: self.1,
                length_bytes: 1,
                kind: OpKind::Read,
                fua: false,
                zeroes: false,
                high_priority: false,
                stream: 0,
                contiguous_on_one_member: false,
            }))
        }
    }

    #[test]
    fn refuses_a_closed_loop() {
        struct Closed;
        impl RequestSource for Closed {
            fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
                Ok(None)
            }
            fn host_loop(&self) -> HostLoop {
                HostLoop::Closed { depth: 1, think_ns: 0 }
            }
        }
        let message = MixedSource::new(vec![Box::new(Closed)]).err().unwrap().to_string();
        assert!(message.contains("mix[0]"), "{message}");
    }

    #[test]
    fn merges_in_time_order_and_lower_streams_go_first() {
        let given = |arrivals| -> Box<dyn RequestSource> { Box::new(Given(arrivals, 0)) };
        let mut mix = MixedSource::new(vec![given(&[5, 7, 7, 9]), given(&[]), given(&[1, 5, 7])]).unwrap();
        let mut merged = Vec::new();
        while let Some(r) = mix.next_request().unwrap() {
            merged.push((r.arrival_ns, r.stream, r.offset_bytes));
        }
        assert_eq!(merged, [(1, 2, 1), (5, 0, 1), (5, 2, 2), (7, 0, 2), (7, 0, 3), (7, 2, 3), (9, 0, 4)]);
    }
}
