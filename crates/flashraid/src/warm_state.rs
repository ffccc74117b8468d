//! Warm states in files: a line of JSON that says what the state fits, then the members one after the other, compressed with zstd,
//! whose checksum guards against damage.

use crate::run::RunError;
use flashraid_model::array::{Array, ArrayParams};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

const MAGIC: &str = "flashraid.warm-state/2";

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

/// Writes the state of `array` to `path`, by way of a temporary name.
///
/// # Errors
/// [`RunError::Io`] with the path; nothing half-written is left.
pub fn save(path: &Path, params: &ArrayParams, array: &Array) -> Result<(), RunError> {
    let temporary = path.with_file_name(format!(
        ".{}.{}.partial",
        path.file_name().map_or_else(|| "state".into(), |name| name.to_string_lossy()),
        std::process::id()
    ));
    let write = || -> io::Result<()> {
        let file = BufWriter::new(File::create(&temporary)?);
        let mut out = zstd::Encoder::new(file, 1)?;
        out.include_checksum(true)?;
        writeln!(out, "{}", serde_json::json!([MAGIC, fingerprint(params)]))?;
        for member in array.members() {
            member.ftl().save(&mut out)?;
        }
        out.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        RunError::Io(format!("{}: the warm state can't be written: {error}", path.display()))
    })
}

/// Brings `array` to the state in `path`.
///
/// # Errors
/// [`RunError::Input`] if the file is no warm state, is damaged, or belongs to another array; [`RunError::Io`] if it can't be read.
pub fn load(path: &Path, params: &ArrayParams, array: &mut Array) -> Result<(), RunError> {
    let name = path.display();
    let bad = |what: String| RunError::Input(format!("{name}: {what}"));
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => bad("there is no such file; ssd.warm_up.save writes one".to_owned()),
        _ => RunError::Io(format!("{name}: {error}")),
    })?;
    let not_a_state = || bad("is not a warm state; ssd.warm_up.save writes one".to_owned());
    let mut input = BufReader::new(zstd::Decoder::new(file).map_err(|_| not_a_state())?);
    let mut header = Vec::new();
    io::Read::take(&mut input, 4096).read_until(b'\n', &mut header).map_err(|_| not_a_state())?;
    let [magic, found]: [String; 2] = serde_json::from_slice(&header).map_err(|_| not_a_state())?;
    if magic != MAGIC {
        return Err(bad(format!("holds {magic:?}; this version reads {MAGIC:?}, so warm up again with ssd.warm_up.save")));
    }
    let expected = fingerprint(params);
    if found != expected {
        return Err(bad(format!(
            "belongs to another array.\n  found:    {found}\n  expected: {expected}\nWarm up again with ssd.warm_up.save"
        )));
    }
    for member in array.members_mut() {
        member.ftl_mut().load(&mut input).map_err(|error| bad(format!("is damaged ({error}); warm up again with ssd.warm_up.save")))?;
    }
    match io::Read::read(&mut input, &mut [0]) {
        Ok(0) => Ok(()),
        _ => Err(bad("is damaged at its end; warm up again with ssd.warm_up.save".to_owned())),
    }
}
