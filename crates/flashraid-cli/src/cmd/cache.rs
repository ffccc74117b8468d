//! `flashraid cache`: lists or removes the states of SSDs that were kept after warm-ups.

use std::time::SystemTime;

use flashraid::warm_state_cache::{CachedMemberWarmState, WarmStateCache};
use serde_json::json;

use crate::args::CacheCommand;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::output::json;
use flashraid_report::number::{bytes, count_with_noun};
use flashraid_report::sheet::Sheet;
use flashraid_report::text;

/// Runs `flashraid cache list` or `clear`; without either it lists.
pub fn run(command: Option<&CacheCommand>) -> Outcome {
    let Some(cache) = WarmStateCache::of_user_folder() else {
        return files::print("nothing is kept: FLASHRAID_CACHE is off, or there is no home folder\n");
    };
    let folder = cache.folder().display();
    let failed = |error| Failure::Run(format!("{folder}: {error}"));
    match command {
        None | Some(CacheCommand::List { json: false }) => files::print(&list(&cache, &cache.list_states().map_err(failed)?)),
        Some(CacheCommand::List { json: true }) => json::print(&document(&cache, &cache.list_states().map_err(failed)?)),
        Some(CacheCommand::Clear) => {
            let (states, freed) = cache.remove_all_states().map_err(failed)?;
            files::print(&format!("{folder}: {} removed, {}\n", count_with_noun(states as u64, "state"), bytes(freed as f64)))
        }
    }
}

fn list(cache: &WarmStateCache, states: &[CachedMemberWarmState]) -> String {
    let all: u64 = states.iter().map(|state| state.bytes).sum();
    let mut sheet = Sheet::new("Kept warm states", &["file", "size", "last used", "state of"]);
    sheet.label_columns = 4;
    for state in states {
        let name = state.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        sheet
            .rows
            .push([name, bytes(state.bytes as f64), age(state.last_used), state.readable_description().to_owned()].map(Into::into).into());
    }
    let table = if states.is_empty() { String::new() } else { text::render(&[sheet]) };
    format!("{table}{}: {} of at most {}\n", cache.folder().display(), bytes(all as f64), bytes(cache.limit_bytes() as f64))
}

fn document(cache: &WarmStateCache, states: &[CachedMemberWarmState]) -> serde_json::Value {
    let state = |state: &CachedMemberWarmState| json!({ "path": state.path.display().to_string(), "bytes": state.bytes, "age_s": age_s(state.last_used), "of": state.description });
    json!({
        "folder": cache.folder().display().to_string(),
        "bytes": states.iter().map(|state| state.bytes).sum::<u64>(),
        "limit_bytes": cache.limit_bytes(),
        "states": states.iter().map(state).collect::<Vec<_>>(),
    })
}

fn age_s(used: SystemTime) -> u64 {
    used.elapsed().map_or(0, |age| age.as_secs())
}

fn age(used: SystemTime) -> String {
    match age_s(used) {
        seconds @ 0..120 => format!("{seconds} s ago"),
        seconds @ 120..7200 => format!("{} min ago", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} ago", count_with_noun(seconds / 86_400, "day")),
    }
}
