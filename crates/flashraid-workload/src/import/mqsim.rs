//! Import of MQSim's workload definitions (`workload.xml`): scenarios of synthetic flows and of flows from traces.

use super::xml::{Element, parse_xml, refused_at_line};
use super::{ImportError, Stream, quoted};

/// Number of bytes in the sectors by which MQSim counts request sizes.
const SECTOR_BYTES: f64 = 512.0;

/// Tags of every flow. The flag is true if the tag has no counterpart in a workload, so that a note must mention it.
const OF_FLOWS: &[(&str, bool)] = &[
    ("Priority_Class", false),
    ("Device_Level_Data_Caching_Mode", true),
    ("Channel_IDs", true),
    ("Chip_IDs", true),
    ("Die_IDs", true),
    ("Plane_IDs", true),
    ("Initial_Occupancy_Percentage", false),
];

/// Tags of generated flows.
const OF_SYNTHETIC: &[(&str, bool)] = &[
    ("Working_Set_Percentage", false),
    ("Synthetic_Generator_Type", false),
    ("Read_Percentage", false),
    ("Address_Distribution", false),
    ("Percentage_of_Hot_Region", false),
    ("Generated_Aligned_Addresses", false),
    ("Address_Alignment_Unit", false),
    ("Request_Size_Distribution", false),
    ("Average_Request_Size", false),
    ("Variance_Request_Size", true),
    ("Seed", true),
    ("Average_No_of_Reqs_in_Queue", false),
    ("Bandwidth", false),
    // Written into MQSim's own files, and read by nothing.
    ("Intensity", true),
    ("Stop_Time", false),
    ("Total_Requests_To_Generate", false),
];

/// Tags of flows from traces.
const OF_TRACES: &[(&str, bool)] =
    &[("File_Path", false), ("Time_Unit", false), ("Percentage_To_Be_Executed", false), ("Relay_Count", false)];

/// Checks the tags of a flow: refuses unknown tags, and adds notes about those without a counterpart.
fn known(flow: &Element, own: &[(&str, bool)], notes: &mut Vec<String>) -> Result<(), ImportError> {
    let mut without = Vec::new();
    for child in &flow.children {
        match own.iter().chain(OF_FLOWS).find(|(name, _)| *name == child.name) {
            None => {
                let names: Vec<&str> = own.iter().chain(OF_FLOWS).map(|(name, _)| *name).collect();
                return Err(refused_at_line(child.line, format!("<{}> is no tag of a flow; there are {}", child.name, names.join(", "))));
            }
            Some((name, true)) => without.push(*name),
            Some(_) => {}
        }
    }
    if !without.is_empty() {
        notes.push(format!("left out, because a workload has no counterpart: {}", without.join(", ")));
    }
    Ok(())
}

/// Reads a child element that holds a number of at least 0.
fn number(element: &Element, name: &str) -> Result<Option<f64>, ImportError> {
    let Some(child) = element.children.iter().find(|child| child.name == name) else { return Ok(None) };
    let number = child.text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.map(Some).ok_or_else(|| refused_at_line(child.line, format!("{name} is \"{}\": a number of 0 or more is expected", child.text)))
}

/// Returns the streams of one scenario, and notes for the user.
pub(super) fn streams(text: &str, part: Option<&str>) -> Result<(Vec<Stream>, Vec<String>), ImportError> {
    let root = parse_xml(text)?;
    let scenarios: Vec<&Element> = root.children.iter().filter(|child| child.name == "IO_Scenario").collect();
    let scenario = match (scenarios.as_slice(), part) {
        ([], _) => {
            return Err(ImportError::WholeFile(format!(
                "there is no IO_Scenario in {}: MQSim's workloads have MQSim_IO_Scenarios with IO_Scenario",
                root.name
            )));
        }
        ([only], None) => only,
        (several, None) => {
            return Err(ImportError::WholeFile(format!(
                "there are {} scenarios: choose one with --part 1 to --part {}",
                several.len(),
                several.len()
            )));
        }
        (several, Some(part)) => {
            let index = part.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let chosen = index.and_then(|index| several.get(index));
            chosen.ok_or_else(|| ImportError::WholeFile(format!("--part {part}: scenarios are numbered from 1 to {}", several.len())))?
        }
    };
    let mut notes = Vec::new();
    let mut streams = Vec::new();
    for (index, flow) in scenario.children.iter().enumerate() {
        let name = format!("flow {}", index + 1);
        streams.push(match flow.name.as_str() {
            "IO_Flow_Parameter_Set_Synthetic" => synthetic(name, flow, &mut notes)?,
            "IO_Flow_Parameter_Set_Trace_Based" => trace(name, flow, &mut notes)?,
            other => {
                return Err(refused_at_line(
                    flow.line,
                    format!("{other}: flows are IO_Flow_Parameter_Set_Synthetic and IO_Flow_Parameter_Set_Trace_Based"),
                ));
            }
        });
    }
    Ok((streams, notes))
}

