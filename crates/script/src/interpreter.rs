//! An interpreter of expressions; each shard has one.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use pacing::Random;
use plan::Value;
use rquickjs::function::{Args, Rest};
use rquickjs::{CatchResultExt, CaughtError, Coerced, Context, Ctx, Exception, Function, Object, Persistent, Runtime};

use crate::ScriptFault;
use crate::bounds::{EXPRESSIONS_MAX, MEMORY_BYTES_MAX, STACK_BYTES_MAX, TEXT_BYTES_MAX, TIME_MAX};
use crate::names;

/// A compiled expression of an [`Interpreter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    place: u32,
    /// The variables that it uses, as indices of the names.
    pub uses: Box<[u32]>,
}

/// The random source and the clock of one evaluation.
#[derive(Clone, Debug)]
pub struct Draws {
    /// The source of `Math.random`.
    pub random: Random,
    /// The time of `Date`, since the Unix epoch.
    pub now: Duration,
}

impl Draws {
    /// The value of one of our functions.
    pub(crate) fn call(&mut self, function: plan::Function, arguments: Vec<Value>) -> Result<Value, String> {
        let Self { random, now } = self;
        let mut draw = |bound| if bound == 0 { random.next_u64() } else { random.below(bound) };
        function.call(arguments, &mut draw, now.as_nanos()).map_err(|error| error.to_string())
    }
}

/// Compiles and evaluates expressions. It stays on its thread.
pub struct Interpreter {
    // Dropped first to last: objects of a context are dropped before it.
    compiled: Vec<Persistent<Function<'static>>>,
    context: Context,
    _runtime: Runtime,
    draws: Rc<RefCell<Draws>>,
    watch: Rc<Watch>,
}

/// A watchdog that checks the CPU time of the thread now and then: a busy machine takes no time from an expression. A
/// short one is over before the first check.
#[derive(Debug, Default)]
struct Watch {
    until: Cell<Option<Duration>>,
    is_off: Cell<bool>,
    has_rung: Cell<bool>,
}

impl Watch {
    fn begin(&self) {
        self.until.set(None);
        self.has_rung.set(false);
    }

    /// True when the expression must be stopped.
    fn must_stop(&self) -> bool {
        if self.is_off.get() {
            return false;
        }
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let now = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
        let until = self.until.get().unwrap_or(now + TIME_MAX);
        self.until.set(Some(until));
        self.has_rung.set(now >= until);
        now >= until
    }
}

