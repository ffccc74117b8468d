//! Files that appear either complete or not at all. All output files are written in this way.
//!
//! A regular file grows under a temporary name next to its own, which no other thread, process or host uses. It takes its name when it is
//! complete and durable. Symbolic links stay, and the file that they lead to is replaced.
//!
//! Anything that is not a regular file (a pipe, a terminal, `/dev/null`, `/dev/stdout`) is written to and never replaced.

use std::fs::{self, File, Metadata};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

/// Beginning and end of the names of temporary files.
const TEMPORARY: (&str, &str) = (".flashraid-", ".part");

/// Temporary files of this process that must be removed if it ends early.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all output files that this process has not completed. Call it only just before the process ends.
pub fn discard_unfinished_files() {
    for path in unfinished().drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// Removes the temporary files of all output files that this process has not completed, but never waits for the lock of their list. If
/// the lock is taken, the files stay. A process that must end at once calls it, for example when memory has run out.
pub fn try_discard_unfinished_files() {
    if let Ok(mut paths) = UNFINISHED.try_lock() {
        for path in paths.drain(..) {
            let _ = fs::remove_file(path);
        }
    }
}

/// A file that is being written under a temporary name. [`ReplacementFile::replace_target`] renames it to its final path, in place of any
/// old file there. If it is dropped before that, the temporary file is removed, and the old file stays as it was. A stream, such as a
/// pipe, is written to directly.
#[derive(Debug)]
pub struct ReplacementFile {
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// A regular file: its path after all links, and the temporary file that will replace it.
    Replace(PathBuf, NamedTempFile),
    /// A stream, such as a pipe, which is written to directly.
    Stream(File),
}

impl ReplacementFile {
    /// Creates the temporary file that [`ReplacementFile::replace_target`] later puts in the place of `path`. Until then, an old file at
    /// `path` stays as it was. A stream, such as a pipe or standard output (the path `-`), is opened directly and has no temporary file.
    ///
    /// # Errors
    /// Returns the error of the operating system. Examples are a folder that does not exist, a `path` that is a folder, and a lack of
    /// permission.
    pub fn create_temporary(path: &Path) -> io::Result<Self> {
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
            // Without this, only its owner could read the result, unlike every other new file.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.prefix(&own_prefix()).suffix(TEMPORARY.1).tempfile_in(parent_folder(&path))?;
        unfinished().push(temporary.path().to_owned());
        let new = Self { target: Target::Replace(path, temporary) };
        if let (Some(old), Target::Replace(_, temporary)) = (old, &new.target) {
            if old.permissions().readonly() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it may only be read"));
            }
            // The new file keeps the permissions of the old one, if the system allows it.
            let _ = fs::set_permissions(temporary.path(), old.permissions());
        }
        Ok(new)
    }

    /// Returns another handle of the open temporary file or stream, for writing its contents.
    ///
    /// # Errors
    /// Returns an error if the operating system has no more handles.
    pub fn temporary_file_handle(&self) -> io::Result<File> {
        match &self.target {
            Target::Replace(_, temporary) => temporary.as_file().try_clone(),
            Target::Stream(file) => file.try_clone(),
        }
    }

    /// Makes the contents of the temporary file durable and renames it to its final path, in place of any old file there.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the name cannot be taken. Nothing is left of the new file then.
    pub fn replace_target(mut self) -> io::Result<()> {
        if let Target::Replace(_, temporary) = &self.target {
            temporary.as_file().sync_all()?;
        }
        self.take_name()
    }

    /// Renames the temporary file to its final path, in place of any old file there, without making its contents durable first. A
    /// crash of the machine may leave the file damaged. This function is therefore for files that can be made again.
    ///
    /// # Errors
    /// Returns the same errors as [`ReplacementFile::replace_target`].
    pub fn replace_target_without_sync(mut self) -> io::Result<()> {
        self.take_name()
    }

    fn take_name(&mut self) -> io::Result<()> {
        let Target::Replace(path, temporary) = &self.target else { return Ok(()) };
        // When this is dropped, nothing is left under the temporary name, and its removal fails silently.
        fs::rename(temporary.path(), path)
    }
}

