//! Requests read ahead of their turn.

use flashraid_model::TimeNs;
use flashraid_model::array::{Array, PageRequest, pages_of};
use flashraid_model::events::TIME_MAX_NS;
use flashraid_model::ssd::Hint;
use flashraid_workload::{Request, Source, SourceError};
use std::collections::VecDeque;

/// How far ahead each hint is given: pages and requests, at least.
const HINTS: Hints = [(Hint::Map, 96, 2), (Hint::Block, 48, 1)];
/// The same before a write cache, behind which a page costs more time.
const CACHED_HINTS: Hints = [(Hint::Map, 8, 2), (Hint::Block, 4, 1)];
type Hints = [(Hint, u64, usize); 2];
/// Requests taken from the source at a time.
const BATCH: usize = 256;

/// Requests read ahead of their turn, so that what they will touch can be fetched into the cache.
pub struct Upcoming {
    pub source: Box<dyn Source>,
    batch: Vec<Request>,
    queue: VecDeque<(Request, PageRequest)>,
    /// How many of the queue have been hinted at, by kind of hint, and their pages.
    hinted: [(usize, u64); HINTS.len()],
    hints: &'static [(Hint, u64, usize)],
    page_bytes: u64,
    exported_pages: u64,
    ended: bool,
    /// What ends the queue, if not the end of the workload.
    error: Option<SourceError>,
    /// Requests taken since the caller set this to 0.
    pub requests_since_tick: u64,
    /// Their pages.
    pub pages_since_tick: u64,
}

impl Upcoming {
    /// Reads `source`; without `takes_ahead`, the array, which takes no requests ahead of their turn itself, is given hints.
    pub fn new(source: Box<dyn Source>, array: &Array, takes_ahead: bool) -> Self {
        let shape = array.shape();
        let hints: &[_] = match shape.cache_pages {
            _ if takes_ahead || !shape.takes_hints => &[],
            Some(_) => &CACHED_HINTS,
            None => &HINTS,
        };
        Self {
            source,
            batch: Vec::with_capacity(BATCH),
            queue: VecDeque::with_capacity(2 * BATCH),
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

    /// The arrival of the next request; an error only when everything before it has been taken.
    #[inline]
    pub fn next_arrival(&mut self) -> Result<Option<TimeNs>, SourceError> {
        if self.queue.len() < BATCH / 2 && !self.ended {
            self.refill();
        }
        if self.queue.is_empty() {
            return self.error.take().map_or(Ok(None), Err);
        }
        Ok(self.queue.front().map(|(request, _)| request.arrival_ns))
    }

    /// The request that [`Upcoming::next_arrival`] has shown; hints at what follows it.
    #[inline]
    pub fn take(&mut self, array: &Array) -> (Request, PageRequest) {
        let (request, pages) = self.queue.pop_front().expect("next_arrival has shown it");
        for (count, hinted_pages) in &mut self.hinted {
            if *count > 0 {
                *count -= 1;
                *hinted_pages -= u64::from(pages.pages);
            }
        }
        self.requests_since_tick += 1;
        self.pages_since_tick += u64::from(pages.pages);
        self.hint(array);
        (request, pages)
    }

    /// Hints at requests until enough pages are on their way; never at the first one, which is too late. A block is hinted at only
    /// when the map entry that leads to it was hinted at in an earlier call, so that it has had time to come.
    #[inline]
    fn hint(&mut self, array: &Array) {
        let mapped_before = self.hinted[0].0;
        for (&(hint, pages_ahead, requests_ahead), (count, pages)) in self.hints.iter().zip(&mut self.hinted) {
            if *count == 0 {
                (*count, *pages) = (1, self.queue.front().map_or(0, |(_, request)| u64::from(request.pages)));
            }
            while (*pages < pages_ahead || *count <= requests_ahead)
                && (hint == Hint::Map || *count < mapped_before)
                && let Some((_, request)) = self.queue.get(*count)
            {
                array.prefetch(hint, request);
                *count += 1;
                *pages += u64::from(request.pages);
            }
        }
    }

    fn refill(&mut self) {
        self.batch.clear();
        match self.source.fill(&mut self.batch, BATCH) {
            Ok(filled) => self.ended = filled < BATCH,
            Err(error) => (self.ended, self.error) = (true, Some(error)),
        }
        for request in &self.batch {
            // The sources of this program say so themselves, with key or line.
            if request.arrival_ns > TIME_MAX_NS {
                let text =
                    format!("a request arrives at {} ns, but simulated time ends at {TIME_MAX_NS} ns (146 years)", request.arrival_ns);
                (self.ended, self.error) = (true, Some(SourceError::Input(text)));
                return;
            }
            let Some(pages) = pages_of(request, self.page_bytes, self.exported_pages) else {
                let text = format!(
                    "a request of {} bytes at byte {} does not fit the {} bytes of the array",
                    request.length_bytes,
                    request.offset_bytes,
                    self.exported_pages * self.page_bytes
                );
                (self.ended, self.error) = (true, Some(SourceError::Input(text)));
                return;
            };
            self.queue.push_back((*request, pages));
        }
    }
}
