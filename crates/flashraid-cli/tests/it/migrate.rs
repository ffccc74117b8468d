//! `flashraid migrate`, and what leads there.

use crate::program::{Place, SMALL};

fn old() -> String {
    SMALL.replace("dies = 2", "elements = 2     # as on the data sheet")
}

#[test]
fn a_file_gets_the_new_names() {
    let place = Place::new();
    place.write("old.toml", old());
    let refused = place.run(&["check", "old.toml"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("flashraid migrate old.toml"), "{}", refused.stderr);

    let printed = place.run(&["migrate", "old.toml", "--stdout"]);
    assert_eq!((printed.status, place.read("old.toml")), (0, old()));
    let migrated = place.run(&["migrate", "old.toml"]);
    assert_eq!((migrated.status, migrated.stderr.as_str()), (0, ""));
    let line = 1 + old().lines().position(|line| line.starts_with("elements")).unwrap();
    assert_eq!(migrated.stdout, format!("old.toml:{line}: elements → dies\n"));
    assert_eq!(printed.stderr, migrated.stdout);
    assert_eq!(place.read("old.toml"), old().replace("elements =", "dies ="));
    assert_eq!(printed.stdout, place.read("old.toml"));

    assert_eq!(place.run(&["check", "old.toml"]).status, 0);
    assert_eq!(place.run(&["migrate", "old.toml"]).stdout, "old.toml: nothing to change\n");
}

#[test]
fn what_cannot_be_migrated_is_left_alone() {
    let place = Place::new();
    for text in ["[ssd.geometry\nelements = 4\n", "[ssd.geometry]\nelements = 4\ndies = 4\n"] {
        place.write("bad.toml", text);
        let ended = place.run(&["migrate", "bad.toml"]);
        assert_eq!((ended.status, ended.stdout.as_str(), place.read("bad.toml").as_str()), (2, "", text));
        assert!(ended.stderr.contains("bad.toml:"), "{}", ended.stderr);
    }
    let missing = place.run(&["migrate", "missing.toml"]);
    assert!(missing.status == 2 && missing.stderr.contains("missing.toml"), "{}", missing.stderr);
}

#[test]
fn options_and_presets_with_old_names_name_the_new_ones() {
    let place = Place::new();
    for arguments in
        [&["run", "small.toml", "--set", "ssd.gc.hold=plane"][..], &["compare", "small.toml", "--vary", "ssd.gc.hold=plane,element"]]
    {
        let ended = place.run(arguments);
        assert_eq!(ended.status, 2);
        assert!(ended.stderr.contains("ssd.gc.blocking"), "{}", ended.stderr);
    }
    let preset = place.run(&["preset", "show", "nvme-tlc"]);
    assert_eq!((preset.status, preset.stderr.as_str()), (2, "error: the preset \"nvme-tlc\" is called \"nvme-simple\" now\n"));
}
