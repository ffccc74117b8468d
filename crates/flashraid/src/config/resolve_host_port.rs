//! Converts the section `[array.controller]` to the parameters of the model.

use super::Config;
use super::resolve::Resolver;
use flashraid_model::array::ControllerLimits;
use flashraid_workload::units::Size;

/// Longest time for the transfer of a page that is accepted.
const PAGE_LONGEST_NS: u64 = 1_000_000_000;

impl Resolver<'_> {
    pub(super) fn host_port(&mut self, config: &Config, page_bytes: u64) -> Option<ControllerLimits> {
        let controller = config.array.controller?;
        if let Some(rate) = controller.bandwidth.filter(|_| controller.transfer_ns(page_bytes) > PAGE_LONGEST_NS) {
            let page = Size { bytes: page_bytes };
            let message = format!("`array.controller.bandwidth` is {rate}, at which one page of {page} takes more than a second");
            self.problem("array.controller.bandwidth", message, Some("write it with its unit, as in \"1150MB/s\""));
        }
        (controller.outstanding.is_some() || controller.bandwidth.is_some()).then_some(controller)
    }
}
