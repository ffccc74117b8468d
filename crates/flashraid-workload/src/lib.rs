//! Sources of requests: synthetic generators, the catalogue of named workloads, mixes of streams, and traces.

pub mod catalogue;
pub mod files;
mod first_of_trace;
pub mod import;
mod mix;
mod owners;
pub mod quantities;
mod read_ahead;
mod space;
mod spec;
mod spec_problem;
pub mod synthetic;
pub mod trace;
mod transform;

use std::fmt;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;

pub use first_of_trace::FirstOfTrace;
pub use flashraid_model::quantity_impls;
pub use flashraid_model::request::{HostLoop, OpKind, Request};
pub use flashraid_model::units;
pub use mix::MixedSource;
pub use owners::pages_owned_by_streams;
pub(crate) use read_ahead::read_on_separate_thread;
pub use space::{ArrayProperties, SizeOrAddressGranularity};
pub use spec::{SourceSpec, WorkloadSpec, open_stoppable_workload, open_workload, open_workload_read_ahead};
pub use spec_problem::SpecProblem;
pub use transform::{AddressFit, RequestTransformSpec, TransformedSource};

/// A stream of requests in order of arrival.
pub trait RequestSource {
    /// Returns the next request, or `None` at the end.
    ///
    /// # Errors
    /// Returns an error if a trace cannot be read. Its text names file, line and column, the text found and the text expected.
    fn next_request(&mut self) -> Result<Option<Request>, SourceError>;

    /// Appends the next `n` requests to `out`, or fewer at the end, and returns their number.
    ///
    /// # Errors
    /// Returns the same errors as [`RequestSource::next_request`]. The requests before the bad one have been appended. After an error, the
    /// source need not go on.
    fn next_requests(&mut self, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
        append_one_by_one(self, out, n)
    }

    /// Returns the rule by which the host sends the requests: at given times (open loop), or in reply to answers (closed loop).
    fn host_loop(&self) -> HostLoop {
        HostLoop::Open
    }

    /// Returns the share of the source that has been read, from 0 to 1, if it is known.
    fn progress(&self) -> Option<f64> {
        None
    }

    /// Returns the assumptions made while reading, and the parts left out so far, for the report. Each is one sentence.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the number of writes of a stream after which its host flushes, or `None` if it does not by itself.
    ///
    /// The host sends the flush when the last of these writes is done. In a closed loop, the flush has the slot of that write.
    fn writes_per_flush(&self, _stream: u8) -> Option<NonZeroU64> {
        None
    }

    /// Returns the place in the input of a request that the last call returned or appended, such as `trace.csv: line 17`, for messages.
    /// `requests_after` is the number of requests that the call appended after this one. The result is `None` if the source knows no
    /// place; messages then give the number of the request.
    fn position_in_input(&self, _requests_after: usize) -> Option<String> {
        None
    }
}

/// Appends the next `n` requests of `source` to `out`, or fewer at the end, one by one, and returns their number.
fn append_one_by_one<S: RequestSource + ?Sized>(source: &mut S, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
    for filled in 0..n {
        match source.next_request()? {
            Some(request) => out.push(request),
            None => return Ok(filled),
        }
    }
    Ok(n)
}

/// Number of requests in a block, which sources read and the driver takes at a time. With one number for all, notes of a source are the
/// same with and without a separate thread that reads it ahead.
pub const BLOCK_REQUESTS: usize = 256;

impl<S: RequestSource + ?Sized> RequestSource for Box<S> {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        (**self).next_request()
    }

    fn next_requests(&mut self, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
        (**self).next_requests(out, n)
    }

    fn host_loop(&self) -> HostLoop {
        (**self).host_loop()
    }

    fn progress(&self) -> Option<f64> {
        (**self).progress()
    }

    fn notes(&self) -> Vec<String> {
        (**self).notes()
    }

    fn writes_per_flush(&self, stream: u8) -> Option<NonZeroU64> {
        (**self).writes_per_flush(stream)
    }

    fn position_in_input(&self, requests_after: usize) -> Option<String> {
        (**self).position_in_input(requests_after)
    }
}

/// Callback that long operations call from time to time to learn if they must stop. By default, they need not.
#[derive(Clone, Default)]
pub struct Stop(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    /// Returns a stop callback that calls `asked`. Operations stop when it returns true.
    pub fn stop_when(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(asked)))
    }

    /// Calls the callback, and returns true if the operation must stop.
    pub(crate) fn must_stop(&self) -> bool {
        self.0.as_ref().is_some_and(|asked| asked())
    }

    /// Checks whether the operation may continue.
    ///
    /// # Errors
    /// Returns [`SourceError::Stopped`] if it must stop.
    pub fn error_if_stopped(&self) -> Result<(), SourceError> {
        if self.must_stop() { Err(SourceError::Stopped) } else { Ok(()) }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.0.is_some()).finish()
    }
}

/// Error of a source of requests, such as a trace or a generator, that cannot deliver requests or cannot continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The input is wrong, so that the program exits with status 2.
    #[error("{0}")]
    InvalidInput(String),
    /// Reading failed, so that the program exits with status 1.
    #[error("{input_name}: {source}")]
    Io {
        /// Name of the input that could not be read.
        input_name: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The source of requests was stopped by its [`Stop`].
    #[error("stopped")]
    Stopped,
}

impl SourceError {
    /// Returns the error for an input `what` that cannot be read. It distinguishes mistakes of the user from faults of the disk.
    pub fn while_reading(what: &str, error: io::Error) -> Self {
        match files::is_wrong_path(&error) {
            true => Self::InvalidInput(format!("can't read {what}: {error}")),
            false => Self::Io { input_name: format!("can't read {what}"), source: error },
        }
    }
}
