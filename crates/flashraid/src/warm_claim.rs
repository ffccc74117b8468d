//! Claims on warm states: one process computes a state while the others wait for it.
//!
//! Parts of a study on several machines may share a folder, and need the same warm states. A claim is a file beside the state. Creating it
//! fails if it exists, even on network file systems. The process that owns the claim writes into it every second. A waiting process takes a
//! claim over if it has not changed for a while, or if its owner on this machine has ended.
//!
//! A claim without its text was left where the disk was full or the owner killed. It counts as gone.
//!
//! Claims only save work. If two processes compute the same state after all, both write the same bytes, and each file appears complete or
//! not at all.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::files::{has_process_ended, unique_process_name};

/// End of a claim's file name, in place of the end of the state's name.
pub(crate) const CLAIM_SUFFIX: &str = ".making";
/// Time after which a claim that has not changed counts as abandoned. On a network file system, times of files may be seconds old.
const STALE: Duration = Duration::from_secs(60);
/// Minimum time between two writes into a claim by its owner.
const SIGN_OF_LIFE_INTERVAL: Duration = Duration::from_secs(1);
/// Time that an owner has to write its name into a new claim.
const NAMED_WITHIN: Duration = Duration::from_secs(2);
/// Time between two checks by a waiting process.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Answer to a process that needs a warm state (the state of members after their warm-up) which does not exist yet.
pub(crate) enum ClaimOutcome {
    /// The caller must compute the warm state. Other processes wait while the caller holds the claim (the right to compute the state).
    /// There is no claim (`None`) if none can be made in the folder; other processes may then compute the same state, too.
    MakeState(Option<Claim>),
    /// The caller can load the warm state, because another process has computed it.
    StateAlreadyExists,
    /// The caller no longer waits for another process to compute the warm state, because the callback `go_on` returned false.
    Stopped,
}

/// The right to compute a state, which ends when the claim is dropped.
pub(crate) struct Claim {
    path: PathBuf,
    text: String,
    give_sign_of_life: Instant,
}

/// Waits until the caller must compute the state in the file `state`, or until `is_made` returns true because another process has. In the
/// meantime, `go_on` is called; if it returns false, the wait ends.
pub(crate) fn wait(state: &Path, is_made: &dyn Fn() -> bool, go_on: &mut dyn FnMut(f64) -> bool) -> ClaimOutcome {
    let path = state.with_extension(CLAIM_SUFFIX.trim_start_matches('.'));
    let mut seen: Option<(Option<String>, Instant)> = None;
    loop {
        match Claim::begin(&path) {
            Ok(claim) if is_made() => {
                // It was made between the caller's look and the claim.
                drop(claim);
                return ClaimOutcome::StateAlreadyExists;
            }
            Ok(claim) => return ClaimOutcome::MakeState(Some(claim)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(_) => return ClaimOutcome::MakeState(None),
        }
        if !go_on(0.0) {
            return ClaimOutcome::Stopped;
        }
        thread::sleep(POLL_INTERVAL);
        if is_made() {
            return ClaimOutcome::StateAlreadyExists;
        }
        let text = match read(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            // Another user's claim changes, too, but its changes cannot be seen.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => None,
            // Something else has this name, so that there are no claims here.
            Err(_) => return ClaimOutcome::MakeState(None),
        };
        let since = match seen.take() {
            Some((before, since)) if before == text => since,
            _ => Instant::now(),
        };
        let patience = if text.as_deref().is_some_and(has_no_owner) { NAMED_WITHIN } else { STALE };
        if text.as_deref().is_some_and(is_gone) || since.elapsed() > patience {
            // Another who waits may be faster: then its claim goes, and both make the state.
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return ClaimOutcome::MakeState(None),
                _ => continue,
            }
        }
        seen = Some((text, since));
    }
}

/// Removes the claim that a killed process has left, although the state exists now.
pub(crate) fn clear(state: &Path) {
    let path = state.with_extension(CLAIM_SUFFIX.trim_start_matches('.'));
    if read(&path).is_ok_and(|text| is_gone(&text) || has_no_owner(&text)) {
        let _ = fs::remove_file(path);
    }
}

/// Reads a claim. A pipe of that name is not opened, because opening would wait for a process that writes into it. Links are not followed,
/// because a claim is never a link.
fn read(path: &Path) -> std::io::Result<String> {
    match path.symlink_metadata()?.is_file() {
        true => fs::read_to_string(path),
        false => Err(ErrorKind::InvalidInput.into()),
    }
}

impl Claim {
    fn begin(path: &Path) -> std::io::Result<Claim> {
        let file = File::options().write(true).create_new(true).open(path)?;
        Claim::named(path, file)
    }

