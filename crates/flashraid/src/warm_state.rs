//! Files for warm states. A line of JSON describes the state, and the data of each member follow. These consist of a length, a checksum,
//! and the bytes that [`Mapping::save_state`](flashraid_model::space::Mapping::save_state) returns.

use crate::files::{ReplacementFile, is_wrong_path};
use crate::run_error::RunError;
use flashraid_model::array::{Array, ArrayParams};
use flashraid_model::space::checksum;
use flashraid_model::ssd::Ssd;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

pub(crate) const MAGIC: &str = "flashraid.warm-state/4";
/// Maximum length of the first line, in bytes.
const HEADER_MAX: u64 = 1 << 14;

/// Returns a text of all settings that a saved state must match. They decide the sizes of the tables and the meaning of their contents.
fn fingerprint(params: &ArrayParams) -> String {
    let ssd = &params.ssd;
    let gc = &ssd.gc;
    let members = match params.spares_and_state() {
        (1, Some(spare)) => format!("{} and a {spare:?} spare:", params.members),
        (spares @ 2.., Some(spare)) => format!("{} and {spares} {spare:?} spares:", params.members),
        _ => params.members.to_string(),
    };
    if let Some(superblock) = &ssd.superblock {
        let (pages, shape) = (superblock.pages_per_mapping_unit, superblock.shape(&ssd.geometry));
        return format!("{members} members with superblocks, units of {pages} pages, {shape}, victim {:?}", gc.victim);
    }
    format!(
        "{members} members of {:?}, pools {:?}, start {} stop {} free blocks, separate open block {}, victim {:?}, allocation {:?}, stride {}, last block sealed {}{}",
        ssd.geometry,
        gc.rules.pool,
        gc.start_threshold_free_blocks,
        gc.stop_threshold_free_blocks,
        gc.rules.separate_open_block,
        gc.victim,
        ssd.writes.allocation,
        ssd.writes.die_stride,
        ssd.writes.fill_seals_last_block,
        if ssd.pools_start_empty { ", empty at first" } else { "" }
    )
}

/// Writes the state of `array` to `path`.
///
/// # Errors
/// Returns [`RunError::Io`] with the path. No half-written file is left.
pub fn save_warm_state(path: &Path, params: &ArrayParams, array: &Array) -> Result<(), RunError> {
    let write = || -> io::Result<()> {
        let file = ReplacementFile::create_temporary(path)?;
        write_states(&mut file.temporary_file_handle()?, &fingerprint(params), array.members().iter())?;
        file.replace_target()
    };
    write().map_err(|error| RunError::Io(format!("`ssd.warm_up.save`: can't write {}: {error}", path.display())))
}

/// Loads the state in `path` into `array`, and verifies it.
///
/// # Errors
/// Returns [`RunError::InvalidInput`] if the file is no warm state, is damaged, or belongs to another array, and [`RunError::Io`] if it
/// cannot be read.
pub fn load_warm_state(path: &Path, params: &ArrayParams, array: &mut Array) -> Result<(), RunError> {
    let bad = |what: String| bad(path, &what);
    let mut file = begin(path, params)?;
    let loaded = array.untimed_access().members().iter_mut().try_for_each(|member| {
        read_state(&mut file, member)?;
        member.mapping().verify_invariants()
    });
    let ended = loaded.and_then(|()| match file.read(&mut [0]) {
        Ok(0) => Ok(()),
        _ => Err("there is more than the state".to_owned()),
    });
    ended.map_err(|error| bad(format!("is damaged ({error}); warm up again with ssd.warm_up.save")))
}

/// Checks that `path` begins like a warm state that fits the array.
pub(crate) fn preflight_load(path: &Path, params: &ArrayParams) -> Result<(), RunError> {
    begin(path, params).map(drop)
}

/// Checks that `path` can be written, and leaves no file there.
pub(crate) fn preflight_save(path: &Path) -> Result<(), RunError> {
    // A path that is not a regular file is written to directly, and opening it may wait for a reader.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return Ok(());
    }
    ReplacementFile::create_temporary(path).map(drop).map_err(|error| {
        let text = format!("`ssd.warm_up.save`: can't write {}: {error}", path.display());
        if is_wrong_path(&error) { RunError::InvalidInput(text) } else { RunError::Io(text) }
    })
}

fn bad(path: &Path, what: &str) -> RunError {
    RunError::InvalidInput(format!("`ssd.warm_up.load`: {} {what}", path.display()))
}

