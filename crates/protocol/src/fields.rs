//! The fields of a step, and the values of their texts in one request.

use plan::{CustomMistake, CustomRequest, FieldValue};

/// Why a step is not valid.
pub type Mistake = CustomMistake;

/// Which text of the step. What it says may differ in each request: [`Texts::get`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextHandle(u32);

/// The values of all texts in one request.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    values: &'a [Vec<u8>],
}

impl<'a> Texts<'a> {
    /// The values, by the indices of the texts.
    pub fn new(values: &'a [Vec<u8>]) -> Self {
        Self { values }
    }

    /// The value of a text.
    pub fn get(&self, text: TextHandle) -> &'a [u8] {
        self.values.get(text.0 as usize).map_or(&[], Vec::as_slice)
    }
}

/// The fields that the user gave.
#[derive(Clone, Copy, Debug)]
pub struct StepFields<'a> {
    request: &'a CustomRequest,
}

impl<'a> StepFields<'a> {
    /// Those of a request.
    pub fn new(request: &'a CustomRequest) -> Self {
        Self { request }
    }

    /// Whether nothing is ever sent: connections are only opened, and no key has a value.
    pub fn only_connects(&self) -> bool {
        self.request.only_connects
    }

    /// The text of a key.
    pub fn text(&self, key: &str) -> Option<TextHandle> {
        match self.request.field(key)? {
            FieldValue::Text(index) => Some(TextHandle(*index)),
            _ => None,
        }
    }

    /// The number of a key.
    pub fn number(&self, key: &str) -> Option<u64> {
        match self.request.field(key)? {
            FieldValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether a switch is on.
    pub fn is_on(&self, key: &str) -> bool {
        self.request.field(key) == Some(&FieldValue::Switch(true))
    }

    /// The texts of a key.
    pub fn words(&self, key: &str) -> Vec<TextHandle> {
        self.request.field(key).map(texts_of).unwrap_or_default()
    }

    /// The lists of texts of a key; one list is a list of one.
    pub fn word_lists(&self, key: &str) -> Vec<Vec<TextHandle>> {
        match self.request.field(key) {
            Some(FieldValue::List(lists)) if lists.iter().any(|list| matches!(list, FieldValue::List(_))) => {
                lists.iter().map(texts_of).collect()
            }
            Some(list) => vec![texts_of(list)],
            None => Vec::new(),
        }
    }

    /// What a text says in each request; `None` where that differs.
    pub fn constant(&self, text: TextHandle) -> Option<&'a [u8]> {
        let text = self.request.texts.get(text.0 as usize)?;
        text.is_constant.then_some(&text.bytes)
    }

    /// What a text says in the file or the flag, slots as they are.
    pub fn written(&self, text: TextHandle) -> &'a [u8] {
        self.request.texts.get(text.0 as usize).map_or(&[], |text| &text.bytes)
    }
}

fn texts_of(value: &FieldValue) -> Vec<TextHandle> {
    match value {
        FieldValue::Text(index) => vec![TextHandle(*index)],
        FieldValue::List(list) => list.iter().flat_map(texts_of).collect(),
        FieldValue::Number(_) | FieldValue::Switch(_) => Vec::new(),
    }
}
