//! Conversion of MQSim's device file to a configuration.

use std::fmt::Write as _;

use flashraid_workload::import::xml::{Element, refused_at_line};
use flashraid_workload::import::{ImportError, ImportedWorkload};
use flashraid_workload::units::{ByteRate, Duration, Size, TimePerByte};

use super::tags::{FOURTH_LATENCY, Meaning, REFUSED, Section, TAGS, Tag};
use super::{COLLECTS_BELOW_AT_LEAST, kind_of_page, picoseconds_per_byte};
use crate::config;

/// Names of the outermost element in MQSim, and in a program derived from it.
const ROOTS: [&str; 2] = ["Execution_Parameter_Set", "ExecParameterSet"];

/// Returns true if the document describes a device rather than a workload.
pub fn is_device_file(root: &Element) -> bool {
    ROOTS.contains(&root.name.as_str())
}

/// Imports a device file of the simulator MQSim. Returns a flashraid configuration (TOML) of the SSD that the file describes, and notes
/// for the user. `root` is the outermost element of the file, which is XML.
///
/// # Errors
///
/// Returns an error if an XML tag is unknown or appears twice, or if a value is out of range. Returns an error, too, if flashraid cannot
/// simulate the device.
pub fn import_drive_configuration(root: &Element) -> Result<ImportedWorkload, ImportError> {
    let tags = Tags::read(root)?;
    let mut notes = Vec::new();
    let toml = device(&tags, &mut notes)?;
    notes.extend(tags.listed());
    let comments: String = notes.iter().map(|note| format!("# {note}\n")).collect();
    tags.check(&toml)?;
    Ok(ImportedWorkload { toml: format!("{comments}{toml}"), notes })
}

/// Contents of the file: a value and its line number for each tag, in the order of [`TAGS`].
struct Tags<'a> {
    found: Vec<Option<(&'a str, usize)>>,
}

impl<'a> Tags<'a> {
    fn read(root: &'a Element) -> Result<Self, ImportError> {
        let mut tags = Self { found: vec![None; TAGS.len()] };
        tags.read_section(root, None)?;
        Ok(tags)
    }

    fn read_section(&mut self, element: &'a Element, section: Option<Section>) -> Result<(), ImportError> {
        let inner: &[Section] = match section {
            None => &[Section::Host, Section::Device],
            Some(Section::Device) => &[Section::Flash],
            Some(_) => &[],
        };
        for child in &element.children {
            if let Some(inner) = inner.iter().find(|inner| inner.names().contains(&child.name.as_str())) {
                self.read_section(child, Some(*inner))?;
                continue;
            }
            let Some(number) = TAGS.iter().position(|tag| Some(tag.section) == section && tag.is_called(&child.name)) else {
                return Err(unknown(child, section, inner));
            };
            self.take(number, child)?;
        }
        Ok(())
    }

    fn take(&mut self, number: usize, child: &'a Element) -> Result<(), ImportError> {
        let tag = &TAGS[number];
        let name = &child.name;
        if let Some((_, before)) = self.found[number] {
            return Err(refused_at_line(child.line, format!("<{name}> is there twice, for the first time in line {before}")));
        }
        let word = child.text.to_ascii_uppercase();
        if let Some((.., reason)) = REFUSED.iter().find(|(of, refused, _)| *of == tag.name && *refused == word) {
            return Err(refused_at_line(child.line, format!("<{name}> is {word}, but {reason}; {} are allowed", tag.allowed.text())));
        }
        if !tag.allowed.fits(&child.text) {
            return Err(refused_at_line(child.line, format!("<{name}> is \"{}\", but {} is allowed", child.text, tag.allowed.text())));
        }
        self.found[number] = Some((&child.text, child.line));
        Ok(())
    }

    /// Returns the value of a tag and its line number. If the tag is missing, returns the value that MQSim assumes.
    fn get(&self, name: &str) -> (&'a str, usize) {
        let number = TAGS.iter().position(|tag| tag.name == name).expect("the tag is in the list");
        self.found[number].unwrap_or((TAGS[number].default_value, 1))
    }

    fn whole(&self, name: &str) -> u64 {
        self.get(name).0.parse().expect("the list allows whole numbers only")
    }

    fn decimal(&self, name: &str) -> f64 {
        self.get(name).0.parse().expect("the list allows numbers only")
    }

