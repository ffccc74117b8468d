//! Decides whether a file or device may be overwritten.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::{FitError, Outcome, refused};
use crate::filename::Filename;

/// Least size of a file or device, over which random requests at a depth of 256 are spread.
pub const TARGET_BYTES_MIN: u64 = 64 << 20;

/// Number of bytes that are examined at each end of a target.
const END_BYTES: u64 = 1 << 20;

/// A file or device that was examined.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Path of the target, after all links.
    pub path: PathBuf,
    /// The same path, as fio opens it.
    pub name: Filename,
    /// Size of the target, in bytes.
    pub bytes: u64,
    /// Identity of the target: the serial number or number of a device, or the inode of a file.
    pub identity: String,
    /// Descriptions of its uses: mounted, swapped to, or part of something in use.
    pub in_use: Vec<String>,
    /// True for a file that occupies less than its size. Reads of parts that were never written do not reach the drive.
    pub has_holes: bool,
    /// Content of the target, such as a partition table or a file system; `None` for zeros at both ends.
    pub holds: Option<Content>,
}

/// Kinds of contents of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A kind of content with a name.
    Known(&'static str),
    /// Data without a known kind, other than zeros.
    Data,
}

/// Examines a file or block device.
///
/// # Errors
/// It is not there, can't be read, is neither, or is too small.
pub fn look(path: &Path) -> Outcome<Target> {
    let shown = path.display();
    let failed = |error: &io::Error| FitError::Input(format!("{shown}: can't be looked at: {error}"));
    let canonical = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return refused(format!("{shown}: there is no such file or device; `fallocate -l 10G {shown}` makes a file of 10 GiB"));
        }
        canonical => canonical.map_err(|error| failed(&error))?,
    };
    let metadata = fs::metadata(&canonical).map_err(|error| failed(&error))?;
    let is_device = metadata.file_type().is_block_device();
    if is_device && !cfg!(target_os = "linux") {
        return refused(format!("{shown}: whether a device is in use can be found out on Linux only; name a file"));
    }
    if !is_device && !metadata.is_file() {
        return refused(format!("{shown} is neither a file nor a block device"));
    }
    let name = Filename::of(&canonical)?;
    let mut file = File::open(&canonical).map_err(|error| failed(&error))?;
    let bytes = file.seek(SeekFrom::End(0)).map_err(|error| failed(&error))?;
    if bytes < TARGET_BYTES_MIN {
        return refused(format!(
            "{shown} has {bytes} bytes, but {TARGET_BYTES_MIN} (64 MiB) are needed, and most of a drive to measure it: `fallocate -l 10G {shown}`"
        ));
    }
    let holds = content(&mut file, bytes).map_err(|error| failed(&error))?;
    let in_use = if is_device { Device::of(metadata.rdev()).uses(&canonical) } else { Vec::new() };
    let has_holes = !is_device && metadata.blocks().saturating_mul(512) < bytes;
    Ok(Target { path: canonical, name, bytes, identity: identity(&metadata), in_use, has_holes, holds })
}

/// Returns the serial number or number of a device, or the inode of a file.
fn identity(metadata: &Metadata) -> String {
    match metadata.file_type().is_block_device() {
        true => Device::of(metadata.rdev()).identity(),
        false => format!("file {}:{}", metadata.dev(), metadata.ino()),
    }
}

impl Target {
    /// Returns an error if the path leads to something else than when it was examined.
    pub(crate) fn expect_same(&self) -> Outcome {
        match fs::metadata(&self.path) {
            Ok(metadata) if identity(&metadata) == self.identity => Ok(()),
            _ => Err(FitError::Failed(format!("{} is no longer what it was when it was examined", self.path.display()))),
        }
    }

    /// Returns the reason not to write to the target, if there is one. `is_own` is true if an earlier part of the same measurement has
    /// written to it.
    #[must_use]
    pub fn objection(&self, is_own: bool) -> Option<String> {
        let mut objections = self.in_use.clone();
        match &self.holds {
            Some(Content::Known(name)) => objections.push(format!("holds {name}")),
            Some(Content::Data) if !is_own => objections.push("holds data".to_owned()),
            _ => {}
        }
        (!objections.is_empty()).then(|| objections.join(", "))
    }
}

