//! Ranges such as `2..8` and `1ms..100ms:log:5`, which stand for several values of a varied key, including both ends.

use flashraid_workload::units::{Duration, Quantity, Size};

/// Maximum number of values of a range.
const VALUES_MAX: usize = 10_000;

/// Spacing of the values between the ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spacing {
    /// Every whole number between the ends.
    Whole,
    /// This number of values, with equal differences.
    Linear(usize),
    /// This number of values, with equal ratios.
    Logarithmic(usize),
    /// The first value, and then always twice the one before.
    Doubling,
}

/// Returns the values of a range. It is `None` if the text is no range but a value itself, such as `../trace.csv`.
///
/// # Errors
/// Returns an error if it is a range that cannot be understood.
pub(super) fn values(text: &str) -> Option<Result<Vec<String>, String>> {
    let (from, rest) = text.split_once("..")?;
    let from = End::of(from)?;
    let mut parts = rest.split(':');
    let to = parts.next().unwrap_or_default();
    let Some(to) = End::of(to) else {
        return Some(Err(format!(
            "{text} begins like a range, but {to:?} is no number; a value with .. in it stands in quotes: '\"{text}\"'"
        )));
    };
    let spacing = match spacing(text, &parts.collect::<Vec<_>>()) {
        Ok(spacing) => spacing,
        Err(problem) => return Some(Err(problem)),
    };
    Some(spread(text, &from, &to, spacing))
}

/// One end of a range: a number and its unit, as the user wrote them.
#[derive(Debug, Clone, PartialEq)]
struct End {
    text: String,
    number: f64,
    unit: String,
}

impl End {
    /// Parses a number, which may have a unit.
    fn of(text: &str) -> Option<End> {
        let text = text.trim();
        let is_of_number = |character: char| character.is_ascii_digit() || matches!(character, '.' | '+' | '-' | '_');
        // An exponent belongs to the number only if digits follow: 1e3, but not 1exabyte.
        let exponent = |rest: &str| -> usize {
            let Some(after) = rest.strip_prefix(['e', 'E']) else { return 0 };
            let digits = after.trim_start_matches(['+', '-']);
            let count = digits.bytes().take_while(u8::is_ascii_digit).count();
            if count == 0 { 0 } else { 1 + (after.len() - digits.len()) + count }
        };
        let mantissa = text.find(|character| !is_of_number(character)).unwrap_or(text.len());
        let length = mantissa + exponent(&text[mantissa..]);
        let number: f64 = text[..length].replace('_', "").parse().ok()?;
        number.is_finite().then(|| End { text: text.to_owned(), number, unit: text[length..].to_owned() })
    }

    fn is_whole(&self) -> bool {
        self.number.fract() == 0.0 && self.number.abs() < 9e15
    }
}

fn spacing(text: &str, parts: &[&str]) -> Result<Spacing, String> {
    const HOW: &str = "write FROM..TO for every whole number, FROM..TO:lin:N or FROM..TO:log:N for N values, as in 1ms..100ms:log:5, \
                       or FROM..TO:log2 for values that double";
    let (name, count) = match parts {
        [] => return Ok(Spacing::Whole),
        [name] if name.trim() == "log2" => return Ok(Spacing::Doubling),
        [name, count] => (name.trim(), count.trim()),
        _ => return Err(format!("{text} is no range; {HOW}")),
    };
    let count: usize = match count.parse() {
        Ok(count @ 2..=VALUES_MAX) => count,
        _ => return Err(format!("{text}: a range has 2 to {VALUES_MAX} values, not {count:?}; {HOW}")),
    };
    match name {
        "lin" => Ok(Spacing::Linear(count)),
        "log" => Ok(Spacing::Logarithmic(count)),
        _ => Err(format!("{text}: {name:?} is no spacing; {HOW}")),
    }
}

