//! Requests that are read ahead of their time.

use flashraid_model::TimeNs;
use flashraid_model::array::{Array, RequestInPages, page_request_of};
use flashraid_model::events::TIME_MAX_NS;
use flashraid_model::ssd::SimulatorPrefetchTarget;
use flashraid_workload::{BLOCK_REQUESTS, Request, RequestSource, SourceError};

/// Distance at which each kind of hint is given: at least this number of pages, and of requests, ahead.
const HINTS: Hints = [(SimulatorPrefetchTarget::MappingTableEntry, 96, 2), (SimulatorPrefetchTarget::BlockRecord, 48, 1)];
/// Distances for an array with a write cache, where each page takes more computing time.
const CACHED_HINTS: Hints = [(SimulatorPrefetchTarget::MappingTableEntry, 8, 2), (SimulatorPrefetchTarget::BlockRecord, 4, 1)];
type Hints = [(SimulatorPrefetchTarget, u64, usize); 2];

/// Requests read ahead of their time, so that the memory they need can be prefetched.
pub(crate) struct Upcoming<S> {
    pub(crate) source: S,
    /// Requests of the source, and before them `taken` ones that have left the queue. They stay in place, because copies cost time.
    requests: Vec<Request>,
    /// The pages of each of the `requests`.
    pages: Vec<RequestInPages>,
    taken: usize,
    /// Number of requests in the queue for which each kind of hint was given, and the number of their pages.
    hinted: [(usize, u64); HINTS.len()],
    hints: &'static [(SimulatorPrefetchTarget, u64, usize)],
    page_bytes: u64,
    exported_pages: u64,
    ended: bool,
    /// Error with which the requests end, unless they end with the workload.
    error: Option<SourceError>,
    /// Number of requests taken since the caller last reset it to 0.
    pub(crate) requests_since_tick: u64,
    /// Number of pages in the requests taken since then.
    pub(crate) pages_since_tick: u64,
}

impl<S: RequestSource> Upcoming<S> {
    /// Returns a queue that reads from `source`. It gives hints to `array`, unless the array `serves_ahead_of_time` requests itself.
    pub(crate) fn new(source: S, array: &Array, serves_ahead_of_time: bool) -> Self {
        let shape = array.shape();
        let hints: &[_] = match shape.cache_capacity_pages {
            _ if serves_ahead_of_time => &[],
            Some(_) => &CACHED_HINTS,
            None => &HINTS,
        };
        Self {
            source,
            requests: Vec::with_capacity(2 * BLOCK_REQUESTS),
            pages: Vec::with_capacity(2 * BLOCK_REQUESTS),
            taken: 0,
            hinted: [(0, 0); HINTS.len()],
            hints,
            page_bytes: u64::from(shape.page_bytes),
            exported_pages: shape.layout.exported_pages(),
            ended: false,
            error: None,
            requests_since_tick: 0,
            pages_since_tick: 0,
        }
    }

    /// Returns the arrival time of the next request. An error of the source is returned only after all requests before it have been taken.
    #[inline]
    pub(crate) fn next_arrival(&mut self) -> Result<Option<TimeNs>, SourceError> {
        if self.requests.len() - self.taken < BLOCK_REQUESTS / 2 && !self.ended {
            self.refill();
        }
        match self.requests.get(self.taken) {
            Some(request) => Ok(Some(request.arrival_ns)),
            None => self.error.take().map_or(Ok(None), Err),
        }
    }

    /// Returns the request that [`Upcoming::next_arrival`] announced.
    #[inline]
    pub(crate) fn first(&self) -> (&Request, RequestInPages) {
        (&self.requests[self.taken], self.pages[self.taken])
    }

    /// Removes the request that [`Upcoming::next_arrival`] announced, and gives hints for the requests that follow.
    #[inline]
    pub(crate) fn remove_first(&mut self, array: &Array) {
        let pages = self.pages[self.taken];
        self.taken += 1;
        for (count, hinted_pages) in &mut self.hinted {
            if *count > 0 {
                *count -= 1;
                *hinted_pages -= u64::from(pages.pages);
            }
        }
        self.requests_since_tick += 1;
        self.pages_since_tick += u64::from(pages.pages);
        self.hint(array);
    }

    /// Gives hints for requests until enough pages are being fetched. It leaves out the first request, for which a hint comes too late.
    ///
    /// A block is hinted at only if its map entry was hinted at in an earlier call. The entry has had time to arrive by then.
    #[inline]
    fn hint(&mut self, array: &Array) {
        let mapped_before = self.hinted[0].0;
        for (&(hint, pages_ahead, requests_ahead), (count, pages)) in self.hints.iter().zip(&mut self.hinted) {
            if *count == 0 {
                (*count, *pages) = (1, self.pages.get(self.taken).map_or(0, |request| u64::from(request.pages)));
            }
            while (*pages < pages_ahead || *count <= requests_ahead)
                && (hint == SimulatorPrefetchTarget::MappingTableEntry || *count < mapped_before)
                && let Some(request) = self.pages.get(self.taken + *count)
            {
                array.prefetch_into_cpu_cache(hint, request);
                *count += 1;
                *pages += u64::from(request.pages);
            }
        }
    }

    fn refill(&mut self) {
        self.requests.drain(..self.taken);
        self.pages.drain(..self.taken);
        self.taken = 0;
        match self.source.next_requests(&mut self.requests, BLOCK_REQUESTS) {
            Ok(filled) => self.ended = filled < BLOCK_REQUESTS,
            Err(error) => (self.ended, self.error) = (true, Some(error)),
        }
        for request in &self.requests[self.pages.len()..] {
            match self.pages_of(request) {
                Ok(pages) => self.pages.push(pages),
                Err(error) => {
                    (self.ended, self.error) = (true, Some(error));
                    break;
                }
            }
        }
        self.requests.truncate(self.pages.len());
    }

    /// Returns the pages of a request. The sources of this program refuse a request that has none themselves, with the key or line.
    #[inline]
    pub(crate) fn pages_of(&self, request: &Request) -> Result<RequestInPages, SourceError> {
        if request.arrival_ns > TIME_MAX_NS {
            let text = format!("a request arrives at {} ns, but simulated time ends at {TIME_MAX_NS} ns (146 years)", request.arrival_ns);
            return Err(SourceError::InvalidInput(text));
        }
        page_request_of(request, self.page_bytes, self.exported_pages).ok_or_else(|| {
            SourceError::InvalidInput(format!(
                "a request of {} bytes at byte {} does not fit the {} bytes of the array",
                request.length_bytes,
                request.offset_bytes,
                self.exported_pages * self.page_bytes
            ))
        })
    }
}
