//! Puts requests in order of time, within a window or altogether.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::filter::Filter;
use super::record::TraceRecord;
use super::spec::Reorder;
use crate::SourceError;
use crate::units::counted;

/// A request that is held back. Requests of the same time keep the order of the file.
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

/// The requests of a trace in order of time.
pub(crate) struct Reordered {
    filter: Filter,
    /// Requests held back.
    window: usize,
    /// Set with [`Reorder::Sort`] until everything is read.
    read_all: bool,
    held: BinaryHeap<Reverse<Held>>,
    read: u64,
    at_end: bool,
    last_ns: u64,
}

impl Reordered {
    pub fn new(filter: Filter, reorder: Reorder) -> Self {
        let (window, read_all) = match reorder {
            Reorder::Window(window) => (window as usize, false),
            Reorder::Sort => (0, true),
        };
        Self { filter, window, read_all, held: BinaryHeap::new(), read: 0, at_end: false, last_ns: 0 }
    }

    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    pub fn next(&mut self) -> Result<Option<TraceRecord>, SourceError> {
        if self.read_all {
            self.read_all = false;
            let mut all = Vec::new();
            while let Some(record) = self.filter.next()? {
                all.push(Reverse(Held { key: (record.time_ns, self.read), record }));
                self.read += 1;
            }
            self.at_end = true;
            self.held = all.into();
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

    fn backwards(&self, record: &TraceRecord) -> SourceError {
        let seconds = |ns: u64| format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000);
        let held = match self.window {
            0 => String::new(),
            window => format!(" although up to {} may be held back", counted(window as u64, "request")),
        };
        SourceError::Input(format!(
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
