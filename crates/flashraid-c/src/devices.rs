//! The open devices: numbered places, each behind a lock of its own.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flashraid::Device;

use crate::failure::Failure;
use crate::{FLASHRAID_BAD_DEVICE, FLASHRAID_FAILED, flashraid_device};

/// The number of devices that may be open at a time.
const PLACES: usize = 4096;
/// A device's number is `turn * PLACES + place`. Turns begin with 1, so that no device is 0.
struct Place {
    /// The number of devices that were opened here.
    turn: u64,
    open: Option<Box<Open>>,
}

struct Open {
    device: Device,
    /// The latest report, while no call has changed the device: who asks for its length first does not have it made twice.
    report: Option<String>,
}

static DEVICES: [Mutex<Place>; PLACES] = [const { Mutex::new(Place { turn: 0, open: None }) }; PLACES];
/// The places that are free; those behind `fresh` have never been used.
static FREE: Mutex<Free> = Mutex::new(Free { fresh: 0, returned: Vec::new() });

struct Free {
    fresh: usize,
    returned: Vec<usize>,
}

/// A lock that a panic has poisoned is as good as any: who panics closes the device.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a device and returns its number.
pub fn add(device: Device) -> Result<flashraid_device, Failure> {
    let place = {
        let mut free = lock(&FREE);
        match free.returned.pop() {
            Some(place) => place,
            None if free.fresh < PLACES => {
                free.fresh += 1;
                free.fresh - 1
            }
            None => return Err(Failure::new(FLASHRAID_FAILED, format!("{PLACES} devices are open already; close some"))),
        }
    };
    let mut kept = lock(&DEVICES[place]);
    kept.turn += 1;
    kept.open = Some(Box::new(Open { device, report: None }));
    Ok(kept.turn * PLACES as u64 + place as u64)
}

/// Closes a device and frees its place.
pub fn close(device: flashraid_device) -> Result<(), Failure> {
    let (place, mut kept) = find(device)?;
    let open = kept.open.take();
    drop(kept);
    lock(&FREE).returned.push(place);
    drop(open);
    Ok(())
}

/// Does something with an open device.
#[inline]
pub fn with_device<T>(device: flashraid_device, work: impl FnOnce(&mut Device) -> Result<T, Failure>) -> Result<T, Failure> {
    with_open(device, |open| {
        open.report = None;
        work(&mut open.device)
    })
}

/// Does something with the report of an open device.
pub fn with_report<T>(device: flashraid_device, work: impl FnOnce(&str) -> Result<T, Failure>) -> Result<T, Failure> {
    with_open(device, |open| {
        if open.report.is_none() {
            open.report = Some(open.device.report()?.to_json());
        }
        work(open.report.as_deref().unwrap_or_default())
    })
}

#[inline]
fn with_open<T>(device: flashraid_device, work: impl FnOnce(&mut Open) -> Result<T, Failure>) -> Result<T, Failure> {
    let (place, mut kept) = find(device)?;
    let Some(open) = kept.open.as_deref_mut() else { return Err(not_open(device)) };
    match catch_unwind(AssertUnwindSafe(|| work(open))) {
        Ok(result) => result,
        Err(panic) => {
            // What a panic has left half done is not used any more, and not even dropped.
            mem::forget(kept.open.take());
            drop(kept);
            lock(&FREE).returned.push(place);
            resume_unwind(panic)
        }
    }
}

#[inline]
fn find(device: flashraid_device) -> Result<(usize, MutexGuard<'static, Place>), Failure> {
    let place = (device % PLACES as u64) as usize;
    let kept = lock(&DEVICES[place]);
    if kept.open.is_none() || kept.turn != device / PLACES as u64 {
        return Err(not_open(device));
    }
    Ok((place, kept))
}

#[cold]
fn not_open(device: flashraid_device) -> Failure {
    let message = match device {
        0 => "the device is 0, which is none: flashraid_open has failed, or was not called".to_owned(),
        _ => format!("device {device} is not open: it has been closed, or was never opened"),
    };
    Failure::new(FLASHRAID_BAD_DEVICE, message)
}
