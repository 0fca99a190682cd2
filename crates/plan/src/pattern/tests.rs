use proptest::prelude::*;

use super::*;
use crate::is_name;

fn text(text: &str) -> PatternPart {
    PatternPart::Text(text.to_owned())
}

fn only(written: &str) -> Filling {
    let pattern = Pattern::parse(written, TextContext::Text).expect(written);
    match &pattern.parts[..] {
        [PatternPart::Slot(slot)] => slot.filling.clone(),
        parts => panic!("{written}: {parts:?}"),
    }
}

fn fault(written: &str) -> (PatternFault, Range<usize>) {
    let error = Pattern::parse(written, TextContext::Text).expect_err(written);
    (error.fault, error.at)
}

#[test]
fn texts_are_cut_at_their_slots() {
    for plain in ["", "/plain", "a$b{c}$", "}{", "$ {x}", "{{x}}", "价格：¥10"] {
        let pattern = Pattern::parse(plain, TextContext::Text).expect(plain);
        assert_eq!(pattern.as_plain(), Some(plain));
        assert_eq!(pattern, Pattern::plain(plain));
    }
    for (written, plain) in [("$${user}", "${user}"), ("a$$${b}", "a$${b}"), ("$${", "${"), ("$${$${", "${${")] {
        assert_eq!(Pattern::parse(written, TextContext::Text).expect(written).as_plain(), Some(plain), "{written}");
    }
    let pattern = Pattern::parse("/用户/${ id }-${users.name}.", TextContext::Text).expect("a pattern");
    assert_eq!(pattern.parts.len(), 5);
    assert_eq!((&pattern.parts[0], &pattern.parts[2], &pattern.parts[4]), (&text("/用户/"), &text("-"), &text(".")));
    let slots: Vec<&Slot> = pattern.slots().collect();
    assert_eq!((slots[0].text.as_str(), slots[0].at.clone()), ("id", 11..13));
    assert_eq!(&"/用户/${ id }-${users.name}."[slots[1].at.clone()], "users.name");
}

#[test]
fn what_needs_no_interpreter_is_reported_from_expressions() {
    let name = |name: &str| Filling::Name(name.to_owned());
    let call = |function, arguments: &[Argument]| Filling::Call(function, arguments.to_vec());
    let quoted = |text: &str| Argument::Text(text.to_owned());
    for (written, filling) in [
        ("${token}", name("token")),
        ("${ 令牌 }", name("令牌")),
        ("${uuid}", name("uuid")),
        ("${users.name}", Filling::Column("users".to_owned(), "name".to_owned())),
        ("${env.HOME}", Filling::Environment("HOME".to_owned())),
        ("${env}", name("env")),
        ("${uuid()}", call(Function::Uuid, &[])),
        ("${ random( -5 , 20 ) }", call(Function::Random, &[Argument::Integer(-5), Argument::Integer(20)])),
        ("${now('iso')}", call(Function::Now, &[quoted("iso")])),
        ("${counter(\"orders\")}", call(Function::Counter, &[quoted("orders")])),
        ("${pick('a}', \"b,\", 3, 0.5)}", {
            call(Function::Pick, &[quoted("a}"), quoted("b,"), Argument::Integer(3), Argument::Number(0.5)])
        }),
        ("${hmac(env.KEY, base64(token))}", {
            let inner = call(Function::Base64, &[Argument::Filling(name("token"))]);
            let key = Argument::Filling(Filling::Environment("KEY".to_owned()));
            call(Function::Hmac, &[key, Argument::Filling(inner)])
        }),
        ("${pick('it\\'s', 'a\\nb')}", call(Function::Pick, &[quoted("it's"), quoted("a\nb")])),
    ] {
        assert_eq!(only(written), filling, "{written}");
    }
    for written in [
        "${price < 100}",
        "${a + b}",
        "${users.name.length}",
        "${list[0]}",
        "${true}",
        "${1 + 1}",
        "${'text'}",
        "${{a: '}'}.a}",
        "${`${a}`}",
        "${base64(user + ':' + password)}",
        "${base64(a) + base64(b)}",
        "${pick(010)}",
        "${shout(x)}",
        "${pick('\\x41')}",
        "${users['first name']}",
    ] {
        assert_eq!(only(written), Filling::Expression, "{written}");
    }
}

