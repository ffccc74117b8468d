//! Converts the sections `[ssd.buffer]`, `[ssd.queues]` and `[ssd.firmware]` of a device with pools of blocks to the parameters of the
//! model (section 25 of the rules).

use super::Config;
use super::resolve::Resolver;
use flashraid_model::flash::Geometry;
use flashraid_model::ssd::{BufferParams, ControllerCores, FrontEndParams};
use flashraid_workload::units::Size;

/// Maximum number of pages of a write buffer.
const PAGES_MAX: u64 = 1 << 31;

impl Resolver<'_> {
    /// Returns the queues, processor cores and write buffer of a device without superblocks. It is `None` if none of the three sections is
    /// there.
    pub(super) fn front(&mut self, config: &Config, geometry: &Geometry) -> Option<FrontEndParams> {
        let ssd = &config.ssd;
        let is_there = ssd.buffer.is_some() || ssd.queues.is_some() || ssd.firmware.is_some();
        let buffer = ssd.buffer.as_ref().map(|written| {
            let page_bytes = u64::from(geometry.page_bytes);
            let units = written.size.map_or(2 * u64::from(geometry.dies), |size| size.bytes / page_bytes);
            if !(1..=PAGES_MAX).contains(&units) {
                let message = format!(
                    "`ssd.buffer.size` is {}, but must hold a page ({}) and no more than {PAGES_MAX}",
                    self.written("ssd.buffer.size"),
                    Size { bytes: page_bytes }
                );
                self.problem("ssd.buffer.size", message, None);
            }
            self.time("ssd.buffer.ack", written.settings.ack, 0);
            if written.settings.linger.is_some() {
                let message = "`ssd.buffer.linger` closes superpages, but this device has pools of blocks, and a page goes to its die as soon as that takes it";
                self.problem("ssd.buffer.linger", message, Some("remove it"));
            }
            BufferParams {
                capacity_mapping_units: units.min(PAGES_MAX) as u32,
                settings: written.settings,
            }
        });
        let firmware = ssd.firmware.as_ref().map_or(ControllerCores::WITHOUT_OVERHEAD, |written| {
            if written.move_.ns > 0 {
                let message = format!(
                    "`ssd.firmware.move` is {}, but moves cost no core in devices with pools, because a clean is work of its die",
                    written.move_
                );
                self.problem("ssd.firmware.move", message, Some("remove it"));
            }
            self.firmware(written)
        });
        is_there.then_some(FrontEndParams { write_buffer: buffer, queues: ssd.queues, firmware })
    }
}
