//! Drives as emulators take them.

use super::{FilesForOtherProgram, femu, nvmevirt};
use crate::config::{self, PresetKind, Scenario, all_presets};

fn scenario(toml: &str) -> Scenario {
    config::scenario_from_toml("x.toml", toml, &[], None).unwrap_or_else(|problems| panic!("{problems}"))
}

/// FEMU's default geometry, with 25 % in reserve.
const BLACK_BOX: &str = "array.level = \"single\"\n[ssd]\ntransfer = \"channel\"\nlink = \"off\"\nsummary_page = false\n\
    geometry = { dies = 64, planes = 1, blocks = 256, pages = 256, page_size = \"4KiB\", reserved = 0.25 }\nchannel.dies_per_channel = 8\n\
    timing = { page_read = \"40us\", page_program = \"200us\", block_erase = \"2ms\", transfer_per_byte = \"1ns\", spare_bytes_per_sector = 0 }\n";

#[test]
fn femu_gets_its_options() {
    let FilesForOtherProgram { files, notes } = femu::export_femu(&scenario(BLACK_BOX));
    assert_eq!(
        files[0].text,
        "-device femu,devsz_mb=12288,namespaces=1,femu_mode=1,secsz=512,secs_per_pg=8,pgs_per_blk=256,blks_per_pl=256,pls_per_lun=1,\
         luns_per_ch=8,nchs=8,pg_rd_lat=40000,pg_wr_lat=200000,blk_er_lat=2000000,ch_xfer_lat=0,gc_thres_pcent=95,gc_thres_pcent_high=95\n"
    );
    assert!(notes.iter().any(|note| note.contains("ignores the time of channels")), "{notes:#?}");
    assert!(!notes.iter().any(|note| note.contains("powers of two")), "{notes:#?}");
}

#[test]
fn nvmevirt_gets_its_constants() {
    let text = nvmevirt::export_nvmevirt(&scenario(BLACK_BOX)).files[0].text.clone();
    for expected in [
        "NAND_CHANNELS (8)",
        "LUNS_PER_NAND_CH (8)",
        "FLASH_PAGE_SIZE (4096)",
        "BLKS_PER_PLN (256)",
        "NAND_CHANNEL_BANDWIDTH (1000ull)",
        "NAND_READ_LATENCY_MSB (40000)",
        "NAND_PROG_LATENCY (200000)",
        "OP_AREA_PERCENT (0.25)",
        "CELL_MODE (CELL_MODE_SLC)",
    ] {
        assert!(text.contains(&format!("#define {expected}\n")), "{expected}: {text}");
    }
}

#[test]
fn every_device_goes_to_both_and_something_cannot_be_said() {
    for preset in all_presets().iter().filter(|preset| preset.kind == PresetKind::Device) {
        let scenario = scenario(&format!("array.level = \"single\"\nssd.preset = {:?}", preset.name));
        for FilesForOtherProgram { files, notes } in [femu::export_femu(&scenario), nvmevirt::export_nvmevirt(&scenario)] {
            assert!(files.len() == 1 && notes.len() > 2, "{}: {notes:#?}", preset.name);
            assert!(!files[0].text.contains("NaN") && !files[0].text.contains("=0,pgs"), "{}", files[0].text);
        }
    }
}