/// Names of contents that begin with these bytes at that place. All other contents count as data.
const SIGNATURES: &[(u64, &[u8], &str)] = &[
    (512, b"EFI PART", "a partition table (GPT)"),
    (4096, b"EFI PART", "a partition table (GPT)"),
    (0, b"XFSB", "a file system (XFS)"),
    (1080, b"\x53\xef", "a file system (ext2, ext3 or ext4)"),
    (65_600, b"_BHRfS_M", "a file system (Btrfs)"),
    (1024, b"\x10\x20\xf5\xf2", "a file system (F2FS)"),
    (1024, b"\xe2\xe1\xf5\xe0", "a file system (EROFS)"),
    (3, b"NTFS    ", "a file system (NTFS)"),
    (3, b"EXFAT   ", "a file system (exFAT)"),
    (82, b"FAT32   ", "a file system (FAT)"),
    (54, b"FAT1", "a file system (FAT)"),
    (32_769, b"CD001", "a file system (ISO 9660)"),
    (0, b"hsqs", "a file system (SquashFS)"),
    (4086, b"SWAPSPACE2", "swap space"),
    (0, b"LUKS\xba\xbe", "an encrypted volume (LUKS)"),
    (512, b"LABELONE", "a physical volume (LVM)"),
    (0, b"LABELONE", "a physical volume (LVM)"),
    (4096, b"\xfc\x4e\x2b\xa9", "a member of an array (md)"),
    (0, b"\xfc\x4e\x2b\xa9", "a member of an array (md)"),
    (510, b"\x55\xaa", "a partition table or boot sector"),
];

/// Returns the content of both ends.
fn content(file: &mut File, bytes: u64) -> io::Result<Option<Content>> {
    let mut part = |from: u64, length: u64| -> io::Result<Vec<u8>> {
        let mut part = vec![0; length as usize];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut part)?;
        Ok(part)
    };
    let length = END_BYTES.min(bytes);
    let start = part(0, length)?;
    let known = SIGNATURES.iter().find(|(at, signature, _)| start.get(*at as usize..).is_some_and(|rest| rest.starts_with(signature)));
    if let Some((_, _, name)) = known {
        return Ok(Some(Content::Known(name)));
    }
    let end = part(bytes - length, length)?;
    Ok(start.iter().chain(&end).any(|byte| *byte != 0).then_some(Content::Data))
}

/// A block device by its numbers.
struct Device {
    numbers: String,
    folder: PathBuf,
}

impl Device {
    fn of(rdev: u64) -> Device {
        // As glibc's `major` and `minor`.
        let major = (rdev >> 8 & 0xfff) | (rdev >> 32 & !0xfff);
        let minor = (rdev & 0xff) | (rdev >> 12 & !0xff);
        Device::numbered(format!("{}:{}", major as u32, minor as u32))
    }

    fn numbered(numbers: String) -> Device {
        Device { folder: Path::new("/sys/dev/block").join(&numbers), numbers }
    }

    /// Returns the serial number or worldwide name, otherwise the numbers of the device.
    fn identity(&self) -> String {
        let told = ["device/serial", "wwid", "device/wwid", "serial"].iter().find_map(|name| {
            let text = fs::read_to_string(self.folder.join(name)).ok()?;
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        });
        told.map_or_else(|| format!("device {}", self.numbers), |serial| format!("device {serial}"))
    }

