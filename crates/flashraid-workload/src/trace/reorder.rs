//! Puts the requests of a trace in order of time, within a window or as a whole.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::filter::Filter;
use super::record::TraceRecord;
use super::spec::TraceSortMethod;
use crate::SourceError;
use crate::units::count_with_noun;

/// A request that is held back until no earlier one can come. Requests of the same time keep the order of the file.
struct Held {
    key: (u64, u64),
    record: TraceRecord,
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Number of requests that are sorted at a time, which takes about a tenth of a second.
const RUN: usize = 1 << 20;

/// Sorted parts of a trace that are merged into one sequence. Among requests of the same time, those of the earlier part come first.
struct Sorted {
    runs: Vec<std::vec::IntoIter<TraceRecord>>,
    /// Next request of each part, ordered by time and then by the number of the part.
    first: BinaryHeap<Reverse<Held>>,
}

impl Sorted {
    fn new(runs: Vec<std::vec::IntoIter<TraceRecord>>) -> Self {
        let mut sorted = Self { first: BinaryHeap::with_capacity(runs.len()), runs };
        (0..sorted.runs.len()).for_each(|run| sorted.advance(run));
        sorted
    }

    fn advance(&mut self, run: usize) {
        if let Some(record) = self.runs[run].next() {
            self.first.push(Reverse(Held { key: (record.time_ns, run as u64), record }));
        }
    }
}

impl Iterator for Sorted {
    type Item = TraceRecord;

    fn next(&mut self) -> Option<TraceRecord> {
        let Reverse(Held { key: (_, run), record }) = self.first.pop()?;
        self.advance(run as usize);
        Some(record)
    }
}

/// The requests of a trace in order of time.
pub(crate) struct Reordered {
    filter: Filter,
    /// Maximum number of requests that are held back.
    window: usize,
    /// True if the whole trace must still be read, because of [`TraceSortMethod::Sort`].
    read_all: bool,
    /// The sorted requests; `None` without [`TraceSortMethod::Sort`].
    sorted: Option<Sorted>,
    held: BinaryHeap<Reverse<Held>>,
    read: u64,
    at_end: bool,
    last_ns: u64,
}

impl Reordered {
    pub(super) fn new(filter: Filter, reorder: TraceSortMethod) -> Self {
        let (window, read_all) = match reorder {
            TraceSortMethod::Window(window) => (window as usize, false),
            TraceSortMethod::Sort => (0, true),
        };
        Self { filter, window, read_all, sorted: None, held: BinaryHeap::new(), read: 0, at_end: false, last_ns: 0 }
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<TraceRecord>, SourceError> {
        if self.read_all {
            self.read_all = false;
            self.read_all()?;
        }
        if let Some(sorted) = &mut self.sorted {
            return Ok(sorted.next());
        }
        while !self.at_end {
            match self.filter.next()? {
                Some(record) => {
                    if record.time_ns < self.last_ns {
                        return Err(self.backwards(&record));
                    }
                    if self.window == 0 {
                        self.last_ns = record.time_ns;
                        return Ok(Some(record));
                    }
                    self.held.push(Reverse(Held { key: (record.time_ns, self.read), record }));
                    self.read += 1;
                    if self.held.len() > self.window {
                        break;
                    }
                }
                None => self.at_end = true,
            }
        }
        Ok(self.held.pop().map(|Reverse(held)| {
            self.last_ns = held.record.time_ns;
            held.record
        }))
    }

    /// Reads and sorts the whole trace part by part, so that no step takes long.
    fn read_all(&mut self) -> Result<(), SourceError> {
        let mut runs = Vec::new();
        let mut run = Vec::new();
        loop {
            let record = self.filter.next()?;
            run.extend(record);
            if record.is_none() || run.len() == RUN {
                // The sort is stable, so that requests of the same time keep the order of the file.
                run.sort_by_key(|record: &TraceRecord| record.time_ns);
                runs.push(std::mem::take(&mut run).into_iter());
            }
            if record.is_none() {
                self.sorted = Some(Sorted::new(runs));
                return Ok(());
            }
        }
    }

    fn backwards(&self, record: &TraceRecord) -> SourceError {
        let seconds = |ns: u64| format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000);
        let held = match self.window {
            0 => String::new(),
            window => format!(" although up to {} may be held back", count_with_noun(window as u64, "request")),
        };
        SourceError::InvalidInput(format!(
            "{}: {}: the time goes backwards from {} to {}{held}; expected requests in order of time. \
             Set reorder = N to hold N requests back and let them go in order (`flashraid trace info` tells how many it takes), \
             or reorder = \"sort\" to sort the whole trace in memory",
            self.filter.facts().name,
            self.filter.place(),
            seconds(self.last_ns),
            seconds(record.time_ns),
        ))
    }
}
