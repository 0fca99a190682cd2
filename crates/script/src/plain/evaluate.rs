//! Evaluation of plain expressions. Where a value has members or conversions of its own, it stops and leaves all to
//! JavaScript.

use std::borrow::Cow;

use plan::Value;

use super::operand::{Operand, Stop};
use super::operators::{apply, is_same, of_numbers};
use super::tree::{BinaryOperator, Builtin, PlainNode, UnaryOperator, ValueMethod};
use super::{json, methods, number};
use crate::Draws;

/// What an evaluation reads and draws.
pub(super) struct Evaluation<'a> {
    pub(super) values: &'a [&'a Value],
    pub(super) draws: &'a mut Draws,
}

/// The value of a whole expression.
pub(super) fn evaluate<'a>(node: &'a PlainNode, evaluation: &mut Evaluation<'a>) -> Result<Value, Stop> {
    let PlainNode::List(elements) = node else {
        return match evaluation.step(node)? {
            Operand::Bool(is_so) => Ok(Value::Bool(is_so)),
            Operand::Number(number) => Ok(Value::number(number)),
            other => json::into_value(other),
        };
    };
    let mut out = String::new();
    evaluation.write_list(elements, &mut out)?;
    Ok(Value::Json(out.into()))
}

impl<'a> Evaluation<'a> {
    fn value<'n: 'a>(&mut self, node: &'n PlainNode) -> Result<Operand<'a>, Stop> {
        Ok(match node {
            PlainNode::Undefined => Operand::Undefined,
            PlainNode::Null => Operand::Null,
            PlainNode::Bool(is_so) => Operand::Bool(*is_so),
            PlainNode::Number(number) => Operand::Number(*number),
            PlainNode::Text(text) => Operand::Text(Cow::Borrowed(text)),
            PlainNode::Given(place) => json::from_value(self.values.get(*place).copied().ok_or(Stop::Unsure)?)?,
            PlainNode::Template(texts, slots) => return self.template(texts, slots),
            PlainNode::Unary(operator, operand) => return self.unary(*operator, operand),
            PlainNode::Binary(operator, both) => return self.binary(*operator, both),
            PlainNode::And(both) => match self.step(&both.0)? {
                left if left.is_truthy() => self.step(&both.1)?,
                left => left,
            },
            PlainNode::Or(both) => match self.step(&both.0)? {
                left if left.is_truthy() => left,
                _ => self.step(&both.1)?,
            },
            PlainNode::Coalesce(both) => match self.value(&both.0)? {
                left if left.is_nothing() => self.value(&both.1)?,
                left => left,
            },
            PlainNode::Choice(three) => {
                let is_so = self.value(&three.0)?.is_truthy();
                self.value(if is_so { &three.1 } else { &three.2 })?
            }
            PlainNode::Member(of, name, is_optional) => return self.member(of, name, *is_optional),
            PlainNode::Index(both, is_optional) => return self.index(both, *is_optional),
            PlainNode::Chain(chain) => match self.value(chain) {
                Err(Stop::Nothing) => Operand::Undefined,
                other => other?,
            },
            PlainNode::Method(method, of, arguments, is_optional) => {
                return self.method(*method, of, arguments, *is_optional);
            }
            PlainNode::Call(builtin, arguments) => return self.builtin(*builtin, arguments),
            PlainNode::Own(function, arguments) => return self.own(*function, arguments),
            // Lists are values of JavaScript alone.
            PlainNode::List(_) => return Err(Stop::Unsure),
        })
    }

    /// The same, by a shorter way for what stands in most expressions.
    #[inline(always)]
    fn step<'n: 'a>(&mut self, node: &'n PlainNode) -> Result<Operand<'a>, Stop> {
        match node {
            PlainNode::Number(number) => Ok(Operand::Number(*number)),
            PlainNode::Given(place) => json::from_value(self.values.get(*place).copied().ok_or(Stop::Unsure)?),
            PlainNode::Binary(operator, both) => self.binary(*operator, both),
            PlainNode::Member(of, name, is_optional) => self.member(of, name, *is_optional),
            other => self.value(other),
        }
    }

    /// The number that stands here, or in a variable.
    #[inline(always)]
    fn number(&self, node: &PlainNode) -> Option<f64> {
        match node {
            PlainNode::Number(number) => Some(*number),
            PlainNode::Given(place) => match self.values.get(*place)? {
                Value::Int(number) => Some(*number as f64),
                // The interpreter is given 0 for -0, too.
                Value::Float(number) => Some(*number + 0.0),
                _ => None,
            },
            _ => None,
        }
    }

    fn member<'n: 'a>(&mut self, of: &'n PlainNode, name: &str, is_optional: bool) -> Result<Operand<'a>, Stop> {
        if let PlainNode::Given(place) = of
            && let Some(Value::Json(json)) = self.values.get(*place).copied()
            && json.starts_with('{')
        {
            return json::field(json, name);
        }
        member(self.value(of)?, Cow::Borrowed(name), is_optional)
    }

    fn template<'n: 'a>(&mut self, texts: &[Box<str>], slots: &'n [PlainNode]) -> Result<Operand<'a>, Stop> {
        let mut out = String::new();
        for (place, text) in texts.iter().enumerate() {
            out.push_str(text);
            if let Some(slot) = slots.get(place) {
                self.value(slot)?.write_text(&mut out)?;
            }
        }
        Ok(Operand::Text(Cow::Owned(out)))
    }

    fn unary<'n: 'a>(&mut self, operator: UnaryOperator, operand: &'n PlainNode) -> Result<Operand<'a>, Stop> {
        let operand = self.value(operand)?;
        Ok(match operator {
            UnaryOperator::Not => Operand::Bool(!operand.is_truthy()),
            UnaryOperator::Minus => Operand::Number(-operand.to_number()?),
            UnaryOperator::Plus => Operand::Number(operand.to_number()?),
            UnaryOperator::TypeOf => Operand::Text(Cow::Borrowed(operand.type_name())),
        })
    }

    fn binary<'n: 'a>(
        &mut self,
        operator: BinaryOperator,
        both: &'n (PlainNode, PlainNode),
    ) -> Result<Operand<'a>, Stop> {
        if let (Some(left), Some(right)) = (self.number(&both.0), self.number(&both.1)) {
            return Ok(of_numbers(operator, left, right));
        }
        let left = self.step(&both.0)?;
        let right = self.step(&both.1)?;
        apply(operator, left, right)
    }

    fn index<'n: 'a>(&mut self, both: &'n (PlainNode, PlainNode), is_optional: bool) -> Result<Operand<'a>, Stop> {
        let of = self.value(&both.0)?;
        if is_optional && of.is_nothing() {
            return Err(Stop::Nothing);
        }
        match (&of, self.value(&both.1)?) {
            (Operand::Json(list), Operand::Number(index)) if json::is_list(list) => {
                whole(index).map_or(Ok(Operand::Undefined), |index| json::element(list, index))
            }
            (Operand::Text(text), Operand::Number(index)) => {
                whole(index).map_or(Ok(Operand::Undefined), |index| methods::unit(text, index))
            }
            (_, key) => member(of, key.into_text()?, false),
        }
    }

    fn method<'n: 'a>(
        &mut self,
        method: ValueMethod,
        of: &'n PlainNode,
        arguments: &'n [PlainNode],
        is_optional: bool,
    ) -> Result<Operand<'a>, Stop> {
        if let PlainNode::List(elements) = of {
            return self.list_includes(elements, arguments.first().ok_or(Stop::Unsure)?);
        }
        let of = self.value(of)?;
        if is_optional && of.is_nothing() {
            return Err(Stop::Nothing);
        }
        let first = arguments.first().map(|argument| self.value(argument)).transpose()?;
        let second = arguments.get(1).map(|argument| self.value(argument)).transpose()?;
        methods::call(method, of, first, second)
    }

    fn list_includes<'n: 'a>(&mut self, elements: &'n [PlainNode], wanted: &'n PlainNode) -> Result<Operand<'a>, Stop> {
        let elements = elements.iter().map(|element| self.value(element)).collect::<Result<Vec<_>, _>>()?;
        let wanted = self.value(wanted)?;
        for element in &elements {
            if is_found(element, &wanted)? {
                return Ok(Operand::Bool(true));
            }
        }
        Ok(Operand::Bool(false))
    }

    fn builtin<'n: 'a>(&mut self, builtin: Builtin, arguments: &'n [PlainNode]) -> Result<Operand<'a>, Stop> {
        if let Builtin::Min | Builtin::Max = builtin {
            let numbers = arguments.iter().map(|argument| self.value(argument)).collect::<Result<Vec<_>, _>>()?;
            let numbers = numbers.iter().map(Operand::to_number).collect::<Result<Vec<_>, _>>()?;
            return Ok(Operand::Number(number::extreme(numbers, builtin == Builtin::Max)));
        }
        let of = arguments.first().map_or(Ok(Operand::Undefined), |argument| self.value(argument))?;
        Ok(match builtin {
            Builtin::Text => Operand::Text(of.into_text()?),
            Builtin::IsNaN => Operand::Bool(of.to_number()?.is_nan()),
            other => Operand::Number(match other {
                Builtin::Now => self.draws.now.as_millis() as f64,
                Builtin::Random => self.draws.random.unit(),
                Builtin::Abs => of.to_number()?.abs(),
                Builtin::Floor => of.to_number()?.floor(),
                Builtin::Ceil => of.to_number()?.ceil(),
                Builtin::Round => number::rounded(of.to_number()?),
                Builtin::Trunc => of.to_number()?.trunc(),
                Builtin::ParseInt => number::whole_prefix(&of.into_text()?).ok_or(Stop::Unsure)?,
                Builtin::ParseFloat => number::number_prefix(&of.into_text()?),
                _ => of.to_number()?,
            }),
        })
    }

    fn own<'n: 'a>(&mut self, function: plan::Function, arguments: &'n [PlainNode]) -> Result<Operand<'a>, Stop> {
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            given.push(json::into_value(self.value(argument)?)?);
        }
        let value = self.draws.call(function, given).map_err(Stop::Thrown)?;
        Ok(match value {
            Value::Text(text) => Operand::Text(Cow::Owned(text.into())),
            // `pick` gives one of its arguments.
            Value::Json(_) => return Err(Stop::Unsure),
            Value::Null => Operand::Null,
            Value::Bool(is_so) => Operand::Bool(is_so),
            Value::Int(number) => Operand::Number(number as f64),
            Value::Float(number) => Operand::Number(number),
        })
    }

    fn write_list<'n: 'a>(&mut self, elements: &'n [PlainNode], out: &mut String) -> Result<(), Stop> {
        out.push('[');
        for (place, element) in elements.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            match element {
                PlainNode::List(elements) => self.write_list(elements, out)?,
                other => json::write_operand(&self.value(other)?, out)?,
            }
        }
        out.push(']');
        Ok(())
    }
}

/// A member by its name.
fn member<'a>(of: Operand<'a>, name: Cow<'_, str>, is_optional: bool) -> Result<Operand<'a>, Stop> {
    match of {
        Operand::Undefined | Operand::Null if is_optional => Err(Stop::Nothing),
        Operand::Undefined | Operand::Null => {
            let kind = if matches!(of, Operand::Null) { "null" } else { "undefined" };
            Err(Stop::Thrown(format!("cannot read property '{name}' of {kind}")))
        }
        Operand::Json(list) if json::is_list(list) && name == "length" => {
            Ok(Operand::Number(json::count(list)? as f64))
        }
        Operand::Json(object) if !json::is_list(object) => json::field(object, &name),
        Operand::Text(text) if name == "length" => Ok(Operand::Number(methods::length(&text) as f64)),
        _ => Err(Stop::Unsure),
    }
}

/// An index, where a number is one.
fn whole(number: f64) -> Option<usize> {
    /// The first number that is no index of a list.
    const INDEX_END: f64 = 4_294_967_295.0;
    ((0.0..INDEX_END).contains(&number) && number.fract() == 0.0).then_some(number as usize)
}

/// Whether `includes` finds a value in this element: NaN is found too.
pub(super) fn is_found(element: &Operand<'_>, wanted: &Operand<'_>) -> Result<bool, Stop> {
    if let (Operand::Number(element), Operand::Number(wanted)) = (element, wanted)
        && element.is_nan()
        && wanted.is_nan()
    {
        return Ok(true);
    }
    is_same(element, wanted)
}