#[test]
fn mistakes_have_a_place() {
    for (written, wrong, at) in [
        ("a${user", PatternFault::Open, 1..3),
        ("${'}", PatternFault::Open, 0..2),
        ("x${ }", PatternFault::Empty, 1..5),
        ("${}", PatternFault::Empty, 0..3),
        ("${random(2,1)}", PatternFault::Range, 2..13),
        ("${random(1)}", PatternFault::Arguments(Function::Random), 2..11),
        ("${random(1.5,2)}", PatternFault::Arguments(Function::Random), 2..15),
        ("${now('yesterday')}", PatternFault::Arguments(Function::Now), 2..18),
        ("${uuid(1)}", PatternFault::Arguments(Function::Uuid), 2..9),
        ("${pick()}", PatternFault::Arguments(Function::Pick), 2..8),
        ("${base64(hmac(1))}", PatternFault::Arguments(Function::Hmac), 2..17),
        ("${a(]}", PatternFault::Brackets, 4..5),
        ("${(a}", PatternFault::Brackets, 4..5),
    ] {
        assert_eq!(fault(written), (wrong, at), "{written}");
    }
    assert_eq!(fault(&"${user}".repeat(SLOTS_MAX + 1)).0, PatternFault::TooMany);
    assert_eq!(fault(&format!("${{{}}}", "a".repeat(SLOT_BYTES_MAX + 1))).0, PatternFault::TooLong);
    assert_eq!(fault(&format!("${{{}", "a".repeat(SLOT_BYTES_MAX + 1))).0, PatternFault::Open);
    assert_eq!(fault(&"a".repeat(PATTERN_BYTES_MAX + 1)).0, PatternFault::TooLong);
    let deep = SLOT_DEPTH_MAX + 1;
    assert_eq!(fault(&format!("${{{}1{}}}", "(".repeat(deep), ")".repeat(deep))).0, PatternFault::TooDeep);
    let many = format!("${{pick({})}}", vec!["1"; ARGUMENTS_MAX + 1].join(","));
    assert_eq!(fault(&many).0, PatternFault::TooManyArguments);
    for function in Function::all() {
        assert!(!PatternFault::Arguments(function).to_string().is_empty());
    }
}

#[test]
fn a_slot_knows_what_to_escape() {
    use SlotContext::{Form, Header, JsonString, JsonValue, Origin, Path, Query, Text};
    for (written, ground, places) in [
        ("/a/${x}", TextContext::Url, &[Path][..]),
        ("/a/${x}/b?q=${y}&r=${z}", TextContext::Url, &[Path, Query, Query]),
        ("${base}/a/${x}", TextContext::Url, &[Origin, Path]),
        ("http://${host}:${port}/${x}", TextContext::Url, &[Origin, Origin, Path]),
        ("https://shop.example/${x}", TextContext::Url, &[Path]),
        ("https://shop.example?x=${x}", TextContext::Url, &[Query]),
        ("${base}?x=${x}", TextContext::Url, &[Origin, Query]),
        ("${next}", TextContext::Url, &[Origin]),
        ("Bearer ${token}", TextContext::Header, &[Header]),
        ("${a}/?${b}", TextContext::Form, &[Form, Form]),
        ("${price}", TextContext::Json, &[JsonValue]),
        (" ${price}", TextContext::Json, &[JsonString]),
        ("${a}${b}", TextContext::Json, &[JsonString, JsonString]),
        ("{\"a\": ${price}}", TextContext::Text, &[Text]),
    ] {
        let pattern = Pattern::parse(written, ground).expect(written);
        assert_eq!(pattern.slots().map(|slot| slot.place).collect::<Vec<_>>(), places, "{written}");
    }
}

#[test]
fn braces_of_other_programs_are_reported() {
    let error = Pattern::parse("/items/{{id}}", TextContext::Url).expect_err("braces");
    assert_eq!((error.fault, error.at), (PatternFault::Braces, 7..13));
    for written in ["/a/${ {a: {b: 1}}.a.b }", "/a{b}", "/a/{{", "/a/$${x}"] {
        assert!(Pattern::parse(written, TextContext::Url).is_ok(), "{written}");
    }
}

#[test]
fn functions_and_names() {
    for function in Function::all() {
        assert_eq!(Function::from_name(function.name()), Some(function));
        assert!(is_name(function.name()));
    }
    assert!(Function::Uuid.is_bare() && Function::Now.is_bare() && !Function::Random.is_bare());
    for name in ["a", "_a1", "价格", "userId"] {
        assert!(is_name(name), "{name}");
    }
    for name in ["", "1a", "a-b", "a b", "true", "class", "a.b", "$a"] {
        assert!(!is_name(name), "{name}");
    }
}

proptest! {
    #[test]
    fn what_is_read_can_be_written_and_read_again(written in r#"(\$|\$\{|\}|\(|\)|a|b\.c|random\(1,2\)|'|"| |,|\+|\$\$\{|/|\?|[\PC]){0,12}"#) {
        for ground in [TextContext::Url, TextContext::Header, TextContext::Form, TextContext::Json, TextContext::Text] {
            match Pattern::parse(&written, ground) {
                Ok(pattern) => {
                    for slot in pattern.slots() {
                        prop_assert_eq!(&written[slot.at.clone()], &slot.text);
                    }
                    let again = Pattern::parse(&pattern.to_string(), ground).expect("its own text");
                    prop_assert_eq!(again.to_string(), pattern.to_string());
                    prop_assert_eq!(again.parts.len(), pattern.parts.len());
                    prop_assert!(pattern.parts.windows(2).all(|two| !matches!(two, [PatternPart::Text(_), PatternPart::Text(_)])));
                }
                Err(error) => prop_assert!(written.get(error.at.clone()).is_some()),
            }
        }
    }
}
