//! Warm states in files: a line of JSON that says what the state is of, then each member as its length, a checksum, and the bytes that
//! [`Ftl::save`](flashraid_model::ftl::Ftl::save) makes.

use crate::files::NewFile;
use crate::run::RunError;
use flashraid_model::array::{Array, ArrayParams};
use flashraid_model::ftl::Ftl;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

pub(crate) const MAGIC: &str = "flashraid.warm-state/3";
/// The longest first line that is read.
const HEADER_MAX: u64 = 1 << 14;

/// What a state must fit: everything that decides the shape of the tables and the meaning of what they hold.
fn fingerprint(params: &ArrayParams) -> String {
    let ssd = &params.ssd;
    let gc = &ssd.gc;
    let spare = params.failure.and_then(|failure| failure.rebuild).map(|rebuild| rebuild.spare);
    let members = spare.map_or_else(|| params.members.to_string(), |spare| format!("{} and a {spare:?} spare:", params.members));
    format!(
        "{members} members of {:?}, pools {:?}, start {} stop {} free blocks, separate open block {}, victim {:?}, allocation {:?}, stride {}, last block sealed {}",
        ssd.geometry,
        gc.pool,
        gc.start_free_blocks,
        gc.stop_free_blocks,
        gc.separate_open_block,
        gc.victim,
        ssd.allocation,
        ssd.die_stride_pages,
        ssd.fill_seals_last_block
    )
}

/// Writes the state of `array` to `path`.
///
/// # Errors
/// [`RunError::Io`] with the path; nothing half-written is left.
pub fn save(path: &Path, params: &ArrayParams, array: &Array) -> Result<(), RunError> {
    let write = || -> io::Result<()> {
        let file = NewFile::begin(path)?;
        write_states(&mut file.handle()?, &fingerprint(params), array.members().iter().map(flashraid_model::ssd::Ssd::ftl))?;
        file.finish()
    };
    write().map_err(|error| RunError::Io(format!("{}: the warm state can't be written: {error}", path.display())))
}

/// Brings `array` to the state in `path`, and verifies it.
///
/// # Errors
/// [`RunError::Input`] if the file is no warm state, is damaged, or belongs to another array; [`RunError::Io`] if it can't be read.
pub fn load(path: &Path, params: &ArrayParams, array: &mut Array) -> Result<(), RunError> {
    let name = path.display();
    let bad = |what: String| RunError::Input(format!("{name}: {what}"));
    let mut file = BufReader::new(File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => bad("there is no such file; ssd.warm_up.save writes one".to_owned()),
        _ => RunError::Io(format!("{name}: {error}")),
    })?);
    let found = read_header(&mut file).map_err(|error| bad(format!("{error}; ssd.warm_up.save writes one")))?;
    let expected = fingerprint(params);
    if found != expected {
        return Err(bad(format!(
            "belongs to another array.\n  found:    {found}\n  expected: {expected}\nWarm up again with ssd.warm_up.save"
        )));
    }
    let mut ftls: Vec<&mut Ftl> = array.members_mut().iter_mut().map(flashraid_model::ssd::Ssd::ftl_mut).collect();
    let loaded = ftls.iter_mut().try_for_each(|ftl| {
        read_state(&mut file, ftl)?;
        ftl.verify()
    });
    let ended = loaded.and_then(|()| match file.read(&mut [0]) {
        Ok(0) => Ok(()),
        _ => Err("there is more than the state".to_owned()),
    });
    ended.map_err(|error| bad(format!("is damaged ({error}); warm up again with ssd.warm_up.save")))
}

/// Writes what the states are of, then the states.
pub(crate) fn write_states<'a>(out: &mut impl Write, of: &str, ftls: impl Iterator<Item = &'a Ftl>) -> io::Result<()> {
    writeln!(out, "{}", serde_json::json!([MAGIC, of]))?;
    for ftl in ftls {
        let state = ftl.save();
        out.write_all(&(state.len() as u64).to_le_bytes())?;
        out.write_all(&checksum(&state).to_le_bytes())?;
        out.write_all(&state)?;
    }
    out.flush()
}

/// Reads what the states are of.
pub(crate) fn read_header(input: &mut impl BufRead) -> Result<String, String> {
    let not_a_state = |_| "is not a warm state".to_owned();
    let mut header = Vec::new();
    input.take(HEADER_MAX).read_until(b'\n', &mut header).map_err(|error| error.to_string())?;
    // States of earlier versions were compressed with zstd from their first byte on.
    if header.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Err(format!("is compressed, perhaps a warm state of an earlier version; this one reads {MAGIC:?}"));
    }
    let [magic, of]: [String; 2] = serde_json::from_slice(&header).map_err(|error| not_a_state(error.to_string()))?;
    if magic == MAGIC { Ok(of) } else { Err(format!("holds {magic:?}; this version reads {MAGIC:?}")) }
}

/// Reads the next state into `ftl`. After an error `ftl` is not to be used.
pub(crate) fn read_state(input: &mut impl Read, ftl: &mut Ftl) -> Result<(), String> {
    let mut word = [0; 8];
    let mut number = |input: &mut dyn Read| input.read_exact(&mut word).map(|()| u64::from_le_bytes(word));
    let cut_off = |error: io::Error| error.to_string();
    let (length, expected) = (number(input).map_err(cut_off)?, number(input).map_err(cut_off)?);
    // Streams of random numbers are lines of some hundred bytes at most.
    let most = ftl.state_bytes() as u64 + 512 * u64::from(ftl.dies());
    if length > most {
        return Err(format!("a member of {length} bytes, at most {most} are right"));
    }
    let mut state = vec![0; length as usize];
    input.read_exact(&mut state).map_err(cut_off)?;
    if checksum(&state) != expected {
        return Err("its checksum is wrong".to_owned());
    }
    ftl.load(&state)
}

/// Tells damaged bytes from whole ones, at the speed of memory: four sums of products with different odd factors, mixed at the end.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTORS: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];
    let mut sums = FACTORS;
    let mut add = |chunk: &[u8]| {
        for ((sum, factor), word) in sums.iter_mut().zip(FACTORS).zip(chunk.chunks_exact(8)) {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            *sum = (*sum ^ word).wrapping_mul(factor).rotate_left(29);
        }
    };
    let mut chunks = bytes.chunks_exact(32);
    chunks.by_ref().for_each(&mut add);
    let mut rest = [0; 32];
    rest[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    add(&rest);
    sums.iter().fold(bytes.len() as u64, |all, sum| flashraid_model::rng::mix(all ^ sum))
}
