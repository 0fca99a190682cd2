//! Flags from the environment and from a file have the same meaning as typed ones.

use std::process::Output;

use crate::{Served, onrush, report, text};

struct File(String);

impl File {
    fn new(name: &str, lines: &str) -> Self {
        let path = std::env::temp_dir().join(format!("onrush-config-{}-{name}", std::process::id()));
        std::fs::write(&path, lines).expect("a place for it");
        Self(path.to_str().expect("UTF-8").to_owned())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // It may be gone; then there is nothing to remove.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn run(words: &[&str], variables: &[(&str, &str)]) -> Output {
    onrush(words).envs(variables.iter().copied()).output().expect("it starts")
}

#[test]
fn the_command_line_comes_first_then_the_environment_then_the_file() {
    let served = Served::start();
    let url = served.url("/");
    let lines = format!("# a load\nurl = {url}\nrequests = 30\nconnections = 3\noutput = json\n");
    let file = File::new("order", &lines);
    let started = |words: &[&str], variables: &[(&str, &str)]| {
        let words = [&["--config", &file.0], words].concat();
        report(&run(&words, variables))["requests"]["started"].as_u64()
    };
    assert_eq!(started(&[], &[]), Some(30));
    assert_eq!(started(&[], &[("ONRUSH_REQUESTS", "20")]), Some(20));
    assert_eq!(started(&["-n", "10"], &[("ONRUSH_REQUESTS", "20")]), Some(10));
    let by_variable = run(&[], &[("ONRUSH_CONFIG", &file.0)]);
    assert_eq!(report(&by_variable)["requests"]["started"].as_u64(), Some(30));
    let all = [("ONRUSH_URL", url.as_str()), ("ONRUSH_REQUESTS", "7"), ("ONRUSH_OUTPUT", "json")];
    assert_eq!(report(&run(&["run"], &all))["requests"]["started"].as_u64(), Some(7));
    // The URL follows `curl`.
    let curl = run(&["-n", "4", "curl", &url], &[("ONRUSH_URL", "http://127.0.0.1:1/"), ("ONRUSH_OUTPUT", "json")]);
    assert_eq!(report(&curl)["requests"]["succeeded"].as_u64(), Some(4), "{curl:?}");
    // Other programs have command lines of their own.
    let wrk = run(&["as", "ab", "-n", "5", "-c", "1", &url], &[("ONRUSH_REQUESTS", "9")]);
    assert!(text(&wrk.stdout).contains("Complete requests:      5"), "{wrk:?}");
    let chinese = run(&["--config", &file.0, "--output", "text"], &[("ONRUSH_LANG", "zh")]);
    assert!(text(&chinese.stdout).contains("成功"), "{chinese:?}");
}

#[test]
fn lists_switches_and_quoted_values_arrive() {
    let served = Served::start();
    let url = served.url("/");
    let file = File::new("lists", "header = [\"X-One: 1, 2\", 'X-Two: #']\ndebug = true\nquiet = false\n");
    let shown = run(&["--config", &file.0, &url], &[]);
    let page = text(&shown.stdout);
    assert!(page.contains("X-One: 1, 2") && page.contains("X-Two: #"), "{shown:?}");
    let shown = run(&["--debug", &url], &[("ONRUSH_HEADER", "X-Three: 3\nX-Four: 4")]);
    let page = text(&shown.stdout);
    assert!(page.contains("X-Three: 3") && page.contains("X-Four: 4"), "{shown:?}");
}

#[test]
fn mistakes_name_the_place_where_they_stand() {
    let none = File::new("none", "url = :9\n\nconections = 5\n");
    let foreign = File::new("foreign", "hold = 5s\n");
    let twice = File::new("twice", "requests = 1\nrequests = 2\n");
    let switch = File::new("switch", "# s\ninsecure = maybe\n");
    let quote = File::new("quote", "data = \"open\n");
    let value = File::new("value", "connections = many\n");
    let here = |file: &File, rest: &str| format!("--config {}{rest}", file.0);
    for (words, variables, english, chinese) in [
        (
            vec!["--config", &none.0],
            vec![],
            here(&none, ", line 3: unknown flag 'conections', did you mean 'connections'?"),
            "第 3 行：未知参数 'conections'，是否想写 'connections'？",
        ),
        (
            vec!["--config", &foreign.0, ":9"],
            vec![],
            here(&foreign, ", line 1: this command has no flag --hold"),
            "该命令没有可由文件设置的参数 --hold",
        ),
        (
            vec!["--config", &twice.0, ":9"],
            vec![],
            here(&twice, ", line 2: 'requests' takes one value"),
            "'requests' 只有一个值",
        ),
        (
            vec!["--config", &switch.0, ":9"],
            vec![],
            here(&switch, ", line 2: insecure takes true or false"),
            "insecure 的值 'maybe' 无效：应为 true 或 false",
        ),
        (vec!["--config", &quote.0, ":9"], vec![], here(&quote, ", line 1: the quote is not closed"), "引号没有闭合"),
        (
            vec!["--config", "/no/such", ":9"],
            vec![],
            "--config /no/such: cannot read the file".to_owned(),
            "无法读取文件：没有该文件或目录",
        ),
        (
            vec![":9"],
            vec![("ONRUSH_INSECURE", "maybe")],
            "ONRUSH_INSECURE takes true or false, not 'maybe'".to_owned(),
            "ONRUSH_INSECURE 的值",
        ),
        (vec!["--config", &value.0, ":9"], vec![], format!("--connections is from {}", value.0), "--connections 来自"),
        (
            vec![":9"],
            vec![("ONRUSH_CONNECTIONS", "many")],
            "--connections is from ONRUSH_CONNECTIONS".to_owned(),
            "--connections 来自 ONRUSH_CONNECTIONS",
        ),
        (
            vec![":9"],
            vec![("ONRUSH_OUTPUT", "xml")],
            "--output is from ONRUSH_OUTPUT".to_owned(),
            "--output 来自 ONRUSH_OUTPUT",
        ),
    ] {
        let said = run(&words, &variables);
        assert_eq!(said.status.code(), Some(2), "{said:?}");
        assert!(text(&said.stderr).contains(&english), "{english}: {said:?}");
        let said = onrush(&words).envs(variables).env("LANG", "zh_CN.UTF-8").output().expect("it starts");
        assert!(text(&said.stderr).contains(chinese), "{chinese}: {said:?}");
    }
}

#[test]
fn a_variable_that_is_no_flag_is_reported_and_ignored() {
    let served = Served::start();
    let said = run(&["-n", "3", &served.url("/")], &[("ONRUSH_CONECTIONS", "5")]);
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    let line = "onrush: the variable ONRUSH_CONECTIONS is no flag and is ignored; did you mean ONRUSH_CONNECTIONS?";
    assert!(text(&said.stderr).contains(line), "{said:?}");
}
