//! Numbers of JavaScript as text (ECMA-262 6.1.6.1.20), and the functions that read and round them.

use std::fmt::Write;

use plan::is_space;

/// Integers up to here are exact.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
/// The most digits that any double needs, with sign, point and exponent.
const TEXT_BYTES_MAX: usize = 40;

/// Writes a number behind a text.
pub(super) fn write_number(number: f64, out: &mut String) {
    let written = if number.is_nan() {
        out.write_str("NaN")
    } else if number.is_infinite() {
        out.write_str(if number > 0.0 { "Infinity" } else { "-Infinity" })
    } else if number.fract() == 0.0 && number.abs() < WHOLE_MAX {
        write!(out, "{}", number as i64)
    } else {
        write_digits(number, out)
    };
    debug_assert!(written.is_ok(), "a text takes all that is written to it");
}

/// A finite number by its shortest digits and their exponent.
fn write_digits(number: f64, out: &mut String) -> std::fmt::Result {
    /// Numbers from here on are written with an exponent.
    const POINT_MAX: i32 = 21;
    const POINT_MIN: i32 = -6;
    let mut short = ShortText::default();
    write!(short, "{:e}", number.abs())?;
    let (mantissa, exponent) = short.as_str().split_once('e').unwrap_or((short.as_str(), "0"));
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    if number < 0.0 {
        out.push('-');
    }
    let digits = 1 + rest.len() as i32;
    if point > POINT_MAX || point <= POINT_MIN {
        out.push_str(mantissa);
        return write!(out, "e{:+}", point - 1);
    }
    if point <= 0 {
        out.push_str("0.");
        out.extend((point..0).map(|_| '0'));
        out.push_str(first);
        out.push_str(rest);
    } else if digits <= point {
        out.push_str(first);
        out.push_str(rest);
        out.extend((digits..point).map(|_| '0'));
    } else {
        let (whole, part) = rest.split_at(point as usize - 1);
        out.push_str(first);
        out.push_str(whole);
        out.push('.');
        out.push_str(part);
    }
    Ok(())
}

/// The most digits of a number that a double represents so that all of them can be read again.
pub(super) const DIGITS_SURE: usize = 15;

/// Powers of ten, all of them exact.
const TENS: [f64; DIGITS_SURE + 1] = {
    let (mut tens, mut place) = ([1.0; DIGITS_SURE + 1], 1);
    while place < tens.len() {
        tens[place] = tens[place - 1] * 10.0;
        place += 1;
    }
    tens
};

/// The number in a JSON text where it is few digits, with a point or without: then one division of exact numbers is
/// exact to the last bit.
pub(super) fn quick_number(json: &[u8]) -> Option<f64> {
    let digits = json.strip_prefix(b"-").unwrap_or(json);
    let is_led = matches!(digits, [b'0', b'0'..=b'9', ..]);
    if digits.is_empty() || digits.len() > DIGITS_SURE || is_led {
        return None;
    }
    let (mut number, rest) = read_digits(0, digits);
    let mut size = number as i64 as f64;
    if let [b'.', part @ ..] = rest {
        let end;
        (number, end) = read_digits(number, part);
        if rest.len() == digits.len() || part.is_empty() || !end.is_empty() {
            return None;
        }
        size = number as i64 as f64 / TENS[part.len()];
    } else if !rest.is_empty() {
        return None;
    }
    Some(if digits.len() < json.len() { -size } else { size })
}

/// A number with the digits at the begin of a text behind it, and the rest of the text.
fn read_digits(mut number: u64, text: &[u8]) -> (u64, &[u8]) {
    const TEN: u8 = 10;
    for (place, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit >= TEN {
            return (number, &text[place..]);
        }
        number = number * u64::from(TEN) + u64::from(digit);
    }
    (number, &[])
}

/// A text without memory of its own on the heap.
struct ShortText {
    bytes: [u8; TEXT_BYTES_MAX],
    length: usize,
}

impl Default for ShortText {
    fn default() -> Self {
        Self { bytes: [0; TEXT_BYTES_MAX], length: 0 }
    }
}

impl ShortText {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl Write for ShortText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let free = self.bytes.get_mut(self.length..self.length + text.len()).ok_or(std::fmt::Error)?;
        free.copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}

/// `Math.round`: halves go up.
pub(super) fn rounded(number: f64) -> f64 {
    if number.is_nan() || number.abs() >= WHOLE_MAX {
        return number;
    }
    let floor = number.floor();
    let whole = if number - floor >= 0.5 { floor + 1.0 } else { floor };
    // -0.2 becomes -0.
    if whole == 0.0 { whole.copysign(number) } else { whole }
}

