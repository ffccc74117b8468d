//! Splits a line of text into fields and reads numbers from it, without allocating memory.
//!
//! Functions that every line needs are always inlined. Their calls would take a sixth of the time of reading a line.

use super::record::{MAX_OFFSET_BYTES, MAX_REQUEST_BYTES, TIME_STAMP_END_NS};
use crate::OpKind;

/// Error for a line, or a binary record, that is not a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldError {
    /// Position of the first wrong byte in the line or record, counted from 1.
    pub(crate) column: usize,
    /// Text found at that position, shortened and escaped.
    pub(crate) found: String,
    /// Description of the text that was expected there.
    pub(crate) expected: &'static str,
}

/// Result of reading a field.
pub(crate) type FieldResult<T> = Result<T, FieldError>;

/// The fields of one line, from left to right.
///
/// With [`Fields::blank`], any sequence of spaces and tabs separates fields. With [`Fields::separated_by`], a single byte does, and blanks
/// around a field are ignored.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    separator: Option<u8>,
    /// Position of the next field, or one past the end of the line if there is none.
    next: usize,
    /// Position of the field that was read last.
    start: usize,
}

impl<'a> Fields<'a> {
    /// Returns fields that are separated by blanks.
    pub(crate) fn blank(line: &'a [u8]) -> Self {
        Self { line, separator: None, next: 0, start: 0 }
    }

    /// Returns fields that are separated by `separator`.
    pub(crate) fn separated_by(separator: u8, line: &'a [u8]) -> Self {
        Self { line, separator: Some(separator), next: 0, start: 0 }
    }

    /// Returns fields that leave out the first `bytes` bytes of the line.
    pub(crate) fn starting_at(mut self, bytes: usize) -> Self {
        self.next = bytes;
        self
    }

    /// Returns the column of the field that was read last, counted from 1.
    pub(super) fn column(&self) -> usize {
        self.start + 1
    }

