//! Words, letters and codes by which traces name the kind of a request.

use crate::OpKind;

/// Kind of a request as a trace names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Operation {
    /// Kind of the request. It is `None` for operations that are no requests, such as commands of zones.
    pub(crate) kind: Option<OpKind>,
    /// True for a write with "force unit access".
    pub(crate) fua: bool,
    /// True for a write of zeroes that are not sent.
    pub(crate) zeroes: bool,
    /// True for a request before which everything is flushed.
    pub(crate) flush_before: bool,
}

impl Operation {
    const fn of_kind(kind: Option<OpKind>) -> Self {
        Self { kind, fua: false, zeroes: false, flush_before: false }
    }

    /// Returns the operation that the Linux kernel writes with these letters (`R`, `WS`, `FWFSM`, `DS`, …).
    ///
    /// An F before the kind asks for a flush, and one after W for "force unit access". Newer kernels write `FF` for a flush alone, older
    /// ones `FN`. A write of zeroes is `WZ`; older kernels record it as a write, or as `N`.
    pub(crate) fn of_letters(letters: &[u8]) -> Self {
        let has = |letter: u8| letters.contains(&letter);
        let zeroes = letters.windows(2).any(|pair| pair == b"WZ");
        let kind = if has(b'Z') && !zeroes {
            None
        } else if has(b'D') {
            Some(OpKind::Trim)
        } else if has(b'R') {
            Some(OpKind::Read)
        } else if has(b'W') {
            Some(OpKind::Write)
        } else if has(b'F') {
            Some(OpKind::Flush)
        } else {
            None
        };
        let fua = kind == Some(OpKind::Write) && letters.iter().skip_while(|letter| **letter != b'W').any(|letter| *letter == b'F');
        Self { kind, fua, zeroes, flush_before: letters.first() == Some(&b'F') && kind != Some(OpKind::Flush) }
    }

    /// Returns the operation with this name, or `None` if the text is no operation. Names are words of block I/O or of a cache, letters
    /// of the Linux kernel, and SCSI opcodes in hexadecimal.
    pub(crate) fn of_word(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii().strip_prefix(b"\"").map_or(text, |rest| rest.strip_suffix(b"\"").unwrap_or(rest));
        let is_in = |names: &[&str]| names.iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes()));
        if is_in(READS) {
            Some(Self::of_kind(Some(OpKind::Read)))
        } else if is_in(WRITES) {
            Some(Self::of_kind(Some(OpKind::Write)))
        } else if is_in(ZEROES) {
            Some(Self { zeroes: true, ..Self::of_kind(Some(OpKind::Write)) })
        } else if is_in(DISCARDS) {
            Some(Self::of_kind(Some(OpKind::Trim)))
        } else if is_in(FLUSHES) {
            Some(Self::of_kind(Some(OpKind::Flush)))
        } else if is_in(OTHERS) || (text.len() == 2 && text[0].is_ascii_digit() && text.iter().all(u8::is_ascii_hexdigit)) {
            Some(Self::of_kind(None))
        } else if !text.is_empty() && text.len() <= 8 && text.iter().all(|letter| b"FWDREASMNZPU".contains(letter)) {
            Some(Self::of_letters(text))
        } else {
            None
        }
    }
}

/// Names and SCSI opcodes of operations that read.
const READS: &[&str] = &["read", "r", "get", "gets", "readop", "diskread", "28", "88", "08", "a8", "rd", "rs", "ra"];
/// Names and SCSI opcodes of operations that write.
const WRITES: &[&str] =
    &["write", "w", "set", "put", "add", "replace", "append", "prepend", "cas", "update", "diskwrite", "2a", "8a", "0a", "aa", "wr", "ws"];
/// Names of operations that discard.
const DISCARDS: &[&str] = &["trim", "discard", "unmap", "deallocate"];
/// Names of operations that write zeroes without sending them.
const ZEROES: &[&str] = &["write_zeroes", "write-zeroes", "write zeroes"];
/// Names and SCSI opcodes of operations that flush.
const FLUSHES: &[&str] = &["flush", "sync", "fsync", "fdatasync", "datasync", "flush_cache", "synchronize_cache", "diskflush", "35", "91"];
/// Names of operations that are no requests. All other opcodes are none, either.
const OTHERS: &[&str] = &["nop", "delete", "incr", "decr"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_the_kernel() {
        let kind = |letters: &[u8]| Operation::of_letters(letters).kind;
        assert_eq!([b"R", b"W"].map(|letters| kind(letters)), [Some(OpKind::Read), Some(OpKind::Write)]);
        assert_eq!([kind(b"FF"), kind(b"FN"), kind(b"F")], [Some(OpKind::Flush); 3]);
        assert_eq!((kind(b"DS"), kind(b"N"), kind(b"ZR"), kind(b"RA")), (Some(OpKind::Trim), None, None, Some(OpKind::Read)));
        let both = Operation::of_letters(b"FWFS");
        assert_eq!((both.kind, both.fua, both.flush_before), (Some(OpKind::Write), true, true));
        let write = Operation::of_letters(b"WFS");
        assert_eq!((write.fua, write.flush_before), (true, false));
        assert!(Operation::of_letters(b"WZ").zeroes && !Operation::of_letters(b"FF").flush_before);
    }

    #[test]
    fn words_and_opcodes() {
        let kind = |word: &str| Operation::of_word(word.as_bytes()).map(|operation| operation.kind);
        assert_eq!(kind("WRITE"), Some(Some(OpKind::Write)));
        assert_eq!((kind("2a"), kind("28"), kind("12")), (Some(Some(OpKind::Write)), Some(Some(OpKind::Read)), Some(None)));
        assert_eq!((kind("fsync"), kind("\"R\"")), (Some(Some(OpKind::Flush)), Some(Some(OpKind::Read))));
        assert_eq!((kind("0"), kind("1"), kind("hello"), kind("")), (None, None, None, None));
    }
}
