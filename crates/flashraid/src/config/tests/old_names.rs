//! Old names of keys, values and presets: each is an error that names the new one, and is migrated.

use super::super::renamed::{KEYS, VALUES};
use super::*;

/// A configuration for each old name.
const OLD: &[(&str, &str)] = &[
    ("ssd.geometry.elements", "[ssd.geometry]\nelements = 4 # a power of two\n"),
    ("ssd.element_stride", "[ssd]\nelement_stride = 16\n"),
    ("ssd.channel.elements_per_channel", "[ssd]\ntransfer = \"channel\"\nchannel = { elements_per_channel = 4 }\n"),
    ("ssd.gc.hold", "[ssd.gc]\nhold = \"plane\"\n"),
    ("coordination.capable", "[coordination]\nscheme = \"reactive-inclusive\"\n\"capable\" = [0, 1]\n"),
    ("cache.front_fraction", "cache.policy = \"lawc\"\ncache.size = \"1MiB\"\ncache . front_fraction = 0.5\n"),
    ("ssd.gc.pool", "[ssd.gc]\npool = \"element\"\n"),
    ("ssd.gc.blocking", "[ssd.gc]\nblocking = 'element'\n"),
    ("ssd.preset", "ssd = { preset = \"nvme-tlc\" }\n"),
];

#[test]
fn every_old_name_is_refused_and_migrated() {
    let known: Vec<&str> = KEYS.iter().map(|(key, _)| *key).chain(VALUES.iter().map(|(key, ..)| *key)).collect();
    assert_eq!(OLD.iter().map(|(key, _)| *key).collect::<Vec<_>>(), known, "a case for each");
    let mut said = String::new();
    for (key, text) in OLD {
        let problems = read(text).expect_err(key);
        assert_eq!(problems.list.len(), 1, "{problems}");
        let place = problems.list[0].place.as_ref().unwrap();
        assert!(problems.sources[place.source].name == "test.toml" && !place.span.is_empty(), "{problems}");
        said += &format!("{problems}\n");
        let Migrated { text, changes } = migrate("test.toml", text).unwrap();
        said += &format!("{changes:?}\n{text}\n");
        good(&text);
        assert_eq!(migrate("test.toml", &text), Ok(Migrated { text, changes: Vec::new() }));
    }
    insta::assert_snapshot!("old_names", said);
}

#[test]
fn options_with_old_names_are_refused() {
    for (set, new) in [
        ("ssd.geometry.elements=4", "`ssd.geometry.dies`"),
        ("ssd.gc={hold=\"die\"}", "`ssd.gc.blocking`"),
        ("ssd.gc.pool=element", "\"die\""),
        ("ssd.preset=nvme-tlc", "\"nvme-simple\""),
    ] {
        let problems = read_with("", &[set]).expect_err(set).to_string();
        assert!(problems.contains(new) && problems.contains("--set"), "{problems}");
    }
}

#[test]
fn a_file_that_is_inherited_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("base.toml"), "[ssd.geometry]\nelements = 4\n").unwrap();
    std::fs::write(folder.path().join("a.toml"), "inherits = \"base.toml\"\n[ssd.gc]\nhold = \"element\"\n").unwrap();
    let problems = load(&folder.path().join("a.toml"), &[], None).unwrap_err();
    assert_eq!(problems.list.len(), 3, "{problems}");
    assert!(problems.to_string().contains("base.toml` does it"), "{problems}");
}

#[test]
fn a_key_under_both_names_is_left_to_the_user() {
    let text = "[ssd.geometry]\nelements = 4\ndies = 8\n";
    let problems = migrate("test.toml", text).unwrap_err();
    assert_eq!(problems.list, read(text).unwrap_err().list);
    assert!(problems.to_string().contains("remove `ssd.geometry.elements`"), "{problems}");
    assert!(migrate("test.toml", "[ssd").is_err());
}

/// The examples and device presets with the old names back in them.
#[test]
fn every_example_and_preset_is_migrated() {
    let back = |text: &str| {
        let lines = text.split_inclusive('\n').map(|line| {
            let with_key =
                |old: &str, new: &str| line.strip_prefix(new).filter(|rest| rest.starts_with(" =")).map(|rest| format!("{old}{rest}"));
            let key = KEYS.iter().find_map(|(path, new)| with_key(path.rsplit('.').next().unwrap(), new));
            let line = key.unwrap_or_else(|| line.to_string());
            if line.starts_with('#') { line } else { line.replace("\"die\"", "\"element\"").replace("\"nvme-simple\"", "\"nvme-tlc\"") }
        });
        lines.collect::<String>()
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut changed = 0;
    for entry in std::fs::read_dir(root.join("examples")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        changed += usize::from(back(&text) != text);
        assert_eq!(migrate("example.toml", &back(&text)).unwrap().text, text);
    }
    assert!(changed >= 6, "{changed} examples have had other names");
    // Drives with superblocks came after the names.
    let is_older = |preset: &&Preset| preset.kind == PresetKind::Device && !preset.text.contains("[superblock]");
    for preset in presets().iter().filter(is_older) {
        // A preset is the section `ssd` of a configuration, with headers of its own below it.
        let text = format!("[ssd]\n{}", preset.text.replace("\n[", "\n[ssd."));
        let migrated = migrate("preset.toml", &back(&text)).unwrap();
        assert!(migrated.changes.len() >= 3, "{:?}", migrated.changes);
        assert_eq!(migrated.text, text);
        good(&text);
    }
}
