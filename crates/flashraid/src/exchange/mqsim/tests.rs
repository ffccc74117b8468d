//! Devices and workloads of MQSim, there and back.

use super::export::export_mqsim;
use super::tags::{Meaning, REFUSED, TAGS};
use super::{kind_of_page, picoseconds_per_byte};
use crate::config::{self, Scenario, all_presets};
use crate::exchange;
use flashraid_workload::import::JobFileSurroundings;

/// A small TLC drive of our own with every kind of tag.
const DRIVE: &str = r#"<?xml version="1.0" encoding="us-ascii"?>
<Execution_Parameter_Set>
    <Host_Parameter_Set>
        <PCIe_Lane_Bandwidth>0.5</PCIe_Lane_Bandwidth>
        <PCIe_Lane_Count>8</PCIe_Lane_Count>
    </Host_Parameter_Set>
    <Device_Parameter_Set>
        <Enabled_Preconditioning>True</Enabled_Preconditioning>
        <Plane_Allocation_Scheme>cwdp</Plane_Allocation_Scheme>
        <Overprovisioning_Ratio>0.2</Overprovisioning_Ratio>
        <GC_Exec_Threshold>0.1</GC_Exec_Threshold>
        <GC_Block_Selection_Policy>RGA</GC_Block_Selection_Policy>
        <Preemptible_GC_Enabled>true</Preemptible_GC_Enabled>
        <GC_Hard_Threshold>0.03</GC_Hard_Threshold>
        <Flash_Channel_Count>2</Flash_Channel_Count>
        <Flash_Channel_Width>2</Flash_Channel_Width>
        <Channel_Transfer_Rate>400</Channel_Transfer_Rate>
        <Chip_No_Per_Channel>3</Chip_No_Per_Channel>
        <Flash_Parameter_Set>
            <Flash_Technology>TLC</Flash_Technology>
            <Page_Read_Latency_LSB>40000</Page_Read_Latency_LSB>
            <Page_Read_Latency_CSB>50000</Page_Read_Latency_CSB>
            <Page_Read_Latency_MSB>60000</Page_Read_Latency_MSB>
            <Die_No_Per_Chip>2</Die_No_Per_Chip>
            <Plane_No_Per_Die>2</Plane_No_Per_Die>
            <Block_No_Per_Plane>200</Block_No_Per_Plane>
            <Page_No_Per_Block>20</Page_No_Per_Block>
            <Page_Capacity>4096</Page_Capacity>
        </Flash_Parameter_Set>
    </Device_Parameter_Set>
</Execution_Parameter_Set>
"#;

fn scenario(toml: &str) -> Scenario {
    config::scenario_from_toml("x.toml", toml, &[], None).unwrap_or_else(|problems| panic!("{problems}\n{toml}"))
}

fn imported(xml: &str) -> Scenario {
    scenario(&exchange::import_file(xml, None, &JobFileSurroundings::default()).unwrap_or_else(|error| panic!("{error}\n{xml}")).toml)
}

fn refusal(xml: &str) -> String {
    exchange::import_file(xml, None, &JobFileSurroundings::default()).unwrap_err().to_string()
}

#[test]
fn a_device_becomes_what_mqsim_makes_of_it() {
    let imported = exchange::import_file(DRIVE, None, &JobFileSurroundings::default()).unwrap();
    let scenario = scenario(&imported.toml);
    let ssd = &scenario.array.ssd;
    assert_eq!((ssd.geometry.dies, ssd.geometry.planes, ssd.geometry.blocks_per_plane), (6, 4, 200));
    assert_eq!((ssd.geometry.pages_per_block, ssd.geometry.overprovisioned_blocks_per_plane), (20, 40));
    // Twice two nanoseconds for two bytes at a time: 2.5 are rounded down to 2.
    assert_eq!(ssd.timing.page_transfer_ns, 4096);
    let channel = ssd.channel.unwrap();
    assert_eq!((0..6).map(|die| channel.channel_of_die(die, 6)).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1]);
    // 20 blocks of the threshold: below 20, so at 19.
    assert_eq!((ssd.gc.start_threshold_free_blocks, ssd.gc.stop_threshold_free_blocks), (19, 20));
    assert_eq!(ssd.gc.preemption.unwrap().t_hard.0, 6.0 / 19.0);
    assert_eq!(ssd.gc.victim, flashraid_model::space::victim::DChoices { d: 7 }.into());
    // Of twenty pages ten are of the first kind (0 to 5, 8, 9, 14, 15), six of the second and four of the third.
    assert_eq!(ssd.timing.page_read.ns, (10 * 40_000 + 6 * 50_000 + 4 * 60_000) / 20);
    assert_eq!(ssd.link.unwrap().page_transfer_ns, 1024);
    for expected in
        ["chips become dies", "preconditioning", "1250.0 ps a byte, and 1000 ps", "the mean of Page_Read_Latency, 47us", "not there"]
    {
        assert!(imported.notes.iter().any(|note| note.contains(expected)), "{expected}: {:#?}", imported.notes);
    }
}

