//! Changes to a stream of requests: a start and an end, another rate, other sizes, and addresses made to fit the array.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::space::SECTOR_BYTES;
use super::{ArrayProperties, BLOCK_REQUESTS, HostLoop, OpKind, Request, RequestSource, SourceError, SpecProblem, Stop, append_one_by_one};
use flashraid_model::events::TIME_MAX_NS;
use flashraid_model::rng::{self, RandomStream};

/// Settings that change a stream of requests. The default changes nothing, and refuses addresses beyond the array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestTransformSpec {
    /// Number of requests left out at the start.
    pub start_requests: u64,
    /// Time of the original stream before which requests are left out, in nanoseconds.
    pub start_ns: u64,
    /// Number of requests after which the stream ends; `None` for no limit.
    pub limit_requests: Option<u64>,
    /// Time at which the resulting stream ends, in nanoseconds; `None` for no limit. Requests that arrive at this time or later are
    /// left out.
    pub limit_ns: Option<u64>,
    /// Factor of the rate of requests, by which the gaps between them are divided: 2 gives twice as many requests per second (Fig. 10 of
    /// the paper PGC).
    pub rate_scale: f64,
    /// Factor by which the sizes of requests are multiplied. The results are rounded up to whole sectors of 512 bytes.
    pub size_scale: f64,
    /// Treatment of addresses beyond the array.
    pub address_fit: AddressFit,
    /// Share of the writes that get a high priority, as in the paper PGC on preemptive collection (section III.D). With 0, requests
    /// keep their priorities.
    pub high_priority_fraction: f64,
    /// Granularity, in bytes, in which the array deallocates a write of zeroes (rule 220). Whole units become trims, and the
    /// rest is written. `None` writes everything.
    #[serde(rename = "deallocate_bytes", skip_serializing_if = "Option::is_none")]
    pub zero_write_trim_granularity_bytes: Option<u64>,
}

/// Treatment of addresses beyond the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressFit {
    /// Stops the run with an error at a request that reaches beyond the end of the array.
    #[default]
    Error,
    /// Replaces each address by its remainder after division by the capacity of the array, so that addresses start again at 0 after the
    /// end. A request across the end of the array is moved so that it ends there.
    Wrap,
    /// Multiplies the page number of each address by the pages of the array, and divides it by the pages of the stream's address range.
    /// The result is rounded down to a whole page, and the place within the page stays. The address range of the stream then fills the
    /// array.
    Scale {
        /// Length of the address range of the original stream, in bytes: from 0 to the end of the farthest request. With `None`, the
        /// stream is read once in advance to find it.
        source_extent_bytes: Option<u64>,
    },
}

impl Default for RequestTransformSpec {
    fn default() -> Self {
        Self {
            start_requests: 0,
            start_ns: 0,
            limit_requests: None,
            limit_ns: None,
            rate_scale: 1.0,
            size_scale: 1.0,
            address_fit: AddressFit::Error,
            high_priority_fraction: 0.0,
            zero_write_trim_granularity_bytes: None,
        }
    }
}

impl RequestTransformSpec {
    /// Returns true if requests that fit into the array are not changed.
    pub fn changes_nothing(&self) -> bool {
        *self == Self { address_fit: self.address_fit, ..Self::default() } && !self.scales_addresses()
    }

    /// Returns true if addresses are multiplied, so that the stream fills the array.
    pub(crate) fn scales_addresses(&self) -> bool {
        matches!(self.address_fit, AddressFit::Scale { .. })
    }