    /// Writes the owner's name into a new claim. On a full disk the claim is removed, because others would wait for it.
    fn named(path: &Path, mut file: impl Write) -> std::io::Result<Claim> {
        let text = own_name();
        if let Err(error) = file.write_all(text.as_bytes()) {
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(Claim { path: path.to_owned(), text, give_sign_of_life: Instant::now() })
    }

    /// Writes into the claim that its owner is alive, if the last time is long enough ago.
    pub(crate) fn give_sign_of_life(&mut self) {
        if self.give_sign_of_life.elapsed() >= SIGN_OF_LIFE_INTERVAL {
            self.give_sign_of_life = Instant::now();
            self.text.push('.');
            // In place of a file that another has taken away there is none to write.
            if let Ok(mut file) = File::options().append(true).open(&self.path) {
                let _ = file.write_all(b".");
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // A claim of another process stays.
        if read(&self.path).is_ok_and(|text| text.starts_with(&own_name())) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the text with which each claim of this process begins; it ends with a space. The owner appends a point at each sign of life.
fn own_name() -> String {
    format!("{} ", unique_process_name())
}

/// Returns true if the name in the claim was not written to its end.
fn has_no_owner(text: &str) -> bool {
    !text.contains(' ')
}

/// Returns true if the owner of the claim was a process of this machine and has ended.
fn is_gone(text: &str) -> bool {
    text.split_once(' ').is_some_and(|(process, _)| has_process_ended(process))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_of_many_makes_a_state_and_the_others_wait() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("warm-x.state");
        let made = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| match wait(&state, &|| state.is_file(), &mut |_| true) {
                    ClaimOutcome::MakeState(claim) => {
                        assert!(claim.is_some());
                        made.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(200));
                        fs::write(&state, "it").unwrap();
                    }
                    ClaimOutcome::StateAlreadyExists => assert!(state.is_file()),
                    ClaimOutcome::Stopped => panic!("nobody stops"),
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["warm-x.state"], "a claim goes with its maker");
    }

    #[test]
    fn a_claim_of_a_process_that_is_gone_is_taken_over_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("warm-x.state");
        let own = unique_process_name();
        let gone = format!("{}-{} ...", own.split_once('-').unwrap().0, u32::MAX);
        fs::write(folder.path().join("warm-x.making"), &gone).unwrap();
        let begin = Instant::now();
        assert!(matches!(wait(&state, &|| state.is_file(), &mut |_| true), ClaimOutcome::MakeState(Some(_))));
        assert!(begin.elapsed() < Duration::from_secs(10));
        // One of another machine is waited for.
        fs::write(folder.path().join("warm-x.making"), format!("elsewhere-{} ", u32::MAX)).unwrap();
        let mut looks = 0;
        let mut few = |_| {
            looks += 1;
            looks < 5
        };
        assert!(matches!(wait(&state, &|| state.is_file(), &mut few), ClaimOutcome::Stopped));
        fs::write(&state, "it").unwrap();
        assert!(matches!(wait(&state, &|| state.is_file(), &mut |_| true), ClaimOutcome::StateAlreadyExists));
        clear(&state);
        assert!(folder.path().join("warm-x.making").exists());
        fs::write(folder.path().join("warm-x.making"), gone).unwrap();
        clear(&state);
        assert!(!folder.path().join("warm-x.making").exists());
    }

    #[test]
    fn a_claim_without_a_name_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (state, claim) = (folder.path().join("warm-x.state"), folder.path().join("warm-x.making"));
        for text in ["", "0123456789abcdef-4"] {
            fs::write(&claim, text).unwrap();
            let begin = Instant::now();
            assert!(matches!(wait(&state, &|| state.is_file(), &mut |_| true), ClaimOutcome::MakeState(Some(_))), "{text:?}");
            assert!(begin.elapsed() < Duration::from_secs(30), "{text:?}");
            assert!(!claim.exists(), "{text:?}");
            fs::write(&claim, text).unwrap();
            clear(&state);
            assert!(!claim.exists(), "{text:?}");
        }
    }

    #[test]
    fn a_claim_that_a_full_disk_does_not_take_goes() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let claim = folder.path().join("warm-x.making");
        File::create(&claim).unwrap();
        assert!(Claim::named(&claim, Full).is_err_and(|error| error.kind() == ErrorKind::StorageFull));
        assert!(!claim.exists());
    }

    #[test]
    fn a_folder_that_takes_no_claim_takes_no_wait() {
        assert!(matches!(wait(Path::new("/proc/no-such-folder/warm-x.state"), &|| false, &mut |_| true), ClaimOutcome::MakeState(None)));
    }

    #[cfg(unix)]
    #[test]
    fn something_else_under_the_name_of_a_claim_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let made =
            |command: &str, name: &str| std::process::Command::new(command).arg(folder.path().join(name)).status().unwrap().success();
        assert!(made("mkfifo", "warm-x.making") && made("mkdir", "warm-y.making"));
        for state in ["warm-x.state", "warm-y.state"] {
            assert!(matches!(wait(&folder.path().join(state), &|| false, &mut |_| true), ClaimOutcome::MakeState(None)), "{state}");
            clear(&folder.path().join(state));
        }
        assert!(folder.path().join("warm-x.making").exists(), "it is not ours to remove");
    }
}