impl Interpreter {
    /// An interpreter without expressions.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new() -> Result<Self, ScriptFault> {
        let start = |error: rquickjs::Error| ScriptFault::Start { message: error.to_string() };
        let runtime = Runtime::new().map_err(start)?;
        let context = Context::full(&runtime).map_err(start)?;
        let draws = Rc::new(RefCell::new(Draws { random: Random::new(0), now: Duration::ZERO }));
        let watch = Rc::new(Watch { is_off: Cell::new(true), ..Watch::default() });
        let watcher = watch.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || watcher.must_stop())));
        let (of_random, of_now) = (draws.clone(), draws.clone());
        context.with(|ctx| -> Result<(), ScriptFault> {
            let random = Function::new(ctx.clone(), move || of_random.borrow_mut().random.unit()).map_err(start)?;
            let now = Function::new(ctx.clone(), move || of_now.borrow().now.as_millis() as f64).map_err(start)?;
            let prelude: Function<'_> = ctx.eval(include_str!("prelude.js")).map_err(start)?;
            let functions = functions(&ctx, &draws).map_err(start)?;
            prelude.call((random, now, functions)).map_err(start)
        })?;
        watch.is_off.set(false);
        // A context that is created under a limit may fail half-way.
        runtime.set_memory_limit(MEMORY_BYTES_MAX);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        Ok(Self { compiled: Vec::new(), context, _runtime: runtime, draws, watch })
    }

    /// Compiles an expression. `names`: all variables; `row.column` for those of rows.
    ///
    /// # Errors
    /// It is no JavaScript expression, or too long.
    pub fn compile(&mut self, text: &str, names: &[&str]) -> Result<Expression, ScriptFault> {
        let uses = names::used(text, names);
        let used: Vec<&str> = uses.iter().map(|place| names[*place]).collect();
        let place = self.add(text, &used)?;
        Ok(Expression { place, uses: uses.into_iter().map(|place| place as u32).collect() })
    }

    /// Compiles an expression of these variables; gives its number.
    pub(crate) fn add(&mut self, text: &str, used: &[&str]) -> Result<u32, ScriptFault> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(ScriptFault::TooLong { bytes: text.len() });
        }
        if self.compiled.len() >= EXPRESSIONS_MAX {
            return Err(ScriptFault::TooMany);
        }
        let source = source(text, used);
        self.watch.begin();
        let compiled = self.context.with(|ctx| {
            // Parsed by itself first: a text that closes more brackets than it opens is not an expression.
            let parses = ctx.eval::<(), _>(format!("if (false) (\n{text}\n);"));
            let made = parses.and_then(|()| ctx.eval::<Function<'_>, _>(source));
            made.catch(&ctx).map(|function| Persistent::save(&ctx, function)).map_err(|caught| self.syntax(&caught))
        })?;
        self.compiled.push(compiled);
        Ok(self.compiled.len() as u32 - 1)
    }

    /// The value of an expression. `variables`: those that it uses, in the order of [`Expression::uses`].
    ///
    /// # Errors
    /// It throws, exceeds a limit, or its result is not a value.
    ///
    /// # Panics
    /// The expression is of another interpreter.
    pub fn evaluate<'v>(
        &mut self,
        expression: &Expression,
        variables: impl IntoIterator<Item = &'v Value>,
        draws: Draws,
    ) -> Result<Value, ScriptFault> {
        self.call(expression.place, variables, draws)
    }

    /// The value of the expression of this number.
    pub(crate) fn call<'v>(
        &mut self,
        place: u32,
        variables: impl IntoIterator<Item = &'v Value>,
        draws: Draws,
    ) -> Result<Value, ScriptFault> {
        *self.draws.borrow_mut() = draws;
        self.watch.begin();
        let function = self.compiled[place as usize].clone();
        self.context.with(|ctx| {
            let called = || -> rquickjs::Result<rquickjs::Value<'_>> {
                let function = function.restore(&ctx)?;
                let mut args = Args::new_unsized(ctx.clone());
                for variable in variables {
                    args.push_arg(given(&ctx, variable)?)?;
                }
                function.call_arg(args)
            };
            let value = called().catch(&ctx).map_err(|caught| self.fault(&caught))?;
            taken(&ctx, value, |caught| self.fault(caught))
        })
    }

    fn syntax(&self, caught: &CaughtError<'_>) -> ScriptFault {
        match self.fault(caught) {
            ScriptFault::Thrown { message } => {
                let stack = if let CaughtError::Exception(exception) = caught { exception.stack() } else { None };
                // `eval_script:3:7`, of which the first line is ours.
                let line = stack.and_then(|stack| stack.split(':').nth(1)?.parse::<u32>().ok());
                ScriptFault::Syntax {
                    message,
                    line: line.and_then(|line| line.checked_sub(1)).filter(|line| *line > 0),
                }
            }
            other => other,
        }
    }

    fn fault(&self, caught: &CaughtError<'_>) -> ScriptFault {
        if self.watch.has_rung.get() {
            return ScriptFault::TimedOut;
        }
        let message = match caught {
            CaughtError::Error(rquickjs::Error::Allocation) => return ScriptFault::Memory,
            CaughtError::Error(error) => error.to_string(),
            CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
            // Without memory there is no exception object either.
            CaughtError::Value(value) if value.is_null() => return ScriptFault::Memory,
            CaughtError::Value(value) => match value.as_string().and_then(|text| text.to_string().ok()) {
                Some(text) => text,
                None => value.type_name().to_owned(),
            },
        };
        if message == "out of memory" {
            return ScriptFault::Memory;
        }
        ScriptFault::thrown(&message)
    }
}

impl std::fmt::Debug for Interpreter {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Interpreter").field("compiled", &self.compiled.len()).finish_non_exhaustive()
    }
}

