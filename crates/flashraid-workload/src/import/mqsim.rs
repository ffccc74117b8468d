//! MQSim's workload definitions (`workload.xml`): scenarios of synthetic flows and of flows from traces.

use super::{ImportError, Stream, quoted};

/// Number of bytes in the sectors by which MQSim counts request sizes.
const SECTOR_BYTES: f64 = 512.0;

/// An element of XML: its name, the line of its beginning, its own text, and its children.
#[derive(Debug, Default)]
struct Element {
    name: String,
    line: usize,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn get(&self, name: &str) -> Option<&str> {
        self.children.iter().find(|child| child.name == name).map(|child| child.text.trim())
    }

    fn number(&self, name: &str) -> Result<Option<f64>, ImportError> {
        let Some(child) = self.children.iter().find(|child| child.name == name) else { return Ok(None) };
        let number = child.text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        number
            .map(Some)
            .ok_or_else(|| refused(child.line, format!("{name} is \"{}\": a number of 0 or more is expected", child.text.trim())))
    }
}

fn refused(line: usize, reason: impl Into<String>) -> ImportError {
    ImportError::Line { line, reason: reason.into() }
}

/// Returns the streams of one scenario, and notes for the user.
pub fn streams(text: &str, part: Option<&str>) -> Result<(Vec<Stream>, Vec<String>), ImportError> {
    let root = parse(text)?;
    let scenarios: Vec<&Element> = root.children.iter().filter(|child| child.name == "IO_Scenario").collect();
    let scenario = match (scenarios.as_slice(), part) {
        ([], _) => {
            return Err(ImportError::Whole(format!(
                "there is no IO_Scenario in {}: MQSim's workloads have MQSim_IO_Scenarios with IO_Scenario",
                root.name
            )));
        }
        ([only], None) => only,
        (several, None) => {
            return Err(ImportError::Whole(format!(
                "there are {} scenarios: choose one with --part 1 to --part {}",
                several.len(),
                several.len()
            )));
        }
        (several, Some(part)) => {
            let index = part.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let chosen = index.and_then(|index| several.get(index));
            chosen.ok_or_else(|| ImportError::Whole(format!("--part {part}: scenarios are numbered from 1 to {}", several.len())))?
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
                return Err(refused(
                    flow.line,
                    format!("{other}: flows are IO_Flow_Parameter_Set_Synthetic and IO_Flow_Parameter_Set_Trace_Based"),
                ));
            }
        });
    }
    Ok((streams, notes))
}

