//! The drive's own log before and after a measurement, if a program that reads it is installed.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// A reading of a drive's log.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveLog {
    /// The text that the program printed, JSON.
    pub text: String,
    /// Bytes that hosts have written in the drive's life.
    pub host_written_bytes: Option<u64>,
    /// Bytes that the drive has written to its flash in its life; few drives tell.
    pub media_written_bytes: Option<u64>,
    /// Temperature, in degrees Celsius.
    pub temperature_c: Option<i64>,
}

/// Bytes of a unit in which NVMe counts data: a thousand sectors of 512 bytes.
const NVME_UNIT_BYTES: u64 = 512_000;
/// Degrees Celsius of 0 K, as NVMe rounds them.
const KELVIN: i64 = 273;

/// The drive that a device, a partition or a file lies on, such as `/dev/nvme0n1`; `None` if it lies on no single one.
#[must_use]
pub fn drive_of(target: &Path) -> Option<PathBuf> {
    let metadata = fs::metadata(target).ok()?;
    let number = if metadata.file_type().is_block_device() { metadata.rdev() } else { metadata.dev() };
    // As glibc's `major` and `minor`.
    let (major, minor) = ((number >> 8 & 0xfff) | (number >> 32 & !0xfff), (number & 0xff) | (number >> 12 & !0xff));
    let folder = fs::canonicalize(format!("/sys/dev/block/{}:{}", major as u32, minor as u32)).ok()?;
    // A partition's folder lies in that of its drive.
    let drive = if folder.join("partition").exists() { folder.parent()?.to_owned() } else { folder };
    Some(Path::new("/dev").join(drive.file_name()?)).filter(|path| path.exists())
}

/// Reads the log of a drive by `nvme` or `smartctl`; `None` if neither is installed or the drive has no log.
#[must_use]
pub fn read(drive: &Path) -> Option<DriveLog> {
    let run = |program: &str, arguments: &[&str]| -> Option<String> {
        let output = Command::new(program).args(arguments).arg(drive).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        // smartctl sets bits of its status for what the drive warns of, and prints all the same.
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
            .filter(|text| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object()))
    };
    let of_nvme = run("nvme", &["smart-log", "--output-format=json"]).map(|text| nvme(&text));
    let mut log = of_nvme.or_else(|| run("smartctl", &["--json", "--all"]).map(|text| smartctl(&text)))?;
    // The Open Compute Project's log, which some NVMe drives have beside their own.
    if let Some(text) = run("nvme", &["ocp", "smart-add-log", "--output-format=json"]) {
        log.media_written_bytes = media(&text);
        log.text = format!("{}\n{text}", log.text.trim_end());
    }
    Some(log)
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

fn nvme(text: &str) -> DriveLog {
    let log = document(text);
    DriveLog {
        host_written_bytes: number(&log["data_units_written"]).map(|units| units.saturating_mul(NVME_UNIT_BYTES)),
        media_written_bytes: None,
        temperature_c: log["temperature"].as_i64().map(|kelvin| kelvin - KELVIN),
        text: text.to_owned(),
    }
}

fn smartctl(text: &str) -> DriveLog {
    let log = document(text);
    let health = &log["nvme_smart_health_information_log"];
    DriveLog {
        host_written_bytes: number(&health["data_units_written"]).map(|units| units.saturating_mul(NVME_UNIT_BYTES)),
        media_written_bytes: None,
        temperature_c: log["temperature"]["current"].as_i64().or(health["temperature"].as_i64()),
        text: text.to_owned(),
    }
}

/// Bytes in a log of the Open Compute Project, whose halves of 128 bits are named `hi` and `lo`.
fn media(text: &str) -> Option<u64> {
    let log = document(text);
    let written =
        ["Physical media units written", "physical_media_units_written"].iter().map(|key| &log[*key]).find(|value| !value.is_null())?;
    number(&written["lo"]).filter(|_| number(&written["hi"]) == Some(0)).or_else(|| number(written))
}

/// A number, or a text of digits: programs print 128-bit numbers as texts.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.replace([',', '_'], "").parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_both_programs_say_the_same() {
        let of_nvme = nvme(r#"{"data_units_written": 2000, "temperature": 313}"#);
        assert_eq!((of_nvme.host_written_bytes, of_nvme.temperature_c), (Some(1_024_000_000), Some(40)));
        let of_smartctl = smartctl(
            r#"{"temperature": {"current": 40}, "nvme_smart_health_information_log": {"data_units_written": "2000", "temperature": 40}}"#,
        );
        assert_eq!((of_smartctl.host_written_bytes, of_smartctl.temperature_c), (Some(1_024_000_000), Some(40)));
        assert_eq!(media(r#"{"Physical media units written": {"hi": 0, "lo": 77}}"#), Some(77));
        assert_eq!(media("{}"), None);
        let empty = smartctl("{}");
        assert_eq!((empty.host_written_bytes, empty.temperature_c), (None, None));
    }

    #[test]
    fn a_file_lies_on_a_drive_or_on_none() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(drive_of(&file).is_none_or(|drive| drive.starts_with("/dev")));
        assert_eq!(drive_of(&place.path().join("none")), None);
    }
}