#[test]
fn spellings_of_forks_are_understood() {
    let mut fork = DRIVE.to_owned();
    for section in ["Execution_Parameter_Set", "Host_Parameter_Set", "Device_Parameter_Set", "Flash_Parameter_Set"] {
        fork = fork.replace(section, &section.replace("Execution", "Exec").replace('_', ""));
    }
    assert_eq!(imported(&fork).config.ssd, imported(DRIVE).config.ssd);
}

#[test]
fn every_tag_is_read_ignored_or_missing() {
    let notes = exchange::import_file(DRIVE, None, &JobFileSurroundings::default()).unwrap().notes.join("\n");
    for tag in TAGS.iter().filter(|tag| DRIVE.contains(&format!("<{}>", tag.name))) {
        assert!(notes.contains(tag.name), "{} is not listed", tag.name);
    }
    assert!(notes.contains("Block_Erase_Latency = 3800000"), "{notes}");
}

/// A drive of a fork with cells of four bits: a quarter of the pages has each latency.
#[test]
fn four_bits_have_a_fourth_latency() {
    let four = "<Flash_Technology>QLC</Flash_Technology><Page_Read_Latency_TSB>90000</Page_Read_Latency_TSB>";
    let drive = DRIVE.replacen("<Flash_Technology>TLC</Flash_Technology>", four, 1);
    assert_eq!(imported(&drive).array.ssd.timing.page_read.ns, (40_000 + 50_000 + 60_000 + 90_000) / 4);
    assert!(exchange::import_file(DRIVE, None, &JobFileSurroundings::default()).unwrap().notes.iter().all(|note| !note.contains("TSB")));
}

#[test]
fn mistakes_have_their_line() {
    let with = |from: &str, to: &str| refusal(&DRIVE.replacen(from, to, 1));
    let line = |text: &str| DRIVE.lines().position(|line| line.contains(text)).unwrap() + 1;
    let reason = with("Chip_No_Per_Channel>3</Chip_No_Per_Channel", "Chips_No_Per_Channel>3</Chips_No_Per_Channel");
    assert_eq!(
        reason,
        format!("line {}: <Chips_No_Per_Channel> is no tag of MQSim here; did you mean Chip_No_Per_Channel?", line("Chip_No"))
    );
    let reason = with(">200<", ">2<");
    assert_eq!(
        reason,
        format!("line {}: <Block_No_Per_Plane> is \"2\", but a whole number from 4 to 16777216 is allowed", line("Block_No"))
    );
    assert!(with("Ratio>0.2<", "Ratio>two<").contains("<Overprovisioning_Ratio> is \"two\", but a number from 0 to 0.99 is allowed"));
    assert!(with("Ratio>0.2<", "Ratio>nan<").contains("is \"nan\""));
    assert!(with(">TLC<", ">PLC<").contains("SLC, MLC, TLC, QLC"));
    let fourth = with("<Page_Read_Latency_LSB>", "<Page_Read_Latency_WSB>1</Page_Read_Latency_WSB><Page_Read_Latency_LSB>");
    assert!(fourth.contains("a fourth kind of page, but <Flash_Technology> is TLC"), "{fourth}");
    assert!(with(">RGA<", ">RANDOM_PP<").contains("no least number of invalid pages"));
    assert!(with(">4096<", ">4000<").contains("multiple of 512"));
    assert!(with("Channel_Count>2<", "Channel_Count>65536<").contains("are 196608 dies, but 65536 are allowed"));
    let twice = with("<Page_Capacity>", "<Page_Capacity>512</Page_Capacity><Page_Capacity>");
    assert!(twice.contains("is there twice"), "{twice}");
    // What a configuration refuses is told at the tag it came from.
    let start = with("Ratio>0.2<", "Ratio>0.05<");
    assert!(start.starts_with(&format!("line {}: flashraid cannot simulate", line("GC_Exec_Threshold"))), "{start}");
    assert!(exchange::import_file(DRIVE, Some("1"), &JobFileSurroundings::default()).unwrap_err().to_string().contains("no part"));
    assert!(refusal("<Other_Program/>").contains("MQSim"), "{}", refusal("<Other_Program/>"));
    assert!(refusal("<Execution_Parameter_Set><Seed>1</Seed></Execution_Parameter_Set>").contains("Host_Parameter_Set"));
}