fn synthetic(name: String, flow: &Element, notes: &mut Vec<String>) -> Result<Stream, ImportError> {
    known(flow, OF_SYNTHETIC, notes)?;
    let mut stream = Stream { name, ..Stream::default() };
    stream.set("kind", quoted("synthetic"));
    stream.set("read_fraction", format!("\"{}%\"", number(flow, "Read_Percentage")?.unwrap_or(100.0).min(100.0)));
    let sectors = number(flow, "Average_Request_Size")?.unwrap_or(8.0).max(1.0);
    let bytes = sectors * SECTOR_BYTES;
    match flow.child_text("Request_Size_Distribution").unwrap_or("FIXED") {
        "FIXED" => stream.set("size", format!("{bytes:.0}")),
        other => {
            notes.push(format!(
                "Request_Size_Distribution {other} of {}: sizes are those of an exponential distribution of the same mean",
                stream.name
            ));
            stream.set("size", format!("{{ distribution = \"exponential\", mean = \"{bytes:.0}B\", grain = \"sector\" }}"));
        }
    }
    let mut address = Vec::new();
    let mut sequential = "0.0";
    match flow.child_text("Address_Distribution").unwrap_or("RANDOM_UNIFORM") {
        "RANDOM_UNIFORM" => {}
        "STREAMING" => sequential = "1.0",
        "RANDOM_HOTCOLD" => {
            // MQSim sends (100 − h) % of the requests to h % of the space.
            let hot = number(flow, "Percentage_of_Hot_Region")?.unwrap_or(0.0).min(100.0);
            if hot > 0.0 {
                address.push(format!("pattern = \"hot-cold\", request_share = \"{}%\", space_share = \"{hot}%\"", 100.0 - hot));
            }
        }
        other => {
            return Err(refused_at_line(
                flow.line,
                format!("Address_Distribution {other}: RANDOM_UNIFORM, RANDOM_HOTCOLD, STREAMING can be taken over"),
            ));
        }
    }
    stream.set("sequential_fraction", sequential);
    match flow.child_text("Synthetic_Generator_Type").unwrap_or("QUEUE_DEPTH") {
        "QUEUE_DEPTH" => {
            let depth = number(flow, "Average_No_of_Reqs_in_Queue")?.unwrap_or(1.0).max(1.0);
            stream.is_closed = true;
            stream.set("arrivals", format!("{{ process = \"closed\", depth = {depth:.0} }}"));
        }
        "BANDWIDTH" => {
            let bandwidth = number(flow, "Bandwidth")?.filter(|bandwidth| *bandwidth > 0.0);
            let bandwidth =
                bandwidth.ok_or_else(|| refused_at_line(flow.line, "BANDWIDTH needs a Bandwidth above 0, in bytes per second"))?;
            stream.set("arrivals", format!("{{ process = \"poisson\", mean_gap = \"{:.0}ns\" }}", (bytes / bandwidth * 1e9).max(1.0)));
        }
        other => {
            return Err(refused_at_line(
                flow.line,
                format!("Synthetic_Generator_Type {other}: QUEUE_DEPTH and BANDWIDTH can be taken over"),
            ));
        }
    }
    if let Some(share) = number(flow, "Working_Set_Percentage")?.filter(|share| *share > 0.0 && *share < 100.0) {
        address.push(format!("footprint = \"{share}%\""));
    }
    if flow.child_text("Generated_Aligned_Addresses") == Some("true")
        && let Some(sectors) = number(flow, "Address_Alignment_Unit")?.filter(|sectors| *sectors >= 1.0)
    {
        address.push(format!("align = \"{:.0}B\"", sectors * SECTOR_BYTES));
    }
    if !address.is_empty() {
        stream.set("address", format!("{{ {} }}", address.join(", ")));
    }
    if flow.child_text("Priority_Class").is_some_and(|class| class == "URGENT") {
        stream.set("high_priority_fraction", "1.0");
    }
    let requests = number(flow, "Total_Requests_To_Generate")?.filter(|requests| *requests >= 1.0);
    let stop_ns = number(flow, "Stop_Time")?.filter(|ns| *ns >= 1.0);
    match (requests, stop_ns) {
        (Some(requests), _) => stream.set("limit", format!("{requests:.0}")),
        (None, Some(ns)) => stream.set("limit", format!("\"{ns:.0}ns\"")),
        (None, None) => {}
    }
    if let Some(occupied) = number(flow, "Initial_Occupancy_Percentage")? {
        notes.push(format!("Initial_Occupancy_Percentage {occupied} is left out: ssd.warm_up says in which state the SSDs begin"));
    }
    Ok(stream)
}