/// Our functions, by their names. Counters belong to the run, and are not among them.
fn functions<'js>(ctx: &Ctx<'js>, draws: &Rc<RefCell<Draws>>) -> rquickjs::Result<Object<'js>> {
    let all = Object::new(ctx.clone())?;
    for function in plan::Function::all().filter(|function| *function != plan::Function::Counter) {
        let draws = draws.clone();
        let call = move |ctx: Ctx<'js>, arguments: Rest<rquickjs::Value<'js>>| {
            let throws = |message: String| Exception::throw_message(&ctx, &message);
            // Arguments may run code of theirs that draws.
            let arguments = arguments
                .0
                .into_iter()
                .map(|argument| taken(&ctx, argument, |caught| ScriptFault::Thrown { message: caught.to_string() }));
            let arguments = arguments.collect::<Result<Vec<Value>, _>>().map_err(|fault| throws(fault.to_string()))?;
            let value = draws.borrow_mut().call(function, arguments).map_err(throws)?;
            given(&ctx, &value)
        };
        all.set(function.name(), Function::new(ctx.clone(), call)?)?;
    }
    Ok(all)
}

/// The source of an expression as a function of its variables. Columns of a row are combined in an object.
fn source(text: &str, uses: &[&str]) -> String {
    let (mut parameters, mut rows): (Vec<String>, Vec<(&str, Vec<String>)>) = (Vec::new(), Vec::new());
    for (number, name) in uses.iter().enumerate() {
        let Some((row, column)) = name.split_once('.') else {
            parameters.push((*name).to_owned());
            continue;
        };
        let (parameter, quoted) = (format!("$${number}"), quoted(column));
        let field = format!("[{quoted}]:{parameter}");
        match rows.iter_mut().find(|(known, _)| *known == row) {
            Some((_, fields)) => fields.push(field),
            None => rows.push((row, vec![field])),
        }
        parameters.push(parameter);
    }
    let rows: String = rows.iter().map(|(row, fields)| format!("const {row}={{{}}};", fields.join(","))).collect();
    format!("(function({}){{{rows}return (\n{text}\n)}})", parameters.join(","))
}

/// A string literal of JavaScript. Characters that JSON does not escape mean themselves there too.
fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    Value::text(text).write_json(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn given<'js>(ctx: &Ctx<'js>, value: &Value) -> rquickjs::Result<rquickjs::Value<'js>> {
    Ok(match value {
        Value::Null => rquickjs::Value::new_null(ctx.clone()),
        Value::Bool(is_so) => rquickjs::Value::new_bool(ctx.clone(), *is_so),
        Value::Int(number) => rquickjs::Value::new_number(ctx.clone(), *number as f64),
        Value::Float(number) => rquickjs::Value::new_number(ctx.clone(), *number),
        Value::Text(text) => rquickjs::String::from_str(ctx.clone(), text)?.into_value(),
        Value::Json(json) => ctx.json_parse(json.as_bytes())?,
    })
}

fn taken<'js>(
    ctx: &Ctx<'js>,
    value: rquickjs::Value<'js>,
    fault: impl Fn(&CaughtError<'js>) -> ScriptFault,
) -> Result<Value, ScriptFault> {
    if value.is_null() || value.is_undefined() {
        return Ok(Value::Null);
    }
    if let Some(is_so) = value.as_bool() {
        return Ok(Value::Bool(is_so));
    }
    if let Some(number) = value.as_number() {
        return Ok(Value::number(number));
    }
    let text_of = |text: Result<String, rquickjs::Error>| text.catch(ctx).map_err(|caught| fault(&caught));
    if value.is_string() {
        return Ok(Value::Text(text_of(value.get::<String>())?.into()));
    }
    if value.is_big_int() {
        return Ok(Value::Json(text_of(value.get::<Coerced<String>>().map(|text| text.0))?.into()));
    }
    if value.is_function() || value.is_promise() || value.is_symbol() || !value.is_object() {
        let kind = if value.is_promise() { "a promise" } else { kind_of(&value) };
        return Err(ScriptFault::NoValue { kind });
    }
    let json = ctx.json_stringify(value).and_then(|json| json.map(|json| json.to_string()).transpose());
    let json = json.catch(ctx).map_err(|caught| fault(&caught))?;
    json.map(|json| Value::Json(json.into())).ok_or(ScriptFault::NoValue { kind: "an object without JSON" })
}

fn kind_of(value: &rquickjs::Value<'_>) -> &'static str {
    match value {
        value if value.is_function() => "a function",
        value if value.is_symbol() => "a symbol",
        _ => "an object without JSON",
    }
}

#[cfg(test)]
mod tests;