    /// Returns the problems of the settings. `closed_loop` is true if the stream has no times.
    pub(super) fn problems(&self, closed_loop: bool) -> Vec<SpecProblem> {
        let mut problems = Vec::new();
        for (key, scale) in [("rate_scale", self.rate_scale), ("size_scale", self.size_scale)] {
            if !(scale > 0.0 && scale.is_finite()) {
                problems.push(SpecProblem::new(key, format!("is {scale}; a finite number above 0 is allowed")));
            }
        }
        if !(0.0..=1.0).contains(&self.high_priority_fraction) {
            let message = format!("is {}; 0 to 1 is allowed", self.high_priority_fraction);
            problems.push(SpecProblem::new("high_priority_fraction", message));
        }
        if matches!(self.address_fit, AddressFit::Scale { source_extent_bytes: Some(0) }) {
            problems.push(SpecProblem::new("address_fit.extent_bytes", "is 0; at least 1 is needed, or leave it out".into()));
        }
        if self.zero_write_trim_granularity_bytes == Some(0) {
            problems.push(SpecProblem::new("deallocate_bytes", "is 0; at least 1 is needed, or leave it out".into()));
        }
        let timed = [("start_ns", self.start_ns != 0), ("limit_ns", self.limit_ns.is_some()), ("rate_scale", self.rate_scale != 1.0)];
        for (key, _) in timed.into_iter().filter(|&(_, is_set)| is_set && closed_loop) {
            problems.push(SpecProblem::new(key, "is set, but the requests of a closed loop have no times; leave it out".into()));
        }
        problems
    }
}

/// Number of requests, skipped or read in advance, between two calls that ask whether to stop. They take about a millisecond.
const REQUESTS_PER_QUESTION: u64 = 1 << 14;

/// A stream of requests to which the changes of a [`RequestTransformSpec`] have been made. Requests before a start or beyond a limit (a
/// number of requests or a time) are left out. Rate, sizes and addresses may change.
pub struct TransformedSource<S = Box<dyn RequestSource>> {
    source: S,
    spec: RequestTransformSpec,
    /// True if the settings do not change requests that fit into the array.
    is_identity: bool,
    space: ArrayProperties,
    /// Number of pages that the original stream addresses, which `scale` needs.
    extent_pages: u64,
    /// Number of requests read from the source.
    read: u64,
    /// Number of requests that were returned.
    given: u64,
    /// Time in the original stream that becomes 0.
    zero_ns: Option<u64>,
    /// Random stream that chooses the high-priority writes.
    priorities: RandomStream,
    /// The remaining parts of a write of zeroes that was split into several requests. The next one is the last of the list.
    rest: Vec<Request>,
    /// Number of writes of zeroes of which a part was deallocated, and number of those of which a part was written.
    zeroes_deallocated: u64,
    zeroes_written: u64,
    /// Callback that is asked whether to stop while requests are skipped.
    stop: Stop,
}

impl<S: RequestSource> TransformedSource<S> {
    /// Applies `spec` to the source that `open` returns. Random numbers, which choose high-priority writes, are made from `seed`.
    ///
    /// [`AddressFit::Scale`] needs the extent of the source, which is the end of the request with the highest addresses, in bytes. If
    /// the setting does not give it, the source is opened and read once in advance to find it.
    ///
    /// # Errors
    /// Returns an error if the source cannot be opened, or if it cannot be read in advance to find its extent. Settings that contradict
    /// the source are errors, too.
    pub fn open(
        spec: &RequestTransformSpec,
        seed: u64,
        space: &ArrayProperties,
        stop: &Stop,
        open: impl Fn() -> Result<S, SourceError>,
    ) -> Result<Self, SourceError> {
        let extent_bytes = match spec.address_fit {
            AddressFit::Scale { source_extent_bytes: Some(bytes) } => bytes,
            AddressFit::Scale { source_extent_bytes: None } => extent_of(&mut open()?, spec, stop)?,
            AddressFit::Error | AddressFit::Wrap => space.capacity_bytes,
        };
        let extent_pages = extent_bytes.div_ceil(space.page_bytes).max(1);
        let source = open()?;
        // A trace without times is noticed only when it is read.
        if let Some(problem) = spec.problems(source.host_loop() != HostLoop::Open).first() {
            return Err(SourceError::InvalidInput(format!("workload: transform.{problem}")));
        }
        let priorities = rng::stream(seed, "workload.transform.priority", 0);
        Ok(Self {
            source,
            spec: spec.clone(),
            is_identity: spec.changes_nothing(),
            space: *space,
            extent_pages,
            read: 0,
            given: 0,
            zero_ns: None,
            priorities,
            rest: Vec::new(),
            zeroes_deallocated: 0,
            zeroes_written: 0,
            stop: stop.clone(),
        })
    }

    /// Changes a request that the source returned. `requests_after` is the number of requests that this call
    /// returned after it, which messages need.
    #[inline]
    fn change(&mut self, request: &mut Request, requests_after: usize) -> Result<Change, SourceError> {
        self.read += 1;
        if self.is_identity {
            self.fit(request).map_err(|fix| self.too_far(request, requests_after, fix))?;
            return Ok(Change::Kept);
        }
        self.change_by_spec(request, requests_after)
    }

