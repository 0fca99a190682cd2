//! Items for sale, and the cart of a user.

use std::fmt::{self, Write};

/// Items are numbered from 1 to this.
pub(crate) const ITEMS_MAX: u32 = 1_000_000;
/// Maximum number of different items in a cart.
pub(crate) const LINES_MAX: usize = 20;
/// Maximum number of pieces of an item in a cart.
pub(crate) const COUNT_MAX: u32 = 1_000;

/// An item for sale. All its properties follow from its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item(u32);

impl Item {
    pub(crate) fn new(number: u32) -> Option<Self> {
        (1..=ITEMS_MAX).contains(&number).then_some(Self(number))
    }

    /// Parses `7`, or the path `/items/7`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("/items/").unwrap_or(text);
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        Self::new(digits.parse().ok().filter(|_| is_plain)?)
    }

    /// Its price: from 1.00 to 199.99, about as many below 100 as above.
    pub(crate) fn cents(self) -> u64 {
        100 + u64::from(self.0) * 7_919 % 19_900
    }

    /// Its stock: at least one.
    pub(crate) fn stock(self) -> u32 {
        1 + self.0 % 50
    }

    /// The next item; the first after the last.
    pub(crate) fn next(self) -> Self {
        Self(self.0 % ITEMS_MAX + 1)
    }

    /// Its entity tag, with the quotes (RFC 9110 8.8.3).
    pub(crate) fn tag(self) -> String {
        format!("\"{}-1\"", self.0)
    }
}

impl fmt::Display for Item {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// Money as a JSON number: `19.95`.
pub(crate) struct Price(pub(crate) u64);

impl fmt::Display for Price {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// The items that a user wants, with counts.
#[derive(Debug, Default)]
pub(crate) struct Cart(Vec<(Item, u32)>);

/// Why an item does not fit into a cart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Too many different items.
    Lines,
    /// Too many pieces of it.
    Count,
}

impl Cart {
    /// Memory of a full cart, including the spare capacity of a growing list.
    pub(crate) const BYTES_MAX: usize = LINES_MAX.next_power_of_two() * size_of::<(Item, u32)>();

    pub(crate) fn add(&mut self, item: Item, count: u32) -> Result<(), NoRoom> {
        if let Some((_, there)) = self.0.iter_mut().find(|(known, _)| *known == item) {
            *there = there.checked_add(count).filter(|sum| *sum <= COUNT_MAX).ok_or(NoRoom::Count)?;
            return Ok(());
        }
        if self.0.len() == LINES_MAX {
            return Err(NoRoom::Lines);
        }
        if count > COUNT_MAX {
            return Err(NoRoom::Count);
        }
        self.0.push((item, count));
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.0 = Vec::new();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn cents(&self) -> u64 {
        self.0.iter().map(|(item, count)| item.cents() * u64::from(*count)).sum()
    }

    pub(crate) fn to_json(&self) -> String {
        let mut json = "{\"items\":[".to_owned();
        for (place, (item, count)) in self.0.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(json, "{comma}{{\"sku\":{item},\"count\":{count},\"price\":{}}}", Price(item.cents()))
                .expect("writing to a string does not fail");
        }
        writeln!(json, "],\"total\":{}}}", Price(self.cents())).expect("writing to a string does not fail");
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read() {
        let cases = [
            ("7", Some(7)),
            ("/items/7", Some(7)),
            ("1000000", Some(ITEMS_MAX)),
            ("0", None),
            ("1000001", None),
            ("-1", None),
            ("+1", None),
            ("", None),
            ("/items/", None),
            ("/items/x", None),
            ("http://a/items/7", None),
            ("99999999999999999999", None),
        ];
        for (text, expect) in cases {
            assert_eq!(Item::parse(text), expect.map(Item), "{text}");
        }
    }

    #[test]
    fn every_item_is_for_sale() {
        let (mut cheap, mut item) = (0, Item(1));
        for number in 1..=ITEMS_MAX {
            assert_eq!(item, Item(number));
            assert!((100..20_000).contains(&item.cents()) && item.stock() > 0, "{item}");
            cheap += u32::from(item.cents() < 10_000);
            item = item.next();
        }
        assert_eq!(item, Item(1), "the first comes after the last");
        assert!((450_000..550_000).contains(&cheap), "{cheap} below 100");
    }

    #[test]
    fn carts_have_bounds() {
        let mut cart = Cart::default();
        assert!(cart.is_empty());
        for number in 1..=LINES_MAX as u32 {
            assert_eq!(cart.add(Item(number), 2), Ok(()));
        }
        assert_eq!(cart.add(Item(500), 1), Err(NoRoom::Lines));
        assert_eq!(cart.add(Item(1), COUNT_MAX - 2), Ok(()));
        assert_eq!(cart.add(Item(1), 1), Err(NoRoom::Count));
        assert_eq!(cart.add(Item(1), u32::MAX), Err(NoRoom::Count));
        assert_eq!(cart.0.len(), LINES_MAX);
        assert!(cart.0.capacity() * size_of::<(Item, u32)>() <= Cart::BYTES_MAX);
        cart.clear();
        assert_eq!(cart.add(Item(3), COUNT_MAX + 1), Err(NoRoom::Count));
        assert_eq!((cart.cents(), cart.to_json().as_str()), (0, "{\"items\":[],\"total\":0.00}\n"));
        // 100 + 3 * 7919 % 19900 and 100 + 4 * 7919 % 19900.
        assert_eq!([(3, 2), (4, 1)].map(|(number, count)| cart.add(Item(number), count)), [Ok(()); 2]);
        let json = "{\"items\":[{\"sku\":3,\"count\":2,\"price\":39.57},{\"sku\":4,\"count\":1,\"price\":118.76}],\"total\":197.90}\n";
        assert_eq!((cart.cents(), cart.to_json().as_str()), (19_790, json));
    }
}
