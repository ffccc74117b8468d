//! `flashraid bench`: the speed of the simulator on this machine.

use serde_json::Value;

use crate::args::BenchArgs;
use crate::failure::Outcome;
use crate::files;
use crate::output::sheet::Sheet;
use crate::output::{json, number, text};

/// Runs the command.
pub fn run(arguments: &BenchArgs) -> Outcome {
    let document = json::document(&flashraid::bench::run())?;
    match arguments.json {
        true => json::print(&document),
        false => files::print(&text::render(&[sheet(&document)])),
    }
}

fn sheet(document: &Value) -> Sheet {
    let rows = [
        ("array", "host page operations/s", "/array/host_page_ops_per_s"),
        ("", "flash page operations/s", "/array/flash_page_ops_per_s"),
        ("", "requests/s", "/array/requests_per_s"),
        ("device", "requests/s", "/device/requests_per_s"),
        ("", "flash page operations/s", "/device/flash_page_ops_per_s"),
        ("", "time over that of the floor", "/device/time_over_floor"),
        ("warm-up", "pages", "/warm_up/pages"),
        ("", "seconds", "/warm_up/seconds"),
        ("floor", "requests/s", "/floor/requests_per_s"),
        ("memory", "bytes per physical page", "/bytes_per_physical_page"),
    ];
    let mut sheet = Sheet { label_columns: 2, ..Sheet::new("Speed on one core, full-size geometry", &["", "", ""]) };
    for (part, name, pointer) in rows {
        let value = document.pointer(pointer).and_then(Value::as_f64).map_or("–".to_owned(), number::rounded);
        sheet.rows.push(vec![part.into(), name.into(), value.into()]);
    }
    sheet
}
