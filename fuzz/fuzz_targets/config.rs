#![no_main]
//! A configuration as a user writes it.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = flashraid::config::scenario_from_toml("fuzz.toml", text, &[], Some(1));
});
