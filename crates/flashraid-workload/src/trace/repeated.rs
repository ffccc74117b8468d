//! A trace that is sent several times, one pass after another.

use super::{TraceReader, TraceSpec, open_stoppable_trace};
use crate::{HostLoop, Request, RequestSource, SourceError, Stop};
use flashraid_model::events::TIME_MAX_NS;

/// A trace whose requests come [`TraceSpec::passes`] times. Addresses stay the same. The first request of a pass follows the last one of
/// the pass before at the mean distance between the arrivals of the trace.
pub(crate) struct RepeatedTrace {
    reader: TraceReader,
    spec: TraceSpec,
    stop: Stop,
    passes_done: u64,
    /// Time from the start of the first pass to that of the present one.
    start_ns: u64,
    /// Arrival of the last request of the present pass so far, from the start of the pass.
    last_ns: u64,
    /// Number of requests of the present pass so far.
    requests: u64,
}

impl RepeatedTrace {
    /// Opens the trace of `spec`.
    ///
    /// # Errors
    /// Returns the errors of [`open_stoppable_trace`]. Standard input cannot be read twice.
    pub(crate) fn open(spec: &TraceSpec, stop: &Stop) -> Result<Self, SourceError> {
        if spec.passes > 1 && !std::fs::metadata(&spec.path).is_ok_and(|file| file.is_file()) {
            let path = spec.path.display();
            let message =
                format!("{path}: repeat = {} reads the trace several times, but it is no file; save it as one first", spec.passes);
            return Err(SourceError::InvalidInput(message));
        }
        let reader = open_stoppable_trace(spec, stop)?;
        Ok(Self { reader, spec: spec.clone(), stop: stop.clone(), passes_done: 0, start_ns: 0, last_ns: 0, requests: 0 })
    }

    /// Begins the next pass. Returns false if there is none.
    fn next_pass(&mut self) -> Result<bool, SourceError> {
        self.passes_done += 1;
        if self.passes_done >= self.spec.passes || self.requests == 0 {
            return Ok(false);
        }
        let gap_ns = self.last_ns / self.requests.saturating_sub(1).max(1);
        self.start_ns = self.start_ns.saturating_add(self.last_ns).saturating_add(gap_ns);
        self.reader = open_stoppable_trace(&self.spec, &self.stop)?;
        (self.last_ns, self.requests) = (0, 0);
        Ok(true)
    }

    /// Moves requests of the reader to their times in the present pass.
    fn place(&mut self, requests: &mut [Request]) -> Result<(), SourceError> {
        let Some(last) = requests.last() else { return Ok(()) };
        (self.last_ns, self.requests) = (last.arrival_ns, self.requests + requests.len() as u64);
        if self.start_ns == 0 {
            return Ok(());
        }
        if self.start_ns.saturating_add(self.last_ns) > TIME_MAX_NS {
            let message = format!(
                "{}: pass {} ends after 146 years (2^62 ns), the end of simulated time; repeat it less often",
                self.spec.path.display(),
                self.passes_done + 1
            );
            return Err(SourceError::InvalidInput(message));
        }
        requests.iter_mut().for_each(|request| request.arrival_ns += self.start_ns);
        Ok(())
    }
}

impl RequestSource for RepeatedTrace {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        loop {
            if let Some(mut request) = self.reader.next_request()? {
                self.place(std::slice::from_mut(&mut request))?;
                return Ok(Some(request));
            }
            if !self.next_pass()? {
                return Ok(None);
            }
        }
    }

    fn next_requests(&mut self, out: &mut Vec<Request>, n: usize) -> Result<usize, SourceError> {
        let begin = out.len();
        loop {
            let from = out.len();
            let missing = n - (from - begin);
            let read = self.reader.next_requests(out, missing);
            self.place(&mut out[from..])?;
            if read? == missing || !self.next_pass()? {
                return Ok(out.len() - begin);
            }
        }
    }

    fn host_loop(&self) -> HostLoop {
        self.reader.host_loop()
    }

    fn progress(&self) -> Option<f64> {
        Some(((self.passes_done as f64 + self.reader.progress()?) / self.spec.passes.max(1) as f64).min(1.0))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.reader.notes();
        if self.spec.passes > 1 {
            notes.push(format!("the trace is sent {} times, one after another, with unchanged addresses", self.spec.passes));
        }
        notes
    }

    fn position_in_input(&self, requests_after: usize) -> Option<String> {
        self.reader.position_in_input(requests_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(passes: u64) -> (tempfile::NamedTempFile, TraceSpec) {
        let file = tempfile::NamedTempFile::with_suffix(".spc").unwrap();
        std::fs::write(&file, "0,8,4096,w,1.000\n0,24,4096,r,1.001\n0,64,4096,w,1.004\n").unwrap();
        let spec = TraceSpec { passes, ..TraceSpec::new(file.path()) };
        (file, spec)
    }

    /// The mean gap of 0, 1 and 4 ms is 2 ms.
    #[test]
    fn passes_follow_at_the_mean_gap() {
        let (_file, spec) = trace(3);
        let mut one_by_one = RepeatedTrace::open(&spec, &Stop::default()).unwrap();
        let mut singly = Vec::new();
        while let Some(request) = one_by_one.next_request().unwrap() {
            singly.push(request);
        }
        assert_eq!(singly.iter().map(|request| request.arrival_ns / 1_000_000).collect::<Vec<_>>(), [0, 1, 4, 6, 7, 10, 12, 13, 16]);
        assert_eq!(singly.iter().map(|request| request.offset_bytes / 512).collect::<Vec<_>>(), [8, 24, 64, 8, 24, 64, 8, 24, 64]);
        for block in [1, 2, 4, 100] {
            let mut blocks = RepeatedTrace::open(&spec, &Stop::default()).unwrap();
            let mut requests = Vec::new();
            while blocks.next_requests(&mut requests, block).unwrap() == block {}
            assert_eq!(requests, singly, "{block}");
            assert_eq!(blocks.progress(), Some(1.0));
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_repeated() {
        let spec = |passes: u64| TraceSpec { passes, format: Some(crate::trace::Format::Spc), ..TraceSpec::new("/dev/null") };
        let message = RepeatedTrace::open(&spec(2), &Stop::default()).err().unwrap().to_string();
        assert!(message.starts_with("/dev/null: repeat = 2 reads the trace several times, but it is no file"), "{message}");
        let message = RepeatedTrace::open(&spec(1), &Stop::default()).err().unwrap().to_string();
        assert!(!message.contains("repeat"), "{message}");
    }
}
