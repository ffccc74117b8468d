//! Puts the requests of a trace in order of time, within a window or as a whole.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::filter::Filter;
use super::record::NumberedRecord;
use super::spec::TraceSortMethod;
use crate::units::count_with_noun;
use crate::{OpKind, SourceError};

/// A request that is held back until no earlier one can come. Requests of the same time keep the order of the file.
#[derive(PartialEq, Eq)]
struct Held(NumberedRecord);

impl Held {
    /// Returns the place in the order. The flush of a line comes before its write.
    fn key(&self) -> (u64, u64, bool) {
        (self.0.record.time_ns, self.0.number, self.0.record.kind != OpKind::Flush)
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Number of requests that are held back where requests are listed in the order of their ends.
const WINDOW_BY_END: usize = 1 << 16;

/// Number of requests that are sorted at a time, which takes about a tenth of a second.
const RUN: usize = 1 << 20;

/// Sorted parts of a trace that are merged into one sequence. Among requests of the same time, those of the earlier part come first.
struct Sorted {
    runs: Vec<std::vec::IntoIter<NumberedRecord>>,
    /// Time of the next request of each part, and the number of the part.
    first: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Sorted {
    fn new(runs: Vec<std::vec::IntoIter<NumberedRecord>>) -> Self {
        let mut sorted = Self { first: BinaryHeap::with_capacity(runs.len()), runs };
        (0..sorted.runs.len()).for_each(|run| sorted.enter(run));
        sorted
    }

    /// Enters the time of a part's next request into `first`, unless the part is at its end.
    fn enter(&mut self, run: usize) {
        let next = self.runs[run].as_slice().first();
        self.first.extend(next.map(|numbered| Reverse((numbered.record.time_ns, run))));
    }
}

impl Iterator for Sorted {
    type Item = NumberedRecord;

    fn next(&mut self) -> Option<NumberedRecord> {
        let Reverse((_, run)) = self.first.pop()?;
        let numbered = self.runs[run].next();
        self.enter(run);
        numbered
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
    at_end: bool,
    last_ns: u64,
}

impl Reordered {
    pub(super) fn new(filter: Filter, reorder: TraceSortMethod) -> Self {
        let (window, read_all) = match reorder {
            TraceSortMethod::Window(0) if filter.is_by_end() => (WINDOW_BY_END, false),
            TraceSortMethod::Window(window) => (window as usize, false),
            TraceSortMethod::Sort => (0, true),
        };
        Self { filter, window, read_all, sorted: None, held: BinaryHeap::new(), at_end: false, last_ns: 0 }
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Appends the next `count` requests to `records`, or fewer at the end, and returns their number. Unless the whole trace is sorted, it
    /// reads no further than these requests need.
    pub(super) fn append_next(&mut self, records: &mut Vec<NumberedRecord>, count: usize) -> Result<usize, SourceError> {
        if self.read_all && count > 0 {
            self.read_all = false;
            self.read_all()?;
        }
        let begin = records.len();
        if let Some(sorted) = &mut self.sorted {
            records.extend(sorted.take(count));
        } else if self.window == 0 {
            let read = self.filter.append_next(records, count);
            self.keep_until_time_goes_back(records, begin)?;
            read?;
        } else {
            self.append_from_window(records, begin + count)?;
        }
        Ok(records.len() - begin)
    }

    /// Checks the order of the requests from position `begin` on. If one is earlier than the one before it, removes it and those after it,
    /// and returns an error.
    fn keep_until_time_goes_back(&mut self, records: &mut Vec<NumberedRecord>, begin: usize) -> Result<(), SourceError> {
        for position in begin..records.len() {
            let time_ns = records[position].record.time_ns;
            if time_ns < self.last_ns {
                let error = self.backwards(&records[position]);
                records.truncate(position);
                return Err(error);
            }
            self.last_ns = time_ns;
        }
        Ok(())
    }

    /// Appends requests that were held back, until there are `end` records or no more requests. New requests are
    /// read into `records` first. Those that are held back leave it again, and earlier ones take their places.
    fn append_from_window(&mut self, records: &mut Vec<NumberedRecord>, end: usize) -> Result<(), SourceError> {
        while !self.at_end && records.len() < end {
            let from = records.len();
            let missing = end - from;
            let read = self.filter.append_next(records, missing);
            let mut kept = from;
            for position in from..records.len() {
                let numbered = records[position];
                if numbered.record.time_ns < self.last_ns {
                    records.truncate(kept);
                    return Err(self.backwards(&numbered));
                }
                self.held.push(Reverse(Held(numbered)));
                if self.held.len() > self.window
                    && let Some(earliest) = self.take_earliest()
                {
                    records[kept] = earliest;
                    kept += 1;
                }
            }
            records.truncate(kept);
            self.at_end = read? < missing;
        }
        while records.len() < end
            && let Some(earliest) = self.take_earliest()
        {
            records.push(earliest);
        }
        Ok(())
    }

    /// Takes the earliest of the requests that are held back.
    fn take_earliest(&mut self) -> Option<NumberedRecord> {
        let Reverse(Held(numbered)) = self.held.pop()?;
        self.last_ns = numbered.record.time_ns;
        Some(numbered)
    }

    /// Reads and sorts the whole trace part by part, so that no step takes long.
    fn read_all(&mut self) -> Result<(), SourceError> {
        let mut runs = Vec::new();
        loop {
            let mut run = Vec::new();
            let read = self.filter.append_next(&mut run, RUN)?;
            // The sort is stable, so that requests of the same time keep the order of the file.
            run.sort_by_key(|numbered: &NumberedRecord| numbered.record.time_ns);
            runs.push(run.into_iter());
            if read < RUN {
                self.sorted = Some(Sorted::new(runs));
                return Ok(());
            }
        }
    }

    fn backwards(&self, numbered: &NumberedRecord) -> SourceError {
        let seconds = |ns: u64| format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000);
        let held = match self.window {
            0 => String::new(),
            window => format!(" although up to {} may be held back", count_with_noun(window as u64, "request")),
        };
        SourceError::InvalidInput(format!(
            "{}: the time goes backwards from {} to {}{held}; expected requests in order of time. \
             Set reorder = N to hold N requests back and let them go in order (`flashraid trace info` tells how many it takes), \
             or reorder = \"sort\" to sort the whole trace in memory",
            self.filter.place(numbered),
            seconds(self.last_ns),
            seconds(numbered.record.time_ns),
        ))
    }
}