    /// Changes a request by settings that change more than its address.
    fn change_by_spec(&mut self, request: &mut Request, requests_after: usize) -> Result<Change, SourceError> {
        if self.read <= self.spec.start_requests || request.arrival_ns < self.spec.start_ns {
            if self.read.is_multiple_of(REQUESTS_PER_QUESTION) {
                self.stop.error_if_stopped()?;
            }
            return Ok(Change::LeftOut);
        }
        // A window by time starts at its time, and a window by number at its first request. Times count from the start of the window.
        let by_number = if self.spec.start_requests > 0 { request.arrival_ns } else { 0 };
        request.arrival_ns -= *self.zero_ns.get_or_insert(self.spec.start_ns.max(by_number));
        if self.spec.rate_scale != 1.0 {
            let arrival_ns = request.arrival_ns as f64 / self.spec.rate_scale;
            if arrival_ns > TIME_MAX_NS as f64 && self.spec.limit_ns.is_none() {
                return Err(self.too_late(requests_after));
            }
            // A time beyond the limit may be too large for an integer, and becomes the greatest one.
            request.arrival_ns = arrival_ns as u64;
        }
        if self.spec.limit_ns.is_some_and(|limit| request.arrival_ns >= limit) {
            return Ok(Change::BeyondLimit);
        }
        if self.spec.size_scale != 1.0 && request.kind != OpKind::Flush {
            request.length_bytes = scaled_length(request.length_bytes, self.spec.size_scale);
        }
        self.fit(request).map_err(|fix| self.too_far(request, requests_after, fix))?;
        let share = self.spec.high_priority_fraction;
        if share > 0.0 && request.kind == OpKind::Write {
            request.high_priority |= rng::chance(&mut self.priorities, share);
        }
        self.given += 1;
        Ok(Change::Kept)
    }

