//! The decompressed bytes of a trace, returned as lines or as records from one buffer.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use memchr::memchr;

use super::compression::{Compression, Gauge, Meter, Origin};
use crate::{SourceError, Stop};

/// Longest line that is accepted, in bytes. The longest real ones, those of FIU with a hash per 4 KiB, stay below 100 KiB.
const BUFFER_BYTES: usize = 1 << 20;

/// Bytes of a trace from start to end.
pub(crate) struct Input {
    name: String,
    reader: Box<dyn Read + Send>,
    gauge: Arc<Gauge>,
    file_bytes: Option<u64>,
    compression: Compression,
    buffer: Vec<u8>,
    /// Range of the bytes in the buffer that have not been returned yet: `buffer[start..end]`.
    start: usize,
    end: usize,
    at_end: bool,
    /// Number of decompressed bytes returned so far.
    position: u64,
    /// Callback that is asked whether to stop whenever the buffer is filled, which takes some milliseconds.
    stop: Stop,
}

impl Input {
    /// Opens `origin`. Messages call it `name`.
    pub(crate) fn open(name: &str, origin: &Origin) -> Result<Self, SourceError> {
        let failed = |error| SourceError::while_reading(name, error);
        let (mut file, file_bytes) = origin.read().map_err(failed)?;
        let mut head = [0; 4];
        let mut head_bytes = 0;
        while head_bytes < head.len() {
            match file.read(&mut head[head_bytes..]) {
                Ok(0) => break,
                Ok(bytes) => head_bytes += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
        if head_bytes == 0 {
            return Err(SourceError::InvalidInput(format!("{name} is empty: expected a trace")));
        }
        let compression = Compression::detect_from_bytes(&head[..head_bytes]);
        let gauge = Arc::new(Gauge::default());
        let whole = io::Cursor::new(head[..head_bytes].to_vec()).chain(file);
        let reader = compression.reader(Meter::new(whole, Arc::clone(&gauge))).map_err(failed)?;
        let mut input = Self {
            name: name.to_owned(),
            reader,
            gauge,
            file_bytes,
            compression,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            position: 0,
            stop: origin.stop.clone(),
        };
        input.fill()?;
        if input.start == input.end {
            return Err(SourceError::InvalidInput(format!(
                "{name} holds nothing once decompressed ({}): expected a trace",
                compression.name()
            )));
        }
        if input.sample().0.starts_with(&[0xef, 0xbb, 0xbf]) {
            // Some Windows programs put this mark before UTF-8 text.
            input.start += 3;
        }
        Ok(input)
    }

    /// Returns the name for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the compression of the file.
    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// Returns the share of the file that has been read, from 0 to 1, before decompression. It is `None` if the length is unknown.
    pub(crate) fn progress(&self) -> Option<f64> {
        let bytes = self.gauge.bytes.load(Ordering::Relaxed);
        self.file_bytes.filter(|total| *total > 0).map(|total| (bytes as f64 / total as f64).min(1.0))
    }

    /// Returns the number of decompressed bytes returned so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the next bytes without removing them, and true if no more follow.
    pub(crate) fn sample(&self) -> (&[u8], bool) {
        (&self.buffer[self.start..self.end], self.at_end)
    }

    /// Returns the next line without its end (`\n` or `\r\n`).
    #[inline]
    pub(crate) fn line(&mut self) -> Result<Option<&[u8]>, SourceError> {
        let mut searched = 0;
        let length = loop {
            match memchr(b'\n', &self.buffer[self.start + searched..self.end]) {
                Some(found) => break searched + found,
                None => {
                    searched = self.end - self.start;
                    if self.at_end {
                        if searched == 0 {
                            return Ok(None);
                        }
                        break searched;
                    }
                    self.fill_for_line()?;
                }
            }
        };
        let begin = self.start;
        let mut end = begin + length;
        self.start = (end + 1).min(self.end);
        self.position += (self.start - begin) as u64;
        if end > begin && self.buffer[end - 1] == b'\r' {
            end -= 1;
        }
        Ok(Some(&self.buffer[begin..end]))
    }

    /// Reads more of the file when the buffer holds no whole line.
    #[cold]
    fn fill_for_line(&mut self) -> Result<(), SourceError> {
        if self.end - self.start == self.buffer.len() {
            return Err(SourceError::InvalidInput(format!(
                "{}: byte {}: found a line of more than 1 MiB, expected the lines of a trace; is this a text trace?",
                self.name, self.position
            )));
        }
        self.fill()
    }

    /// Returns the next record of `size` bytes. The file must not end within it.
    pub(crate) fn record(&mut self, size: usize) -> Result<Option<&[u8]>, SourceError> {
        match self.peek(size)?.len() {
            0 => Ok(None),
            got if got < size => Err(self.cut_off(size)),
            _ => self.bytes(size).map(Some),
        }
    }

    /// Returns the error for a file that ends within a record of `size` bytes.
    pub(crate) fn cut_off(&self, size: usize) -> SourceError {
        SourceError::InvalidInput(format!(
            "{}: byte {} after decompression: found the end of the file within a record of {size} bytes; the file is truncated",
            self.name(),
            self.position() + 1
        ))
    }

    /// Returns the next `length` bytes, or fewer at the end of the file. `length` must not exceed 1 MiB.
    pub(crate) fn bytes(&mut self, length: usize) -> Result<&[u8], SourceError> {
        let bytes = self.peek(length)?.len();
        let begin = self.start;
        self.start += bytes;
        self.position += bytes as u64;
        Ok(&self.buffer[begin..begin + bytes])
    }

    /// Returns the next `length` bytes without removing them, or fewer at the end of the file.
    pub(crate) fn peek(&mut self, length: usize) -> Result<&[u8], SourceError> {
        while self.end - self.start < length && !self.at_end {
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + length)])
    }

    /// Moves the remaining bytes to the front, and reads until the buffer is full or the file ends.
    fn fill(&mut self) -> Result<(), SourceError> {
        self.stop.error_if_stopped()?;
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < self.buffer.len() {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.at_end = true;
                    break;
                }
                Ok(bytes) => self.end += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failure(error)),
            }
        }
        Ok(())
    }

    /// Returns an I/O error if the file cannot be read. If the decompressor fails, returns an error that the file is damaged or truncated.
    fn failure(&self, error: io::Error) -> SourceError {
        if self.compression == Compression::None || self.gauge.failed.load(Ordering::Relaxed) {
            return SourceError::while_reading(&self.name, error);
        }
        if self.compression == Compression::Zstd && error.to_string().contains("too much memory") {
            return SourceError::InvalidInput(format!(
                "{}: its zstd frame needs a window of more than 128 MiB (made with --long or --ultra); compress it anew without",
                self.name
            ));
        }
        let how = if error.kind() == io::ErrorKind::UnexpectedEof { "truncated" } else { "damaged or truncated" };
        SourceError::InvalidInput(format!(
            "{}: the {} data is {how} after {} bytes of the file and {} bytes decompressed ({error}); fetch the file anew",
            self.name,
            self.compression.name(),
            self.gauge.bytes.load(Ordering::Relaxed),
            self.position + (self.end - self.start) as u64,
        ))
    }
}
