use super::*;
use crate::{Load, Plan};

fn parse(line: &str) -> Result<(ToolRun, Plan), String> {
    let words: Vec<String> = line.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
    let tool = Tool::from_name(&words[0]).expect("a tool");
    let run = ToolRun::parse(tool, &words[1..], "onrush/1").map_err(|fault| fault.to_string())?;
    let plan = run.draft.plan().map_err(|error| error.to_string())?;
    Ok((run, plan))
}

fn requests(plan: &Plan) -> (u64, Option<u64>) {
    match &plan.scenarios[0].load {
        Load::Closed { users, requests, .. } => (*users, *requests),
        Load::Open { connections, requests, .. } => (connections.most(), *requests),
    }
}

#[test]
fn seven_users_and_two_hundred_requests_mean_what_each_tool_means() {
    for (line, users, all) in [
        ("ab -c 7 -n 200 http://h/", 7, Some(200)),
        ("hey -c 7 -n 200 http://h/", 7, Some(196)),
        ("oha -c 7 -n 200 http://h/", 7, Some(200)),
        ("go-stress-testing -c 7 -n 200 -u http://h/", 7, Some(1_400)),
        ("wrk -c 7 -t 1 http://h/", 7, None),
        ("wrk2 -c 7 -t 1 -R 200 http://h/", 7, None),
        ("webbench -c 7 -t 2 http://h/", 7, None),
        ("oha -c 300 -n 7 http://h/", 7, Some(7)),
        ("ab -t 5 -c 7 http://h/", 7, Some(50_000)),
        ("ab -t 5 -n 200 -c 7 http://h/", 7, Some(200)),
        ("hey -z 2s -c 7 http://h/", 7, None),
        ("oha -z 2s -c 7 http://h/", 7, None),
    ] {
        let (_, plan) = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(requests(&plan), (users, all), "{line}");
    }
}

#[test]
fn mistakes_name_the_flag() {
    for (line, part) in [
        ("wrk", "one URL"),
        ("wrk -x http://h/", "the flag -x is none"),
        ("wrk -c 1.5 http://h/", "-c wants a number like"),
        ("wrk -s script.lua http://h/", "-s has no counterpart"),
        ("wrk -t 5 -c 2 http://h/", "at least as many connections"),
        ("wrk -R 5 http://h/", "the flag -R is none"),
        ("wrk2 http://h/", "the flag -R must be there"),
        ("ab -n 5 -c 6 http://h/", "fewer than -c 6"),
        ("ab -f TLS1.2 http://h/", "-f has no counterpart"),
        ("ab -n", "-n wants a value"),
        ("ab http://h/ -n 5", "one URL"),
        ("ab -i -p f http://h/", "-i and -p cannot both"),
        ("hey -n 5 -c 6 http://h/", "fewer than -c 6"),
        ("hey -z 5 http://h/", "-z wants a time"),
        ("hey -x ftp://p http://h/", "--proxy wants a proxy"),
        ("hey -bogus http://h/", "-bogus is none"),
        ("oha -n 5 -z 5s http://h/", "-n and -z cannot both"),
        ("oha --db-url a http://h/", "--db-url has no counterpart"),
        ("oha -z 5 http://h/", "-z wants a time"),
        ("webbench -9 http://h/", "-9 has no counterpart"),
        ("webbench -f http://h/", "-f has no counterpart"),
        ("webbench -f http://h/", "-f has no counterpart"),
        ("go-stress-testing -c 1 -n 1", "-u must be there"),
        ("go-stress-testing -v foo -u http://h/", "-v wants statusCode"),
        ("go-stress-testing -n x -u http://h/", "-n wants a whole number"),
    ] {
        let error = parse(line).err().unwrap_or_else(|| panic!("{line} is understood"));
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn flags_as_the_libraries_of_each_read_them() {
    let settings = |line: &str| parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).0.settings;
    assert_eq!(settings("wrk -t2 -c100 -d30s --lat http://h/"), settings("wrk http://h/ --latency -d 30 -c 100 -t 2"));
    assert_eq!(settings("wrk -c1k -d2m http://h/"), settings("wrk -c 1000 -d 120s http://h/"));
    assert_eq!(settings("ab -kqn100 -c 2 http://h/"), settings("ab -k -q -n 100 -c2 http://h/"));
    assert_eq!(
        settings("go-stress-testing --c=2 -n=3 -k -u http://h/"),
        settings("go-stress-testing -c 2 -n 3 -k=true -u http://h/")
    );
    assert_eq!(
        settings("webbench -2c20 -t 2 http://h/"),
        settings("webbench --http11 --clients=20 http://h/ --time 2")
    );
    assert!(parse("oha -n=5 -c5 http://h/ --no-tui").is_ok() && parse("oha --no-t http://h/").is_err());
    assert!(parse("hey http://h/ -n 5").is_ok_and(|(_, plan)| requests(&plan) == (50, Some(200))));
}

#[test]
fn secrets_are_in_no_message() {
    for line in ["hey -H secretsecret http://h/", "oha -H secretsecret http://h/", "oha -a secretsecret http://h/"] {
        let error = parse(line).expect_err("a mistake");
        assert!(!error.contains("secretsecret"), "{error}");
    }
}

/// The head of go-stress-testing has the request of its file.
#[test]
fn a_request_of_a_file_stands_in_the_head() {
    let path = std::env::temp_dir().join(format!("onrush-head-{}", std::process::id()));
    std::fs::write(&path, "curl 'http://h/a?b=1' -H 'X-One: y' -d 'c=d'\n").expect("a file");
    let read = parse(&format!("go-stress-testing -c 1 -n 1 -p {}", path.display()));
    let _ = std::fs::remove_file(&path);
    let (mut run, plan) = read.expect("a plan");
    run.fill(&plan);
    let Settings::GoStress(head) = &run.settings else { panic!("{:?}", run.settings) };
    assert_eq!((head.url.as_str(), head.method.as_str(), head.data.as_str()), ("http://h/a?b=1", "POST", "c=d"));
    assert!(head.headers.contains(&("X-One".to_owned(), "y".to_owned())), "{:?}", head.headers);
    assert!(!head.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")), "{:?}", head.headers);
}