    /// Returns the partitions as the system has them now.
    fn partitions(&self) -> Vec<(String, Device)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let partition = |entry: fs::DirEntry| {
            let numbers =
                fs::read_to_string(entry.path().join("partition")).and_then(|_| fs::read_to_string(entry.path().join("dev"))).ok()?;
            Some((entry.file_name().to_string_lossy().into_owned(), Device::numbered(numbers.trim().to_owned())))
        };
        let mut partitions: Vec<_> = entries.filter_map(partition).collect();
        partitions.sort_by(|a, b| a.0.cmp(&b.0));
        partitions
    }

    /// Returns the users of the device and of its parts.
    fn uses(&self, path: &Path) -> Vec<String> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
        let mut uses = self.own_uses(path, &mounts, &swaps, "");
        let partitions = self.partitions();
        if !partitions.is_empty() {
            uses.push(format!("has {} partitions", partitions.len()));
        }
        for (name, partition) in partitions {
            uses.extend(partition.own_uses(&Path::new("/dev").join(&name), &mounts, &swaps, &format!("its partition {name} ")));
        }
        uses
    }

    fn own_uses(&self, path: &Path, mounts: &str, swaps: &str, whose: &str) -> Vec<String> {
        let mut uses: Vec<String> = mounted_at(&self.numbers, path, mounts).map(|place| format!("{whose}is mounted at {place}")).collect();
        if swaps.lines().skip(1).any(|line| line.split_whitespace().next().is_some_and(|used| Path::new(used) == path)) {
            uses.push(format!("{whose}is swap space in use"));
        }
        let holders = fs::read_dir(self.folder.join("holders")).into_iter().flatten().flatten();
        uses.extend(holders.map(|holder| format!("{whose}belongs to {}", holder.file_name().to_string_lossy())));
        uses
    }
}

/// Returns the mount points of a device. It is found by its numbers, or by its path for file systems with their own numbers (proc(5),
/// mountinfo).
fn mounted_at<'a>(numbers: &'a str, path: &'a Path, mounts: &'a str) -> impl Iterator<Item = &'a str> {
    mounts.lines().filter_map(move |line| {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(2);
        let (of, place) = (before.next()?, before.nth(1)?);
        let source = after.split(' ').nth(1)?;
        let is_same = of == numbers || fs::canonicalize(source).is_ok_and(|source| source == path);
        is_same.then_some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn target(write: impl FnOnce(&mut File)) -> (tempfile::TempDir, Outcome<Target>) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("t");
        let mut file = File::create(&path).unwrap();
        file.set_len(TARGET_BYTES_MIN).unwrap();
        write(&mut file);
        let target = look(&path);
        (place, target)
    }

    fn put(file: &mut File, at: u64, bytes: &[u8]) {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(bytes).unwrap();
    }

    #[test]
    fn what_a_file_holds_is_found() {
        let (_place, empty) = target(|_| {});
        let empty = empty.unwrap();
        assert_eq!((empty.bytes, empty.holds.clone(), empty.objection(false)), (TARGET_BYTES_MIN, None, None));
        assert!(empty.identity.starts_with("file "));
        for (at, signature, name) in SIGNATURES {
            let (_place, found) = target(|file| put(file, *at, signature));
            let found = found.unwrap();
            // Some places are shared by several.
            assert!(matches!(found.holds, Some(Content::Known(_))), "{name}");
            assert!(found.objection(true).is_some(), "{name}: even in a measurement of one's own");
        }
        for at in [10_000, TARGET_BYTES_MIN - 1] {
            let (_place, data) = target(|file| put(file, at, &[1]));
            let data = data.unwrap();
            assert_eq!(data.holds, Some(Content::Data), "at {at}");
            assert_eq!((data.objection(false).as_deref(), data.objection(true)), (Some("holds data"), None));
        }
    }

    #[test]
    fn what_is_no_target_is_refused() {
        let reason = |path: &Path| look(path).unwrap_err().to_string();
        let place = tempfile::tempdir().unwrap();
        assert!(reason(place.path()).contains("neither a file nor a block device"));
        assert!(reason(&place.path().join("none")).contains("no such file"));
        assert!(reason(Path::new("/dev/null")).contains("neither"));
        let (_place, small) = target(|file| file.set_len(TARGET_BYTES_MIN - 1).unwrap());
        assert!(small.unwrap_err().to_string().contains("64 MiB"));
    }

    #[test]
    fn mounts_are_found_by_number_and_by_path() {
        let mounts = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw\n\
                      40 35 0:52 / /data rw - btrfs / rw\n\
                      41 35 0:53 / /proc rw - proc proc rw\n";
        let at = |numbers: &str, path: &str| mounted_at(numbers, Path::new(path), mounts).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(at("98:0", "/dev/x"), ["/mnt2"]);
        assert_eq!(at("1:1", "/"), ["/data"], "a source of the same path");
        assert!(at("98:1", "/dev/x").is_empty());
    }
}
