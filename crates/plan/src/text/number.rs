//! Numbers in the notation of users: `1000`, `1_000`, `1,000`, `5k`, `1.5M`, `1e3`.

/// The most digits of a number; none of our limits has more.
const DIGITS_MAX: usize = 30;

/// An exact decimal number: `digits` divided by a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: u128,
    /// The number of digits after the point; negative for zeros that follow.
    decimals: i32,
}

impl Decimal {
    /// Parses digits, with an optional point, exponent and one of the letters k, M and G.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (text, zeros) = match text.as_bytes().last()? {
            b'k' | b'K' => (&text[..text.len() - 1], 3),
            b'm' | b'M' => (&text[..text.len() - 1], 6),
            b'g' | b'G' => (&text[..text.len() - 1], 9),
            _ => (text, 0),
        };
        let (text, exponent) = match text.split_once(['e', 'E']) {
            Some((text, exponent)) => (text, exponent.strip_prefix('+').unwrap_or(exponent).parse::<u8>().ok()?),
            None => (text, 0),
        };
        let (whole, part) =
            text.trim_end().split_once('.').map_or((text.trim_end(), None), |(whole, part)| (whole, Some(part)));
        let part = part.unwrap_or("0");
        let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let whole = without_separators(whole)?;
        if !is_plain(&whole) || !is_plain(part) || whole.len() + part.len() > DIGITS_MAX {
            return None;
        }
        let digits = format!("{whole}{part}").parse().ok()?;
        Some(Self { digits, decimals: part.len() as i32 - i32::from(exponent) - zeros })
    }

    /// The number times a power of ten, when that is a whole number.
    pub(crate) fn times_ten_to(self, zeros: u32) -> Option<u64> {
        let decimals = self.decimals - zeros as i32;
        let power = |count: i32| 10u128.checked_pow(count.unsigned_abs());
        let number = match decimals {
            0.. => {
                let divisor = power(decimals)?;
                self.digits.is_multiple_of(divisor).then(|| self.digits / divisor)?
            }
            _ => self.digits.checked_mul(power(decimals)?)?,
        };
        u64::try_from(number).ok()
    }
}

/// Removes separators: underscores between any two digits; commas only before groups of three.
fn without_separators(text: &str) -> Option<String> {
    if text.starts_with('_') || text.ends_with('_') {
        return None;
    }
    let mut groups = text.split(',');
    let first = groups.next()?;
    let mut rest = groups.peekable();
    let is_grouped = rest.peek().is_none() || (1..=3).contains(&first.len());
    let is_good = is_grouped && text.split(',').skip(1).all(|group| group.len() == 3);
    is_good.then(|| text.replace([',', '_'], ""))
}

/// A number with commas, for display.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