    /// Returns the next field, if there is one.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        match self.separator {
            None => {
                let mut start = self.next;
                while start < self.line.len() && is_blank(self.line[start]) {
                    start += 1;
                }
                if start >= self.line.len() {
                    self.start = self.line.len();
                    return None;
                }
                let mut end = start;
                while end < self.line.len() && !is_blank(self.line[end]) {
                    end += 1;
                }
                self.start = start;
                self.next = end;
                Some(&self.line[start..end])
            }
            Some(separator) => {
                if self.next > self.line.len() {
                    self.start = self.line.len();
                    return None;
                }
                let mut start = self.next;
                let mut end = start;
                while end < self.line.len() && self.line[end] != separator {
                    end += 1;
                }
                self.next = end + 1;
                while start < end && is_blank(self.line[start]) {
                    start += 1;
                }
                while end > start && is_blank(self.line[end - 1]) {
                    end -= 1;
                }
                self.start = start;
                Some(&self.line[start..end])
            }
        }
    }

    /// Returns the next field, which must exist.
    #[inline(always)]
    pub(super) fn text(&mut self, expected: &'static str) -> FieldResult<&'a [u8]> {
        self.next().ok_or_else(|| self.error(expected))
    }

    /// Skips a field that must exist but does not matter.
    #[inline(always)]
    pub(super) fn skip(&mut self, expected: &'static str) -> FieldResult<()> {
        self.text(expected).map(|_| ())
    }

    /// Reads a whole number.
    #[inline(always)]
    pub(super) fn integer(&mut self, expected: &'static str) -> FieldResult<u64> {
        match self.plain_integer() {
            Some(number) => Ok(number),
            None => self.any_integer(expected),
        }
    }

    /// Reads a whole number of any form, as the slow path of [`Fields::integer`].
    #[cold]
    fn any_integer(&mut self, expected: &'static str) -> FieldResult<u64> {
        let text = self.text(expected)?;
        integer(text).ok_or_else(|| self.error(expected))
    }

    /// Reads a number of at most 18 digits in one pass over its bytes. Returns `None`, and reads nothing, if the field has any other form.
    #[inline(always)]
    fn plain_integer(&mut self) -> Option<u64> {
        let start = self.first_of_next();
        let (number, digits) = leading_digits(self.line.get(start..)?);
        let is_plain = (1..=PLAIN_DIGITS).contains(&digits);
        (is_plain && self.take_if_it_ends(start, start + digits)).then_some(number)
    }

    /// Reads a number with at most nine decimals in one pass, and multiplies it as [`decimal_times`] does. Returns `None`, and reads
    /// nothing, if the field has any other form.
    #[inline(always)]
    fn plain_decimal_times(&mut self, scale: u64) -> Option<u64> {
        let start = self.first_of_next();
        let (whole, digits) = leading_digits(self.line.get(start..)?);
        if !(1..=PLAIN_DIGITS).contains(&digits) {
            return None;
        }
        let (mut end, mut billionths) = (start + digits, 0);
        if self.line.get(end) == Some(&b'.') {
            let (decimals, digits) = leading_digits(&self.line[end + 1..]);
            billionths = decimals.checked_mul(*BILLIONTHS.get(digits)?)?;
            end += 1 + digits;
        }
        let product = whole.checked_mul(scale)?.checked_add(billionths * scale / 1_000_000_000)?;
        self.take_if_it_ends(start, end).then_some(product)
    }

    /// Returns the position at which the next field begins, after any blanks.
    #[inline(always)]
    fn first_of_next(&self) -> usize {
        let mut start = self.next;
        if self.separator.is_none() {
            while self.line.get(start).copied().is_some_and(is_blank) {
                start += 1;
            }
        }
        start
    }

    /// Accepts `start..end` as the field that was read last if the field ends there. Returns true if it does.
    #[inline(always)]
    fn take_if_it_ends(&mut self, start: usize, end: usize) -> bool {
        let ends = self.line.get(end).is_none_or(|byte| match self.separator {
            None => is_blank(*byte),
            Some(separator) => *byte == separator,
        });
        if ends {
            self.start = start;
            self.next = end + usize::from(self.separator.is_some());
        }
        ends
    }

    /// Reads a whole number, decimal or hexadecimal with `0x` in front.
    #[inline(always)]
    pub(super) fn integer_or_hexadecimal(&mut self, expected: &'static str) -> FieldResult<u64> {
        match self.plain_integer() {
            Some(number) => Ok(number),
            None => self.any_integer_or_hexadecimal(expected),
        }
    }

    /// Reads a whole number of any form, as the slow path of [`Fields::integer_or_hexadecimal`].
    #[cold]
    fn any_integer_or_hexadecimal(&mut self, expected: &'static str) -> FieldResult<u64> {
        let text = self.text(expected)?;
        let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"));
        let number = match digits.and_then(|digits| std::str::from_utf8(digits).ok()) {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => integer(text),
        };
        number.ok_or_else(|| self.error(expected))
    }

    /// Reads the number of a device.
    #[inline(always)]
    pub(super) fn device(&mut self, expected: &'static str) -> FieldResult<u32> {
        let number = self.integer(expected)?;
        u32::try_from(number).map_err(|_| self.error("a device number of at most 4294967295"))
    }

    /// Reads a time in units of `unit_ns`, with or without decimals, and returns nanoseconds.
    #[inline(always)]
    pub(super) fn time_ns(&mut self, unit_ns: u64, expected: &'static str) -> FieldResult<u64> {
        let begin = self.next;
        match self.plain_decimal_times(unit_ns) {
            Some(time_ns) if time_ns < TIME_STAMP_END_NS => Ok(time_ns),
            _ => {
                self.next = begin;
                self.any_time_ns(unit_ns, expected)
            }
        }
    }

    /// Reads a time of any form, as the slow path of [`Fields::time_ns`].
    #[cold]
    fn any_time_ns(&mut self, unit_ns: u64, expected: &'static str) -> FieldResult<u64> {
        let text = self.text(expected)?;
        match decimal_times(text, unit_ns) {
            Ok(time_ns) if time_ns < TIME_STAMP_END_NS => Ok(time_ns),
            Err(NumberError::Malformed) => Err(self.error(expected)),
            Ok(_) | Err(NumberError::TooLarge) => {
                Err(self.error("a time below 2^64 - 2^60 ns (547 years), and not below 0; is the unit right? time_unit overrules it"))
            }
        }
    }

    /// Reads a start address in units of `unit_bytes`, and returns bytes.
    #[inline(always)]
    pub(super) fn offset_bytes(&mut self, unit_bytes: u64, expected: &'static str) -> FieldResult<u64> {
        let number = self.integer(expected)?;
        offset_bytes(number, unit_bytes).ok_or_else(|| self.error("an address below 2^60 bytes (1 EiB)"))
    }

    /// Reads a length in units of `unit_bytes`, and returns bytes.
    #[inline(always)]
    pub(super) fn length_bytes(&mut self, unit_bytes: u64, expected: &'static str) -> FieldResult<u64> {
        let number = self.integer(expected)?;
        length_bytes(number, unit_bytes).ok_or_else(|| self.error("a length of at most 1 GiB"))
    }

    /// Reads the length of a request of this kind. A discard may be as long as the device.
    pub(crate) fn length_bytes_of(&mut self, kind: OpKind, unit_bytes: u64, expected: &'static str) -> FieldResult<u64> {
        if kind != OpKind::Trim {
            return self.length_bytes(unit_bytes, expected);
        }
        let number = self.integer(expected)?;
        offset_bytes(number, unit_bytes).ok_or_else(|| self.error("a length of at most 2^60 bytes (1 EiB)"))
    }

    /// Reads `0` for a write and `1` for a read, as in DiskSim and programs derived from it.
    #[inline(always)]
    pub(crate) fn write_0_read_1(&mut self) -> FieldResult<OpKind> {
        let expected = "the operation: 0 (write) or 1 (read)";
        match self.text(expected)? {
            b"0" => Ok(OpKind::Write),
            b"1" => Ok(OpKind::Read),
            _ => Err(self.error(expected)),
        }
    }

    /// Reads a word or letter for read or write in any case: `R`, `Read`, `w`, `WRITE`.
    #[inline(always)]
    pub(crate) fn read_or_write(&mut self, expected: &'static str) -> FieldResult<OpKind> {
        let text = self.text(expected)?;
        if text.eq_ignore_ascii_case(b"r") || text.eq_ignore_ascii_case(b"read") {
            Ok(OpKind::Read)
        } else if text.eq_ignore_ascii_case(b"w") || text.eq_ignore_ascii_case(b"write") {
            Ok(OpKind::Write)
        } else {
            Err(self.error(expected))
        }
    }

    /// Returns an error if the line has more fields.
    #[inline(always)]
    pub(super) fn end(&mut self, expected: &'static str) -> FieldResult<()> {
        match self.next() {
            None => Ok(()),
            Some(b"") if self.next > self.line.len() => Ok(()),
            Some(_) => Err(self.error(expected)),
        }
    }

    /// Returns an error that points at the field that was read last.
    #[cold]
    pub(super) fn error(&self, expected: &'static str) -> FieldError {
        let rest = &self.line[self.start.min(self.line.len())..];
        let length = match self.separator {
            None => rest.iter().position(|byte| is_blank(*byte)),
            Some(separator) => rest.iter().position(|byte| *byte == separator),
        };
        let field = &rest[..length.unwrap_or(rest.len())];
        let found = if rest.is_empty() { "the end of the line".to_owned() } else { quote(field) };
        FieldError { column: self.start + 1, found, expected }
    }
}

