//! The start of the search. Each value comes from the job that depends most on it, by the arithmetic of one bottleneck at a time.

use flashraid::model::ssd::SsdParams;

use crate::base::Base;
use crate::measured::Measured;
use crate::parameter::{Parameter, superblock};

/// Size from which requests are limited by the link and the flash. Smaller requests are limited by the controller.
const LARGE_BYTES: u64 = 64 << 10;

/// Returns a value for each parameter, which is the base's if no job depends on it.
pub(crate) fn values(base: &Base, jobs: &[Measured], parameters: &[Parameter]) -> Vec<f64> {
    let mut ssd = base.params.clone();
    // What the others are computed from comes first.
    let mut in_order = parameters.to_vec();
    in_order.sort_by_key(|parameter| match parameter {
        Parameter::Link | Parameter::Read | Parameter::Move => 0,
        Parameter::PageProgram | Parameter::ProgramsAtOnce => 1,
        Parameter::PageRead => 2,
        Parameter::Latency => 3,
        Parameter::Ack => 4,
    });
    for parameter in in_order {
        if let Some(value) = value(base, &ssd, jobs, parameter).filter(|value| value.is_finite() && *value > 0.0) {
            parameter.put(&mut ssd, value);
        }
    }
    parameters.iter().map(|parameter| parameter.of(&ssd)).collect()
}

fn value(base: &Base, ssd: &SsdParams, jobs: &[Measured], parameter: Parameter) -> Option<f64> {
    let drive = superblock(ssd);
    let cores = f64::from(drive.firmware.cores);
    let best =
        |wanted: &dyn Fn(&Measured) -> bool| jobs.iter().filter(|job| wanted(job)).max_by(|a, b| bandwidth(a).total_cmp(&bandwidth(b)));
    let large = |job: &Measured| job.job.size_bytes >= LARGE_BYTES;
    // Where nothing waits: the least depth.
    let alone = |writes: bool| {
        let small = |job: &&Measured| !large(job) && job.job.depth <= 4 && job.job.writes() == writes && job.job.reads() != writes;
        let job = jobs.iter().filter(small).min_by_key(|job| job.job.depth)?;
        let times = if writes { job.figures.write } else { job.figures.read };
        times.map(|times| times.mean_us * 1e3)
    };
    let transfer_ns = drive.mapping_unit_transfer_ns as f64;
    let link_ns = ssd.link.map_or(0.0, |link| link.page_transfer_ns as f64);
    let read_alone_ns = |less: f64| alone(false).map(|mean_ns| (mean_ns - less - transfer_ns - link_ns).max(500.0));
    let superpage_units = ssd.geometry.planes * drive.bits_per_cell * drive.mapping_units_per_flash_page;
    let page_bytes = f64::from(ssd.geometry.page_bytes);
    let superpage_bytes = f64::from(superpage_units) * f64::from(drive.pages_per_mapping_unit) * page_bytes;
    let programs = f64::from(drive.dies_programming_max.min(ssd.geometry.dies));
    let rows = f64::from(ssd.geometry.pages_per_block)
        / f64::from(drive.bits_per_cell * drive.mapping_units_per_flash_page * drive.pages_per_mapping_unit);
    let superpage_transfer_ns = f64::from(superpage_units) * drive.mapping_unit_transfer_ns as f64;
    match parameter {
        Parameter::Link => best(&|job| job.job.reads() != job.job.writes()).map(bandwidth),
        Parameter::PageProgram => {
            let written = bandwidth(best(&|job| large(job) && !job.job.reads())?);
            // So many dies program at a time, and all of them erase as well.
            let superpage_ns = |dies: f64| dies * superpage_bytes * 1e9 / written - superpage_transfer_ns;
            let erases_ns = ssd.timing.block_erase.ns as f64 / rows;
            Some(superpage_ns(programs).min(superpage_ns(f64::from(ssd.geometry.dies)) - erases_ns).max(1e3))
        }
        Parameter::ProgramsAtOnce => {
            let written = bandwidth(best(&|job| large(job) && !job.job.reads())?);
            Some(written * (ssd.timing.page_program.ns as f64 + superpage_transfer_ns) / (superpage_bytes * 1e9))
        }
        Parameter::Read => best(&|job| !large(job) && !job.job.writes()).map(|job| cores * 1e9 / job.figures.iops),
        Parameter::Move => {
            let job = best(&|job| !large(job) && !job.job.reads() && job.job.begins_worn_in())?;
            Some(cores * 1e9 / (job.figures.iops * amplification(exported_share(base))))
        }
        Parameter::PageRead => read_alone_ns((drive.firmware.read.ns + drive.firmware.latency.ns) as f64),
        Parameter::Latency => read_alone_ns(drive.firmware.read.ns as f64 + Parameter::PageRead.of(ssd)),
        Parameter::Ack => {
            let before = (drive.firmware.write.ns + drive.firmware.latency.ns) as f64 + link_ns;
            alone(true).map(|mean_ns| (mean_ns - before).max(200.0))
        }
    }
}

/// Returns the bandwidth of a job, in bytes per second.
fn bandwidth(job: &Measured) -> f64 {
    job.figures.iops * job.job.size_bytes as f64
}

/// Returns the share of the drive's flash that a host sees.
fn exported_share(base: &Base) -> f64 {
    let geometry = &base.params.geometry;
    let raw = f64::from(geometry.blocks_per_plane);
    (raw - f64::from(geometry.overprovisioned_blocks_per_plane)) / raw
}

/// Returns the write amplification of uniform random writes. The host sees the share `exported_share` of the flash, which lies between 0
/// and 1.
///
/// With α as raw over exported capacity, it is α / (α + W₀(−α e^−α)) (Desnoyers, SYSTOR 2012). With u as the valid share of a victim, this
/// is 1 / (1 − u), where (1 − u) / −ln u = 1/α.
pub(crate) fn amplification(exported_share: f64) -> f64 {
    let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if (1.0 - middle) / -libm::log(middle) < exported_share { low = middle } else { high = middle }
    }
    1.0 / (1.0 - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amplification_is_that_of_theory() {
        // docs/drives.md and the closed form: 1.146 raw over exported gives 4.1.
        let base = Base::read("nvme-tlc-read").unwrap();
        let amplification = amplification(exported_share(&base));
        assert!((amplification - 4.1).abs() < 0.1, "{amplification}");
    }
}
