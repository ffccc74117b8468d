//! Help texts, and the commands that only explain.

use crate::program::Place;

#[test]
fn help_texts() {
    let place = Place::new();
    for arguments in [
        vec!["--help"],
        vec!["demo", "--help"],
        vec!["init", "--help"],
        vec!["run", "--help"],
        vec!["compare", "--help"],
        vec!["merge", "--help"],
        vec!["check", "--help"],
        vec!["trace", "info", "--help"],
        vec!["trace", "convert", "--help"],
        vec!["preset", "--help"],
        vec!["preset", "card", "--help"],
        vec!["probe", "--help"],
        vec!["fit", "--help"],
        vec!["pts", "--help"],
        vec!["explain", "--help"],
        vec!["completions", "--help"],
        vec!["man", "--help"],
        vec!["cache", "--help"],
        vec!["reproduce", "--help"],
        vec!["bench", "--help"],
        vec!["schema", "--help"],
    ] {
        let ended = place.run(&arguments);
        assert_eq!(ended.status, 0);
        insta::assert_snapshot!(arguments.join(" "), ended.stdout);
    }
}

#[test]
fn version_is_the_packages() {
    assert_eq!(Place::new().run(&["--version"]).stdout, format!("flashraid {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_schema_is_one_json_document() {
    let schema = Place::new().run_json(&["schema"]);
    assert!(schema["$schema"].is_string());
    for section in ["array", "ssd", "coordination", "cache", "workload"] {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
}

#[test]
fn every_preset_of_the_list_can_be_shown() {
    let place = Place::new();
    let list = place.run(&["preset", "list"]);
    assert_eq!(list.status, 0);
    assert_eq!(list.stdout, place.run(&["preset"]).stdout, "list is the default");
    let names: Vec<&str> =
        list.stdout.lines().filter(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next()).collect();
    for name in ["ggc2014", "pgc2011", "lawc2017", "mlc-sata2", "slc-sata2", "nvme-simple", "hpc-w", "financial"] {
        assert!(names.contains(&name), "{name} is not in the list");
    }
    for name in names {
        let shown = place.run(&["preset", "show", name]);
        assert_eq!(shown.status, 0, "{}", shown.stderr);
        assert!(shown.stdout.starts_with('#'), "a preset opens with its source:\n{}", shown.stdout);
    }
}

/// The limit of some drives' random writes is not known. Nobody should take these figures from a simulation unwarned.
#[test]
fn random_writes_far_from_the_data_sheet_are_named() {
    let place = Place::new();
    let list = place.run(&["preset", "list"]).stdout;
    for named in ["random write, steady of nvme-gen5-6400 (+88 %)", "random write, steady of nvme-qlc-gen3 (+58 %)"] {
        assert!(list.replace('\n', " ").contains(named), "{named}\n{list}");
    }
    assert!(!list.contains("of nvme-tlc-read ("), "{list}");
    let warned = |preset: &str, more: &str| {
        let text =
            format!("array.level = \"single\"\nssd.preset = {preset:?}\nworkload.requests = 1000\nworkload.size = \"4KiB\"\n{more}\n");
        place.write("drive.toml", text);
        let checked = place.run_json(&["check", "drive.toml", "--json"]);
        checked["warnings"].as_array().unwrap().iter().any(|warning| warning.as_str().unwrap().contains("random writes of"))
    };
    assert!(warned("nvme-gen5-6400", "workload.read_fraction = 0.7"));
    assert!(!warned("nvme-gen5-6400", "workload.read_fraction = 1"), "it writes nothing");
    assert!(!warned("nvme-gen5-6400", "workload.read_fraction = 0\nworkload.sequential_fraction = 1"), "it writes in order");
    assert!(!warned("nvme-tlc-read", "workload.read_fraction = 0"), "its random writes are those of the data sheet");
}

#[test]
fn check_explains_without_running() {
    let place = Place::new();
    let ended = place.run(&["check", "small.toml"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    insta::assert_snapshot!("check", ended.stdout);
    assert_eq!(place.files(), Vec::<String>::new());
    assert!(place.run_json(&["check", "small.toml", "--json"]).is_object());
}

/// The names of all figures are tested where they are made, and the table of all lines with the command.
#[test]
fn a_quick_bench_prints_a_document() {
    let document = Place::new().run_json(&["bench", "--quick", "--only", "device", "--only", "floor", "--json"]);
    for pointer in ["/device/requests_per_s", "/device/time_over_floor", "/floor/requests_per_s"] {
        assert!(document.pointer(pointer).and_then(serde_json::Value::as_f64).is_some_and(|figure| figure > 0.0), "{pointer}");
    }
    assert!(document.get("array").is_none(), "{document}");
}

#[test]
fn the_readmes_configuration_is_valid() {
    let readme = include_str!("../../../../README.md");
    let (_, rest) = readme.split_once("```toml\n").unwrap();
    let (configuration, _) = rest.split_once("```").unwrap();
    let place = Place::new();
    place.write("array.toml", configuration);
    let ended = place.run(&["check", "array.toml"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
}
