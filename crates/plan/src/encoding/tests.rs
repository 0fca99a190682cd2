use super::*;
use crate::{Flags, HoldFlags};

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Plans that have something of each kind.
fn plans() -> Vec<EncodedPlan> {
    let flags = |url: &str| Flags { url: text(url), ..Flags::default() };
    let all = [
        flags("http://127.0.0.1:1/"),
        Flags {
            rate: text("500"),
            duration: text("3s"),
            arrivals: text("poisson"),
            ..flags("https://localhost:1/a?b=c")
        },
        Flags {
            expect_body: vec!["/a+b/".to_owned(), "c".to_owned()],
            expect_json: vec!["$.a == 12345678901234567890123".to_owned()],
            expect_headers: vec!["x-a: /b/".to_owned()],
            location: true,
            user: text("a:b"),
            data: text("a body"),
            budget: text("requests=10,bytes=1MB"),
            ..flags("http://127.0.0.1:1/")
        },
        Flags { data: text("hello"), ..flags("ws://127.0.0.1:1/") },
        Flags { http2: true, streams: text("7"), duration: text("3s"), ..flags("http://127.0.0.1:1/") },
    ];
    let loads = all.into_iter().map(|flags| EncodedPlan::Load(Box::new(flags.plan().expect("a good plan"))));
    let common = Flags { connections: text("10"), data: text("ping"), ..flags("ws://127.0.0.1:1/") };
    let hold = HoldFlags { common, every: text("30s"), ..HoldFlags::default() };
    loads.chain([EncodedPlan::Hold(Box::new(hold.plan().expect("a good plan")))]).collect()
}

#[test]
fn plans_come_as_they_were() {
    for plan in plans() {
        let bytes = plan.to_bytes().expect("it can be written");
        assert_eq!(EncodedPlan::from_bytes(&bytes).as_ref(), Ok(&plan));
        assert_eq!(plan.to_bytes(), Ok(bytes));
    }
}

/// Truncated or changed bytes give an error or another plan, and no panic.
#[test]
fn bytes_that_are_no_plan() {
    for plan in plans() {
        let bytes = plan.to_bytes().expect("it can be written");
        for end in 0..bytes.len() {
            assert!(EncodedPlan::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
        assert!(EncodedPlan::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
        for place in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= flip;
                // Some changes make another plan.
                drop(EncodedPlan::from_bytes(&changed));
            }
        }
    }
    assert_eq!(EncodedPlan::from_bytes(&[9, 0]), Err(EncodedPlanError::Version));
}

/// A worker says which protocol it lacks, before it begins.
#[test]
fn a_plan_of_an_unknown_protocol_is_refused_by_its_name() {
    let flags = crate::Flags { url: Some("http://127.0.0.1/".to_owned()), ..crate::Flags::default() };
    let mut plan = flags.plan().expect("a good plan");
    let endpoint = crate::CustomEndpoint { protocol: "own".to_owned(), ..crate::CustomEndpoint::default() };
    plan.scenarios[0].targets[0].custom = Some(Box::new(endpoint));
    let bytes = EncodedPlan::Load(Box::new(plan)).to_bytes().expect("it can be written");
    assert_eq!(EncodedPlan::from_bytes(&bytes), Err(EncodedPlanError::Protocol { name: "own".to_owned() }));
}

/// Lists in lists, deeper than anything that is written.
#[test]
fn fields_that_nest_too_deep_are_refused() {
    let mut value = crate::FieldValue::Switch(true);
    for _ in 0..200 {
        value = crate::FieldValue::List(vec![value]);
    }
    let bytes = postcard::to_extend(&value, Vec::new()).expect("it can be written");
    crate::nesting::begin();
    assert!(postcard::from_bytes::<crate::FieldValue>(&bytes).is_err());
}