impl Drop for ReplacementFile {
    fn drop(&mut self) {
        if let Target::Replace(_, temporary) = &self.target {
            unfinished().retain(|path| path != temporary.path());
        }
    }
}

/// Writes a whole file under a temporary name and then renames it to `path`. The file at `path` is therefore complete at all times,
/// and durable in the end. A stream, such as a pipe, is written to directly.
///
/// # Errors
/// Returns the errors of [`ReplacementFile::create_temporary`] and [`ReplacementFile::replace_target`].
pub fn write_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    let file = ReplacementFile::create_temporary(path)?;
    file.temporary_file_handle()?.write_all(contents)?;
    file.replace_target()
}

/// Reads a file of at most `bytes_max` bytes. The limit protects from paths that lead to an endless file.
///
/// # Errors
/// Returns the error of the operating system, or [`io::ErrorKind::FileTooLarge`] for a longer file.
pub fn read_file_with_size_limit(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > bytes_max {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// Writes a whole file like [`write_atomically`](fn@write_atomically), but without making it durable. A crash of the machine may leave
/// the file damaged. This function is therefore for files that can be made again.
///
/// # Errors
/// Returns the same errors as [`write_atomically`](fn@write_atomically).
pub fn write_atomically_without_sync(path: &Path, contents: &[u8]) -> io::Result<()> {
    let file = ReplacementFile::create_temporary(path)?;
    file.temporary_file_handle()?.write_all(contents)?;
    file.replace_target_without_sync()
}

/// Returns true if the error is due to a wrong path, which is a mistake of the user, and false if the disk failed.
pub fn is_wrong_path(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound, PermissionDenied};
    #[cfg(unix)]
    let is_loop = error.raw_os_error() == Some(libc::ELOOP);
    #[cfg(not(unix))]
    let is_loop = false;
    is_loop || matches!(error.kind(), NotFound | PermissionDenied | NotADirectory | IsADirectory | InvalidFilename | InvalidInput)
}

/// Age from which a file with a temporary name counts as abandoned by its writer.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Returns true if `name` has the form that this program gives to the names of temporary files.
pub fn is_temporary_name(name: &str) -> bool {
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

/// Returns true if a temporary file was last changed more than an hour ago. A process that still writes it would have changed it since, so
/// that its writer must have been killed.
pub fn is_abandoned_temporary_file(changed: SystemTime) -> bool {
    changed.elapsed().is_ok_and(|age| age > ABANDONED)
}

/// Returns the beginning of the names of this process's temporary files.
fn own_prefix() -> String {
    format!("{}{}-", TEMPORARY.0, unique_process_name())
}

/// Returns a name for this process that no other running process has on any machine. It consists of the machine and the number of the
/// process.
pub fn unique_process_name() -> String {
    format!("{}-{}", machine().unwrap_or_default(), std::process::id())
}

/// Returns a text that identifies the machine or container. Processes with the same text can look up each other's process numbers.
fn machine() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    let mut hasher = std::hash::DefaultHasher::new();
    (boot, space).hash(&mut hasher);
    Some(format!("{:016x}", hasher.finish()))
}

/// Returns true if the process of this name ([`unique_process_name`]) is known to have ended.
pub fn has_process_ended(process: &str) -> bool {
    let Some((its_machine, number)) = process.split_once('-') else { return false };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty();
    is_number && machine().is_some_and(|own| own == its_machine) && !Path::new("/proc").join(number).exists()
}

/// Returns true if the process that has this temporary name is known to have ended.
fn has_no_writer(name: &str) -> bool {
    let process = || {
        let rest = name.strip_prefix(TEMPORARY.0)?;
        let (end, _) = rest.match_indices('-').nth(1)?;
        Some(&rest[..end])
    };
    process().is_some_and(has_process_ended)
}

/// Removes the temporary files from `folder` that killed writers have left there. Errors are ignored.
pub fn remove_abandoned_files(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_left = name.to_str().is_some_and(|name| is_temporary_name(name) && has_no_writer(name))
            || name.to_str().is_some_and(is_temporary_name)
                && entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(is_abandoned_temporary_file);
        if is_left {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the folder that holds `path`.
pub fn parent_folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the standard output if `path` is a name for it. Opening that path anew would write from the beginning of a redirected output.
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

/// Follows all symbolic links. Returns the final path and the metadata of the file there.
fn follow(path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
    /// Maximum number of links that are followed, similar to the limit of operating systems.
    const LINKS_MAX: u32 = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                let to = fs::read_link(&path)?;
                path = parent_folder(&path).join(to);
            }
            Ok(metadata) => return Ok((path, Some(metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((path, None)),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "its symbolic links lead nowhere"))
}

/// Returns true for a file that passes bytes on and keeps none, such as a pipe or a terminal.
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
        drop(ReplacementFile::create_temporary(&path).unwrap());
        assert!(names(folder.path()).is_empty());
        write_atomically(&path, b"old").unwrap();
        let new = ReplacementFile::create_temporary(&path).unwrap();
        new.temporary_file_handle().unwrap().write_all(b"new").unwrap();
        drop(new);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"old".to_vec(), 1));
        write_atomically(&path, b"new").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path()).len()), (b"new".to_vec(), 1));
        assert!(write_atomically(&folder.path().join("no/such"), b"").is_err() && write_atomically(folder.path(), b"").is_err());
    }

    #[test]
    fn what_is_too_long_is_not_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("four");
        fs::write(&path, "four").unwrap();
        assert_eq!(read_file_with_size_limit(&path, 4).unwrap(), b"four");
        assert_eq!(read_file_with_size_limit(&path, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        #[cfg(unix)]
        assert_eq!(read_file_with_size_limit(Path::new("/dev/zero"), 1 << 20).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn writers_of_one_name_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        std::thread::scope(|scope| {
            for writer in 0..4_u8 {
                let path = &path;
                scope.spawn(move || (0..20).for_each(|_| write_atomically(path, &[writer; 100_000]).unwrap()));
            }
        });
        let written = fs::read(&path).unwrap();
        assert!(written.len() == 100_000 && written.iter().all(|byte| *byte == written[0]));
        assert_eq!(names(folder.path()), ["state"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_processes_have_left_that_are_gone_is_removed_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let machine = machine().unwrap();
        let name = |machine: &str, process: u32| format!("{}{machine}-{process}-x{}", TEMPORARY.0, TEMPORARY.1);
        let left =
            [name(&machine, gone.id()), name(&machine, std::process::id()), name("another", gone.id()), ".flashraid-x.part".to_owned()];
        left.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        remove_abandoned_files(folder.path());
        let mut kept = left[1..].to_vec();
        kept.sort();
        assert_eq!(names(folder.path()), kept);
        assert!(is_temporary_name(&left[0]));
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
        write_atomically(&at("link-to-link"), b"new").unwrap();
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink() && fs::symlink_metadata(at("link-to-link")).unwrap().is_symlink());
        assert_eq!(fs::read(at("deep/real")).unwrap(), b"new");
        assert_eq!(fs::metadata(at("deep/real")).unwrap().permissions().mode() & 0o777, 0o640);
        symlink("deep/none-yet", at("dangling")).unwrap();
        write_atomically(&at("dangling"), b"made").unwrap();
        assert_eq!(fs::read(at("deep/none-yet")).unwrap(), b"made");
        symlink("circle", at("circle")).unwrap();
        assert!(write_atomically(&at("circle"), b"").is_err());
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
        write_atomically(&pipe, b"through the pipe").unwrap();
        assert_eq!(reader.join().unwrap(), b"through the pipe");
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());

        write_atomically(Path::new("/dev/null"), b"nothing").unwrap();
        assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
        // Only root may make a device.
        let device = folder.path().join("null");
        if made("mknod", &[device.to_str().unwrap(), "c", "1", "3"]) {
            // Some systems do not open devices in this folder.
            if File::options().write(true).open(&device).is_ok() {
                write_atomically(&device, b"nothing").unwrap();
            }
            assert!(fs::symlink_metadata(&device).unwrap().file_type().is_char_device());
        }
        assert!(names(folder.path()).iter().all(|name| !name.starts_with('.')));
    }
}
