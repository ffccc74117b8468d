//! Compression of traces. For reading, it is recognised by the first bytes of the file. For writing, the file name chooses it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::Serialize;

use crate::Stop;

/// Compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// The file is not compressed.
    None,
    /// Compressed by gzip, with one or more members.
    Gzip,
    /// Compressed by zstd, with one or more frames.
    Zstd,
    /// Compressed by bzip2, with one or more streams.
    Bzip2,
}

impl Compression {
    /// Returns the usual name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
        }
    }

    /// Returns the compression of a file that begins with these bytes.
    #[must_use]
    pub(crate) fn detect_from_bytes(head: &[u8]) -> Self {
        if head.starts_with(&[0x1f, 0x8b]) {
            Self::Gzip
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
            || (head.len() >= 4 && head[0] & 0xf0 == 0x50 && head[1..4] == [0x2a, 0x4d, 0x18])
        {
            Self::Zstd
        } else if head.len() >= 4 && head.starts_with(b"BZh") && (b'1'..=b'9').contains(&head[3]) {
            Self::Bzip2
        } else {
            Self::None
        }
    }

    /// Returns the compression that the name of an output file asks for by `.gz`, `.zst` or `.bz2`, or no compression.
    #[must_use]
    pub(crate) fn detect_from_name(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            Some("bz2") => Self::Bzip2,
            _ => Self::None,
        }
    }

    /// Returns the error for a compression that was left out of this build.
    #[cfg(not(all(feature = "bzip2", feature = "gzip", feature = "zstd")))]
    fn missing_feature_error(self) -> io::Error {
        let name = self.name();
        io::Error::new(io::ErrorKind::Unsupported, format!("this build leaves out {name}; build it with the feature `{name}`"))
    }

    /// Returns a reader that decompresses `input`.
    pub(crate) fn reader(self, input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::None => Box::new(input),
            #[cfg(feature = "gzip")]
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(input)),
            #[cfg(feature = "zstd")]
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(input)?),
            #[cfg(feature = "bzip2")]
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(input)),
            #[cfg(not(all(feature = "bzip2", feature = "gzip", feature = "zstd")))]
            _ => return Err(self.missing_feature_error()),
        })
    }
}

/// Writer that compresses bytes. Without a call of [`CompressingWriter::into_results`], the end of the output is missing.
pub(crate) enum CompressingWriter<W: Write> {
    /// Bytes are written without compression.
    Plain(W),
    /// Bytes are compressed by gzip.
    #[cfg(feature = "gzip")]
    Gzip(flate2::write::GzEncoder<W>),
    /// Bytes are compressed by zstd.
    #[cfg(feature = "zstd")]
    Zstd(zstd::stream::write::Encoder<'static, W>),
    /// Bytes are compressed by bzip2.
    #[cfg(feature = "bzip2")]
    Bzip2(bzip2::write::BzEncoder<W>),
}

impl<W: Write> CompressingWriter<W> {
    /// Returns a writer that compresses into `output`.
    ///
    /// # Errors
    /// Returns an error if the compressor cannot be made.
    pub(crate) fn new(compression: Compression, output: W) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::Plain(output),
            #[cfg(feature = "gzip")]
            Compression::Gzip => Self::Gzip(flate2::write::GzEncoder::new(output, flate2::Compression::default())),
            #[cfg(feature = "zstd")]
            Compression::Zstd => Self::Zstd(zstd::stream::write::Encoder::new(output, 0)?),
            #[cfg(feature = "bzip2")]
            Compression::Bzip2 => Self::Bzip2(bzip2::write::BzEncoder::new(output, bzip2::Compression::default())),
            #[cfg(not(all(feature = "bzip2", feature = "gzip", feature = "zstd")))]
            _ => return Err(compression.missing_feature_error()),
        })
    }

    /// Writes all bytes that are still held back, and returns the output.
    ///
    /// # Errors
    /// Returns an error if the output refuses the bytes.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(output) => Ok(output),
            #[cfg(feature = "gzip")]
            Self::Gzip(encoder) => encoder.finish(),
            #[cfg(feature = "zstd")]
            Self::Zstd(encoder) => encoder.finish(),
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for CompressingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(output) => output.write(bytes),
            #[cfg(feature = "gzip")]
            Self::Gzip(encoder) => encoder.write(bytes),
            #[cfg(feature = "zstd")]
            Self::Zstd(encoder) => encoder.write(bytes),
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(output) => output.flush(),
            #[cfg(feature = "gzip")]
            Self::Gzip(encoder) => encoder.flush(),
            #[cfg(feature = "zstd")]
            Self::Zstd(encoder) => encoder.flush(),
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.flush(),
        }
    }
}

/// Source of the bytes of a trace, which can be read again from the start.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    content: Content,
    /// Callback that is asked during reading whether to stop.
    pub(crate) stop: Stop,
}

#[derive(Debug, Clone)]
enum Content {
    /// A file with this path.
    File(PathBuf),
    /// The bytes themselves, in memory.
    Memory(Arc<[u8]>),
}

impl Origin {
    pub(crate) fn file(path: &Path, stop: &Stop) -> Self {
        // The path `-` is standard input, as with most programs.
        let path = if cfg!(unix) && path.as_os_str() == "-" { Path::new("/dev/stdin") } else { path };
        Self { content: Content::File(path.to_owned()), stop: stop.clone() }
    }

    pub(crate) fn memory(bytes: Arc<[u8]>) -> Self {
        Self { content: Content::Memory(bytes), stop: Stop::default() }
    }

    /// Returns true if it can be read only once.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(&self.content, Content::File(path) if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()))
    }

    /// Starts to read from the beginning. The length in bytes is known for regular files and memory.
    pub(crate) fn read(&self) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        match &self.content {
            Content::File(path) => {
                let files = super::per_cpu::files_of_recording(path);
                if files.len() > 1 {
                    let bytes = files.iter().map(|file| Ok(std::fs::metadata(file)?.len())).sum::<io::Result<u64>>()?;
                    return Ok((Box::new(super::per_cpu::Merged::open(&files)?), Some(bytes)));
                }
                let file = File::open(path)?;
                let metadata = file.metadata()?;
                if metadata.is_dir() {
                    return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
                }
                Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
            }
            Content::Memory(bytes) => Ok((Box::new(io::Cursor::new(Arc::clone(bytes))), Some(bytes.len() as u64))),
        }
    }
}

/// Progress of a [`Meter`], which other threads can read.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    /// Number of bytes read from the file, before decompression.
    pub(crate) bytes: AtomicU64,
    /// True if reading the file itself failed, so that an error is not due to its content.
    pub(crate) failed: AtomicBool,
}

/// Reader that counts the bytes of a file, and tells its errors apart from those of the decompressor.
pub(crate) struct Meter<R> {
    inner: R,
    gauge: Arc<Gauge>,
}

impl<R: Read> Meter<R> {
    pub(super) fn new(inner: R, gauge: Arc<Gauge>) -> Self {
        Self { inner, gauge }
    }
}

impl<R: Read> Read for Meter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(bytes) => {
                self.gauge.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                Ok(bytes)
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::Interrupted {
                    self.gauge.failed.store(true, Ordering::Relaxed);
                }
                Err(error)
            }
        }
    }
}