fn spread(text: &str, from: &End, to: &End, spacing: Spacing) -> Result<Vec<String>, String> {
    let last = in_unit_of(to, from)
        .ok_or_else(|| format!("{text}: its ends have different units, {:?} and {:?}", from.unit.trim(), to.unit.trim()))?;
    let first = from.number;
    if last < first {
        return Err(format!("{text} ends below its begin; write {}..{}", to.text, from.text));
    }
    let with_unit = |number: String| format!("{number}{}", from.unit);
    let count = match spacing {
        Spacing::Whole => {
            if !from.is_whole() || !to.is_whole() || from.unit != to.unit {
                let example = format!("{}..{}:lin:5", from.text, to.text);
                return Err(format!("{text} does not go from one whole number to another; say how many values there are: {example}"));
            }
            let count = last - first + 1.0;
            if count > VALUES_MAX as f64 {
                return Err(format!(
                    "{text} has {count} values, but at most {VALUES_MAX} fit; say how many: {}..{}:log:5",
                    from.text, to.text
                ));
            }
            return Ok((0..count as u64).map(|step| with_unit(format!("{}", first + step as f64))).collect());
        }
        Spacing::Doubling => match doublings(first, last) {
            Some(doublings) => doublings + 1,
            None => return Err(format!("{text} does not reach its end by doubling; write ends such as 16KiB..512KiB:log2")),
        },
        Spacing::Linear(count) | Spacing::Logarithmic(count) => count,
    };
    if last == first {
        return Err(format!("{text} begins where it ends, so that all its values are the same"));
    }
    if matches!(spacing, Spacing::Logarithmic(_)) && first <= 0.0 {
        return Err(format!("{text}: values with equal ratios begin above 0; use lin in place of log, or another begin"));
    }
    let between = |step: usize| {
        let share = step as f64 / (count - 1) as f64;
        match spacing {
            // The logarithm comes from `libm`, so that the values are the same on every machine.
            Spacing::Doubling => first * libm::exp2(step as f64),
            Spacing::Logarithmic(_) => first * libm::exp(libm::log(last / first) * share),
            _ => first + (last - first) * share,
        }
    };
    // The ends stay as the user wrote them.
    let values = (0..count).map(|step| match step {
        0 => from.text.clone(),
        step if step == count - 1 => to.text.clone(),
        step => with_unit(shortest(between(step))),
    });
    let values: Vec<String> = values.collect();
    match values.windows(2).any(|pair| pair[0] == pair[1]) {
        true => Err(format!("{text}: {count} values are more than can be told apart by six digits")),
        false => Ok(values),
    }
}

/// Returns how often `first` has to be doubled to become `last`, if it ever does.
fn doublings(first: f64, last: f64) -> Option<usize> {
    let steps = (0..64).find(|step| first * libm::exp2(f64::from(*step)) >= last * (1.0 - 1e-9))?;
    (first > 0.0 && (first * libm::exp2(f64::from(steps)) / last - 1.0).abs() < 1e-9).then_some(steps as usize)
}

/// Returns the number of `end` in the unit of `other`.
fn in_unit_of(end: &End, other: &End) -> Option<f64> {
    if end.unit == other.unit {
        return Some(end.number);
    }
    // The ends may have units of different sizes, as in 1ms..1s. The size of `other`'s unit follows from its text with the number 1.
    let one = format!("1{}", other.unit);
    let durations = Duration::parse(&end.text).ok().zip(Duration::parse(&one).ok()).map(|(end, one)| (end.ns, one.ns));
    let sizes = || Size::parse(&end.text).ok().zip(Size::parse(&one).ok()).map(|(end, one)| (end.bytes, one.bytes));
    durations.or_else(sizes).filter(|(_, one)| *one > 0).map(|(end, one)| end as f64 / one as f64)
}