/// `Math.max`, or with `false` `Math.min`: 0 is more than -0, and NaN prevails.
pub(super) fn extreme(numbers: impl IntoIterator<Item = f64>, is_max: bool) -> f64 {
    let start = if is_max { f64::NEG_INFINITY } else { f64::INFINITY };
    numbers.into_iter().fold(start, |best, number| {
        if best.is_nan() || number.is_nan() {
            return f64::NAN;
        }
        if best == 0.0 && number == 0.0 {
            let is_positive = best.is_sign_positive() == is_max || number.is_sign_positive() == is_max;
            return if is_positive == is_max { 0.0 } else { -0.0 };
        }
        if (number > best) == is_max { number } else { best }
    })
}

/// `toFixed`: halves go away from 0. `None` for numbers that it writes with an exponent.
pub(super) fn fixed(number: f64, digits: usize) -> Option<String> {
    const PLAIN_MAX: f64 = 1e21;
    if number.is_nan() || number.abs() >= PLAIN_MAX {
        return None;
    }
    let (sign, number) = if number < 0.0 { ("-", -number) } else { ("", number.abs()) };
    // A number in the middle between two results ends with the next digit, which is a 5.
    let is_exact = (number * 2_f64.powi(digits as i32 + 1)).fract() == 0.0;
    let longer = if is_exact { format!("{number:.*}", digits + 1) } else { String::new() };
    let Some(shorter) = longer.strip_suffix('5') else { return Some(format!("{sign}{number:.digits$}")) };
    let mut bytes: Vec<u8> = shorter.strip_suffix('.').unwrap_or(shorter).bytes().collect();
    for at in (0..bytes.len()).rev() {
        match bytes[at] {
            b'.' => {}
            b'9' => bytes[at] = b'0',
            digit => {
                bytes[at] = digit + 1;
                return Some(format!("{sign}{}", String::from_utf8_lossy(&bytes)));
            }
        }
    }
    Some(format!("{sign}1{}", String::from_utf8_lossy(&bytes)))
}

/// `parseInt` of a decimal number; `None` where digits might be lost, and for other radixes.
pub(super) fn whole_prefix(text: &str) -> Option<f64> {
    const DIGITS_SURE: usize = 15;
    let text = text.trim_start_matches(is_space);
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.starts_with("0x") || digits.starts_with("0X") {
        return None;
    }
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if length > DIGITS_SURE {
        return None;
    }
    let number = digits[..length].parse().unwrap_or(f64::NAN);
    Some(if is_negative { -number } else { number })
}

/// `parseFloat`: the longest beginning that is a number.
pub(super) fn number_prefix(text: &str) -> f64 {
    let text = text.trim_start_matches(is_space);
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    if text[sign..].starts_with("Infinity") {
        return if bytes[0] == b'-' { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let whole = digits(sign);
    let mut end = sign + whole;
    if bytes.get(end) == Some(&b'.') {
        let part = digits(end + 1);
        if whole + part == 0 {
            return f64::NAN;
        }
        end += 1 + part;
    } else if whole == 0 {
        return f64::NAN;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let part = digits(end + 1 + sign);
        end += if part == 0 { 0 } else { 1 + sign + part };
    }
    text[..end].parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use pacing::Random;

    use super::*;

    #[test]
    fn numbers_of_few_digits_are_read_to_the_last_bit() {
        let mut random = Random::new(11);
        for _ in 0..10_000 {
            let most = 10_u64.pow(random.below(9) as u32);
            let whole = random.below(most);
            let part = random.below(1_000_000);
            for text in
                [format!("{whole}"), format!("-{whole}"), format!("{whole}.{part}"), format!("-{whole}.{part:05}")]
            {
                let expect: f64 = text.parse().expect("a number");
                let seen = quick_number(text.as_bytes()).map(f64::to_bits);
                let is_short = text.trim_start_matches('-').len() <= DIGITS_SURE;
                assert_eq!(seen, is_short.then_some(expect.to_bits()), "{text}");
            }
        }
        assert_eq!(quick_number(b"-0").map(f64::to_bits), Some((-0.0_f64).to_bits()));
        for text in ["", "-", "--1", "01", "-00", "1.", ".5", "1.5.5", "1e3", "+1", "1 ", "1234567890123456"] {
            assert_eq!(quick_number(text.as_bytes()), None, "{text}");
        }
    }
}