    /// Makes the addresses of a request fit the array. For a request that cannot fit, returns advice for the user.
    #[inline]
    fn fit(&self, request: &mut Request) -> Result<(), &'static str> {
        let capacity = self.space.capacity_bytes;
        if (request.kind == OpKind::Trim || request.zeroes) && self.spec.address_fit != AddressFit::Error {
            // A discard or write of zeroes may be as long as the device.
            request.length_bytes = request.length_bytes.min(capacity);
        }
        if request.length_bytes > capacity {
            return Err("make the array larger or scale sizes down with `size_scale`");
        }
        match self.spec.address_fit {
            AddressFit::Error => {
                if request.offset_bytes > capacity - request.length_bytes {
                    return Err("make the array larger, or set `address_fit` to \"wrap\" or \"scale\"");
                }
                return Ok(());
            }
            AddressFit::Wrap => request.offset_bytes %= capacity,
            AddressFit::Scale { .. } => {
                let page_bytes = self.space.page_bytes;
                let (page, within) = (request.offset_bytes / page_bytes, request.offset_bytes % page_bytes);
                if page >= self.extent_pages {
                    return Err("`address_extent` is smaller than the range of addresses in the stream");
                }
                let scaled = u128::from(page) * u128::from(capacity / page_bytes) / u128::from(self.extent_pages);
                request.offset_bytes = scaled as u64 * page_bytes + within;
            }
        }
        request.offset_bytes = request.offset_bytes.min(capacity - request.length_bytes);
        Ok(())
    }

    /// Splits a write of zeroes. Whole pieces are trimmed, and the parts before and after them are written.
    fn deallocate(&mut self, request: Request, piece_bytes: u64) -> Request {
        let Request { offset_bytes: begin, length_bytes, .. } = request;
        let end = begin + length_bytes;
        let (first, last) = (begin.next_multiple_of(piece_bytes), end / piece_bytes * piece_bytes);
        if first >= last {
            self.zeroes_written += 1;
            return request;
        }
        self.zeroes_deallocated += 1;
        self.zeroes_written += u64::from(begin < first || last < end);
        let part = |kind: OpKind, from: u64, to: u64| Request {
            offset_bytes: from,
            length_bytes: to - from,
            kind,
            fua: request.fua && kind == OpKind::Write,
            high_priority: request.high_priority && kind == OpKind::Write,
            ..request
        };
        let parts = [(OpKind::Write, last, end), (OpKind::Trim, first, last), (OpKind::Write, begin, first)];
        self.rest.extend(parts.into_iter().filter(|(_, from, to)| from < to).map(|(kind, from, to)| part(kind, from, to)));
        self.rest.pop().unwrap_or(request)
    }

    #[cold]
    fn place(&self, requests_after: usize) -> String {
        self.source.position_in_input(requests_after).unwrap_or_else(|| format!("request {}", self.read))
    }

    #[cold]
    fn too_far(&self, request: &Request, requests_after: usize, fix: &str) -> SourceError {
        let place = self.place(requests_after);
        let Request { offset_bytes: offset, length_bytes: length, .. } = request;
        let capacity = self.space.capacity_bytes;
        SourceError::InvalidInput(format!("{place}: {length} bytes at byte {offset} reach beyond the {capacity} bytes of the array; {fix}"))
    }

    #[cold]
    fn too_late(&self, requests_after: usize) -> SourceError {
        SourceError::InvalidInput(format!(
            "{}: with workload.rate_scale = {} this request arrives after the end of simulated time (2^62 ns, 146 years); use a greater \
             rate_scale, or set a limit",
            self.place(requests_after),
            self.spec.rate_scale
        ))
    }

    /// Changes the requests from position `from` on, which the last call to the source appended, and removes those that are left out. It
    /// stops at the limit of time or at an error, and removes that request and those after it. The result is true at the limit.
    fn change_from(&mut self, requests: &mut Vec<Request>, from: usize) -> Result<bool, SourceError> {
        let mut kept = from;
        for position in from..requests.len() {
            let requests_after = requests.len() - 1 - position;
            match self.change(&mut requests[position], requests_after) {
                Ok(Change::Kept) => {
                    if kept != position {
                        requests[kept] = requests[position];
                    }
                    kept += 1;
                }
                Ok(Change::LeftOut) => {}
                Ok(Change::BeyondLimit) => {
                    requests.truncate(kept);
                    return Ok(true);
                }
                Err(error) => {
                    requests.truncate(kept);
                    return Err(error);
                }
            }
        }
        requests.truncate(kept);
        Ok(false)
    }

    /// Returns the number of requests that may still follow before the limit.
    fn until_limit(&self) -> usize {
        self.spec.limit_requests.map_or(usize::MAX, |limit| usize::try_from(limit - self.given).unwrap_or(usize::MAX))
    }
}

/// Effect of the settings on one request of the source.
enum Change {
    /// The request, perhaps changed, belongs to the stream.
    Kept,
    /// The request comes before the start, so the stream goes without it.
    LeftOut,
    /// The request arrives at the limit of time or later, so the stream ends before it.
    BeyondLimit,
}

impl<S: RequestSource> RequestSource for TransformedSource<S> {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        if let Some(request) = self.rest.pop() {
            return Ok(Some(request));
        }
        while self.until_limit() > 0
            && let Some(mut request) = self.source.next_request()?
        {
            match self.change(&mut request, 0)? {
                Change::Kept => {
                    return Ok(Some(match self.spec.zero_write_trim_granularity_bytes {
                        Some(piece_bytes) if request.zeroes => self.deallocate(request, piece_bytes),
                        _ => request,
                    }));
                }
                Change::LeftOut => {}
                Change::BeyondLimit => break,
            }
        }
        Ok(None)
    }

    /// Appends requests of the source to `out`, and changes them there. It asks the source for no more requests than are missing. With a
    /// limit of time, it may read up to a block behind the limit.
    fn next_requests(&mut self, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
        if self.spec.zero_write_trim_granularity_bytes.is_some() {
            // One write of zeroes may become several requests.
            return append_one_by_one(self, out, n);
        }
        let begin = out.len();
        loop {
            let from = out.len();
            let missing = (n - (from - begin)).min(self.until_limit()).min(BLOCK_REQUESTS);
            if missing == 0 {
                return Ok(from - begin);
            }
            let read = self.source.next_requests(out, missing);
            if self.change_from(out, from)? || read? < missing {
                return Ok(out.len() - begin);
            }
        }
    }

    fn host_loop(&self) -> HostLoop {
        self.source.host_loop()
    }

    fn writes_per_flush(&self, stream: u8) -> Option<NonZeroU64> {
        self.source.writes_per_flush(stream)
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.source.notes();
        if self.zeroes_deallocated + self.zeroes_written > 0 {
            let Self { zeroes_deallocated, zeroes_written, .. } = self;
            notes.push(format!(
                "write zeroes: {zeroes_deallocated} deallocated the units that they cover wholly, {zeroes_written} wrote all or the rest"
            ));
        }
        notes
    }
}