fn synthetic(name: String, flow: &Element, notes: &mut Vec<String>) -> Result<Stream, ImportError> {
    let mut stream = Stream { name, ..Stream::default() };
    stream.set("kind", quoted("synthetic"));
    stream.set("read_fraction", format!("\"{}%\"", flow.number("Read_Percentage")?.unwrap_or(100.0).min(100.0)));
    let sectors = flow.number("Average_Request_Size")?.unwrap_or(8.0).max(1.0);
    let bytes = sectors * SECTOR_BYTES;
    match flow.get("Request_Size_Distribution").unwrap_or("FIXED") {
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
    match flow.get("Address_Distribution").unwrap_or("RANDOM_UNIFORM") {
        "RANDOM_UNIFORM" => {}
        "STREAMING" => sequential = "1.0",
        "RANDOM_HOTCOLD" => {
            // MQSim sends (100 − h) % of the requests to h % of the space.
            let hot = flow.number("Percentage_of_Hot_Region")?.unwrap_or(0.0).min(100.0);
            if hot > 0.0 {
                address.push(format!("pattern = \"hot-cold\", request_share = \"{}%\", space_share = \"{hot}%\"", 100.0 - hot));
            }
        }
        other => {
            return Err(refused(
                flow.line,
                format!("Address_Distribution {other}: RANDOM_UNIFORM, RANDOM_HOTCOLD, STREAMING can be taken over"),
            ));
        }
    }
    stream.set("sequential_fraction", sequential);
    match flow.get("Synthetic_Generator_Type").unwrap_or("QUEUE_DEPTH") {
        "QUEUE_DEPTH" => {
            let depth = flow.number("Average_No_of_Reqs_in_Queue")?.unwrap_or(1.0).max(1.0);
            stream.is_closed = true;
            stream.set("arrivals", format!("{{ process = \"closed\", depth = {depth:.0} }}"));
        }
        "BANDWIDTH" => {
            let bandwidth = flow.number("Bandwidth")?.filter(|bandwidth| *bandwidth > 0.0);
            let bandwidth = bandwidth.ok_or_else(|| refused(flow.line, "BANDWIDTH needs a Bandwidth above 0, in bytes per second"))?;
            stream.set("arrivals", format!("{{ process = \"poisson\", mean_gap = \"{:.0}ns\" }}", (bytes / bandwidth * 1e9).max(1.0)));
        }
        other => return Err(refused(flow.line, format!("Synthetic_Generator_Type {other}: QUEUE_DEPTH and BANDWIDTH can be taken over"))),
    }
    if let Some(share) = flow.number("Working_Set_Percentage")?.filter(|share| *share > 0.0 && *share < 100.0) {
        address.push(format!("footprint = \"{share}%\""));
    }
    if flow.get("Generated_Aligned_Addresses") == Some("true")
        && let Some(sectors) = flow.number("Address_Alignment_Unit")?.filter(|sectors| *sectors >= 1.0)
    {
        address.push(format!("align = \"{:.0}B\"", sectors * SECTOR_BYTES));
    }
    if !address.is_empty() {
        stream.set("address", format!("{{ {} }}", address.join(", ")));
    }
    if flow.get("Priority_Class").is_some_and(|class| class == "URGENT") {
        stream.set("high_priority_fraction", "1.0");
    }
    let requests = flow.number("Total_Requests_To_Generate")?.filter(|requests| *requests >= 1.0);
    let stop_ns = flow.number("Stop_Time")?.filter(|ns| *ns >= 1.0);
    match (requests, stop_ns) {
        (Some(requests), _) => stream.set("limit", format!("{requests:.0}")),
        (None, Some(ns)) => stream.set("limit", format!("\"{ns:.0}ns\"")),
        (None, None) => {}
    }
    if let Some(occupied) = flow.number("Initial_Occupancy_Percentage")? {
        notes.push(format!("Initial_Occupancy_Percentage {occupied} is left out: ssd.warm_up says in which state the SSDs begin"));
    }
    Ok(stream)
}

fn trace(name: String, flow: &Element, notes: &mut Vec<String>) -> Result<Stream, ImportError> {
    let mut stream = Stream { name, ..Stream::default() };
    let path = flow.get("File_Path").filter(|path| !path.is_empty());
    let path = path.ok_or_else(|| refused(flow.line, "a flow from a trace needs a File_Path"))?;
    stream.set("kind", quoted("trace"));
    stream.set("path", quoted(path));
    stream.set("format", quoted("mqsim"));
    let unit = match flow.get("Time_Unit").unwrap_or("NANOSECOND") {
        "NANOSECOND" => "ns",
        "MICROSECOND" => "us",
        "PICOSECOND" => return Err(refused(flow.line, "Time_Unit PICOSECOND: ns and us can be taken over")),
        other => return Err(refused(flow.line, format!("Time_Unit {other}: NANOSECOND and MICROSECOND can be taken over"))),
    };
    stream.set("time_unit", quoted(unit));
    stream.set("address_fit", quoted("wrap"));
    for (key, usual) in [("Percentage_To_Be_Executed", "100"), ("Relay_Count", "1")] {
        if let Some(value) = flow.get(key).filter(|value| *value != usual) {
            notes.push(format!("{key} {value} is left out: workload.limit ends a trace early, and it is read once"));
        }
    }
    Ok(stream)
}

/// Reads elements without attributes, which is all that MQSim writes. Declarations and comments are skipped.
fn parse(text: &str) -> Result<Element, ImportError> {
    let line_of = |at: usize| text[..at].matches('\n').count() + 1;
    let mut open = vec![Element::default()];
    let mut at = 0;
    while let Some(begin) = text[at..].find('<').map(|found| at + found) {
        open.last_mut().expect("the document itself is never closed").text += &text[at..begin];
        let rest = &text[begin..];
        let end_of = |end: &str| {
            rest.find(end)
                .map(|found| begin + found + end.len())
                .ok_or_else(|| refused(line_of(begin), format!("what begins here has no {end}")))
        };
        if rest.starts_with("<!--") {
            at = end_of("-->")?;
            continue;
        }
        at = end_of(">")?;
        let tag = text[begin + 1..at - 1].trim();
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().expect("the document itself is never closed");
            let Some(parent) = open.last_mut().filter(|_| closed.name == name.trim()) else {
                return Err(refused(line_of(begin), format!("</{}> closes nothing: <{}> is open", name.trim(), closed.name)));
            };
            parent.children.push(closed);
            continue;
        }
        let (name, is_empty) = tag.strip_suffix('/').map_or((tag, false), |name| (name, true));
        let name = name.split_whitespace().next().unwrap_or_default().to_owned();
        let element = Element { name, line: line_of(begin), ..Element::default() };
        match is_empty {
            true => open.last_mut().expect("the document itself is never closed").children.push(element),
            false => open.push(element),
        }
        if open.len() > 64 {
            return Err(refused(line_of(begin), "more than 64 elements lie in each other: MQSim's workloads have four"));
        }
    }
    match (open.pop(), open.len()) {
        (Some(mut document), 0) if document.children.len() == 1 => Ok(document.children.remove(0)),
        (Some(last), 1..) => Err(refused(last.line, format!("<{}> is never closed", last.name))),
        _ => Err(ImportError::Whole("there is not one element around everything, such as MQSim_IO_Scenarios".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::import;

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
            import(&document(&[FLOW]), None).unwrap().toml,
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
        let imported = import(&document(&[&format!("{bandwidth}{trace}")]), None).unwrap();
        assert!(
            imported.toml.contains("mean_gap = \"1000000ns\"") && imported.toml.contains("path = \"traces/tpcc.trace\""),
            "{}",
            imported.toml
        );
    }

    #[test]
    fn mistakes_have_their_line() {
        let reason = |text: &str, part| import(text, part).unwrap_err().to_string();
        assert!(reason(&document(&[FLOW, FLOW]), None).contains("--part 1 to --part 2"));
        assert!(reason(&document(&[FLOW, FLOW]), Some("3")).contains("from 1 to 2"));
        assert!(reason(&document(&[&FLOW.replace(">70<", ">x<")]), None).contains("Read_Percentage is \"x\""));
        assert!(reason("<a>\n<b>\n</a>", None).contains("line 3: </a> closes nothing"));
        assert!(reason("<a>\n<b>", None).contains("never closed"));
        assert!(reason(&"<a>".repeat(100), None).contains("more than 64"));
    }
}