fn trace(name: String, flow: &Element, notes: &mut Vec<String>) -> Result<Stream, ImportError> {
    known(flow, OF_TRACES, notes)?;
    let mut stream = Stream { name, ..Stream::default() };
    let path = flow.child_text("File_Path").filter(|path| !path.is_empty());
    let path = path.ok_or_else(|| refused_at_line(flow.line, "a flow from a trace needs a File_Path"))?;
    stream.set("kind", quoted("trace"));
    stream.set("path", quoted(path));
    stream.set("format", quoted("mqsim"));
    let unit = match flow.child_text("Time_Unit").unwrap_or("NANOSECOND") {
        "NANOSECOND" => "ns",
        "MICROSECOND" => "us",
        "PICOSECOND" => return Err(refused_at_line(flow.line, "Time_Unit PICOSECOND: ns and us can be taken over")),
        other => return Err(refused_at_line(flow.line, format!("Time_Unit {other}: NANOSECOND and MICROSECOND can be taken over"))),
    };
    stream.set("time_unit", quoted(unit));
    stream.set("address_fit", quoted("wrap"));
    for (key, usual) in [("Percentage_To_Be_Executed", "100"), ("Relay_Count", "1")] {
        if let Some(value) = flow.child_text(key).filter(|value| *value != usual) {
            notes.push(format!("{key} {value} is left out: workload.limit ends a trace early, and it is read once"));
        }
    }
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::super::import_fio_or_mqsim;

    const FLOW: &str = "<IO_Flow_Parameter_Set_Synthetic><Priority_Class>HIGH</Priority_Class><Working_Set_Percentage>85</Working_Set_Percentage>
        <Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type><Read_Percentage>70</Read_Percentage><Address_Distribution>RANDOM_HOTCOLD</Address_Distribution>
        <Percentage_of_Hot_Region>20</Percentage_of_Hot_Region><Average_Request_Size>8</Average_Request_Size><Average_No_of_Reqs_in_Queue>16</Average_No_of_Reqs_in_Queue>
        <Stop_Time>10000000000</Stop_Time></IO_Flow_Parameter_Set_Synthetic>";

    fn document(scenarios: &[&str]) -> String {
        let scenarios: String = scenarios.iter().map(|flows| format!("<IO_Scenario>{flows}</IO_Scenario>\n")).collect();
        format!("<?xml version=\"1.0\"?>\n<!-- <IO_Scenario> -->\n<MQSim_IO_Scenarios>{scenarios}</MQSim_IO_Scenarios>\n")
    }

    #[test]
    fn a_queue_depth_is_a_closed_loop() {
        assert_eq!(
            import_fio_or_mqsim(&document(&[FLOW]), None).unwrap().toml,
            "[workload]\nkind = \"synthetic\"\nread_fraction = \"70%\"\nsize = 4096\nsequential_fraction = 0.0\narrivals = { process = \"closed\", depth = 16 }\n\
             address = { pattern = \"hot-cold\", request_share = \"80%\", space_share = \"20%\", footprint = \"85%\" }\nlimit = \"10000000000ns\"\n"
        );
    }

    #[test]
    fn bandwidths_and_traces_are_a_mix() {
        let bandwidth = FLOW
            .replace("QUEUE_DEPTH", "BANDWIDTH")
            .replace("<Average_No_of_Reqs_in_Queue>16</Average_No_of_Reqs_in_Queue>", "<Bandwidth>4096000</Bandwidth>");
        let trace = "<IO_Flow_Parameter_Set_Trace_Based><File_Path>traces/tpcc.trace</File_Path><Time_Unit>NANOSECOND</Time_Unit></IO_Flow_Parameter_Set_Trace_Based>";
        let imported = import_fio_or_mqsim(&document(&[&format!("{bandwidth}{trace}")]), None).unwrap();
        assert!(
            imported.toml.contains("mean_gap = \"1000000ns\"") && imported.toml.contains("path = \"traces/tpcc.trace\""),
            "{}",
            imported.toml
        );
    }

    #[test]
    fn mistakes_have_their_line() {
        let reason = |text: &str, part| import_fio_or_mqsim(text, part).unwrap_err().to_string();
        assert!(reason(&document(&[FLOW, FLOW]), None).contains("--part 1 to --part 2"));
        assert!(reason(&document(&[FLOW, FLOW]), Some("3")).contains("from 1 to 2"));
        assert!(
            reason(&document(&[&FLOW.replace("Stop_Time", "Stop")]), None).contains("<Stop> is no tag of a flow; there are Working_Set")
        );
        assert!(reason(&document(&[&FLOW.replace(">70<", ">x<")]), None).contains("Read_Percentage is \"x\""));
    }
}