/// Opens a state and reads its description, which must match `params`.
fn begin(path: &Path, params: &ArrayParams) -> Result<BufReader<File>, RunError> {
    let bad = |what: String| bad(path, &what);
    let metadata = path.metadata().map_err(|error| match is_wrong_path(&error) {
        true => bad(format!("can't be read: {error}; ssd.warm_up.save writes one")),
        false => RunError::Io(format!("{}: {error}", path.display())),
    })?;
    if !metadata.is_file() {
        return Err(bad("is no regular file".to_owned()));
    }
    let mut file = BufReader::new(File::open(path).map_err(|error| bad(format!("can't be read: {error}")))?);
    let found = read_header(&mut file).map_err(|error| bad(format!("{error}; ssd.warm_up.save writes one")))?;
    let expected = fingerprint(params);
    if found != expected {
        return Err(bad(format!(
            "belongs to another array.\n  found:    {found}\n  expected: {expected}\nWarm up again with ssd.warm_up.save"
        )));
    }
    Ok(file)
}

/// Writes the description of the states, then the states.
pub(crate) fn write_states<'a>(out: &mut impl Write, of: &str, members: impl Iterator<Item = &'a Ssd>) -> io::Result<()> {
    writeln!(out, "{}", serde_json::json!([MAGIC, of]))?;
    for member in members {
        let state = member.mapping().save_state();
        out.write_all(&(state.len() as u64).to_le_bytes())?;
        out.write_all(&checksum(&state).to_le_bytes())?;
        out.write_all(&state)?;
    }
    out.flush()
}

/// Reads the description of the states.
pub(crate) fn read_header(input: &mut impl BufRead) -> Result<String, String> {
    let not_a_state = |_| "is not a warm state".to_owned();
    let mut header = Vec::new();
    input.take(HEADER_MAX).read_until(b'\n', &mut header).map_err(|error| error.to_string())?;
    let [magic, of]: [String; 2] = serde_json::from_slice(&header).map_err(|error| not_a_state(error.to_string()))?;
    if magic == MAGIC { Ok(of) } else { Err(format!("holds {magic:?}; this version reads {MAGIC:?}")) }
}

/// Reads the next state into `member`. The member must not be used after an error.
pub(crate) fn read_state(input: &mut impl Read, member: &mut Ssd) -> Result<(), String> {
    let mut word = [0; 8];
    let mut number = |input: &mut dyn Read| input.read_exact(&mut word).map(|()| u64::from_le_bytes(word));
    let cut_off = |error: io::Error| error.to_string();
    let (length, expected) = (number(input).map_err(cut_off)?, number(input).map_err(cut_off)?);
    let most = member.mapping().saved_state_bytes_max();
    if length > most {
        return Err(format!("a member of {length} bytes, at most {most} are right"));
    }
    let mut state = vec![0; length as usize];
    input.read_exact(&mut state).map_err(cut_off)?;
    if checksum(&state) != expected {
        return Err("its checksum is wrong".to_owned());
    }
    member.mapping_mut().load_state(&state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use flashraid_model::array::ArrayExecutionOptions;

    /// Changes the contents of a file, and fits the checksum. In an earlier version, two of 400 such files caused a panic, and three were
    /// loaded inconsistent.
    #[test]
    fn a_forged_state_is_refused_or_consistent() {
        let text =
            "array.members = 2\nssd.geometry = { dies = 2, planes = 2, blocks = 32, pages = 16, reserved = 0.3 }\nssd.gc.start = 0.1";
        let scenario = config::scenario_from_toml("test.toml", text, &[], None).unwrap();
        let array = || Array::new(&scenario.array, scenario.seed, ArrayExecutionOptions::default());
        let mut state = {
            let mut warm = array();
            let member = &mut warm.untimed_access().members()[0];
            member.warm_up(1.5, scenario.seed);
            member.mapping().save_state()
        };
        let (mut refused, mut random) = (0, 1_u64);
        for _ in 0..600 {
            random = flashraid_model::rng::mix_bits(random);
            let (at, bit) = (random as usize % state.len(), 1 << (random >> 60 & 7));
            state[at] ^= bit;
            let mut file = Vec::new();
            file.extend((state.len() as u64).to_le_bytes());
            file.extend(checksum(&state).to_le_bytes());
            file.extend(&state);
            let mut array = array();
            let member = &mut array.untimed_access().members()[0];
            match read_state(&mut file.as_slice(), member).and_then(|()| member.mapping().verify_invariants()) {
                Err(_) => refused += 1,
                // The loaded state can be used without a panic.
                Ok(()) => {
                    member.warm_up(0.5, 1);
                    member.mapping().verify_invariants().unwrap();
                }
            }
            state[at] ^= bit;
        }
        assert!(refused > 100, "{refused}");
    }
}
