//! The figures of a run interval by interval, as a table for `series.csv` and `series.parquet`.

use serde_json::Value;

use crate::data::Table;

/// Lists of `/over_time` of a report that become columns, in order.
const COLUMNS: [&str; 10] = [
    "from_ms",
    "iops",
    "mean_us",
    "p50_us",
    "p99_us",
    "max_us",
    "outstanding",
    "write_amplification",
    "cache_occupancy",
    "rebuilt_fraction",
];

/// Lists of each member of `/over_time/members`. Their columns are `member_0_utilisation` and so on.
const OF_MEMBERS: [&str; 3] = ["utilisation", "response_us", "queue"];

/// Returns a row for each interval. Columns that a run does not have are left out.
pub fn of_run(report: &Value) -> Table {
    let mut table = Table::default();
    for key in COLUMNS {
        if let Some(values) = report["over_time"][key].as_array() {
            table.number(key, values.iter().map(Value::as_f64));
        }
    }
    for (member, lists) in report["over_time"]["members"].as_array().into_iter().flatten().enumerate() {
        for key in OF_MEMBERS {
            if let Some(values) = lists[key].as_array() {
                table.number(format!("member_{member}_{key}"), values.iter().map(Value::as_f64));
            }
        }
    }
    table
}
