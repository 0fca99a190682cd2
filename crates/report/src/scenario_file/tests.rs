use std::io::{Error, ErrorKind};
use std::path::Path;

use plan::Flags;
use proptest::prelude::*;
use scenario::{Files, Lowering, Outside};

use super::*;

struct NoFiles;

impl Files for NoFiles {
    fn head(&self, _: &Path, _: usize) -> Result<Vec<u8>, Error> {
        Err(ErrorKind::NotFound.into())
    }
}

fn plan(flags: &Flags) -> Option<Plan> {
    flags.draft().and_then(|draft| draft.plan()).ok()
}

/// The plan of a file, with its secrets provided.
fn again(file: &ScenarioFile) -> Plan {
    let environment = |name: &str| file.secrets.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let folder = Path::new("");
    let outside = Outside {
        environment: &environment,
        interpreters: None,
        schemas: &[],
        folder,
        user_agent: "me/1",
        lists: None,
    };
    let opened =
        scenario::parse("init", &file.text, &NoFiles).unwrap_or_else(|error| panic!("{error:?}\n{}", file.text));
    let lowered = Lowering::new(&opened, &outside).and_then(|lowering| lowering.run(&[]));
    lowered.unwrap_or_else(|error| panic!("{error:?}\n{}", file.text)).plan
}

proptest! {
    /// The file has the same meaning as its command line.
    #[test]
    fn a_file_sends_what_the_command_does(
        path in "[ -~\u{e9}\u{4f60}]{0,20}",
        body in proptest::option::of("[\\PC\n\r\t\u{0}-\u{1f}\u{7f}-\u{a0}\u{2028}\u{feff}${}'\"\\\\#:-]{1,40}"),
        value in "[!-~][ -~]{0,20}[!-~]",
        name in "X-[A-Za-z]{1,8}",
        chinese in any::<bool>(),
    ) {
        let flags = Flags {
            url: Some(format!("http://a.test:81/{path}")),
            data: body.filter(|body| !body.starts_with('@')),
            headers: vec![format!("{name}: {value}"), "Authorization: top secret".to_owned()],
            user_agent: "me/1".to_owned(),
            ..Flags::default()
        };
        let Some(requested) = plan(&flags) else { return Ok(()) };
        let language = if chinese { Language::Zh } else { Language::En };
        let file = scenario_file(&requested, "me/1", "x.yaml", language).expect("all of it is text");
        prop_assert!(!file.text.contains("top secret"), "{}", file.text);
        prop_assert_eq!(&file.secrets[0], &("AUTHORIZATION".to_owned(), "top secret".to_owned()));
        let read = again(&file);
        let [requested, read] = [&requested, &read].map(|plan| plan.scenarios[0].steps[0].request.clone());
        prop_assert_eq!((&requested.method, &requested.path, &requested.body), (&read.method, &read.path, &read.body), "{}", file.text);
        let plain = |request: &Request| {
            let fields = request.headers.iter().filter(|(name, _)| name != "Authorization").cloned();
            let mut fields: Vec<(String, Vec<u8>)> = fields.collect();
            fields.sort();
            fields
        };
        prop_assert_eq!(plain(&requested), plain(&read), "{}", file.text);
    }
}

#[test]
fn a_path_may_hold_a_url() {
    for path in ["login?next=https://b.test/c", "://", "a://b", "?q=ws://x"] {
        let flags = Flags { url: Some(format!("http://a.test/{path}")), ..Flags::default() };
        let requested = plan(&flags).expect("a plan");
        let file = scenario_file(&requested, "", "x.yaml", Language::En).expect("text");
        assert_eq!(again(&file).scenarios[0].steps[0].request.path, requested.scenarios[0].steps[0].request.path);
    }
}

#[test]
fn bodies_that_are_no_text_are_reported() {
    let flags =
        |data: &str| Flags { url: Some("http://a.test/".to_owned()), data: Some(data.to_owned()), ..Flags::default() };
    let mut binary = plan(&flags("x")).expect("a plan");
    binary.scenarios[0].steps[0].request.body = vec![0xff, 0xfe].into();
    assert_eq!(scenario_file(&binary, "", "x", Language::En), Err(BinaryBody(1)));
}

#[test]
fn other_protocols_have_files_too() {
    for url in
        ["ws://a.test/x", "wss://a.test/x?y=${z}", "tcp://a.test:1", "grpc://a.test:1/a.B/C", "grpcs://a.test/a.B/C"]
    {
        for language in [Language::En, Language::Zh] {
            let text = messaging_scenario_file(url, "x.yaml", language).expect("a file");
            assert!(scenario::parse("x.yaml", &text, &NoFiles).is_ok(), "{text}");
            assert!(text.contains(&url.replace("${", "$${")), "{text}");
        }
    }
    assert_eq!(messaging_scenario_file("http://a.test/", "x", Language::En), None);
    assert_eq!(messaging_scenario_file("a.test", "x", Language::En), None);
}
