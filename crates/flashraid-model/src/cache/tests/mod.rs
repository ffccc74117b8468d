//! Tests of the caches with a back end in which every operation takes a set time.

mod random;
mod rules;

use super::*;
use crate::ids::MemberSet;
use crate::placement::RaidLevel;
use crate::request::OpKind;
use std::collections::BTreeMap;

/// An event that the back end delivers to a cache.
#[derive(Debug, Clone, Copy)]
enum Event {
    Done(Token),
    Wake(CacheWake),
}

/// A cache, its layout, and operations in progress.
struct Bench {
    cache: Cache,
    layout: ArrayLayout,
    now: TimeNs,
    events: BTreeMap<(TimeNs, u64), Event>,
    scheduled: u64,
    /// Duration of each operation.
    duration_ns: Box<dyn FnMut(&Command) -> u64>,
    /// Tag and end of requests that are done.
    done: Vec<(u64, TimeNs)>,
    /// Operations in order, with their times.
    log: Vec<(TimeNs, String)>,
    /// Pages written to and read from members, with parity.
    pages_written: u64,
    pages_read: u64,
}

/// Returns a cache without thresholds, one destage at a time, an instantaneous memory and a timer of 1000 ns.
fn params(levels: StripeAndMemberCaches, group_pages: u32, member_pages: u32) -> WriteCacheParams {
    WriteCacheParams {
        stripe_and_member_caches: levels,
        dirty_stripe_cache_capacity_pages: group_pages,
        member_cache_pages: member_pages,
        capacity_unit: CapacityUnit::Pages,
        recency: RecencyBit::Hits,
        destage_start_fill: 0.0,
        full_speed_destage_fill_fraction: 0.0,
        destages_in_flight_max: 1,
        destage_wait_for_other_members_max_ns: 1000,
        nvm_page_read_ns: 0,
        nvm_page_write_ns: 0,
    }
}

const IWC: StripeAndMemberCaches = IndependentMemberCaches::STRIPE_AND_MEMBER_CACHES;
const IWC_SYNC: StripeAndMemberCaches = MemberCachesDestagingTogether::STRIPE_AND_MEMBER_CACHES;

fn request(tag: u64, first_page: u64, pages: u32, write: bool) -> RequestInPages {
    RequestInPages {
        tag,
        first_page,
        pages,
        kind: OpKind::from_is_write(write),
        fua: false,
        must_not_wait_for_gc: false,
        stream: 0,
        contiguous_on_one_member: false,
    }
}

impl Bench {
    /// Returns a bench on which every operation takes 100 ns.
    fn new(params: WriteCacheParams, level: RaidLevel, members: u32, strip_pages: u32) -> Self {
        let layout = ArrayLayout::new(level, members, strip_pages, 64 * u64::from(strip_pages));
        Self {
            cache: Cache::new(&params, layout, members),
            layout,
            now: 0,
            events: BTreeMap::new(),
            scheduled: 0,
            duration_ns: Box::new(|_| 100),
            done: Vec::new(),
            log: Vec::new(),
            pages_written: 0,
            pages_read: 0,
        }
    }

    fn write(&mut self, tag: u64, first_page: u64, pages: u32) {
        self.submit(&request(tag, first_page, pages, true));
    }

    fn read(&mut self, tag: u64, first_page: u64, pages: u32) {
        self.submit(&request(tag, first_page, pages, false));
    }

    fn submit(&mut self, request: &RequestInPages) {
        self.cache.submit(self.now, request);
        self.perform_commands();
    }

    fn perform_commands(&mut self) {
        let mut commands = Commands::default();
        self.cache.take_commands(&mut commands);
        for order in &commands.list {
            let (at, event) = match *order {
                Command::ScheduleCacheWake { at, wake } => (at, Event::Wake(wake)),
                Command::AccessArray { token, extent_index_bounds: (from, to), kind } => {
                    let write = kind == OpKind::Write;
                    let extents = &commands.array_extents[from as usize..to as usize];
                    self.count_array(extents, write);
                    let pages: Vec<String> = extents.iter().map(|extent| format!("{}+{}", extent.first_page, extent.pages)).collect();
                    self.log.push((self.now, format!("{} {}", if write { "write" } else { "read" }, pages.join(" "))));
                    (self.now + (self.duration_ns)(order), Event::Done(token))
                }
                Command::AccessMembers { token, extent_index_bounds: (from, to), kind } => {
                    let write = kind == OpKind::Write;
                    let extents = &commands.member_extents[from as usize..to as usize];
                    let pages: u64 = extents.iter().map(|extent| u64::from(extent.pages)).sum();
                    *if write { &mut self.pages_written } else { &mut self.pages_read } += pages;
                    let extents: Vec<String> =
                        extents.iter().map(|extent| format!("m{}:{}+{}", extent.member, extent.first_page, extent.pages)).collect();
                    self.log.push((self.now, format!("{} {}", if write { "write" } else { "read" }, extents.join(" "))));
                    (self.now + (self.duration_ns)(order), Event::Done(token))
                }
            };
            self.events.insert((at, self.scheduled), event);
            self.scheduled += 1;
        }
        self.cache.verify().unwrap();
    }

    fn count_array(&mut self, extents: &[ArrayExtent], write: bool) {
        let pages: u64 = extents.iter().map(|extent| u64::from(extent.pages)).sum();
        if !write {
            self.pages_read += pages;
            return;
        }
        let locations: Vec<_> = extents
            .iter()
            .flat_map(|extent| extent.first_page..extent.first_page + u64::from(extent.pages))
            .map(|page| self.layout.locate(page))
            .collect();
        assert!(locations.iter().all(|location| location.stripe == locations[0].stripe), "a destage is of one stripe");
        let mut rows: Vec<u64> = locations.iter().map(|location| location.member_page).collect();
        rows.sort_unstable();
        rows.dedup();
        self.pages_written += pages + rows.len() as u64 * u64::from(self.layout.stripe_shape().parity_strips);
    }

    /// Runs all events until `until`.
    fn run_until(&mut self, until: TimeNs) {
        loop {
            let event = self.events.keys().next().copied();
            let timer = self.cache.next_time();
            match (event, timer) {
                (Some((at, order)), timer) if at <= until && timer.is_none_or(|timer| at <= timer) => {
                    let event = self.events.remove(&(at, order)).unwrap();
                    self.now = at;
                    let done = match event {
                        Event::Done(token) => self.cache.done(at, token, MemberSet::NONE, 0),
                        Event::Wake(wake) => self.cache.wake(at, wake),
                    };
                    self.done.extend(done.map(|done| (done.tag, at)));
                }
                (_, Some(timer)) if timer <= until => {
                    assert!(timer >= self.now);
                    self.now = timer;
                    self.cache.step(timer);
                    assert!(self.cache.next_time() != Some(timer) || self.cache.has_commands_for_array(), "a timer that leads to nothing");
                }
                _ => break,
            }
            self.perform_commands();
        }
        self.now = self.now.max(until);
    }

    /// Runs all events. The time stays that of the last event.
    fn finish(&mut self) {
        while let Some(next) = [self.events.keys().next().map(|&(at, _)| at), self.cache.next_time()].into_iter().flatten().min() {
            self.run_until(next);
        }
    }

    /// Returns the writes in order, without their times.
    fn writes(&self) -> Vec<&str> {
        self.log.iter().filter_map(|(_, text)| text.strip_prefix("write ")).collect()
    }

    fn counters(&mut self) -> CacheCounters {
        self.cache.counters(self.now)
    }
}
