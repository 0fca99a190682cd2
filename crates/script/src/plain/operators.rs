//! Operators between two values, with the conversions of JavaScript (ECMA-262 7.2.13 to 7.2.15 and 13.15.3).

use std::borrow::Cow;
use std::cmp::Ordering;

use super::operand::{Operand, Stop};
use super::tree::BinaryOperator;

/// Lead bytes of UTF-8 from here on stand for characters that UTF-16 may order otherwise.
const LAST_LEADS: u8 = 0xee;
/// Lead bytes from here on stand for characters of two units in UTF-16.
const PAIR_LEADS: u8 = 0xf0;

/// The value of `left operator right`.
#[inline(always)]
pub(super) fn apply<'a>(operator: BinaryOperator, left: Operand<'a>, right: Operand<'a>) -> Result<Operand<'a>, Stop> {
    match (&left, &right) {
        (Operand::Number(left), Operand::Number(right)) => Ok(of_numbers(operator, *left, *right)),
        _ => converted(operator, left, right),
    }
}

/// The same for two numbers.
#[inline]
pub(super) fn of_numbers<'a>(operator: BinaryOperator, left: f64, right: f64) -> Operand<'a> {
    let is_so = match operator {
        BinaryOperator::Add => return Operand::Number(left + right),
        BinaryOperator::Subtract => return Operand::Number(left - right),
        BinaryOperator::Multiply => return Operand::Number(left * right),
        BinaryOperator::Divide => return Operand::Number(left / right),
        BinaryOperator::Remainder => return Operand::Number(left % right),
        BinaryOperator::Less => left < right,
        BinaryOperator::LessEqual => left <= right,
        BinaryOperator::Greater => left > right,
        BinaryOperator::GreaterEqual => left >= right,
        BinaryOperator::Equal | BinaryOperator::Same => left == right,
        BinaryOperator::NotEqual | BinaryOperator::NotSame => left != right,
    };
    Operand::Bool(is_so)
}

/// The same for operands that are not both numbers.
fn converted<'a>(operator: BinaryOperator, left: Operand<'a>, right: Operand<'a>) -> Result<Operand<'a>, Stop> {
    let is_so = match operator {
        BinaryOperator::Add => return add(left, right),
        BinaryOperator::Subtract | BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Remainder => {
            return Ok(of_numbers(operator, left.to_number()?, right.to_number()?));
        }
        BinaryOperator::Less => order(&left, &right)? == Some(Ordering::Less),
        BinaryOperator::LessEqual => order(&left, &right)?.is_some_and(Ordering::is_le),
        BinaryOperator::Greater => order(&left, &right)? == Some(Ordering::Greater),
        BinaryOperator::GreaterEqual => order(&left, &right)?.is_some_and(Ordering::is_ge),
        BinaryOperator::Equal => is_equal(&left, &right)?,
        BinaryOperator::NotEqual => !is_equal(&left, &right)?,
        BinaryOperator::Same => is_same(&left, &right)?,
        BinaryOperator::NotSame => !is_same(&left, &right)?,
    };
    Ok(Operand::Bool(is_so))
}

fn add<'a>(left: Operand<'a>, right: Operand<'a>) -> Result<Operand<'a>, Stop> {
    if matches!(left, Operand::Json(_)) || matches!(right, Operand::Json(_)) {
        return Err(Stop::Unsure);
    }
    if matches!(left, Operand::Text(_)) || matches!(right, Operand::Text(_)) {
        let mut text = left.into_text()?.into_owned();
        right.write_text(&mut text)?;
        return Ok(Operand::Text(Cow::Owned(text)));
    }
    Ok(Operand::Number(left.to_number()? + right.to_number()?))
}

fn order(left: &Operand<'_>, right: &Operand<'_>) -> Result<Option<Ordering>, Stop> {
    Ok(match (left, right) {
        (Operand::Text(left), Operand::Text(right)) => Some(order_of_texts(left, right)),
        _ => left.to_number()?.partial_cmp(&right.to_number()?),
    })
}

/// Texts by their units in UTF-16: characters beyond the first 65,536 come before U+E000 there.
fn order_of_texts(left: &str, right: &str) -> Ordering {
    let differing = left.bytes().zip(right.bytes()).find(|(left, right)| left != right);
    match differing {
        None => left.len().cmp(&right.len()),
        Some((left, right)) if left >= LAST_LEADS && right >= LAST_LEADS => {
            (left < PAIR_LEADS, left).cmp(&(right < PAIR_LEADS, right))
        }
        Some((left, right)) => left.cmp(&right),
    }
}

/// `==`
fn is_equal(left: &Operand<'_>, right: &Operand<'_>) -> Result<bool, Stop> {
    if left.is_nothing() || right.is_nothing() {
        return Ok(left.is_nothing() && right.is_nothing());
    }
    if let (Operand::Text(left), Operand::Text(right)) = (left, right) {
        return Ok(left == right);
    }
    Ok(left.to_number()? == right.to_number()?)
}

/// `===`
pub(super) fn is_same(left: &Operand<'_>, right: &Operand<'_>) -> Result<bool, Stop> {
    Ok(match (left, right) {
        (Operand::Undefined, Operand::Undefined) | (Operand::Null, Operand::Null) => true,
        (Operand::Bool(left), Operand::Bool(right)) => left == right,
        (Operand::Number(left), Operand::Number(right)) => left == right,
        (Operand::Text(left), Operand::Text(right)) => left == right,
        // Whether two of them are one cannot be seen here.
        (Operand::Json(_), Operand::Json(_)) => return Err(Stop::Unsure),
        _ => false,
    })
}
