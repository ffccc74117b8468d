//! Converts the section `[array.controller]` to the parameters of the model.

use super::Config;
use super::resolve::Resolver;
use flashraid_model::array::{ArrayProcessor, ControllerLimits};
use flashraid_workload::units::Size;

/// Longest time for the transfer of a page that is accepted.
const PAGE_LONGEST_NS: u64 = 1_000_000_000;
/// Longest time of the processor for one thing that is accepted.
const HANDLING_LONGEST_NS: u64 = 1_000_000_000;

impl Resolver<'_> {
    pub(super) fn host_port(&mut self, config: &Config, page_bytes: u64, cached: bool) -> Option<ControllerLimits> {
        let controller = config.array.controller?;
        if let Some(processor) = &controller.processor {
            self.processor(processor, cached);
        }
        if let Some(rate) = controller.bandwidth.filter(|_| controller.transfer_ns(page_bytes) > PAGE_LONGEST_NS) {
            let page = Size { bytes: page_bytes };
            let message = format!("`array.controller.bandwidth` is {rate}, at which one page of {page} takes more than a second");
            self.problem("array.controller.bandwidth", message, Some("write it with its unit, as in \"1150MB/s\""));
        }
        (controller != ControllerLimits::default()).then_some(controller)
    }

    fn processor(&mut self, processor: &ArrayProcessor, cached: bool) {
        let ArrayProcessor { cores: _, request, shared, stripe, parity_page, lock: _ } = *processor;
        for (name, time) in [("request", request), ("shared", shared), ("stripe", stripe), ("parity_page", parity_page)] {
            let key = format!("array.controller.processor.{name}");
            if time.ns > HANDLING_LONGEST_NS {
                let message = format!("`{key}` is {time}, but must be at most a second");
                self.problem(&key, message, Some("write it with its unit, as in \"6.5us\""));
            }
        }
        let of_stripes = [("stripe", stripe), ("parity_page", parity_page)].into_iter().find(|(_, time)| time.ns > 0);
        if let Some((name, _)) = of_stripes.filter(|_| cached) {
            let key = format!("array.controller.processor.{name}");
            let message =
                format!("`{key}` is time for the stripes of a write, but with a write cache, stripes are written at another time");
            self.problem(&key, message, Some("add this time to `array.controller.processor.request`, or set `cache.policy` to \"none\""));
        }
    }
}