fn scaled_length(length_bytes: u64, scale: f64) -> u64 {
    let sectors = (length_bytes as f64 * scale / SECTOR_BYTES as f64).ceil().max(1.0);
    // A number too large for an integer becomes the greatest one. The request is then refused as larger than the array.
    (sectors as u64).saturating_mul(SECTOR_BYTES)
}

/// Returns an address space that every request of a trace fits into.
pub(crate) fn unlimited(space: &ArrayProperties) -> ArrayProperties {
    ArrayProperties { capacity_bytes: u64::MAX / 2, ..*space }
}

/// Returns the end of the request of `source` with the highest addresses, in bytes, within the limit of requests.
pub(crate) fn extent_of(source: &mut dyn RequestSource, spec: &RequestTransformSpec, stop: &Stop) -> Result<u64, SourceError> {
    let last = spec.limit_requests.map_or(u64::MAX, |limit| limit.saturating_add(spec.start_requests));
    let mut extent = 0;
    // A window that starts at a time may end later than this number, so such a trace is read to its end.
    let last = if spec.start_ns > 0 { u64::MAX } else { last };
    let (mut requests, mut read) = (Vec::new(), 0);
    while read < last {
        stop.error_if_stopped()?;
        requests.clear();
        let asked = (last - read).min(REQUESTS_PER_QUESTION);
        let got = source.next_requests(&mut requests, asked as usize)? as u64;
        extent = requests.iter().map(|request| request.offset_bytes.saturating_add(request.length_bytes)).fold(extent, u64::max);
        if got < asked {
            break;
        }
        read += got;
    }
    Ok(extent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashraid_model::placement::StripeShape;

    const SPACE: ArrayProperties = ArrayProperties {
        capacity_bytes: 1 << 20,
        page_bytes: 4096,
        stripe_unit_bytes: 4096,
        stripe_shape: StripeShape::without_parity(1),
    };

    /// Ten requests of 4 KiB, one every 100 ns from 50 ns on, 1 MiB / 4 apart.
    struct Ten(u64);

    impl RequestSource for Ten {
        fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
            if self.0 == 10 {
                return Ok(None);
            }
            self.0 += 1;
            Ok(Some(Request {
                arrival_ns: self.0 * 100 - 50,
                offset_bytes: (self.0 - 1) * (1 << 18) + 512,
                length_bytes: 4096,
                kind: OpKind::Write,
                fua: false,
                zeroes: false,
                high_priority: false,
                stream: 0,
                contiguous_on_one_member: false,
            }))
        }
    }

    fn all(spec: RequestTransformSpec) -> Result<Vec<Request>, SourceError> {
        let mut transform = TransformedSource::open(&spec, 1, &SPACE, &Stop::default(), || Ok(Box::new(Ten(0))))?;
        let mut out = Vec::new();
        transform.next_requests(&mut out, 100)?;
        Ok(out)
    }

    fn wrapped() -> RequestTransformSpec {
        RequestTransformSpec { address_fit: AddressFit::Wrap, ..RequestTransformSpec::default() }
    }

    /// The message names the line of the request, although later lines have been read with it.
    #[test]
    fn error_names_the_line_of_a_trace() {
        use crate::trace::{DevicePlacement, TraceSpec, open_trace_bytes};
        let text: &[u8] = b"0.5 0 0 8 0\n# far\n1.5 0 8000 8 0\n2.5 0 0 8 0\n3.5 0 0 8 x\n";
        let spec = TraceSpec { devices: DevicePlacement::Fold, ..TraceSpec::new("t") };
        let open = || open_trace_bytes(text, &spec);
        let mut transform = TransformedSource::open(&RequestTransformSpec::default(), 1, &SPACE, &Stop::default(), open).unwrap();
        let mut out = Vec::new();
        let message = transform.next_requests(&mut out, 100).unwrap_err().to_string();
        assert!(message.starts_with("t: line 3: 4096 bytes at byte 4096000 reach beyond"), "{message}");
        assert_eq!(out.len(), 1);
        let too_late: &[u8] = b"0.5 0 0 8 0\n1.5 0 8000 8 0\n5000000000000 0 0 8 0\n";
        let open = || open_trace_bytes(too_late, &spec);
        let mut transform = TransformedSource::open(&RequestTransformSpec::default(), 1, &SPACE, &Stop::default(), open).unwrap();
        let message = transform.next_requests(&mut Vec::new(), 100).unwrap_err().to_string();
        assert!(message.starts_with("t: line 2: 4096 bytes"), "{message}");
    }

    /// A limit of time ends a stream, however many requests of an endless source are asked for.
    #[test]
    fn a_limit_of_time_needs_no_end_of_the_source() {
        struct Endless(u64);
        impl RequestSource for Endless {
            fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
                self.0 += 1;
                Ok(Some(Request::new(OpKind::Write, self.0, 0, 4096)))
            }
        }
        let spec = RequestTransformSpec { limit_ns: Some(10), ..RequestTransformSpec::default() };
        let mut transform = TransformedSource::open(&spec, 1, &SPACE, &Stop::default(), || Ok(Endless(0))).unwrap();
        assert_eq!(transform.next_requests(&mut Vec::new(), usize::MAX).unwrap(), 9);
    }

    #[test]
    fn error_names_request_place_and_capacity() {
        let message = all(RequestTransformSpec::default()).unwrap_err().to_string();
        assert!(message.starts_with("request 5: 4096 bytes at byte 1049088 reach beyond the 1048576 bytes"), "{message}");
    }

    /// A source with one write of zeroes at each of these places.
    struct OfZeroes(Vec<(u64, u64)>);

    impl RequestSource for OfZeroes {
        fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
            let next = if self.0.is_empty() { None } else { Some(self.0.remove(0)) };
            Ok(next.map(|(offset, length)| Request { zeroes: true, fua: true, ..Request::new(OpKind::Write, 7, offset, length) }))
        }
    }

    #[test]
    fn zeroes_are_deallocated_piece_by_piece_and_the_rest_is_written() {
        let places = vec![(0, 8192), (4096, 4096), (512, 20_000), (4096, 8704), (8191, 4097), (512, 4096), (0, 1 << 20)];
        let of = |deallocate_bytes: Option<u64>| {
            let spec = RequestTransformSpec { zero_write_trim_granularity_bytes: deallocate_bytes, ..wrapped() };
            let mut transform =
                TransformedSource::open(&spec, 1, &SPACE, &Stop::default(), || Ok(Box::new(OfZeroes(places.clone())))).unwrap();
            let mut out = Vec::new();
            transform.next_requests(&mut out, 100).unwrap();
            assert!(out.iter().all(|r| r.arrival_ns == 7 && r.fua == (r.kind == OpKind::Write)));
            (out.iter().map(|r| (r.kind, r.offset_bytes, r.length_bytes)).collect::<Vec<_>>(), transform.notes())
        };
        let (writes, notes) = of(None);
        assert_eq!(writes, places.iter().map(|&(offset, length)| (OpKind::Write, offset, length)).collect::<Vec<_>>());
        assert!(notes.is_empty());
        let (parts, notes) = of(Some(4096));
        let expected = [
            (OpKind::Trim, 0, 8192),
            (OpKind::Trim, 4096, 4096),
            (OpKind::Write, 512, 3584),
            (OpKind::Trim, 4096, 16_384),
            (OpKind::Write, 20_480, 32),
            (OpKind::Trim, 4096, 8192),
            (OpKind::Write, 12_288, 512),
            (OpKind::Write, 8191, 1),
            (OpKind::Trim, 8192, 4096),
            (OpKind::Write, 512, 4096),
            (OpKind::Trim, 0, 1 << 20),
        ];
        assert_eq!(parts, expected);
        assert_eq!(notes, ["write zeroes: 6 deallocated the units that they cover wholly, 4 wrote all or the rest"]);
        let problems = RequestTransformSpec { zero_write_trim_granularity_bytes: Some(0), ..wrapped() }.problems(false);
        assert_eq!(problems[0].key, "deallocate_bytes");
    }

    #[test]
    fn wrap_takes_the_remainder() {
        let offsets: Vec<u64> = all(wrapped()).unwrap().iter().map(|r| r.offset_bytes).collect();
        assert_eq!(offsets[..6], [512, 262_656, 524_800, 786_944, 512, 262_656]);
    }

    #[test]
    fn scale_maps_the_extent_onto_the_array_and_keeps_the_place_in_the_page() {
        let requests =
            all(RequestTransformSpec { address_fit: AddressFit::Scale { source_extent_bytes: None }, ..RequestTransformSpec::default() })
                .unwrap();
        // The extent is 9 × 64 + 2 pages, and the array has 256. The last request would end 512 bytes behind it.
        let mut expected: Vec<u64> = (0..10).map(|i| (i * 64 * 256 / 578) * 4096 + 512).collect();
        expected[9] -= 512;
        assert_eq!(requests.iter().map(|r| r.offset_bytes).collect::<Vec<_>>(), expected);
        let given = AddressFit::Scale { source_extent_bytes: Some(1 << 20) };
        let message = all(RequestTransformSpec { address_fit: given, ..RequestTransformSpec::default() }).unwrap_err().to_string();
        assert!(message.contains("request 5") && message.contains("address_extent"), "{message}");
    }

    #[test]
    fn windows_by_number_and_time() {
        let arrivals = |spec| all(spec).unwrap().iter().map(|r| r.arrival_ns).collect::<Vec<_>>();
        assert_eq!(arrivals(RequestTransformSpec { start_requests: 7, ..wrapped() }), [0, 100, 200]);
        assert_eq!(arrivals(RequestTransformSpec { start_ns: 800, ..wrapped() }), [50, 150]);
        assert_eq!(arrivals(RequestTransformSpec { limit_requests: Some(2), ..wrapped() }), [50, 150]);
        assert_eq!(arrivals(RequestTransformSpec { limit_ns: Some(250), ..wrapped() }), [50, 150]);
        assert_eq!(arrivals(RequestTransformSpec { rate_scale: 2.0, limit_ns: Some(125), ..wrapped() }), [25, 75]);
    }

    #[test]
    fn sizes_scale_to_whole_sectors() {
        let length = |scale| all(RequestTransformSpec { size_scale: scale, ..wrapped() }).unwrap()[0].length_bytes;
        assert_eq!([length(0.01), length(0.5), length(1.01), length(2.0)], [512, 2048, 4608, 8192]);
        let message = all(RequestTransformSpec { size_scale: 1e30, ..wrapped() }).unwrap_err().to_string();
        assert!(message.contains("size_scale"), "{message}");
    }

    /// A share of the writes gets high priority, the same ones for the same seed. Nothing else changes.
    #[test]
    fn some_writes_become_high_priority() {
        let chosen = |share: f64| all(RequestTransformSpec { high_priority_fraction: share, ..wrapped() }).unwrap();
        let count = |share| chosen(share).iter().filter(|r| r.high_priority).count();
        assert_eq!((count(0.0), count(1.0)), (0, 10));
        assert!((1..10).contains(&count(0.5)), "{}", count(0.5));
        assert_eq!(chosen(0.5), chosen(0.5));
        let plain = |mut requests: Vec<Request>| {
            requests.iter_mut().for_each(|r| r.high_priority = false);
            requests
        };
        assert_eq!(plain(chosen(0.5)), chosen(0.0));
        let wrong = RequestTransformSpec { high_priority_fraction: f64::NAN, ..wrapped() };
        assert_eq!(wrong.problems(true)[0].key, "high_priority_fraction");
    }

    #[test]
    fn a_closed_loop_refuses_times() {
        let spec = RequestTransformSpec { rate_scale: 2.0, limit_ns: Some(1), ..RequestTransformSpec::default() };
        assert!(spec.problems(false).is_empty());
        assert_eq!(spec.problems(true).len(), 2);
        assert_eq!(RequestTransformSpec { rate_scale: 0.0, size_scale: f64::NAN, ..spec }.problems(false).len(), 2);
    }
}
