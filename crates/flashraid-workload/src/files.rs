//! Files that appear whole or not at all; the one way in which everything is written.
//!
//! A regular file grows under a temporary name beside its own, which is its own for sure (of this thread, process and host), and takes
//! its name when it is complete and durable; symbolic links stay, and what they lead to is replaced. What is no regular file (a pipe, a
//! terminal, `/dev/null`, `/dev/stdout`) is written to and never replaced.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

/// Begin and end of temporary names.
const TEMPORARY: (&str, &str) = (".flashraid-", ".part");

/// Temporary files that an end of the process which asks nobody has to remove.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is being written; only for the moment before the process ends.
pub fn discard_unfinished() {
    for path in unfinished().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// The same for an end that may have come in the middle of anything, memory that has run out among it: nothing is waited for.
pub fn try_discard_unfinished() {
    if let Ok(mut paths) = UNFINISHED.try_lock() {
        for path in paths.drain(..) {
            let _ = fs::remove_file(path);
        }
    }
}

/// A file that is being written; dropped without [`NewFile::finish`] it leaves what was there before.
#[derive(Debug)]
pub struct NewFile {
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// A regular file: its name, all links followed, and what is to get it.
    Replace(PathBuf, NamedTempFile),
    /// What is written to as it stands.
    Stream(File),
}

impl NewFile {
    /// Begins the file `path`; `-` is standard output.
    ///
    /// # Errors
    /// What the system says: there is no such folder, `path` is a folder, it may not be written.
    pub fn begin(path: &Path) -> io::Result<Self> {
        if let Some(stream) = standard_stream(path)? {
            return Ok(Self { target: Target::Stream(stream) });
        }
        let (path, old) = follow(path)?;
        match &old {
            Some(old) if old.is_dir() => return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")),
            Some(old) if !old.is_file() => {
                if !is_stream(old) {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is neither a file nor a pipe or character device"));
                }
                return Ok(Self { target: Target::Stream(File::options().write(true).open(&path)?) });
            }
            _ => {}
        }
        if path.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
        }
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            // Otherwise the result would be readable by its owner only, unlike every other new file.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1).tempfile_in(folder_of(&path))?;
        unfinished().push(temporary.path().to_owned());
        let new = Self { target: Target::Replace(path, temporary) };
        if let (Some(old), Target::Replace(_, temporary)) = (old, &new.target) {
            if old.permissions().readonly() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it may only be read"));
            }
            // As far as it may be done, the file keeps who may read it.
            let _ = fs::set_permissions(temporary.path(), old.permissions());
        }
        Ok(new)
    }

    /// The open file.
    ///
    /// # Errors
    /// The system has no more handles.
    pub fn handle(&self) -> io::Result<File> {
        match &self.target {
            Target::Replace(_, temporary) => temporary.as_file().try_clone(),
            Target::Stream(file) => file.try_clone(),
        }
    }

    /// Makes what was written durable and gives it its name, in place of what had that name.
    ///
    /// # Errors
    /// The disk is full, or the name can't be taken; nothing is left of the new file then.
    pub fn finish(mut self) -> io::Result<()> {
        if let Target::Replace(_, temporary) = &self.target {
            temporary.as_file().sync_all()?;
        }
        self.take_name()
    }

    /// As [`NewFile::finish`], but for what can be made anew: after a crash of the machine it may be there and be damaged.
    ///
    /// # Errors
    /// As [`NewFile::finish`].
    pub fn finish_undurable(mut self) -> io::Result<()> {
        self.take_name()
    }

    fn take_name(&mut self) -> io::Result<()> {
        let Target::Replace(path, temporary) = &self.target else { return Ok(()) };
        // What is left to do when this is dropped fails in silence: there is nothing under the temporary name any more.
        fs::rename(temporary.path(), path)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Target::Replace(_, temporary) = &self.target {
            unfinished().retain(|path| path != temporary.path());
        }
    }
}

/// Writes a whole file.
///
/// # Errors
/// As [`NewFile::begin`] and [`NewFile::finish`].
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let file = NewFile::begin(path)?;
    file.handle()?.write_all(contents)?;
    file.finish()
}

