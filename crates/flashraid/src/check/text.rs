//! Text of a check for people.

use std::fmt;

use super::duration;
use super::{
    CheckReport, ExpectedMemberUtilisation, FirstCollectionEstimate, PlacementHandlesCheck, SlcSuperblocksCheck, SubmissionQueuesCheck,
};
use crate::config::{HandleIsolation, SlcShareBase};
use flashraid_workload::units::{Size, count_with_noun, with_commas};

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = if self.members == 1 { "1 SSD".to_string() } else { format!("{} SSDs", self.members) };
        let strips = self.stripe_unit_bytes.map_or_else(String::new, |bytes| format!(" in strips of {}", size(bytes)));
        line(f, "array", &format!("{} on {members}{strips}", size(self.array_bytes)))?;
        if let Some(cache) = &self.cache {
            let parts = match (cache.group_bytes, cache.member_bytes) {
                (group, 0) => format!("{} for write groups", size(group)),
                (0, member) => format!("{} for each member", size(member)),
                (group, member) => format!("{} in the first level, {} for each member", size(group), size(member)),
            };
            line(f, "cache", &format!("{parts}; a stripe is {}", size(cache.stripe_bytes)))?;
        }
        let m = &self.member;
        let text = format!(
            "{} raw, {} exported; {} of each plane in reserve",
            size(m.raw_bytes),
            size(m.exported_bytes),
            count_with_noun(u64::from(m.reserved_blocks_per_plane), "block")
        );
        line(f, "member", &text)?;
        let text =
            format!("{:.1} %, of which {:.1} % are left for garbage", m.over_provisioning * 100.0, m.effective_over_provisioning * 100.0);
        line(f, "over-provisioning", &text)?;
        if let Some(drive) = &self.drive {
            let text = format!(
                "{} of {}; superpages of {}, a write buffer of {}",
                count_with_noun(u64::from(drive.superblocks), "superblock"),
                size(drive.superblock_bytes),
                size(drive.superpage_bytes),
                size(drive.buffer_bytes)
            );
            line(f, "drive", &text)?;
            if let Some(parity) = drive.parity_bytes {
                let text = format!("{} of the raw capacity, which the figures here take into account", size(parity));
                line(f, "parity", &text)?;
            }
            if let Some(placement) = &drive.placement {
                let PlacementHandlesCheck { handles, handles_used, open_superblocks_max, .. } = placement;
                let moved = match placement.isolation {
                    HandleIsolation::Initially => "what collection moves lies together",
                    HandleIsolation::Persistently => "what collection moves stays with its handle",
                };
                let text = format!(
                    "{handles}, of which the workload uses {handles_used}; {moved}; up to {open_superblocks_max} superblocks are open"
                );
                line(f, "placement handles", &text)?;
            }
            queues_line(f, drive.queues.as_ref())?;
            if let Some(slc) = &drive.slc {
                let SlcSuperblocksCheck { superblocks, bytes, bytes_unscaled, mode } = *slc;
                let when = if mode == SlcShareBase::Dynamic { " after idle time" } else { "" };
                let superblocks = count_with_noun(u64::from(superblocks), "superblock");
                let mut text = format!("up to {superblocks} with one bit per cell{when}, which hold {}", size(bytes));
                if drive.scale > 1 {
                    text += &format!(" ({} in the drive)", size(bytes_unscaled));
                }
                text += "; folded data are programmed once more, which the write amplification below does not contain";
                line(f, "SLC", &text)?;
            }
            let mut text = format!("{} until no free superblocks are left", size(drive.burst_bytes));
            if drive.scale > 1 {
                let (burst, memory) = (size(drive.burst_bytes_unscaled), size(drive.memory_bytes_unscaled));
                text +=
                    &format!("; {burst} in the full-size drive, which is simulated 1 : {} and would need {memory} of memory", drive.scale);
            }
            line(f, "a burst may be", &text)?;
            if drive.scale_by.is_some() {
                let scale = drive.scale;
                let text = format!(
                    "dies, channels, cores, link and buffer are divided by {scale}. Divide the load (requests per second, outstanding requests) by \
                     {scale}, and multiply requests and bytes per second of the report by {scale}. Times stay the same"
                );
                line(f, "scaled by width", &text)?;
            }
        }
        if let Some(front) = &self.front {
            if let Some(bytes) = front.buffer_bytes {
                let power = if front.is_protected { "it survives a loss of power" } else { "a flush waits until it has been programmed" };
                line(f, "write buffer", &format!("{} for each member; {power}", size(bytes)))?;
            }
            queues_line(f, front.queues.as_ref())?;
        }
        let gc = &self.gc;
        let text = format!(
            "starts at {} free of {} of a pool, stops at {}",
            gc.start_free_blocks,
            count_with_noun(gc.pool_blocks.into(), "block"),
            gc.stop_free_blocks
        );
        line(f, "collection", &text)?;
        let about = if gc.write_amplification_is == "exact" { "" } else { "at least " };
        let text = format!(
            "{about}{:.2} under uniformly random writes ({:.2} for large blocks)",
            gc.write_amplification, gc.write_amplification_oldest_first
        );
        line(f, "write amplification", &text)?;
        line(f, "a clean", &format!("moves {:.1} pages and takes {:.2} ms", gc.pages_moved_per_clean, gc.clean_us / 1000.0))?;
        let text = match self.first_collection {
            FirstCollectionEstimate::AtOnce => "at once; the warm-up brings the pools to their working level".to_string(),
            FirstCollectionEstimate::After { pages_per_member, seconds: Some(seconds) } => {
                format!("after {} written per member, about {seconds:.1} s into the run", count_with_noun(pages_per_member, "page"))
            }
            FirstCollectionEstimate::After { pages_per_member, seconds: None } => {
                format!("after {} written per member", count_with_noun(pages_per_member, "page"))
            }
            FirstCollectionEstimate::Never { pages_per_member } => {
                format!("not in this run; it takes {} written per member", count_with_noun(pages_per_member, "page"))
            }
            FirstCollectionEstimate::Unknown => "unknown before the run".to_string(),
        };
        line(f, "first collection", &text)?;
        if let Some(w) = &self.workload {
            let pace = match (w.requests_per_s, w.closed_depth) {
                (Some(rate), _) => format!("{} requests/s", with_commas(&format!("{rate:.2}"))),
                (None, Some(depth)) => format!("{} outstanding", count_with_noun(depth.into(), "request")),
                (None, None) => "no times".to_string(),
            };
            let (kib, reads, sample) = (w.mean_request_bytes / 1024.0, w.read_fraction * 100.0, count_with_noun(w.requests, "request"));
            let text = format!("{pace}, {kib:.2} KiB on average, {reads:.1} % reads, from its first {sample}");
            line(f, "workload", &text)?;
            if let Some(share) = w.meets_slow_member {
                line(f, "slow members", &format!("{:.2} % of the requests meet one while it is slow", share * 100.0))?;
            }
        }
        if let Some(load) = &self.load {
            if let (Some(without), Some(with)) = (load.dies_without_gc, load.dies_with_gc) {
                let mut text = format!("dies {:.1} % busy, {:.1} % with collection", without * 100.0, with * 100.0);
                for (name, share) in
                    [("link", load.link), ("channels", load.channels), ("controller", load.controller), ("processor", load.processor)]
                {
                    if let Some(share) = share {
                        text.push_str(&format!(", {name} {:.1} %", share * 100.0));
                    }
                }
                line(f, "load", &text)?;
            }
            if let Some(max) = load.requests_per_s_max {
                // With few requests in progress, a cache may wait for one member while the others are idle.
                let but = match self.cache {
                    Some(_) => "for the members alone; with the cache it may be much less",
                    None => "an upper bound: full buffers and short queues allow less",
                };
                line(f, "at most", &format!("{} requests/s, {but}", with_commas(&format!("{max:.0}"))))?;
            }
        }
        if let Some(leave) = &self.leave {
            let mut text = format!(
                "asked for at {} free; {} of {} members at a time",
                count_with_noun(leave.ask_at_free_blocks.into(), "block"),
                leave.together,
                leave.scope_members
            );
            if let Some(load) = leave.load {
                text += &format!(", who need {:.0} % of that time", load * 100.0);
            }
            line(f, "leave to collect", &text)?;
        }
        if let Some(turns) = &self.turns {
            let mut text = format!("of {:.1} ms; from {:.1} to", turns.window_ms, turns.window_min_ms);
            text += &match turns.window_max_ms {
                Some(most) => format!(" {most:.1} ms are possible"),
                None => " any length are possible".to_owned(),
            };
            if let (Some(gained), Some(written)) = (turns.pages_gained_in_turn, turns.pages_written_in_round) {
                text += &format!("; a die gains {gained:.0} pages in its turn, and {written:.0} are written until the next");
            }
            line(f, "turns to collect", &text)?;
            if let Some(windows) = &turns.deterministic_windows {
                let mut text = format!("of {:.1} ms", windows.length_ms);
                if let Some(restored) = windows.restored_ms {
                    text += &format!(", of which a turn restores {restored:.1} ms");
                }
                if let Some(writes) = windows.writes {
                    text += &format!("; a member gets {writes:.0} page writes");
                }
                if let Some(restored) = windows.restored_writes {
                    text += &format!("; a turn restores {restored:.0}");
                }
                line(f, "deterministic windows", &text)?;
            }
        }
        let warm_up = match self.warm_up_pages {
            0 if self.first_collection == FirstCollectionEstimate::AtOnce => {
                "no pages: the drives are put into the steady state of random writes directly".to_owned()
            }
            pages => count_with_noun(pages, "page"),
        };
        line(f, "warm-up", &warm_up)?;
        if let Some(seconds) = self.seconds {
            let run = seconds
                .run
                .map_or("an unknown time for the run".to_owned(), |run| format!("{} for the run", duration::rounded_duration_text(run)));
            line(
                f,
                "takes about",
                &format!("{} on one processor for the warm-up, {run}", duration::rounded_duration_text(seconds.warm_up)),
            )?;
        }
        line(f, "memory", &size(self.memory_bytes))?;
        if let Some(idle) = self.load.as_ref().and_then(ExpectedMemberUtilisation::load_rise_until_gc_matters) {
            writeln!(f, "note: {idle}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}

fn queues_line(f: &mut fmt::Formatter<'_>, queues: Option<&SubmissionQueuesCheck>) -> fmt::Result {
    let Some(SubmissionQueuesCheck { queues, used, burst, commands }) = queues else { return Ok(()) };
    let text =
        format!("{queues}, of which this workload uses {used}; {burst} of each in turn while fewer than {commands} commands are in flight");
    line(f, "queues", &text)
}

fn line(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    writeln!(f, "{name:<20} {text}")
}

/// Returns a size with three digits and a binary unit.
fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let Some((power, unit)) = units.iter().enumerate().rev().find(|(power, _)| bytes >= 1 << (10 * (power + 1))) else {
        return Size { bytes }.to_string();
    };
    format!("{:.2} {unit}", bytes as f64 / (1_u64 << (10 * (power + 1))) as f64)
}
