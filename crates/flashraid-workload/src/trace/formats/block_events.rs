//! Events of the Linux block layer, which blktrace and ftrace record: a request is queued, issued to the drive, and completed.
//!
//! One kind of event stands for the requests. The others of a request only serve to measure how long it took.

use super::super::measured::{InFlight, MeasuredHistograms};
use super::super::operations::Operation;
use super::super::record::TraceRecord;
use crate::OpKind;

/// An event in the life of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// The host has sent the request (Q).
    Queued,
    /// The request has been given to the drive (D).
    Issued,
    /// The drive has done the request (C).
    Completed,
}

/// State of the parser between two events.
#[derive(Debug, Clone)]
pub(crate) struct BlockEvents {
    /// Event that stands for a request.
    pub(crate) requests: Event,
    /// Write that the flush of the same event precedes.
    pub(crate) second: Option<TraceRecord>,
    pub(crate) without_data: u64,
    /// Number of events that the recorder lost.
    pub(crate) lost: u64,
    in_flight: Option<InFlight>,
}

/// The place of a request on its device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
}

impl BlockEvents {
    pub(crate) fn new(requests: Event) -> Self {
        Self { requests, second: None, without_data: 0, lost: 0, in_flight: None }
    }

    /// Begins to measure response times.
    pub(crate) fn measure(&mut self) {
        self.in_flight = Some(InFlight::default());
    }

    /// Returns the response times measured so far.
    pub(crate) fn measured(&self) -> Option<&MeasuredHistograms> {
        self.in_flight.as_ref().map(InFlight::measured)
    }

    /// Returns true if this event must be read: it is a request, or the end of one that is measured.
    #[inline]
    pub(crate) fn needs(&self, event: Event) -> bool {
        event == self.requests || (event == Event::Completed && self.in_flight.is_some())
    }

    /// Takes an event. Returns the request for which it stands.
    pub(crate) fn take(
        &mut self,
        event: Event,
        time_ns: u64,
        device: u32,
        operation: Operation,
        extent: Option<Extent>,
    ) -> Option<TraceRecord> {
        let is_request = event == self.requests;
        let record = match (operation.kind, extent) {
            (Some(OpKind::Flush), _) => TraceRecord::flush(time_ns, device),
            (Some(kind), Some(Extent { offset_bytes, length_bytes })) if length_bytes > 0 => {
                let record = TraceRecord::new(time_ns, device, offset_bytes, length_bytes, kind);
                TraceRecord { fua: operation.fua, zeroes: operation.zeroes, ..record }
            }
            // A write without data that asks for a flush before it is that flush.
            (Some(_), _) if operation.flush_before => TraceRecord::flush(time_ns, device),
            _ => {
                self.without_data += u64::from(is_request);
                return None;
            }
        };
        let flushes_first = operation.flush_before && record.kind != OpKind::Flush;
        if is_request {
            if let Some(in_flight) = &mut self.in_flight
                && self.requests != Event::Completed
            {
                in_flight.begin(&record);
            }
            if flushes_first {
                self.second = Some(record);
                return Some(TraceRecord::flush(time_ns, device));
            }
            return Some(record);
        }
        if event == Event::Completed
            && let Some(in_flight) = &mut self.in_flight
        {
            in_flight.end(&record);
        }
        None
    }

    /// Returns a note that says which events stand for requests, by these names of the events.
    pub(crate) fn note(&self, names: [&str; 3], what: &str) -> String {
        let name = |event: Event| names[event as usize];
        match self.requests {
            Event::Completed => {
                format!("requests: the {what} {}, at their ends; the trace does not tell when they were sent", name(Event::Completed))
            }
            event => format!("requests: the {what} {}; measured times are from {} to {}", name(event), name(event), name(Event::Completed)),
        }
    }
}
