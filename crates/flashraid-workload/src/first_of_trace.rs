//! First requests of a trace that several arrays share, so that its file is read once.

use super::transform::{extent_of, unlimited};
use super::{
    AddressFit, ArrayProperties, HostLoop, Request, RequestSource, RequestTransformSpec, SourceError, SourceSpec, Stop, TransformedSource,
    WorkloadSpec, open_stoppable_workload,
};

/// First requests of a workload whose source is a trace, as they are before they are fitted to an array.
///
/// Arrays differ in their size and in how they take writes of zeroes. All other changes of a workload are the same for each of them.
#[derive(Debug)]
pub struct FirstOfTrace {
    spec: WorkloadSpec,
    seed: u64,
    /// Treatment of addresses. The extent of the trace is known.
    address_fit: AddressFit,
    requests: Vec<Request>,
    host_loop: HostLoop,
}

impl FirstOfTrace {
    /// Reads at most `most` first requests of a workload. The result is `None` if its source is no trace.
    ///
    /// # Errors
    /// Returns the errors of [`open_stoppable_workload`] and of its requests.
    pub fn read(spec: &WorkloadSpec, seed: u64, space: &ArrayProperties, most: u64, stop: &Stop) -> Result<Option<Self>, SourceError> {
        if !matches!(spec.source, SourceSpec::Trace(_)) {
            return Ok(None);
        }
        let spec = without_array(spec);
        let open = |transform: RequestTransformSpec| {
            open_stoppable_workload(&WorkloadSpec { source: spec.source.clone(), transform }, seed, &unlimited(space), stop)
        };
        let address_fit = match spec.transform.address_fit {
            AddressFit::Scale { source_extent_bytes: None } => {
                let mut all = open(RequestTransformSpec { address_fit: AddressFit::Wrap, ..RequestTransformSpec::default() })?;
                AddressFit::Scale { source_extent_bytes: Some(extent_of(&mut *all, &spec.transform, stop)?.max(1)) }
            }
            known => known,
        };
        let mut source = open(RequestTransformSpec { address_fit: AddressFit::Wrap, ..spec.transform.clone() })?;
        let mut requests = Vec::new();
        source.next_requests(&mut requests, usize::try_from(most).unwrap_or(usize::MAX))?;
        let host_loop = source.host_loop();
        Ok(Some(Self { spec, seed, address_fit, requests, host_loop }))
    }

    /// Returns the requests as an array of the address space `space` gets them; `None` if they are not those of `spec` and `seed`.
    ///
    /// # Errors
    /// Returns an error if `spec` contradicts the trace.
    pub fn open(
        &self,
        spec: &WorkloadSpec,
        seed: u64,
        space: &ArrayProperties,
    ) -> Result<Option<TransformedSource<impl RequestSource>>, SourceError> {
        if seed != self.seed || without_array(spec) != self.spec {
            return Ok(None);
        }
        let fit = RequestTransformSpec {
            address_fit: self.address_fit,
            zero_write_trim_granularity_bytes: spec.transform.zero_write_trim_granularity_bytes,
            ..RequestTransformSpec::default()
        };
        let open = || Ok(Listed { requests: self.requests.iter(), host_loop: self.host_loop });
        TransformedSource::open(&fit, seed, space, &Stop::default(), open).map(Some)
    }
}

/// Returns a workload without what differs between arrays that have the same requests.
fn without_array(spec: &WorkloadSpec) -> WorkloadSpec {
    let transform = RequestTransformSpec { zero_write_trim_granularity_bytes: None, ..spec.transform.clone() };
    WorkloadSpec { source: spec.source.clone(), transform }
}

/// Requests of a list.
struct Listed<'a> {
    requests: std::slice::Iter<'a, Request>,
    host_loop: HostLoop,
}

impl RequestSource for Listed<'_> {
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        Ok(self.requests.next().copied())
    }

    fn host_loop(&self) -> HostLoop {
        self.host_loop
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TraceSpec;
    use flashraid_model::placement::StripeShape;

    fn space(capacity_bytes: u64) -> ArrayProperties {
        ArrayProperties { capacity_bytes, page_bytes: 4096, stripe_unit_bytes: 4096, stripe_shape: StripeShape::without_parity(4) }
    }

    fn all(mut source: impl RequestSource) -> Vec<Request> {
        let mut requests = Vec::new();
        source.next_requests(&mut requests, 100).unwrap();
        requests
    }

    /// Arrays of any size get the requests that they read from the file themselves, also after the file is gone.
    #[test]
    fn arrays_share_what_was_read_once() {
        let file = tempfile::NamedTempFile::with_suffix(".spc").unwrap();
        let lines: String = (0..40).map(|at| format!("0,{},{},{},{at}.5\n", at * 700_000, 512 + at * 8192, ["r", "w"][at % 2])).collect();
        std::fs::write(&file, lines).unwrap();
        let trace = |transform| WorkloadSpec { source: SourceSpec::Trace(TraceSpec::new(file.path())), transform };
        let default = RequestTransformSpec::default;
        let window = RequestTransformSpec { start_requests: 3, limit_requests: Some(20), rate_scale: 7.0, ..default() };
        let fits = [AddressFit::Wrap, AddressFit::Scale { source_extent_bytes: None }, AddressFit::Error];
        for (address_fit, transform) in fits.into_iter().flat_map(|fit| [(fit, default()), (fit, window.clone())]) {
            let spec = trace(RequestTransformSpec { size_scale: 1.5, high_priority_fraction: 0.5, address_fit, ..transform });
            let sizes = if address_fit == AddressFit::Error { [1 << 40, 1 << 36] } else { [1 << 30, 1 << 32] };
            let first = FirstOfTrace::read(&spec, 1, &space(sizes[0]), 100, &Stop::default()).unwrap().unwrap();
            for size in sizes {
                let own = all(open_stoppable_workload(&spec, 1, &space(size), &Stop::default()).unwrap());
                assert_eq!(all(first.open(&spec, 1, &space(size)).unwrap().unwrap()), own, "{spec:?}");
                assert!(own.len() >= 20, "{}", own.len());
            }
            assert!(first.open(&spec, 2, &space(sizes[0])).unwrap().is_none());
            assert!(first.open(&trace(default()), 1, &space(sizes[0])).unwrap().is_none());
        }
        let mut refused = FirstOfTrace::read(&trace(default()), 1, &space(1 << 20), 100, &Stop::default()).unwrap().unwrap();
        let message =
            refused.open(&trace(default()), 1, &space(1 << 20)).unwrap().unwrap().next_requests(&mut Vec::new(), 100).unwrap_err();
        assert!(message.to_string().contains("reach beyond the 1048576 bytes"), "{message}");
        std::fs::remove_file(file.path()).unwrap();
        refused.address_fit = AddressFit::Wrap;
        assert_eq!(all(refused.open(&trace(default()), 1, &space(1 << 30)).unwrap().unwrap()).len(), 40);
    }
}
