//! A data sheet leads to a device that has its figures.

use std::fs;

use flashraid::Simulation;
use flashraid_fit::datasheet::{DataSheet, Flash, Made, parse_quoted_request_rate};
use flashraid_fit::fit::FitOptions;

use crate::recovery::{SMALL, options};

/// A sheet of the small drive: its figures are round numbers near those that it has.
fn sheet(like: &std::path::Path) -> DataSheet {
    DataSheet {
        name: Some("small".to_owned()),
        capacity: Some("144MiB".parse().unwrap()),
        raw: Some("192MiB".parse().unwrap()),
        seq_read: Some("900MB/s".parse().unwrap()),
        seq_write: Some("300MB/s".parse().unwrap()),
        rand_read: Some(100_000),
        rand_write: Some(20_000),
        read_latency: Some("110us".parse().unwrap()),
        write_latency: Some("120us".parse().unwrap()),
        like: Some(like.display().to_string()),
        ..DataSheet::default()
    }
}

fn quick() -> FitOptions<'static> {
    options(0)
}

fn with_small<T>(work: impl FnOnce(&std::path::Path) -> T) -> T {
    let place = tempfile::tempdir().unwrap();
    let like = place.path().join("small.toml");
    fs::write(&like, SMALL).unwrap();
    work(&like)
}

#[test]
fn a_device_has_the_figures_of_its_sheet() {
    let keys = ["rate", "latency", "ack", "read", "write", "move"];
    // What programs take and what superblocks amplify are told apart in many runs.
    has_its_figures(5, &keys, |like| DataSheet { seq_write: None, ..sheet(like) });
}

#[test]
#[ignore = "a third of a minute: make test-long"]
fn a_device_has_all_figures_of_its_sheet() {
    has_its_figures(6, &["page_program", "rate", "latency", "ack", "read", "write", "move"], sheet);
}

/// Tests a device that is made of a sheet of so many figures. It has them, and each of these keys is fitted or undetermined.
fn has_its_figures(figures: usize, keys: &[&str], sheet: impl Fn(&std::path::Path) -> DataSheet) {
    let Made { fit, card, contradictions } = with_small(|like| sheet(like).make(&quick()).unwrap());
    assert_eq!(contradictions, Vec::<String>::new());
    assert_eq!(card.len(), figures);
    for held in &card {
        assert!(held.holds && (held.simulated / held.data_sheet - 1.0).abs() <= held.tolerance, "{held}");
    }
    assert!(fit.device.starts_with("# small: a drive made of its data sheet"), "{}", fit.device);
    for key in keys {
        assert!(
            fit.device.lines().any(
                |line| line.starts_with(&format!("{key} =")) && ["# fitted", "# undetermined"].iter().any(|known| line.contains(known))
            ),
            "{key}\n{}",
            fit.device
        );
    }
    let scenario = Simulation::from_toml(&fit.device).unwrap().scenario().unwrap();
    let ssd = &scenario.array.ssd;
    let page_bytes = u64::from(ssd.geometry.page_bytes);
    let capacity_bytes = ssd.exported_pages() * page_bytes;
    assert!((capacity_bytes as f64 / f64::from(144 << 20) - 1.0).abs() < 0.01, "{capacity_bytes}");
    assert_eq!(ssd.geometry.dies, 8, "raw capacity over that of a die");
}

#[test]
#[ignore = "a quarter of a minute: make test-long"]
fn figures_that_contradict_each_other_are_named() {
    let made = with_small(|like| {
        // 25 % to spare amplify random writes more than twice.
        let sheet = DataSheet { seq_write: Some("100MB/s".parse().unwrap()), rand_write: Some(24_000), ..sheet(like) };
        sheet.make(&quick()).unwrap()
    });
    assert!(
        made.contradictions.len() == 1 && made.contradictions[0].contains("rand_write 24000/s and seq_write 100 MB/s"),
        "{:?}",
        made.contradictions
    );
    assert!(made.card.iter().any(|held| !held.holds), "both can't be met: {:?}", made.card);
    assert!(made.fit.device.contains("# Note: contradiction: rand_write"), "{}", made.fit.device);
    assert!(made.fit.device.contains(", off by more than 10 %"));
}

#[test]
fn sheets_of_no_drive_are_refused() {
    with_small(|like| {
        let refused = |sheet: DataSheet| sheet.make(&quick()).unwrap_err().to_string();
        assert!(refused(DataSheet { capacity: None, ..sheet(like) }).contains("capacity is missing"));
        assert!(refused(DataSheet { raw: Some("100MiB".parse().unwrap()), ..sheet(like) }).contains("no more than 100MiB of flash"));
        assert!(refused(DataSheet { flash: Some(Flash::Qlc), ..sheet(like) }).contains("3 bits per cell"));
        assert!(refused(DataSheet { rand_read: Some(0), ..sheet(like) }).contains("rand_read = 0"));
        assert!(refused(DataSheet { dwpd: Some(-1.0), ..sheet(like) }).contains("dwpd = -1"));
        assert!(refused(DataSheet { like: Some("unknown".to_owned()), ..sheet(like) }).contains("no such device"));
        let none = DataSheet { capacity: sheet(like).capacity, like: sheet(like).like, ..DataSheet::default() };
        assert!(refused(none).contains("two figures or more"));
    });
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("sheet.toml");
    let error = |text: &str| {
        fs::write(&path, text).unwrap();
        DataSheet::read(&path).unwrap_err().to_string()
    };
    assert!(error("capacty = \"1TB\"").contains("unknown field `capacty`"), "{}", error("capacty = \"1TB\""));
    assert!(error("seq_read = \"fast\"").contains("sheet.toml"));
    fs::write(&path, "capacity = \"1TB\"\nrand_read = 5000\nflash = \"tlc\"").unwrap();
    let read = DataSheet::read(&path).unwrap();
    assert_eq!((read.rand_read, read.flash, read.capacity.map(|size| size.bytes)), (Some(5000), Some(Flash::Tlc), Some(1_000_000_000_000)));
    fs::write(&path, "capacity = \"3.84TB\"\nseq_read = \"6,800\"\nseq_write = 5300\nrand_read = \"1.0M\"\nrand_write = \"190K IOPS\"")
        .unwrap();
    let quoted = DataSheet::read(&path).unwrap();
    assert_eq!((quoted.rand_read, quoted.rand_write), (Some(1_000_000), Some(190_000)));
    assert_eq!([quoted.seq_read, quoted.seq_write].map(|rate| rate.unwrap().bytes_per_s), [6_800_000_000, 5_300_000_000]);
    for (text, rate) in [("1.4M", 1_400_000), ("1400k", 1_400_000), ("1,000,000", 1_000_000), ("6800/s", 6800), ("0", 0)] {
        assert_eq!(parse_quoted_request_rate(text), Ok(rate), "{text}");
    }
    for text in ["", "M", "1,00,000", "1.4G", "-5", "1e99", "1.5", "nan"] {
        assert!(parse_quoted_request_rate(text).is_err(), "{text}");
    }
    assert!(error("rand_read = \"much\"").contains("190K or 1.4M"));
    let merged = DataSheet { rand_read: Some(1), ..DataSheet::default() }.or(read);
    assert_eq!((merged.rand_read, merged.flash), (Some(1), Some(Flash::Tlc)), "options come before the file");
}