#[test]
fn every_listed_word_and_range_is_taken_or_refused() {
    // Tables are complete: each usual value is allowed, and no refused word is.
    for tag in TAGS {
        assert!(tag.allowed.fits(tag.default_value), "{} is usually {}", tag.name, tag.default_value);
        assert!(!tag.allowed.fits("") && !tag.allowed.fits("-1") && !tag.allowed.fits("1e400"), "{}", tag.name);
    }
    for (name, word, _) in REFUSED {
        let tag = TAGS.iter().find(|tag| tag.name == *name).unwrap();
        assert!(!tag.allowed.fits(word), "{name} {word}");
    }
}

#[test]
fn an_export_comes_back_equal() {
    let there = imported(DRIVE);
    let first = export_mqsim(&there);
    let back = imported(&first.files[0].text);
    assert_eq!(there.array.ssd, back.array.ssd, "{}", first.files[0].text);
    assert_eq!(there.config.ssd, back.config.ssd);
    assert_eq!(first.files[0], export_mqsim(&back).files[0]);
    for more in [
        ("0.03", "0.2"),
        (">true<", ">false<"),
        ("cwdp", "PWCD"),
        ("cwdp", "DPCW"),
        ("RGA", "FIFO"),
        ("RGA", "RANDOM_P"),
        (">400<", ">333<"),
        (">400<", ">1200<"),
        ("<Plane_No_Per_Die>2<", "<Plane_No_Per_Die>8<"),
        ("<Die_No_Per_Chip>2<", "<Die_No_Per_Chip>1<"),
    ] {
        let there = imported(&DRIVE.replace(more.0, more.1));
        let back = imported(&export_mqsim(&there).files[0].text);
        assert_eq!(there.array.ssd.gc, back.array.ssd.gc, "{more:?}");
        assert_eq!(there.array.ssd.timing, back.array.ssd.timing, "{more:?}");
        assert_eq!(there.array.ssd.channel, back.array.ssd.channel, "{more:?}");
        assert_eq!(there.array.ssd.geometry, back.array.ssd.geometry, "{more:?}");
    }
}

#[test]
fn every_device_is_exported_and_what_was_said_of_it_stays() {
    for preset in all_presets().iter().filter(|preset| preset.kind == config::PresetKind::Device) {
        let of_preset = scenario(&format!("array.level = \"single\"\nssd.preset = {:?}", preset.name));
        let exported = export_mqsim(&of_preset);
        assert!(!exported.notes.is_empty(), "{}", preset.name);
        let text = &exported.files[0].text;
        let back = match exchange::import_file(text, None, &JobFileSurroundings::default()) {
            Ok(imported) => scenario(&imported.toml),
            // Pools of blocks of whole planes: what is reserved may be less than the ten blocks below which MQSim collects.
            Err(error) => {
                assert!(error.to_string().contains("cannot simulate such a device"), "{}: {error}", preset.name);
                continue;
            }
        };
        // What MQSim's file says is said by the next one, too.
        assert_eq!(back.config.ssd, imported(&export_mqsim(&back).files[0].text).config.ssd, "{}", preset.name);
        assert_eq!(back.array.ssd.geometry.dies, of_preset.config.ssd.geometry.shape.dies, "{}", preset.name);
        let bytes = |scenario: &Scenario| {
            let geometry = &scenario.config.ssd.geometry;
            u64::from(geometry.shape.dies)
                * u64::from(geometry.shape.planes)
                * u64::from(geometry.shape.blocks_per_plane)
                * u64::from(geometry.shape.pages_per_block)
                * geometry.page_size.bytes
        };
        assert_eq!(bytes(&back), bytes(&of_preset), "{}", preset.name);
    }
}

