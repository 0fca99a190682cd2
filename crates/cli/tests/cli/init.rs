//! `onrush init`: its files are valid, and send what the commands send.

use crate::recorder::{Came, Recorder};
use crate::{Folder, Served, onrush, output, text};

/// The requests of a run of one user, their fields in order of name.
fn came(recorder: &Recorder, words: &[&str], environment: &[(&str, &str)]) -> Vec<Came> {
    recorder.take();
    let done = onrush(words).envs(environment.iter().copied()).output().expect("it starts");
    assert_eq!(done.status.code(), Some(0), "{words:?}: {done:?}");
    let mut all = recorder.take();
    for came in &mut all {
        came.fields.iter_mut().for_each(|(name, _)| name.make_ascii_lowercase());
        came.fields.sort();
    }
    all
}

#[test]
fn files_send_what_the_commands_send() {
    let (recorder, folder) = (Recorder::start("init"), Folder::new("sends"));
    let (file, commands) = (folder.path("made.yaml"), folder.path("commands.txt"));
    for (command, environment) in [
        ("curl URL/a/b?c=d%20e", &[][..]),
        ("curl URL/x -H 'X-A: ${b}' -H 'X-Empty;' -A me/2 -e http://from.test/", &[]),
        (r#"curl URL/j -H 'Content-Type: application/json' -d '{"a":1,"b":["x${y}",null],"c":1.50}'"#, &[]),
        (r#"curl URL/j -H 'Content-Type: application/json' -d '{ "a": 1 }'"#, &[]),
        ("curl URL/f -d 'a=1&b=%20 2' -X PUT", &[]),
        ("curl URL/t --data-binary @DIR/lines.txt -H 'Content-Type: text/plain; charset=utf-8'", &[]),
        ("curl URL/m -F a=b -F 'c=@DIR/body.json;type=application/json'", &[]),
        ("curl URL/l -I", &[]),
        ("curl URL/redirect/302/to -L", &[]),
        ("curl URL/s -u bob:pw -b sid=1", &[("AUTHORIZATION", "Basic Ym9iOnB3"), ("COOKIE", "sid=1")]),
        ("curl -X PURGE URL/p", &[]),
        (
            "curl URL/one -H 'X-Same: 1' -H 'X-Own: 1'\ncurl URL/two -H 'X-Same: 1' -d 'two'\ncurl 'URL/thr%65e' -H 'X-Same: 1'",
            &[],
        ),
    ] {
        std::fs::write(&commands, recorder.fill(command)).expect("a place for it");
        let made = output(&["init", "-p", &commands, "-o", &file, "--force"]);
        assert_eq!(made.status.code(), Some(0), "{command}: {made:?}");
        let said = text(&made.stderr);
        assert!(!said.contains("differs"), "{command}: {said}");
        let page = std::fs::read_to_string(&file).expect("it was written");
        environment
            .iter()
            .for_each(|(name, value)| assert!(!page.contains(value) && said.contains(name), "{page}{said}"));
        let check =
            |set: &[(&str, &str)]| onrush(&["check", &file]).envs(set.iter().copied()).output().expect("it starts");
        assert_eq!(check(environment).status.code(), Some(0), "{page}");
        // Missing environment variables are reported.
        let unset = text(&check(&[]).stdout);
        assert!(environment.iter().all(|(name, _)| unset.contains(&format!("{name}=VALUE"))), "{unset}");
        let requested = came(&recorder, &["-c", "1", "-n", "1", "--quiet", "-p", &commands], &[]);
        let sent = came(&recorder, &["run", &file, "-c", "1", "-n", "1", "--quiet"], environment);
        assert!(!requested.is_empty());
        assert_eq!(requested, sent, "{command}: {page}");
    }
    let other = folder.path("other.yaml");
    let made = output(&["init", "-o", &other, "curl", &recorder.fill("URL/x"), "-d", "a=b"]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let sent = came(&recorder, &["run", &other, "-c", "1", "-n", "1", "--quiet"], &[]);
    assert_eq!((sent[0].start.as_str(), sent[0].body.as_slice()), ("POST /x HTTP/1.1", &b"a=b"[..]));
}

#[test]
fn a_file_of_a_url_runs_in_both_languages() {
    let (served, folder) = (Served::start(), Folder::new("url"));
    let ws = served.url("/").replace("http://", "ws://");
    let grpc = served.url("/hello.Greeter/SayHello").replace("http://", "grpc://");
    for language in ["en", "zh"] {
        for (number, url) in [served.url("/items/7"), ws.clone(), grpc.clone()].iter().enumerate() {
            let file = folder.path(&format!("{number}-{language}.yaml"));
            let made = output(&["init", "--lang", language, url, "-o", &file]);
            assert_eq!(made.status.code(), Some(0), "{made:?}");
            assert!(text(&made.stderr).contains(&format!("onrush run {file} --debug")), "{made:?}");
            let ran = output(&["run", &file, "-c", "2", "-n", "6", "--quiet"]);
            assert_eq!(ran.status.code(), Some(0), "{ran:?}");
        }
        let page = text(&output(&["init", "--lang", language, &served.url("/")]).stdout);
        assert_eq!(page.contains("检查"), language == "zh", "{page}");
    }
}

#[test]
fn what_a_file_cannot_say_is_reported() {
    let (recorder, folder) = (Recorder::start("init-told"), Folder::new("told"));
    let (file, commands) = (folder.path("made.yaml"), folder.path("commands.txt"));
    std::fs::write(&file, "mine").expect("a place for it");
    let url = recorder.fill("URL/x");
    let binary = recorder.fill("@DIR/binary.bin");
    for (words, code, says) in [
        (vec!["init"], 2, ["try: onrush init http://", "例如：onrush init http://"]),
        (vec!["init", "srv"], 2, ["'srv'", "'srv'"]),
        (vec!["init", &url, "-o", &file], 2, ["is there already; choose another name, or add --force", "已存在"]),
        (vec!["init", &url, "-o", "/no-such-folder/x.yaml"], 4, ["cannot write to /no-such-folder", "无法写入"]),
        (vec!["init", &url, "-o", "/dev/full", "--force"], 4, ["cannot write to /dev/full", "无法写入 /dev/full"]),
        (vec!["init", "curl", &url, "--data-binary", &binary], 2, ["the body of request 1 is not text", "不是文本"]),
        (
            vec!["init", "curl", &url, "-H", "Accept:"],
            0,
            ["step 1 of the file differs", "第 1 步与命令不同之处：accept"],
        ),
        (vec!["init", "curl", &url, "-o", "x"], 0, ["-o behind curl is curl's", "curl 之后的 -o 属于 curl"]),
        (vec!["init", "curl", &url, "-d", "password=x"], 0, ["what looks like a secret", "似乎有敏感信息"]),
        (vec!["init", "curl", &url, "--socks4", "p:1"], 2, ["--socks4", "--socks4"]),
    ] {
        for (language, says) in ["en", "zh"].into_iter().zip(says) {
            let done = output(&[&["init", "--lang", language][..], &words[1..]].concat());
            let complaint = text(&done.stderr);
            assert_eq!(done.status.code(), Some(code), "{words:?}: {done:?}");
            assert!(complaint.contains(says), "{words:?}: {complaint}");
            assert!(code == 0 || done.stdout.is_empty(), "{done:?}");
        }
    }
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "mine");
    std::fs::write(&commands, recorder.fill("curl URL/a --http2-prior-knowledge\ncurl URL/b")).expect("a place for it");
    let mixed = output(&["init", "-p", &commands]);
    assert!(
        text(&mixed.stderr).contains("step 2 of the file differs from the command in: the version of HTTP"),
        "{mixed:?}"
    );
}
