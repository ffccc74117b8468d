//! Writes the traces from which fuzzing begins into the folder that is named: the sample of each format, read as such and by detection.

use std::path::PathBuf;
use std::{env, fs, io};

use flashraid::workload::trace::Format;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).expect("the folder of the corpus"));
    fs::create_dir_all(&folder)?;
    for (index, format) in Format::ALL.into_iter().enumerate() {
        for choice in [index, Format::ALL.len()] {
            fs::write(folder.join(format!("{format}-{choice}")), [&[choice as u8], format.sample()].concat())?;
        }
    }
    Ok(())
}