#[test]
fn workloads_come_back_equal() {
    let small = "array.level = \"single\"\nssd.geometry = { dies = 2, blocks = 64, pages = 16 }\n";
    for workload in [
        "kind = \"synthetic\"\narrivals = { process = \"closed\", depth = 16 }\nread_fraction = 0.7\nsize = \"8KiB\"\nlimit = 500",
        "kind = \"synthetic\"\narrivals = { process = \"poisson\", mean_gap = \"125us\" }\nread_fraction = 1.0\nsequential_fraction = 1.0\nsize = \"4KiB\"\nlimit = \"5ms\"",
        "kind = \"synthetic\"\narrivals = { process = \"closed\", depth = 2 }\nread_fraction = 0.0\nsize = \"4KiB\"\nlimit = 9\n\
         address = { pattern = \"hot-cold\", request_share = 0.8, space_share = 0.2, footprint = 0.5 }",
    ] {
        let there = scenario(&format!("{small}[workload]\n{workload}"));
        let exported = export_mqsim(&there);
        let toml = exchange::import_file(&exported.files[1].text, None, &JobFileSurroundings::default()).unwrap().toml;
        let back = scenario(&format!("{small}{toml}"));
        let plain = |scenario: &Scenario| {
            let mut workload = scenario.config.workload.clone();
            // MQSim aligns to the size of a request.
            if let Some(address) = &mut workload.synthetic.address {
                address.alignment = flashraid_workload::synthetic::AddressSpec::default().alignment;
            }
            workload
        };
        assert_eq!(plain(&there), plain(&back), "{toml}");
    }
    let trace = scenario(&format!("{small}[workload]\nkind = \"trace\"\npath = \"a<b.trace\"\nformat = \"mqsim\""));
    let exported = export_mqsim(&trace);
    assert!(
        exchange::import_file(&exported.files[1].text, None, &JobFileSurroundings::default())
            .unwrap()
            .toml
            .contains("path = \"a<b.trace\"")
    );
}

#[test]
fn numbers_are_those_of_mqsim() {
    assert_eq!([333, 400, 800, 1000, 1200].map(|rate| picoseconds_per_byte(rate, 1)), [3000, 2000, 1000, 1000, 0]);
    let kinds: Vec<usize> = (0..16).map(|page| kind_of_page(3, page)).collect();
    assert_eq!(kinds, [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 0, 0]);
    assert_eq!((0..4).map(|page| kind_of_page(2, page)).collect::<Vec<_>>(), [0, 2, 0, 2]);
}

/// Returns a Markdown table of all tags of MQSim's device file, with the key that each tag becomes or the reason why it becomes none.
fn table_of_tags() -> String {
    let mut text = "| tag | becomes |\n|---|---|\n".to_owned();
    for tag in TAGS {
        let meaning = match tag.meaning {
            Meaning::Key(key) => format!("`{key}`"),
            Meaning::Ignored(reason) => format!("nothing: {reason}"),
        };
        text += &format!("| `{}` | {meaning} |\n", tag.name);
    }
    for (name, word, reason) in REFUSED {
        text += &format!("| `{name}` {word} | refused: {reason} |\n");
    }
    text
}

#[test]
fn the_book_lists_every_tag() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exchange.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- tags -->\n").unwrap();
    let (there, after) = rest.split_once("<!-- /tags -->").unwrap();
    let table = table_of_tags();
    if std::env::var_os("FLASHRAID_WRITE_PAGES").is_some() {
        std::fs::write(path, format!("{before}<!-- tags -->\n{table}<!-- /tags -->{after}")).unwrap();
    } else {
        assert_eq!(there, table, "FLASHRAID_WRITE_PAGES=1 makes this test write it");
    }
}
