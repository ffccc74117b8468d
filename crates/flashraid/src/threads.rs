//! Work on several threads, which reports its progress and can be stopped.

use crate::run_error::RunError;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Interval at which the waiting thread asks whether to continue.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Number that stands for a whole item when finished shares are counted.
const WHOLE: f64 = 1e6;

/// Calls `work` for each of `items`, on up to `threads` threads, or fewer if the operating system refuses some.
///
/// `work` must call its second argument with the share that is done, from 0 to 1, every few milliseconds. It must stop when that returns
/// false. `go_on` receives the share of all the work, and is called on the caller's thread only.
///
/// # Errors
/// Returns the error of `go_on`.
pub(crate) fn for_each<T: Send>(
    items: Vec<T>,
    threads: usize,
    go_on: &mut dyn FnMut(f64) -> Result<(), RunError>,
    work: impl Fn(T, &mut dyn FnMut(f64) -> bool) + Sync,
) -> Result<(), RunError> {
    let count = items.len();
    let shares: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
    let done = || shares.iter().map(|share| f64::from(share.load(Ordering::Relaxed))).sum::<f64>() / WHOLE / count as f64;
    let tell = |item: usize, share: f64| shares[item].store((share * WHOLE) as u32, Ordering::Relaxed);
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let stop = AtomicBool::new(false);
    let mut result = Ok(());
    let threads = if threads.min(count) > 1 { threads.min(count) } else { 0 };
    thread::scope(|scope| {
        let (ended, all_ended) = mpsc::channel::<()>();
        for _ in 0..threads {
            let ended = ended.clone();
            let (next, tell, work, stop) = (&next, &tell, &work, &stop);
            let run = move || {
                let _ended = ended;
                while !stop.load(Ordering::Relaxed)
                    && let Some((index, item)) = next()
                {
                    work(item, &mut |share| {
                        tell(index, share);
                        !stop.load(Ordering::Relaxed)
                    });
                    tell(index, 1.0);
                }
            };
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        drop(ended);
        while let Err(RecvTimeoutError::Timeout) = all_ended.recv_timeout(POLL_INTERVAL) {
            if result.is_ok() {
                result = go_on(done());
                stop.store(result.is_err(), Ordering::Relaxed);
            }
        }
    });
    // This loop does the work on one thread, or if the system gave none.
    while result.is_ok()
        && let Some((index, item)) = next()
    {
        work(item, &mut |share| {
            tell(index, share);
            if result.is_ok() {
                result = go_on(done());
            }
            result.is_ok()
        });
        tell(index, 1.0);
    }
    result.and_then(|()| go_on(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_items_are_worked_on_once_by_any_number_of_threads() {
        for threads in [0, 1, 2, 3, 8] {
            let seen = Mutex::new(Vec::new());
            let mut last = 0.0;
            let mut go_on = |share: f64| {
                assert!(share >= last && share <= 1.0);
                last = share;
                Ok(())
            };
            for_each((0..5).collect(), threads, &mut go_on, |item: u32, go_on| {
                assert!(go_on(0.5));
                seen.lock().unwrap().push(item);
            })
            .unwrap();
            let mut seen = seen.into_inner().unwrap();
            seen.sort_unstable();
            assert_eq!((seen, last), (vec![0, 1, 2, 3, 4], 1.0), "{threads}");
        }
    }

    #[test]
    fn it_ends_soon_after_it_is_stopped() {
        for threads in [1, 2] {
            let mut asked = 0;
            let mut go_on = |_| {
                asked += 1;
                if asked < 3 { Ok(()) } else { Err(RunError::StoppedBeforeFirstRequest) }
            };
            let ended = for_each(vec![(), (), ()], threads, &mut go_on, |(), go_on| while go_on(0.1) {});
            assert!(matches!(ended, Err(RunError::StoppedBeforeFirstRequest)));
        }
    }
}