/// The content of a file of at most `bytes_max` bytes: a path may lead to a file that never ends.
///
/// # Errors
/// What the system says, and [`io::ErrorKind::FileTooLarge`] for a longer one.
pub fn read_at_most(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > bytes_max {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// As [`write`](fn@write), but for what can be made anew: [`NewFile::finish_undurable`].
///
/// # Errors
/// As [`write`](fn@write).
pub fn write_undurable(path: &Path, contents: &[u8]) -> io::Result<()> {
    let file = NewFile::begin(path)?;
    file.handle()?.write_all(contents)?;
    file.finish_undurable()
}

/// Whether it is the path that is wrong, which is its author's mistake, rather than the disk.
pub fn is_wrong_path(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    #[cfg(unix)]
    let is_loop = error.raw_os_error() == Some(libc::ELOOP);
    #[cfg(not(unix))]
    let is_loop = false;
    is_loop || matches!(error.kind(), NotFound | PermissionDenied | NotADirectory | IsADirectory | InvalidFilename | InvalidInput)
}

/// The age from which on a file under a temporary name belongs to nobody.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Whether `name` is a temporary name of this program.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

/// Whether what has not been changed since `changed` belongs to nobody: its writer was killed.
pub fn is_abandoned(changed: SystemTime) -> bool {
    changed.elapsed().is_ok_and(|age| age > ABANDONED)
}

/// Removes from `folder` what writers that were killed have left there, as far as it may be done.
pub fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_left = entry.file_name().to_str().is_some_and(is_temporary)
            && entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(is_abandoned);
        if is_left {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The folder that holds `path`.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The handle that `path` names, if it names one rather than a file: opening it anew would begin at the start of what it was sent to.
fn standard_stream(path: &Path) -> io::Result<Option<File>> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let own = match path.to_str() {
            Some("-" | "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => io::stdout().as_fd().try_clone_to_owned()?,
            Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => io::stderr().as_fd().try_clone_to_owned()?,
            Some(name) if name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/") => {
                File::options().append(true).open(path)?.into()
            }
            _ => return Ok(None),
        };
        Ok(Some(own.into()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(None)
    }
}

/// Where the links of `path` lead, and what is there.
fn follow(path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
    /// Links that a system follows at most, about.
    const LINKS_MAX: u32 = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let to = fs::read_link(&path)?;
                path = folder_of(&path).join(to);
            }
            Ok(metadata) => return Ok((path, Some(metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((path, None)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "its symbolic links lead nowhere"))
}

/// What takes bytes one after the other and keeps none.
fn is_stream(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        metadata.file_type().is_fifo() || metadata.file_type().is_char_device()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        drop(NewFile::begin(&path).unwrap());
        assert!(names(folder.path()).is_empty());
        write(&path, b"old").unwrap();
        let new = NewFile::begin(&path).unwrap();
        new.handle().unwrap().write_all(b"new").unwrap();
        drop(new);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"old".to_vec(), 1));
        write(&path, b"new").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"new".to_vec(), 1));
        assert!(write(&folder.path().join("no/such"), b"").is_err() && write(folder.path(), b"").is_err());
    }

    #[test]
    fn what_is_too_long_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("four");
        fs::write(&path, "four").unwrap();
        assert_eq!(read_at_most(&path, 4).unwrap(), b"four");
        assert_eq!(read_at_most(&path, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        #[cfg(unix)]
        assert_eq!(read_at_most(Path::new("/dev/zero"), 1 << 20).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn writers_of_one_name_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        std::thread::scope(|scope| {
            for writer in 0..4_u8 {
                let path = &path;
                scope.spawn(move || (0..20).for_each(|_| write(path, &[writer; 100_000]).unwrap()));
            }
        });
        let written = fs::read(&path).unwrap();
        assert!(written.len() == 100_000 && written.iter().all(|byte| *byte == written[0]));
        assert_eq!(names(folder.path()), ["state"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_what_they_lead_to_is_replaced() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("deep/real"), "old").unwrap();
        fs::set_permissions(at("deep/real"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("deep/real", at("link")).unwrap();
        symlink("link", at("link-to-link")).unwrap();
        write(&at("link-to-link"), b"new").unwrap();
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink() && fs::symlink_metadata(at("link-to-link")).unwrap().is_symlink());
        assert_eq!(fs::read(at("deep/real")).unwrap(), b"new");
        assert_eq!(fs::metadata(at("deep/real")).unwrap().permissions().mode() & 0o777, 0o640);
        symlink("deep/none-yet", at("dangling")).unwrap();
        write(&at("dangling"), b"made").unwrap();
        assert_eq!(fs::read(at("deep/none-yet")).unwrap(), b"made");
        symlink("circle", at("circle")).unwrap();
        assert!(write(&at("circle"), b"").is_err());
        assert_eq!(names(&at("deep")), ["none-yet", "real"]);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_written_to_and_stay() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = |program: &str, arguments: &[&str]| {
            std::process::Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
        };
        assert!(made("mkfifo", &[pipe.to_str().unwrap()]));
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write(&pipe, b"through the pipe").unwrap();
        assert_eq!(reader.join().unwrap(), b"through the pipe");
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());

        write(Path::new("/dev/null"), b"nothing").unwrap();
        assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
        // Only root may make a device.
        let device = folder.path().join("null");
        if made("mknod", &[device.to_str().unwrap(), "c", "1", "3"]) {
            // Where devices may be opened in this folder at all.
            if File::options().write(true).open(&device).is_ok() {
                write(&device, b"nothing").unwrap();
            }
            assert!(fs::symlink_metadata(&device).unwrap().file_type().is_char_device());
        }
        assert!(names(folder.path()).iter().all(|name| !name.starts_with('.')));
    }
}