/// Formats bytes of a file for a message: in quotes, escaped, at most 40 of them.
pub(crate) fn quote(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let bytes = bytes.trim_ascii();
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
    let more = if bytes.len() > SHOWN { "…" } else { "" };
    let escaped: String =
        shown.chars().flat_map(|c| if c.is_control() { c.escape_default().collect::<Vec<_>>() } else { vec![c] }).collect();
    format!("\"{escaped}{more}\"")
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Returns `number` × `unit_bytes`, or `None` if no real address is so large.
pub(crate) fn offset_bytes(number: u64, unit_bytes: u64) -> Option<u64> {
    number.checked_mul(unit_bytes).filter(|bytes| *bytes <= MAX_OFFSET_BYTES)
}

/// Returns `number` × `unit_bytes`, or `None` if no real request is so long.
pub(crate) fn length_bytes(number: u64, unit_bytes: u64) -> Option<u64> {
    number.checked_mul(unit_bytes).filter(|bytes| *bytes <= MAX_REQUEST_BYTES)
}

/// Number of digits that certainly fit into 64 bits.
const PLAIN_DIGITS: usize = 18;
/// Value of the last digit of a decimal fraction in billionths, by the number of its digits.
const BILLIONTHS: [u64; 10] = [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];

/// Returns the number at the beginning of `text`, and how many digits it has. With more than [`PLAIN_DIGITS`] digits, the value is
/// meaningless.
#[inline(always)]
fn leading_digits(text: &[u8]) -> (u64, usize) {
    let (mut number, mut digits) = (0_u64, 0);
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        digits += 1;
    }
    (number, digits)
}

