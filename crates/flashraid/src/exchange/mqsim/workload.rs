//! Conversion of a workload to MQSim's flows.

use std::fmt::Write as _;

use flashraid_workload::synthetic::addresses::AddressDistribution;
use flashraid_workload::synthetic::{ArrivalSpec, Footprint, SizeSpec};

use super::export::Layout;
use crate::config::{Config, RequestsOrTime, WorkloadConfig, WorkloadKind};

/// Number of bytes in the sectors by which MQSim counts request sizes.
const SECTOR_BYTES: u64 = 512;

/// Returns the workload as a file of MQSim. Adds a note for each property that MQSim cannot express.
pub(super) fn workload(config: &Config, layout: &Layout, notes: &mut Vec<String>) -> String {
    let workload = &config.workload;
    let mut flows = String::new();
    match (workload.kind, &workload.streams) {
        (Some(WorkloadKind::Mix), Some(streams)) => {
            notes.push("MQSim divides its address space among the flows of a mix.".to_owned());
            streams.iter().for_each(|stream| flows += &flow(stream, workload, layout, notes));
        }
        _ => flows += &flow(workload, workload, layout, notes),
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<MQSim_IO_Scenarios>\n\t<IO_Scenario>\n{flows}\t</IO_Scenario>\n</MQSim_IO_Scenarios>\n"
    )
}

/// Returns the numbers from 0 to `count` − 1 as text, with commas between them.
fn ids(count: u32) -> String {
    (0..count).map(|id| id.to_string()).collect::<Vec<_>>().join(",")
}

fn flow(workload: &WorkloadConfig, whole: &WorkloadConfig, layout: &Layout, notes: &mut Vec<String>) -> String {
    let mut tags = vec![
        ("Priority_Class", if workload.high_priority_fraction.is_some_and(|share| share.0 == 1.0) { "URGENT" } else { "HIGH" }.to_owned()),
        ("Device_Level_Data_Caching_Mode", if layout.buffered { "WRITE_CACHE" } else { "TURNED_OFF" }.to_owned()),
        ("Channel_IDs", ids(layout.channels)),
        ("Chip_IDs", ids(layout.chips)),
        ("Die_IDs", ids(layout.dies_per_chip)),
        ("Plane_IDs", ids(layout.planes_per_die)),
        ("Initial_Occupancy_Percentage", "0".to_owned()),
    ];
    if workload.synthetic.flush_every.is_some() || workload.synthetic.fua == Some(true) {
        notes.push(
            "MQSim has no flushes: its writes are done in its cache or on the flash, and flush_every and fua are left out.".to_owned(),
        );
    }
    if workload.high_priority_fraction.is_some_and(|share| share.0 > 0.0 && share.0 < 1.0) {
        notes.push("MQSim's priorities are those of whole flows: a share of urgent writes is left out.".to_owned());
    }
    let kind = match workload.kind {
        Some(WorkloadKind::Trace) => {
            notes.push("MQSim reads traces of its own format only: `flashraid trace convert IN OUT --to mqsim` writes them.".to_owned());
            tags.push(("File_Path", workload.trace.path.clone().unwrap_or_default()));
            tags.push(("Percentage_To_Be_Executed", "100".to_owned()));
            tags.push(("Relay_Count", "1".to_owned()));
            tags.push(("Time_Unit", "NANOSECOND".to_owned()));
            "Trace_Based"
        }
        Some(WorkloadKind::Mix) => {
            notes.push("A mix inside a mix is left out.".to_owned());
            return String::new();
        }
        _ => {
            synthetic(workload, whole, &mut tags, notes);
            "Synthetic"
        }
    };
    let mut text = format!("\t\t<IO_Flow_Parameter_Set_{kind}>\n");
    for (name, value) in tags {
        let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = writeln!(text, "\t\t\t<{name}>{value}</{name}>");
    }
    text + &format!("\t\t</IO_Flow_Parameter_Set_{kind}>\n")
}

