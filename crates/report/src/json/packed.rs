//! Compact storage of values: a row of a table is a hundred numbers whose names are those of every other row. Unpacking
//! returns exactly what was packed.

use serde_json::{Map, Number, Value};

/// The names in all packed values.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<String>);

/// The tag before a value. Its number is its position in the enum, and does not change while values are packed.
#[derive(Clone, Copy)]
enum Tag {
    Null,
    False,
    True,
    /// A varint follows: seven bits per byte, the lowest first.
    Unsigned,
    /// A varint follows: the absolute value of a negative number, minus one.
    Negative,
    /// Eight bytes follow.
    Float,
    /// A length and bytes follow.
    Text,
    /// A length and that many values follow.
    List,
    /// A length and that many names and values follow.
    Object,
}

impl Tag {
    const ALL: [Self; 9] = [
        Self::Null,
        Self::False,
        Self::True,
        Self::Unsigned,
        Self::Negative,
        Self::Float,
        Self::Text,
        Self::List,
        Self::Object,
    ];
}

impl Names {
    /// Packs a value.
    pub(crate) fn pack(&mut self, value: &Value) -> Box<[u8]> {
        let mut out = Vec::new();
        self.put(value, &mut out);
        out.into()
    }

    /// The value that was packed with these names.
    pub(crate) fn unpack(&self, mut bytes: &[u8]) -> Value {
        self.value(&mut bytes)
    }

    fn put(&mut self, value: &Value, out: &mut Vec<u8>) {
        match value {
            Value::Null => out.push(Tag::Null as u8),
            Value::Bool(is) => out.push(if *is { Tag::True } else { Tag::False } as u8),
            Value::Number(number) => put_number(number, out),
            Value::String(text) => {
                put_tagged(Tag::Text, text.len() as u64, out);
                out.extend_from_slice(text.as_bytes());
            }
            Value::Array(values) => {
                put_tagged(Tag::List, values.len() as u64, out);
                values.iter().for_each(|value| self.put(value, out));
            }
            Value::Object(fields) => {
                put_tagged(Tag::Object, fields.len() as u64, out);
                for (name, value) in fields {
                    let place = self.place_of(name);
                    put_amount(place, out);
                    self.put(value, out);
                }
            }
        }
    }

    /// There are few names, since rows are alike.
    fn place_of(&mut self, name: &str) -> u64 {
        let place = self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        place as u64
    }

    fn value(&self, bytes: &mut &[u8]) -> Value {
        match Tag::ALL[usize::from(take(bytes, 1)[0])] {
            Tag::Null => Value::Null,
            Tag::False => Value::Bool(false),
            Tag::True => Value::Bool(true),
            Tag::Unsigned => amount(bytes).into(),
            Tag::Negative => (-1 - amount(bytes) as i64).into(),
            Tag::Float => {
                let bits = take(bytes, 8).try_into().expect("eight bytes");
                Value::Number(Number::from_f64(f64::from_le_bytes(bits)).expect("it was a number"))
            }
            Tag::Text => {
                let length = amount(bytes) as usize;
                String::from_utf8_lossy(take(bytes, length)).into_owned().into()
            }
            Tag::List => (0..amount(bytes)).map(|_| self.value(bytes)).collect(),
            Tag::Object => {
                let fields = (0..amount(bytes)).map(|_| (self.0[amount(bytes) as usize].clone(), self.value(bytes)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }
}

fn put_number(number: &Number, out: &mut Vec<u8>) {
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(number), ..) => put_tagged(Tag::Unsigned, number, out),
        (None, Some(number), _) => put_tagged(Tag::Negative, (-1 - number) as u64, out),
        (None, None, number) => {
            out.push(Tag::Float as u8);
            out.extend_from_slice(&number.unwrap_or_default().to_le_bytes());
        }
    }
}

fn put_tagged(tag: Tag, amount: u64, out: &mut Vec<u8>) {
    out.push(tag as u8);
    put_amount(amount, out);
}

fn put_amount(mut amount: u64, out: &mut Vec<u8>) {
    while amount > 0x7f {
        out.push(amount as u8 | 0x80);
        amount >>= 7;
    }
    out.push(amount as u8);
}

fn amount(bytes: &mut &[u8]) -> u64 {
    let (mut amount, mut shift) = (0, 0);
    loop {
        let byte = take(bytes, 1)[0];
        amount |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return amount;
        }
        shift += 7;
    }
}

/// Packed bytes are never truncated.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("a number", |number| number.is_finite()).prop_map(Value::from),
            ".{0,9}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec(("[a-e]{1,2}", inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_unpacked_is_what_was_packed(values in prop::collection::vec(any_value(), 1..5)) {
            let mut names = Names::default();
            let packed: Vec<_> = values.iter().map(|value| names.pack(value)).collect();
            for (value, packed) in values.iter().zip(&packed) {
                let again = names.unpack(packed);
                prop_assert_eq!(&again, value);
                // The order of names is kept too, and the last digit.
                prop_assert_eq!(again.to_string(), value.to_string());
            }
        }
    }

    #[test]
    fn the_ends_of_all_kinds_are_kept() {
        let value =
            json!([0, 127, 128, u64::MAX, -1, i64::MIN, i64::MAX, 0.0, -0.0, 1e-300, f64::MAX, 5.0, "", "秒", [], {}]);
        let mut names = Names::default();
        let packed = names.pack(&value);
        assert_eq!(names.unpack(&packed).to_string(), value.to_string());
    }

    /// A row of a day of seconds: 86,400 of them are 35 MB and not 600.
    #[test]
    fn a_row_takes_few_bytes_and_its_names_none() {
        let times: Vec<(String, Value)> =
            (0..20).map(|place| (format!("p{place}_ns"), (1_234_567_u64 + place).into())).collect();
        let row = json!({"from_s": 12.345, "to_s": 13.345, "started": 92, "failed": 0, "rate": 91.9, "times": times.into_iter().collect::<Map<_, _>>()});
        let mut names = Names::default();
        let packed: Vec<_> = (0..1_000).map(|_| names.pack(&row)).collect();
        assert!(packed[999].len() < 200, "{}", packed[999].len());
        assert_eq!((names.0.len(), packed[0] == packed[999]), (26, true));
    }
}