/// Reads a whole number without a sign. Returns `None` if the text is no such number, or if it is too large.
pub(crate) fn integer(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    // A number of 19 digits always fits, so only the twentieth digit needs a check.
    let (sure, rest) = text.split_at(text.len().min(19));
    for byte in sure {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// Error for a number that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberError {
    /// The text is no number, or a negative one.
    Malformed,
    /// The number is too large.
    TooLarge,
}

/// Reads a decimal number (`12`, `0.5`, `1.2e-5`), multiplies it by `scale`, and cuts it to a whole number.
///
/// Up to nine decimals are exact, and further ones are ignored. `scale` is at most 10^9.
pub(crate) fn decimal_times(text: &[u8], scale: u64) -> Result<u64, NumberError> {
    let point = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (whole, rest) = text.split_at(point);
    let mut billionths = 0_u64;
    match rest.split_first() {
        None => {
            if whole.is_empty() {
                return Err(NumberError::Malformed);
            }
        }
        Some((b'.', decimals)) => {
            if whole.is_empty() && decimals.is_empty() {
                return Err(NumberError::Malformed);
            }
            let mut weight = 100_000_000;
            for byte in decimals {
                let digit = byte.wrapping_sub(b'0');
                if digit > 9 {
                    return scientific_times(text, scale);
                }
                billionths += u64::from(digit) * weight;
                weight /= 10;
            }
        }
        Some(_) => return scientific_times(text, scale),
    }
    let whole = if whole.is_empty() { 0 } else { integer(whole).ok_or(NumberError::TooLarge)? };
    let fraction = billionths * scale / 1_000_000_000;
    whole.checked_mul(scale).and_then(|product| product.checked_add(fraction)).ok_or(NumberError::TooLarge)
}

/// Reads a number with an exponent, which programs write for very small numbers.
fn scientific_times(text: &[u8], scale: u64) -> Result<u64, NumberError> {
    let looks_right = text.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !looks_right || matches!(text.first(), Some(b'-' | b'+')) {
        return Err(NumberError::Malformed);
    }
    let number: f64 = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(NumberError::Malformed)?;
    let product = number * scale as f64;
    if product < u64::MAX as f64 { Ok(product as u64) } else { Err(NumberError::TooLarge) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_up_to_the_last_one() {
        assert_eq!(integer(b"0"), Some(0));
        assert_eq!(integer(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(integer(b"00000000000000000000000000042"), Some(42));
        for text in [&b""[..], b"18446744073709551616", b"-1", b"+1", b"1.0", b"0x10", b"1 "] {
            assert_eq!(integer(text), None, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn decimals_become_whole_units() {
        assert_eq!(decimal_times(b"26.214000", 1_000_000), Ok(26_214_000));
        assert_eq!(decimal_times(b"0.000000001", 1_000_000_000), Ok(1));
        assert_eq!(decimal_times(b"0.0000000019", 1_000_000_000), Ok(1));
        assert_eq!(decimal_times(b"7", 1_000), Ok(7_000));
        assert_eq!(decimal_times(b"7.", 1_000), Ok(7_000));
        assert_eq!(decimal_times(b".5", 1_000), Ok(500));
        assert_eq!(decimal_times(b"1.5e-3", 1_000_000_000), Ok(1_500_000));
        assert_eq!(decimal_times(b"3.25", 0), Ok(0));
        for text in [&b""[..], b".", b"-1", b"1,5", b"1.2.3", b"nan", b"inf", b"e5", b"1e", b"x"] {
            assert_eq!(decimal_times(text, 1_000), Err(NumberError::Malformed), "{}", String::from_utf8_lossy(text));
        }
        for text in [&b"18446744073709551616"[..], b"18446744073709551615", b"1e300"] {
            assert_eq!(decimal_times(text, 1_000), Err(NumberError::TooLarge), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn blanks_separate_in_runs_and_commas_one_by_one() {
        let mut fields = Fields::blank(b"  a \t bc  ");
        assert_eq!(fields.next(), Some(&b"a"[..]));
        assert_eq!(fields.next(), Some(&b"bc"[..]));
        assert_eq!(fields.next(), None);
        let mut fields = Fields::separated_by(b',', b"a, ,c ");
        assert_eq!(fields.next(), Some(&b"a"[..]));
        assert_eq!(fields.next(), Some(&b""[..]));
        assert_eq!(fields.next(), Some(&b"c"[..]));
        assert_eq!(fields.next(), None);
    }

    /// Checks that reading in one pass has the same outcome as the general way.
    #[test]
    fn both_ways_of_reading_numbers_agree() {
        let numbers = [
            "0",
            "7",
            "42",
            "007",
            "999999999999999999",
            "1000000000000000000",
            "18446744073709551615",
            "18446744073709551616",
            "",
            "-1",
            "x",
            "1x",
            "1.5",
            "1.",
            ".5",
            "0.000000001",
            "12.123456789",
            "12.1234567891",
            "1e3",
            "1.5e-3",
            "1.2.3",
            "18446744073.5",
            "9999999999",
            "1152921504606846977",
            "2147483648",
            "4294967296",
        ];
        let mut plain = 0;
        for number in numbers {
            for (line, separator) in [
                (format!("{number} 5"), None),
                (format!(" \t{number}"), None),
                (format!("{number},5"), Some(b',')),
                (format!(" {number} ,5"), Some(b',')),
            ] {
                let fields = || Fields { line: line.as_bytes(), separator, next: 0, start: 0 };
                let (mut fast, mut general) = (fields(), fields());
                assert_eq!(fast.integer("a number"), general.any_integer("a number"), "{line}");
                assert_eq!((fast.next, fast.start), (general.next, general.start), "{line}");
                plain += u32::from(fields().plain_integer().is_some());
                for unit_ns in [0, 1, 1_000, 1_000_000, 1_000_000_000] {
                    let (mut fast, mut general) = (fields(), fields());
                    assert_eq!(fast.time_ns(unit_ns, "a time"), general.any_time_ns(unit_ns, "a time"), "{line}");
                    assert_eq!((fast.next, fast.start), (general.next, general.start), "{line}");
                }
            }
        }
        assert!(plain > 20, "the plain way was taken only {plain} times");
    }

    #[test]
    fn a_complaint_names_the_place() {
        let mut fields = Fields::separated_by(b',', b"12, 3x ,4");
        fields.integer("a number").unwrap();
        let bad = fields.integer("a number").unwrap_err();
        assert_eq!((bad.column, bad.found.as_str()), (5, "\"3x\""));
        let mut fields = Fields::blank(b"12");
        fields.integer("a number").unwrap();
        let bad = fields.integer("another number").unwrap_err();
        assert_eq!((bad.column, bad.found.as_str(), bad.expected), (3, "the end of the line", "another number"));
    }

    #[test]
    fn what_is_shown_is_short_and_printable() {
        assert_eq!(quote(b"a\x07b"), "\"a\\u{7}b\"");
        assert_eq!(quote(&[0xff, 0xfe]), "\"\u{fffd}\u{fffd}\"");
        assert!(quote(&[b'x'; 500]).len() < 60);
    }
}
