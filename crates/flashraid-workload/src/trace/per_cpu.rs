//! Recordings of blktrace, which writes a file for each CPU. They are read as one, in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::formats::{BLKTRACE_RECORD_BYTES, blktrace_record_bytes, record_time_ns};

/// Returns the files of the recording to which a file belongs, in order of the CPUs: `NAME.blktrace.0`, `NAME.blktrace.1`, …. A file with
/// another name is a recording by itself.
#[must_use]
pub fn files_of_recording(path: &Path) -> Vec<PathBuf> {
    let alone = || vec![path.to_owned()];
    let Some((name, cpu)) = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('.')) else { return alone() };
    if cpu.parse::<u32>().is_err() || !name.ends_with(".blktrace") {
        return alone();
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return alone() };
    let mut files: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let file_name = entry.file_name();
            let cpu = file_name.to_str()?.strip_prefix(name)?.strip_prefix('.')?.parse().ok()?;
            // A CPU on which nothing happened has an empty file.
            (entry.metadata().ok()?.len() > 0).then(|| (cpu, path.with_file_name(file_name)))
        })
        .collect();
    files.sort();
    let files: Vec<PathBuf> = files.into_iter().map(|(_, file)| file).collect();
    if files.is_empty() { alone() } else { files }
}

/// The records of several files in order of time.
pub(crate) struct Merged {
    parts: Vec<Part>,
    /// Time of the next record of each file, with the number of the file.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    /// File whose record is being given out, and the number of its bytes that are.
    current: Option<(usize, usize)>,
}

struct Part {
    file: BufReader<File>,
    /// The next record, or the rest of a file that ends within one.
    record: Vec<u8>,
}

impl Merged {
    pub(crate) fn open(files: &[PathBuf]) -> io::Result<Self> {
        let open = |file: &PathBuf| Ok(Part { file: BufReader::new(File::open(file)?), record: Vec::new() });
        let parts = files.iter().map(open).collect::<io::Result<Vec<_>>>()?;
        let mut merged = Self { parts, next: BinaryHeap::new(), current: None };
        (0..merged.parts.len()).try_for_each(|part| merged.read_record(part))?;
        Ok(merged)
    }

    /// Reads the next record of a file, and enters its time.
    fn read_record(&mut self, part: usize) -> io::Result<()> {
        let Part { file, record } = &mut self.parts[part];
        record.clear();
        file.by_ref().take(BLKTRACE_RECORD_BYTES as u64).read_to_end(record)?;
        if record.is_empty() {
            return Ok(());
        }
        let mut time_ns = u64::MAX;
        if record.len() == BLKTRACE_RECORD_BYTES {
            let more = blktrace_record_bytes(record) - BLKTRACE_RECORD_BYTES;
            file.by_ref().take(more as u64).read_to_end(record)?;
            time_ns = record_time_ns(record);
        }
        self.next.push(Reverse((time_ns, part)));
        Ok(())
    }
}

impl Read for Merged {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (part, given) = match self.current {
            Some(current) => current,
            None => match self.next.pop() {
                Some(Reverse((_, part))) => (part, 0),
                None => return Ok(0),
            },
        };
        let rest = &self.parts[part].record[given..];
        let bytes = rest.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&rest[..bytes]);
        if bytes < rest.len() {
            self.current = Some((part, given + bytes));
        } else {
            self.current = None;
            self.read_record(part)?;
        }
        Ok(bytes)
    }
}
