//! The header is what the program cbindgen makes of the source.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Header without comments and blanks, whose layout differs between versions of cbindgen.
fn declarations(header: &str) -> String {
    let mut code = String::new();
    for (index, part) in header.split("/*").enumerate() {
        code += if index == 0 { part } else { part.split_once("*/").map_or("", |(_, code)| code) };
    }
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_header_has_the_version_of_the_library() {
    let header = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("include/flashraid.h")).unwrap();
    for (name, value) in [
        ("", format!("{:?}", env!("CARGO_PKG_VERSION"))),
        ("_MAJOR", env!("CARGO_PKG_VERSION_MAJOR").to_owned()),
        ("_MINOR", env!("CARGO_PKG_VERSION_MINOR").to_owned()),
        ("_PATCH", env!("CARGO_PKG_VERSION_PATCH").to_owned()),
    ] {
        let line = format!("#define FLASHRAID_VERSION{name} {value}");
        assert!(header.lines().any(|known| known == line), "{line:?} is missing: change after_includes in cbindgen.toml and the header");
    }
}

#[test]
fn the_header_is_current() {
    if !Command::new("cbindgen").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("cbindgen is missing (scripts/setup cbindgen): the header is not compared with the source");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = tempfile::tempdir().unwrap();
    // Older versions of cbindgen do not know this form of the attribute.
    let source = fs::read_to_string(folder.join("src/lib.rs")).unwrap().replace("#[unsafe(no_mangle)]", "#[no_mangle]");
    fs::write(place.path().join("lib.rs"), source).unwrap();
    let output =
        Command::new("cbindgen").arg("--config").arg(folder.join("cbindgen.toml")).arg(place.path().join("lib.rs")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made = String::from_utf8(output.stdout).unwrap();
    let path = folder.join("include/flashraid.h");
    if std::env::var_os("FLASHRAID_HEADER").is_some_and(|value| value == "write") {
        fs::write(&path, &made).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap();
    let hint = "FLASHRAID_HEADER=write cargo test -p flashraid-c --test it header writes it again";
    assert!(made.matches("flashraid_").count() > 12, "{made}");
    assert!(declarations(&kept) == declarations(&made), "include/flashraid.h is not what cbindgen makes of src/lib.rs: {hint}\n{made}");
}
