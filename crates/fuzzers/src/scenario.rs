use std::io::{Error, ErrorKind};
use std::path::Path;

use plan::{EncodedPlan, Plan, Scenario, Scope, Value};
use scenario::{Diagnostics, Files, Lowering, MISTAKES_MAX, Opened, Outside};

/// Any text as a scenario file: it is valid, or each diagnostic has a position in it and a message; and a valid file is
/// lowered to plans.
pub fn scenario(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    let input = &input.replace("zq", "zz");
    match scenario::parse("fuzzed", input, &Data) {
        Ok(opened) => {
            assert!(!opened.file.scenarios.is_empty());
            assert!(opened.file.step_count() > 0);
            match lower(&opened) {
                Ok(plans) => plans.iter().for_each(check_no_marks_left),
                Err(mistakes) => check(&mistakes),
            }
        }
        Err(mistakes) => check(&mistakes),
    }
}

/// A source of one data file only.
struct Data;

impl Files for Data {
    fn head(&self, path: &Path, most: usize) -> Result<Vec<u8>, Error> {
        let rows: &[u8] = b"name,pass\nanna,1\n";
        let is_there = path.extension().is_some();
        is_there.then(|| rows[..rows.len().min(most)].to_vec()).ok_or_else(|| ErrorKind::NotFound.into())
    }
}

fn check(mistakes: &Diagnostics) {
    assert!((1..=MISTAKES_MAX).contains(&mistakes.all.len()));
    for mistake in &mistakes.all {
        assert!(mistake.at.start <= mistake.at.end && mistake.at.start <= mistakes.source.text.len());
        let place = mistakes.source.place(mistake.at.start);
        assert!(place.line >= 1 && place.column >= 1);
        assert!(!mistake.to_string().is_empty());
    }
}

/// The plans of a file, as for a run without expressions and without an environment.
fn lower(opened: &Opened) -> Result<Vec<Plan>, Diagnostics> {
    let outside = Outside {
        environment: &|_| None,
        interpreters: None,
        schemas: &[],
        folder: Path::new("/nowhere"),
        user_agent: "fuzz/1",
        lists: None,
    };
    let lowering = Lowering::new(opened, &outside)?;
    let before = lowering.before()?;
    let lowered = lowering.run(&[])?;
    assert!(!lowered.plan.scenarios.is_empty());
    let after = lowering.after()?;
    Ok([before, Some(lowered), after].into_iter().flatten().map(|lowered| lowered.plan).collect())
}

/// While a plan is lowered, slots are marked by placeholders. None is left in what is sent, encoded or shown.
fn check_no_marks_left(plan: &Plan) {
    let carried = EncodedPlan::Load(Box::new(plan.clone())).to_bytes().unwrap_or_default();
    let sent = plan.scenarios.iter().flat_map(sent_by);
    for bytes in sent.chain([carried, format!("{:?}", plan.without_secrets()).into_bytes()]) {
        assert!(!has_mark(&bytes), "{}", String::from_utf8_lossy(&bytes));
    }
}

/// `zq7slot0q7z`, with any numbers.
fn has_mark(bytes: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.windows(2).enumerate().filter(|(_, two)| two == b"zq").any(|(at, _)| {
        let rest = &bytes[at + 2..];
        let Some(rest) = rest[digits(rest)..].strip_prefix(b"slot") else { return false };
        rest[digits(rest)..].starts_with(b"q7z")
    })
}

/// The requests of a scenario's steps, with and without a redirect.
fn sent_by(scenario: &Scenario) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for step in &scenario.steps {
        let dynamic_parts = step.dynamic_parts.as_deref().cloned().unwrap_or_default();
        let scope = &mut Values(&scenario.memory.variables);
        let made = dynamic_parts.request(&step.request, scope).unwrap_or_else(|_| step.request.clone());
        let hop = step.follow.as_ref().and_then(|follow| {
            follow.hop(307, b"/next", &follow.form.begin_at(&made.path), scenario.target()).map(|hop| hop.request)
        });
        all.extend([Some(made), hop].into_iter().flatten().map(|request| format!("{request:?}").into_bytes()));
        all.extend(dynamic_parts.texts(scope).unwrap_or_default());
        let defaults = dynamic_parts.takes.iter().filter_map(|taking| taking.default.as_ref()?.value(scope).ok());
        all.extend(defaults.map(|value| value.to_string().into_bytes()));
    }
    all
}

/// A scope in which every variable exists and is small.
struct Values<'a>(&'a [Value]);

impl Scope for Values<'_> {
    fn variable(&self, number: u32) -> &Value {
        &self.0[number as usize]
    }

    fn column(&mut self, _: u32) -> Option<Value> {
        Some(Value::text("anna"))
    }

    fn draw(&mut self, _: u64) -> u64 {
        0
    }

    fn now_ns(&self) -> u128 {
        0
    }

    fn count(&mut self, _: u32) -> u64 {
        1
    }

    fn evaluate(&mut self, _: u32) -> Result<Value, String> {
        Ok(Value::Int(2))
    }
}
