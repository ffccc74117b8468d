//! A source of requests that a separate thread reads ahead.

use super::{BLOCK_REQUESTS, HostLoop, Request, RequestSource, SourceError};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// Number of blocks that the thread hands over together. Waking another thread takes as long as reading some dozens of requests.
const BLOCKS_AT_A_TIME: usize = 16;
/// Maximum number of handovers that wait to be taken.
const READY: usize = 2;

/// A block of requests, and the state of the source after them.
#[derive(Default)]
struct Block {
    requests: std::vec::IntoIter<Request>,
    /// Error after the last request of the block. No more requests follow.
    error: Option<SourceError>,
    progress: Option<f64>,
    notes: Vec<String>,
}

/// A source that a separate thread reads ahead, in blocks.
struct ReadAhead {
    ready: Receiver<Vec<Block>>,
    /// Blocks that were handed over and have not been used yet.
    blocks: std::vec::IntoIter<Block>,
    block: Block,
    host_loop: HostLoop,
    thread: Option<thread::JoinHandle<()>>,
}

/// Returns a source that reads `source` ahead on a separate thread. The requests are the same. If the operating system provides no thread,
/// it returns `source` itself.
pub(crate) fn read_on_separate_thread(source: Box<dyn RequestSource + Send>) -> Box<dyn RequestSource> {
    let (host_loop, notes, progress) = (source.host_loop(), source.notes(), source.progress());
    let (sender, ready) = sync_channel(READY);
    let shared = Arc::new(Mutex::new(Some(source)));
    let take = |shared: &Mutex<Option<Box<dyn RequestSource + Send>>>| shared.lock().ok().and_then(|mut source| source.take());
    let for_thread = Arc::clone(&shared);
    let spawned = thread::Builder::new().spawn(move || {
        if let Some(source) = take(&for_thread) {
            read(source, &sender);
        }
    });
    match spawned {
        Ok(thread) => {
            let block = Block { notes, progress, ..Block::default() };
            Box::new(ReadAhead { ready, blocks: Vec::new().into_iter(), block, host_loop, thread: Some(thread) })
        }
        Err(_) => take(&shared).expect("no thread has taken it"),
    }
}

/// Reads `source` until its end, until an error, or until the receiver is gone.
fn read(mut source: Box<dyn RequestSource + Send>, sender: &SyncSender<Vec<Block>>) {
    loop {
        let mut blocks = Vec::with_capacity(BLOCKS_AT_A_TIME);
        let mut ended = false;
        while !ended && blocks.len() < BLOCKS_AT_A_TIME {
            let mut requests = Vec::with_capacity(BLOCK_REQUESTS);
            let filled = source.next_requests(&mut requests, BLOCK_REQUESTS);
            ended = !matches!(filled, Ok(BLOCK_REQUESTS));
            let (progress, notes) = (source.progress(), source.notes());
            blocks.push(Block { requests: requests.into_iter(), error: filled.err(), progress, notes });
        }
        if sender.send(blocks).is_err() || ended {
            return;
        }
    }
}

impl ReadAhead {
    /// Moves on to the next block. Returns false after the last one.
    #[cold]
    fn next_block(&mut self) -> Result<bool, SourceError> {
        if let Some(error) = self.block.error.take() {
            return Err(error);
        }
        if let Some(block) = self.blocks.next() {
            self.block = block;
            return Ok(true);
        }
        match self.ready.recv() {
            Ok(blocks) => self.blocks = blocks.into_iter(),
            Err(_) => {
                // The thread has ended. If it panicked, this thread panics, too.
                if let Some(Err(panic)) = self.thread.take().map(thread::JoinHandle::join) {
                    std::panic::resume_unwind(panic);
                }
                return Ok(false);
            }
        }
        self.next_block()
    }
}

impl RequestSource for ReadAhead {
    #[inline]
    fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
        loop {
            if let Some(request) = self.block.requests.next() {
                return Ok(Some(request));
            }
            if !self.next_block()? {
                return Ok(None);
            }
        }
    }

    fn host_loop(&self) -> HostLoop {
        self.host_loop
    }

    fn progress(&self) -> Option<f64> {
        self.block.progress
    }

    fn notes(&self) -> Vec<String> {
        self.block.notes.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpKind;

    /// A source of numbered requests that ends with what `end` returns.
    struct Counting {
        given: u64,
        until: u64,
        end: fn() -> Result<Option<Request>, SourceError>,
    }

    impl RequestSource for Counting {
        fn next_request(&mut self) -> Result<Option<Request>, SourceError> {
            if self.given == self.until {
                return (self.end)();
            }
            self.given += 1;
            Ok(Some(Request::new(OpKind::Write, self.given, 0, 4096)))
        }

        fn notes(&self) -> Vec<String> {
            vec![format!("{} given", self.given)]
        }
    }

    fn arrivals(source: &mut dyn RequestSource) -> (Vec<u64>, Result<usize, String>) {
        let mut requests = Vec::new();
        let filled = source.next_requests(&mut requests, 1 << 20).map_err(|error| error.to_string());
        (requests.iter().map(|request| request.arrival_ns).collect(), filled)
    }

    #[test]
    fn the_requests_and_the_end_are_those_of_the_source() {
        let bad: fn() -> Result<Option<Request>, SourceError> = || Err(SourceError::InvalidInput("line 7".to_owned()));
        for until in [0, 1, 255, 256, 257, 4096, 10_000] {
            for end in [bad, || Ok(None)] {
                let counting = || Counting { given: 0, until, end };
                let mut ahead = read_on_separate_thread(Box::new(counting()));
                assert_eq!(arrivals(&mut *ahead), arrivals(&mut counting()), "{until}");
                assert!(ahead.next_request().unwrap().is_none(), "nothing follows the end");
            }
        }
    }

    /// Checks that remarks belong to the requests that were returned, 256 at a time.
    #[test]
    fn remarks_are_those_of_the_requests_given_out() {
        let mut ahead = read_on_separate_thread(Box::new(Counting { given: 0, until: 10_000, end: || Ok(None) }));
        assert_eq!(ahead.notes(), ["0 given"]);
        for block in 1..=30 {
            ahead.next_requests(&mut Vec::new(), 256).unwrap();
            assert_eq!(ahead.notes(), [format!("{} given", block * 256)]);
        }
    }

    #[test]
    fn a_source_that_is_not_read_to_its_end_is_left() {
        let mut ahead = read_on_separate_thread(Box::new(Counting { given: 0, until: u64::MAX, end: || Ok(None) }));
        assert_eq!(ahead.next_requests(&mut Vec::new(), 1000).unwrap(), 1000);
    }

    #[test]
    #[should_panic(expected = "a bug of the source")]
    fn a_panic_of_the_source_is_passed_on() {
        let mut ahead = read_on_separate_thread(Box::new(Counting { given: 0, until: 5000, end: || panic!("a bug of the source") }));
        let _ = arrivals(&mut *ahead);
    }
}