/// Formats a number with six significant digits, or with all digits if it is whole.
fn shortest(number: f64) -> String {
    let whole = libm::round(number);
    if (number - whole).abs() <= 1e-9 * number.abs() && whole.abs() < 9e15 {
        return format!("{whole}");
    }
    let rounded: f64 = format!("{number:.5e}").parse().expect("a number was written");
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_out(text: &str) -> Vec<String> {
        values(text).expect("a range").unwrap()
    }

    #[test]
    fn both_ends_are_included() {
        assert_eq!(spread_out("2..8"), ["2", "3", "4", "5", "6", "7", "8"]);
        assert_eq!(spread_out("4..4"), ["4"]);
        assert_eq!(spread_out("-1..1"), ["-1", "0", "1"]);
        assert_eq!(spread_out("8KiB..10KiB"), ["8KiB", "9KiB", "10KiB"]);
        assert_eq!(spread_out("3 blocks..5 blocks"), ["3 blocks", "4 blocks", "5 blocks"]);
        assert_eq!(spread_out("0..1:lin:5"), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(spread_out("5%..20%:lin:4"), ["5%", "10%", "15%", "20%"]);
        assert_eq!(spread_out("2..32:log:5"), ["2", "4", "8", "16", "32"]);
        assert_eq!(spread_out("1e3..1e5:log:3"), ["1e3", "10000", "1e5"]);
    }

    #[test]
    fn units_are_kept_as_they_were_typed() {
        assert_eq!(spread_out("1ms..100ms:log:5"), ["1ms", "3.16228ms", "10ms", "31.6228ms", "100ms"]);
        assert_eq!(spread_out("1ms..1s:log:4"), ["1ms", "10ms", "100ms", "1s"]);
        assert_eq!(spread_out("16KiB..128KiB:log2"), ["16KiB", "32KiB", "64KiB", "128KiB"]);
        assert_eq!(spread_out("512KiB..2MiB:log2"), ["512KiB", "1024KiB", "2MiB"]);
        assert_eq!(spread_out("4KiB..1MiB:log:5"), ["4KiB", "16KiB", "64KiB", "256KiB", "1MiB"]);
        assert_eq!(spread_out(" 1 ms .. 3 ms "), ["1 ms", "2 ms", "3 ms"]);
    }

    #[test]
    fn texts_that_only_look_like_ranges_are_values() {
        for text in ["local", "../a.csv", "start+1..start+3", "..", "a..b", "..8"] {
            assert_eq!(values(text), None, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_in_words() {
        for (text, part) in [
            ("8..2", "write 2..8"),
            ("2..x", "\"x\" is no number"),
            ("2..", "\"\" is no number"),
            ("0.1..0.5", "0.1..0.5:lin:5"),
            ("1ms..1s", "1ms..1s:lin:5"),
            ("1ms..4KiB:log:3", "different units"),
            ("1..10:log", "FROM..TO:log:N"),
            ("1..10:log:3:4", "FROM..TO:log:N"),
            ("1..10:log:1", "2 to 10000 values"),
            ("1..10:log:-3", "2 to 10000 values"),
            ("1..10:log:99999", "2 to 10000 values"),
            ("1..10:exp:3", "\"exp\" is no spacing"),
            ("0..10:log:3", "begin above 0"),
            ("-5..10:log:3", "begin above 0"),
            ("5..5:lin:3", "the same"),
            ("1..99999999", "at most 10000"),
            ("1..1.000001:lin:100", "told apart"),
            ("1..1e308..2", "different units"),
        ] {
            let error = values(text).unwrap_or_else(|| panic!("{text} is a range")).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn any_text_is_judged_without_a_panic() {
        for text in ["1..", "1..\u{fc}", "\u{b5}..3", "1e..2e", "9e999..1", "1..9e999", "--1..2", "1_0..1_2", "1..2:", "1..2::", "+..-"] {
            let _ = values(text);
        }
        assert_eq!(spread_out("1_0..1_2"), ["10", "11", "12"]);
    }
}
