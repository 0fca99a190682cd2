//! Values of JavaScript while an expression is evaluated: borrowed where that is possible.

use std::borrow::Cow;

use plan::number_of_text;

use super::number::write_number;

/// Why an evaluation stops.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stop {
    /// JavaScript knows better: all starts again there.
    Unsure,
    /// `?.` found nothing: the chain is undefined.
    Nothing,
    /// It throws.
    Thrown(String),
}

/// A value. Numbers are doubles.
#[derive(Clone, Debug)]
pub(super) enum Operand<'a> {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'a, str>),
    /// A list or an object.
    Json(&'a str),
}

impl<'a> Operand<'a> {
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }

    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Undefined | Self::Null => false,
            Self::Bool(is_so) => *is_so,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::Json(_) => true,
        }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null | Self::Json(_) => "object",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
        }
    }

    /// `Number(x)`; lists and objects have methods of their own for it.
    pub(super) fn to_number(&self) -> Result<f64, Stop> {
        Ok(match self {
            Self::Undefined => f64::NAN,
            Self::Null => 0.0,
            Self::Bool(is_so) => f64::from(u8::from(*is_so)),
            Self::Number(number) => *number,
            Self::Text(text) => number_of_text(text),
            Self::Json(_) => return Err(Stop::Unsure),
        })
    }

    /// `String(x)`, likewise.
    pub(super) fn into_text(self) -> Result<Cow<'a, str>, Stop> {
        Ok(match self {
            Self::Undefined => Cow::Borrowed("undefined"),
            Self::Null => Cow::Borrowed("null"),
            Self::Bool(true) => Cow::Borrowed("true"),
            Self::Bool(false) => Cow::Borrowed("false"),
            Self::Number(number) => {
                let mut out = String::new();
                write_number(number, &mut out);
                Cow::Owned(out)
            }
            Self::Text(text) => text,
            Self::Json(_) => return Err(Stop::Unsure),
        })
    }

    /// Appends `String(x)`.
    pub(super) fn write_text(&self, out: &mut String) -> Result<(), Stop> {
        match self {
            Self::Number(number) => write_number(*number, out),
            Self::Text(text) => out.push_str(text),
            other => out.push_str(&other.clone().into_text()?),
        }
        Ok(())
    }
}