fn synthetic(workload: &WorkloadConfig, whole: &WorkloadConfig, tags: &mut Vec<(&'static str, String)>, notes: &mut Vec<String>) {
    let address = workload.synthetic.address.clone().unwrap_or_default();
    let share = match address.footprint {
        None => 100.0,
        Some(Footprint::ShareOfCapacity(share)) => share.0 * 100.0,
        Some(_) => {
            notes.push("MQSim knows the part of the drive that is used as a percentage only: a size in bytes is left out.".to_owned());
            100.0
        }
    };
    tags.push(("Working_Set_Percentage", percent(share.max(1.0), "the part of the drive that is used", notes)));
    let size = workload.synthetic.size.as_ref().or(workload.synthetic.write_size.as_ref());
    let bytes = match size {
        Some(SizeSpec::Fixed(size)) if workload.synthetic.read_size.is_none() => size.bytes,
        Some(SizeSpec::Fixed(size)) => {
            notes.push("MQSim's reads are as large as its writes.".to_owned());
            size.bytes
        }
        _ => {
            notes.push("MQSim has no such distribution of sizes: all requests have 4 KiB there.".to_owned());
            4096
        }
    };
    let sectors = bytes.div_ceil(SECTOR_BYTES);
    match &workload.synthetic.arrivals {
        Some(ArrivalSpec::Closed(closed)) => {
            tags.push(("Synthetic_Generator_Type", "QUEUE_DEPTH".to_owned()));
            tags.push(("Average_No_of_Reqs_in_Queue", closed.depth.to_string()));
            if closed.think.ns > 0 {
                notes.push("Think times are left out.".to_owned());
            }
        }
        arrivals => {
            let per_second = arrivals.as_ref().and_then(ArrivalSpec::mean_per_second).unwrap_or(1.0);
            if !matches!(arrivals, Some(ArrivalSpec::Poisson(_))) {
                notes.push("MQSim's gaps are exponential, with the same mean here.".to_owned());
            }
            tags.push(("Synthetic_Generator_Type", "BANDWIDTH".to_owned()));
            tags.push(("Bandwidth", format!("{:.0}", per_second * (sectors * SECTOR_BYTES) as f64)));
        }
    }
    let reads = workload.synthetic.read_fraction.map_or(0.0, |share| share.0) * 100.0;
    tags.push(("Read_Percentage", percent(reads, "the share of reads", notes)));
    let sequential = workload.synthetic.sequential_fraction.map_or(0.0, |share| share.0);
    if sequential > 0.0 && sequential < 1.0 {
        notes.push(format!("MQSim's flows are sequential or random: {}% sequential became random.", sequential * 100.0));
    }
    match &address.pattern {
        _ if sequential == 1.0 => tags.push(("Address_Distribution", "STREAMING".to_owned())),
        AddressDistribution::HotCold(hot) => {
            tags.push(("Address_Distribution", "RANDOM_HOTCOLD".to_owned()));
            let space = hot.space_share.0 * 100.0;
            tags.push(("Percentage_of_Hot_Region", percent(space, "the hot part of the space", notes)));
            if (hot.request_share.0 * 100.0 + space - 100.0).abs() > 1e-9 {
                notes.push(format!("In MQSim the hot {space}% of the space get {}% of the requests.", 100.0 - space));
            }
        }
        AddressDistribution::Uniform(_) => tags.push(("Address_Distribution", "RANDOM_UNIFORM".to_owned())),
        AddressDistribution::Zipf(_) => {
            notes.push("MQSim has no Zipf addresses: they are uniform there.".to_owned());
            tags.push(("Address_Distribution", "RANDOM_UNIFORM".to_owned()));
        }
    }
    tags.push(("Generated_Aligned_Addresses", "true".to_owned()));
    tags.push(("Address_Alignment_Unit", sectors.to_string()));
    tags.push(("Request_Size_Distribution", "FIXED".to_owned()));
    tags.push(("Average_Request_Size", sectors.to_string()));
    tags.push(("Variance_Request_Size", "0".to_owned()));
    tags.push(("Seed", "1".to_owned()));
    let limit = workload.limit.or(whole.limit);
    let requests = match limit {
        Some(RequestsOrTime::Requests(requests)) => Some(requests),
        _ => whole.requests,
    };
    let time = match limit {
        Some(RequestsOrTime::Time(time)) => Some(time),
        _ => whole.duration,
    };
    tags.push(("Stop_Time", time.map_or(0, |time| time.ns).to_string()));
    tags.push(("Total_Requests_To_Generate", requests.filter(|_| time.is_none()).unwrap_or(0).to_string()));
}

/// Returns a percentage as a whole number, because MQSim has no others. Adds a note if that changes it.
fn percent(percentage: f64, of: &str, notes: &mut Vec<String>) -> String {
    let rounded = percentage.round();
    if (rounded - percentage).abs() > 1e-9 {
        notes.push(format!("MQSim's percentages are whole numbers: {of} became {rounded}%."));
    }
    format!("{rounded:.0}")
}
