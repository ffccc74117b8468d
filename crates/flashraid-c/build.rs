//! Gives the shared library its SONAME, so that a program loads the version of the interface that it was linked with.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let has_soname = variable("CARGO_CFG_TARGET_FAMILY") == "unix" && variable("CARGO_CFG_TARGET_VENDOR") != "apple";
    if has_soname {
        // The number rises when programs have to be compiled again.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libflashraid_c.so.{}", variable("CARGO_PKG_VERSION_MAJOR"));
    }
}