    fn flag(&self, name: &str) -> bool {
        self.get(name).0.eq_ignore_ascii_case("true")
    }

    fn word(&self, name: &str) -> String {
        self.get(name).0.to_ascii_uppercase()
    }

    /// Refuses a fourth latency of a device whose cells do not hold four bits.
    fn refuse_latencies_without_use(&self) -> Result<(), ImportError> {
        let technology = self.word("Flash_Technology");
        let fourth = TAGS.iter().zip(&self.found).find(|(tag, found)| tag.name.ends_with(FOURTH_LATENCY) && found.is_some());
        match fourth {
            Some((tag, Some((_, line)))) if technology != "QLC" => Err(refused_at_line(
                *line,
                format!("<{}> is the latency of a fourth kind of page, but <Flash_Technology> is {technology}; set it to QLC", tag.name),
            )),
            _ => Ok(()),
        }
    }

    /// Returns descriptions of all tags that were used, ignored or missing.
    fn listed(&self) -> Vec<String> {
        let here = |tag: &&Tag| self.found[TAGS.iter().position(|other| other.name == tag.name).expect("one of them")].is_some();
        let names = |tags: Vec<&Tag>| tags.into_iter().map(|tag| tag.name).collect::<Vec<_>>().join(", ");
        let has_four_bits = self.word("Flash_Technology") == "QLC";
        let mut lines = Vec::new();
        let read = TAGS.iter().filter(here).filter(|tag| matches!(tag.meaning, Meaning::Key(_)));
        lines.push(format!("read: {}", names(read.collect())));
        let mut reasons: Vec<&str> = Vec::new();
        for tag in TAGS.iter().filter(here) {
            if let Meaning::Ignored(reason) = tag.meaning
                && !reasons.contains(&reason)
            {
                reasons.push(reason);
            }
        }
        for reason in reasons {
            let ignored = TAGS.iter().filter(here).filter(|tag| tag.meaning == Meaning::Ignored(reason));
            lines.push(format!("ignored, because {reason}: {}", names(ignored.collect())));
        }
        let missing: Vec<String> = TAGS
            .iter()
            .filter(|tag| !here(tag) && matches!(tag.meaning, Meaning::Key(_)) && (has_four_bits || !tag.name.ends_with(FOURTH_LATENCY)))
            .map(|tag| format!("{} = {}", tag.name, tag.default_value))
            .collect();
        if !missing.is_empty() {
            lines.push(format!("not there, so that MQSim's own defaults hold: {}", missing.join(", ")));
        }
        lines
    }

    /// Refuses values that the configuration would refuse, and names the line of their tag.
    fn check(&self, toml: &str) -> Result<(), ImportError> {
        let Err(problems) = config::scenario_from_toml("ssdconfig.xml", toml, &[], None) else { return Ok(()) };
        let Some(problem) = problems.list.first() else { return Ok(()) };
        let lines = TAGS.iter().zip(&self.found).filter(|(tag, _)| matches!(tag.meaning, Meaning::Key(key) if key == problem.key));
        let line = lines.filter_map(|(_, found)| *found).map(|(_, line)| line).next();
        let reason = format!("flashraid cannot simulate such a device: {}", problem.message);
        Err(match line {
            Some(line) => refused_at_line(line, reason),
            None => ImportError::WholeFile(reason),
        })
    }
}

fn unknown(child: &Element, section: Option<Section>, inner: &[Section]) -> ImportError {
    let tables = inner.iter().map(|inner| inner.names()[0]);
    let own = TAGS.iter().filter(|tag| Some(tag.section) == section).map(|tag| tag.name);
    let names: Vec<&str> = own.chain(tables).collect();
    let near = names.iter().map(|name| (strsim::jaro_winkler(name, &child.name), *name)).max_by(|one, other| one.0.total_cmp(&other.0));
    let help = match near {
        Some((likeness, name)) if likeness > 0.85 => format!("did you mean {name}?"),
        _ => format!("there are {}", names.join(", ")),
    };
    refused_at_line(child.line, format!("<{}> is no tag of MQSim here; {help}", child.name))
}

