//! Filter that leaves out requests of devices that the user did not choose, and repeated requests.

use std::collections::{HashMap, HashSet, VecDeque};

use super::compression::Origin;
use super::measured::MeasuredHistograms;
use super::reader::{Lines, Records, SkippedRecords, TraceProperties};
use super::record::{NumberedRecord, TraceRecord};
use super::spec::{DevicePlacement, TraceSpec};
use crate::units::count_with_noun;
use crate::{BLOCK_REQUESTS, OpKind, SourceError};

/// The requests of a trace that pass the filter, in the order of the file.
pub(crate) struct Filter {
    records: Records,
    /// Devices that the user chose; empty for all devices.
    devices: Vec<u32>,
    repeats: Option<Repeats>,
    passed: u64,
}

impl Filter {
    pub(super) fn open(spec: &TraceSpec, origin: &Origin) -> Result<Self, SourceError> {
        let records = Records::open(spec, origin)?;
        let name = &records.lines.facts.name;
        let devices = match &spec.devices {
            DevicePlacement::List(list) if list.is_empty() => {
                return Err(SourceError::InvalidInput(format!(
                    "{name}: the list of devices is empty; allowed are device numbers, \"concat\", \"fold\""
                )));
            }
            DevicePlacement::List(list) => {
                let mut seen = HashSet::new();
                if let Some(twice) = list.iter().find(|device| !seen.insert(**device)) {
                    return Err(SourceError::InvalidInput(format!("{name}: device {twice} is listed twice")));
                }
                list.clone()
            }
            DevicePlacement::Concat | DevicePlacement::Fold => Vec::new(),
        };
        let repeats = spec.drop_repeats_within_ns.map(Repeats::within_ns);
        Ok(Self { records, devices, repeats, passed: 0 })
    }

    /// Appends the next `count` requests to `records`, or fewer at the end, and returns their number. The end of the trace is an error if
    /// there was no request at all.
    pub(super) fn append_next(&mut self, records: &mut Vec<NumberedRecord>, count: usize) -> Result<usize, SourceError> {
        let begin = records.len();
        while records.len() - begin < count {
            let from = records.len();
            let missing = count - (from - begin);
            let read = self.records.append_next(records, missing);
            if !self.devices.is_empty() || self.repeats.is_some() {
                records.extract_if(from.., |numbered| !self.lets_through(&numbered.record)).for_each(drop);
            }
            self.passed += (records.len() - from) as u64;
            if read? < missing {
                if self.passed == 0 {
                    return Err(self.nothing());
                }
                break;
            }
        }
        Ok(records.len() - begin)
    }

    /// Passes all remaining requests to `visit`.
    pub(super) fn for_each(&mut self, mut visit: impl FnMut(&TraceRecord)) -> Result<(), SourceError> {
        let mut records = Vec::new();
        loop {
            records.clear();
            let read = self.append_next(&mut records, BLOCK_REQUESTS)?;
            records.iter().for_each(|numbered: &NumberedRecord| visit(&numbered.record));
            if read < BLOCK_REQUESTS {
                return Ok(());
            }
        }
    }

    /// Returns true if the filter lets the request through, and counts the request as skipped otherwise.
    fn lets_through(&mut self, record: &TraceRecord) -> bool {
        let skipped = &mut self.records.lines.skipped;
        if !self.devices.is_empty() && !self.devices.contains(&record.device) {
            skipped.other_devices += 1;
            return false;
        }
        if record.kind == OpKind::Flush {
            return true;
        }
        let is_repeat = self.repeats.as_mut().is_some_and(|repeats| repeats.is_repeat(record));
        skipped.repeats += u64::from(is_repeat);
        !is_repeat
    }

    /// Begins to measure response times, as far as the format has lines at the ends of requests.
    pub(super) fn measure(&mut self) {
        self.records.measure();
    }

    /// Returns the response times that were measured from the beginnings and ends of requests.
    pub(super) fn measured(&self) -> Option<&MeasuredHistograms> {
        self.records.measured()
    }

    /// Returns true if requests are listed in the order of their ends.
    pub(super) fn is_by_end(&self) -> bool {
        self.records.is_by_end()
    }

    pub(super) fn facts(&self) -> &TraceProperties {
        &self.records.lines.facts
    }

    /// Adds a note for the user.
    pub(super) fn note(&mut self, note: String) {
        self.records.lines.facts.notes.push(note);
    }

    pub(super) fn skipped(&self) -> SkippedRecords {
        SkippedRecords { without_data: self.records.without_data(), ..self.records.lines.skipped }
    }

    pub(super) fn progress(&self) -> Option<f64> {
        self.records.lines.progress()
    }

    /// Returns the name of the trace and the place of a request in it, for messages.
    pub(super) fn place(&self, numbered: &NumberedRecord) -> String {
        format!("{}: {}", self.facts().name, self.records.lines.place(numbered.number))
    }

    pub(crate) fn note_at_end(&self) -> Option<String> {
        self.records.note_at_end()
    }

    pub(crate) fn device_label(&self, device: u32) -> String {
        self.records.device_label(device)
    }

    fn nothing(&self) -> SourceError {
        let Lines { skipped, facts: TraceProperties { name, format, .. }, .. } = &self.records.lines;
        SourceError::InvalidInput(if skipped.other_devices > 0 {
            let devices: Vec<String> = self.devices.iter().map(u32::to_string).collect();
            format!(
                "{name}: holds {}, none of device {}; `flashraid trace info` lists its devices",
                count_with_noun(skipped.other_devices, "request"),
                devices.join(", ")
            )
        } else {
            format!(
                "{name}: holds no request (format {format}; {} and {} of length 0 left out); expected at least one",
                count_with_noun(skipped.bad_lines, "bad line"),
                count_with_noun(skipped.zero_length, "request")
            )
        })
    }
}

/// Properties that must be equal for a request to count as a repeat.
type RepeatKey = (u32, u64, u64, OpKind);

/// Detects repeats, by remembering the requests of the last moments.
pub(super) struct Repeats {
    within_ns: u64,
    /// Time of the last request with these properties within the window.
    last_ns: HashMap<RepeatKey, u64>,
    /// Requests that are remembered, oldest first, with their times. They are forgotten in this order.
    order: VecDeque<(u64, RepeatKey)>,
}

impl Repeats {
    pub(crate) fn within_ns(within_ns: u64) -> Self {
        Self { within_ns, last_ns: HashMap::new(), order: VecDeque::new() }
    }

    /// Returns true if a request with the same properties came shortly before.
    pub(crate) fn is_repeat(&mut self, record: &TraceRecord) -> bool {
        let now = record.time_ns;
        while let Some((time, alike)) = self.order.front().copied()
            && time.saturating_add(self.within_ns) < now
        {
            self.order.pop_front();
            if self.last_ns.get(&alike) == Some(&time) {
                self.last_ns.remove(&alike);
            }
        }
        let alike = (record.device, record.offset_bytes, record.length_bytes, record.kind);
        let repeats = self.last_ns.insert(alike, now).is_some_and(|last| now.abs_diff(last) <= self.within_ns);
        self.order.push_back((now, alike));
        repeats
    }
}