/// Returns the configuration of the device. Adds a note for each difference from MQSim.
fn device(tags: &Tags<'_>, notes: &mut Vec<String>) -> Result<String, ImportError> {
    tags.refuse_latencies_without_use()?;
    let channels = tags.whole("Flash_Channel_Count");
    let chips = tags.whole("Chip_No_Per_Channel");
    let (dies_per_chip, planes_per_die) = (tags.whole("Die_No_Per_Chip"), tags.whole("Plane_No_Per_Die"));
    let (dies, planes) = (channels * chips, dies_per_chip * planes_per_die);
    if dies > 65_536 {
        let line = tags.get("Chip_No_Per_Channel").1;
        return Err(refused_at_line(line, format!("{channels} channels of {chips} chips are {dies} dies, but 65536 are allowed")));
    }
    if planes > 1024 {
        let line = tags.get("Plane_No_Per_Die").1;
        return Err(refused_at_line(
            line,
            format!("{dies_per_chip} dies of {planes_per_die} planes are {planes} planes a chip, but 1024 are allowed"),
        ));
    }
    if dies_per_chip > 1 {
        notes.push(format!("chips become dies: in MQSim the {dies_per_chip} dies of a chip never work at the same time"));
    }
    if planes > 1 {
        notes.push(
            "planes take turns: in MQSim a page has a fixed plane by its address, and planes work together where commands of equal pages wait"
                .to_owned(),
        );
    }
    let blocks = tags.whole("Block_No_Per_Plane");
    let page_bytes = tags.whole("Page_Capacity");
    if !page_bytes.is_multiple_of(512) {
        return Err(refused_at_line(
            tags.get("Page_Capacity").1,
            format!("<Page_Capacity> is {page_bytes}, but a multiple of 512 is allowed"),
        ));
    }
    notes.push("MQSim keeps three open blocks in each plane for each flow: for writes, for moved pages, and for its map".to_owned());
    if tags.word("HostInterface_Type") == "SATA" {
        notes.push("the SATA interface is taken for its PCIe link alone".to_owned());
    }
    if tags.flag("Enabled_Preconditioning") {
        notes.push(
            "preconditioning is left out: without another ssd.warm_up the drive is filled and overwritten twice at random".to_owned(),
        );
    }

    let mut text = "[array]\nlevel = \"single\"\n\n".to_owned();
    let mut line = |args: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{args}");
    };
    let rate = tags.whole("Channel_Transfer_Rate");
    let width = tags.whole("Flash_Channel_Width");
    let byte_ps = picoseconds_per_byte(rate, width);
    let (stride, order) = layout(tags, dies_per_chip, planes_per_die, notes);
    let link = (tags.decimal("PCIe_Lane_Bandwidth") * tags.whole("PCIe_Lane_Count") as f64 * 1e9).round().max(1.0);
    line(format_args!("[ssd]"));
    line(format_args!("transfer = \"{}\"", if byte_ps == 0 { "none" } else { "channel" }));
    line(format_args!("link = {{ rate = \"{}\", duplex = \"full\" }}", ByteRate { bytes_per_s: link as u64 }));
    line(format_args!("allocation = \"static\""));
    line(format_args!("die_stride = {stride}"));
    line(format_args!("plane_choice = \"rotate\""));
    line(format_args!("summary_page = false"));
    line(format_args!("fill_seals_last_block = true"));
    line(format_args!("endurance = {}", tags.whole("Block_PE_Cycles_Limit")));
    line(format_args!("\n[ssd.geometry]"));
    line(format_args!("dies = {dies}\nplanes = {planes}\nblocks = {blocks}\npages = {}", tags.whole("Page_No_Per_Block")));
    line(format_args!("page_size = \"{}\"", Size { bytes: page_bytes }));
    line(format_args!("reserved = {}", tags.decimal("Overprovisioning_Ratio")));
    if byte_ps > 0 {
        line(format_args!("\n[ssd.channel]\ndies_per_channel = {chips}\norder = \"{order}\""));
    }
    let exact_ps = 1e6 / (rate as f64 * width as f64);
    if (byte_ps as f64 - exact_ps).abs() > 1e-9 * exact_ps {
        notes.push(format!(
            "MQSim rounds times on the channel down: {rate} MT/s of {width} bytes are {exact_ps:.1} ps a byte, and {byte_ps} ps here as there"
        ));
    }
    line(format_args!("\n[ssd.timing]"));
    line(format_args!("page_read = \"{}\"", latency(tags, "Page_Read_Latency", notes)));
    line(format_args!("page_program = \"{}\"", latency(tags, "Page_Program_Latency", notes)));
    line(format_args!("block_erase = \"{}\"", Duration { ns: tags.whole("Block_Erase_Latency") }));
    line(format_args!("transfer_per_byte = \"{}\"", TimePerByte { picoseconds: byte_ps }));
    line(format_args!("spare_bytes_per_sector = 0\ncommand_overhead = \"0ns\""));

    let of_blocks = |share: f64| (share * blocks as f64) as u32;
    let below = of_blocks(tags.decimal("GC_Exec_Threshold")).max(COLLECTS_BELOW_AT_LEAST);
    if of_blocks(tags.decimal("GC_Exec_Threshold")) < COLLECTS_BELOW_AT_LEAST {
        notes.push(format!("MQSim collects below {COLLECTS_BELOW_AT_LEAST} free blocks whatever GC_Exec_Threshold says"));
    }
    let start = below - 1;
    line(format_args!("\n[ssd.gc]"));
    line(format_args!("victim = {}", victim(tags, blocks)));
    line(format_args!("start = \"{start} blocks\"\nstop = \"start+1\"\ntrigger = \"write\"\npool = \"plane\"\nblocking = \"die\""));
    line(format_args!("separate_open_block = true\ncopy_back = {}", tags.flag("Use_Copyback_for_GC")));
    if tags.flag("Preemptible_GC_Enabled") {
        let hard = of_blocks(tags.decimal("GC_Hard_Threshold")).max(1);
        line(format_args!("preemption = \"semi\"\npoll = \"0ns\"\nt_hard = {}", (f64::from(hard) / f64::from(start)).min(1.0)));
    } else {
        line(format_args!("preemption = \"none\""));
    }
    Ok(text)
}

/// Returns the number of consecutive pages on a die, and the order in which dies are numbered over channels.
fn layout(tags: &Tags<'_>, dies_per_chip: u64, planes_per_die: u64, notes: &mut Vec<String>) -> (u64, &'static str) {
    let scheme = tags.word("Plane_Allocation_Scheme");
    let at = |letter: char| scheme.find(letter).expect("every scheme has the four letters");
    let order = if at('C') < at('W') { "interleaved" } else { "consecutive" };
    let first = at('C').min(at('W'));
    let stride =
        [('D', dies_per_chip), ('P', planes_per_die)].into_iter().filter(|(letter, _)| at(*letter) < first).map(|(_, count)| count);
    let last = at('C').max(at('W'));
    let between =
        [('D', dies_per_chip), ('P', planes_per_die)].into_iter().any(|(letter, count)| (first..last).contains(&at(letter)) && count > 1);
    if between {
        notes.push(format!("{scheme} goes over dies or planes between channels and chips; here it goes over them after both"));
    }
    (stride.product(), order)
}

/// Returns a latency that depends on the type of page, as the mean over a block.
fn latency(tags: &Tags<'_>, name: &str, notes: &mut Vec<String>) -> Duration {
    let of_kind = ["LSB", "CSB", "MSB", "TSB"].map(|kind| tags.whole(&format!("{name}_{kind}")));
    let bits = match tags.word("Flash_Technology").as_str() {
        "SLC" => 1,
        "MLC" => 2,
        "TLC" => 3,
        _ => 4,
    };
    let pages = tags.whole("Page_No_Per_Block") as u32;
    let of_pages: Vec<u64> = (0..pages).map(|page| of_kind[kind_of_page(bits, page)]).collect();
    let mean = (of_pages.iter().map(|&ns| u128::from(ns)).sum::<u128>() + u128::from(pages) / 2) / u128::from(pages);
    let mean = Duration { ns: mean as u64 };
    if of_pages.iter().any(|ns| *ns != of_pages[0]) {
        notes.push(format!("all pages of a block take the mean of {name}, {mean}, by MQSim's rule for kinds of pages"));
    }
    mean
}

fn victim(tags: &Tags<'_>, blocks: u64) -> String {
    match tags.word("GC_Block_Selection_Policy").as_str() {
        "GREEDY" => "\"greedy\"".to_owned(),
        "FIFO" => "\"fifo\"".to_owned(),
        "RANDOM_P" => "\"random\"".to_owned(),
        // MQSim draws the logarithm of the number of blocks.
        _ => format!("{{ policy = \"d-choices\", d = {} }}", blocks.ilog2()),
    }
}
