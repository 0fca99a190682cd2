//! What stands in front of a load and is read before the parser looks: the language, `as`, `curl`, the name of the program.

use std::process::Command;

use crate::{Served, onrush, output, text};

#[test]
fn help_behind_curl_is_that_of_its_flags() {
    for (words, wanted) in [
        (&["curl"][..], "onrush [flags of the load] curl [flags of curl] URL"),
        (&["curl", "--help"], "Refused by name"),
        (&["curl", "-h"], "-d/--data"),
        (&["curl", "-h", "all"], "-d/--data"),
        (&["curl", "http://127.0.0.1:1/", "-sh"], "-d/--data"),
        (&["-c", "10", "curl", "--help"], "Refused by name"),
        (&["init", "curl", "--help"], "onrush init [flags] curl"),
        (&["help", "curl"], "-H/--header"),
        (&["--lang", "zh", "curl"], "onrush [负载参数] curl"),
        (&["--lang=zh", "help", "curl"], "负载参数写在 curl 之前"),
        (&["--lang", "zh_CN.UTF-8", "curl", "--help"], "会报错拒绝的参数"),
        (&["help", "as"], "onrush as TOOL"),
        (&["help", "as", "wrk"], " -L "),
        (&["--lang", "zh", "help", "as", "ab"], "用法：onrush as ab"),
    ] {
        let ended = output(words);
        assert!(ended.status.success() && text(&ended.stdout).contains(wanted), "{words:?}: {ended:?}");
        assert_eq!(text(&ended.stderr), "", "{words:?}");
    }
    // A value is no question, and what begins a load is none either.
    for words in [&["curl", "-d", "--help"][..], &["-c", "10", "curl"], &["curl", "-H", "-h"]] {
        let ended = output(words);
        assert!(ended.status.code() == Some(2) && text(&ended.stderr).contains("has no URL"), "{words:?}: {ended:?}");
    }
}

#[test]
fn flags_of_the_load_behind_curl_are_requested_back_before_anything_is_sent() {
    for (words, flag) in [
        (&["-n", "10"][..], "-n 10"),
        (&["-c", "100"], "-c 100"),
        (&["-z", "10s"], "-z 10s"),
        (&["-q", "100/s"], "-q 100/s"),
        (&["-t", "5s"], "-t 5s"),
        (&["--requests", "10"], "--requests 10"),
        (&["--connections=10"], "--connections=10"),
        (&["--duration", "5s"], "--duration 5s"),
        (&["--threads", "2"], "--threads 2"),
        (&["--rendezvous"], "--rendezvous"),
        (&["--rate", "100"], "--rate 100"),
    ] {
        for (language, wanted) in [("en", "stands before it: onrush"), ("zh", "请写在 curl 之前：onrush")] {
            let ended = output(&[&["--lang", language, "curl"], words, &["http://127.0.0.1:1/"]].concat());
            let said = text(&ended.stderr);
            assert_eq!((ended.status.code(), said.lines().count()), (Some(2), 1), "{words:?}: {said}");
            assert!(said.contains(&format!("{wanted} {flag} curl")), "{words:?}: {said}");
        }
    }
}

#[test]
fn the_language_stands_before_any_command() {
    let served = Served::start();
    let url = served.url("/");
    let [ws, grpc] = ["ws://", "grpc://"].map(|scheme| url.replace("http://", scheme));
    for (words, wanted) in [
        (vec!["as", "ab", "-n", "4", "-c", "2", &url], "Complete requests:      4"),
        (vec!["as", "wrk", "--native", "-t1", "-c1", "-d1s", &url], "成功率"),
        (vec!["-n", "2", "-c", "1", "curl", &url], "成功率"),
        (vec!["run", "-n", "2", "-c", "1", &url], "成功率"),
        (vec!["serve", "--help"], "用法"),
        (vec!["hold", "--help"], "用法"),
        (vec!["as", "--help"], "用法"),
        (vec!["as", "hey", "--help"], "用法"),
        (vec!["init", &url], "步骤"),
        (vec!["hold", "-c", "2", "--hold", "100ms", &ws], "建立中"),
        (vec!["doctor", "http://127.0.0.1:8080/"], "本机"),
        (vec!["sweep", "--vary", "c=1", "--repeat", "1", "-n", "2", "--no-save", &url], "瓶颈"),
        (vec!["grpc", "list", &grpc], "grpc.reflection"),
        (vec!["completions", "bash"], "onrush"),
    ] {
        for language in [&["--lang", "zh"][..], &["--lang=zh"], &["--lang", "zh_CN.UTF-8"]] {
            let words = [language, &words[..]].concat();
            let ended = output(&words);
            assert!(ended.status.success() && text(&ended.stdout).contains(wanted), "{words:?}: {ended:?}");
        }
    }
}

#[test]
fn programs_are_known_by_the_names_that_they_have_where_they_are_downloaded() {
    let folder = std::env::temp_dir().join(format!("onrush-called-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, tool) in [
        ("go_stress_testing_linux", "go-stress-testing"),
        ("go-stress-testing-mac", "go-stress-testing"),
        ("go-stress-testing-linux-amd64", "go-stress-testing"),
        ("hey_linux_amd64", "hey"),
        ("oha-macos-arm64", "oha"),
        ("ab.exe", "ab"),
    ] {
        let link = folder.join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_onrush"), &link).expect("a link");
        let ended = Command::new(&link).arg("-h").env("LANG", "C.UTF-8").output().expect("it starts");
        let said = text(&ended.stdout);
        assert!(said.starts_with(&format!("Usage: onrush as {tool} ")), "{name}: {ended:?}");
    }
    let _ = std::fs::remove_dir_all(&folder);
    for name in ["onrush-linux-amd64", "linux", "go", "heyy", "wrk3"] {
        let ended = onrush(&["as", name, "x"]).output().expect("it starts");
        assert!(text(&ended.stderr).contains("this tool is not supported"), "{name}: {ended:?}");
    }
}

#[test]
fn flags_of_other_programs_are_named_whole() {
    for (words, en, zh) in [
        (&["-rate=100", "127.0.0.1:1"][..], "'-rate' wants two hyphens: --rate", "'-rate' 要写两个连字符：--rate"),
        (&["-duration", "5s", "127.0.0.1:1"], "'-duration' wants two hyphens", "'-duration' 要写两个连字符"),
        (&["-workers=2", "127.0.0.1:1"], "'-workers' wants two hyphens", "'-workers'"),
        (
            &["-body", "x", "127.0.0.1:1"],
            "unknown flag '-body'; here it is -d DATA",
            "未知参数 '-body'；在这里是 -d DATA",
        ),
        (&["attack", "-rate=100"], "there is no command 'attack'", "没有 'attack' 这个命令"),
        (&["-t4", "-c1", "127.0.0.1:1"], "4 threads, or a timeout of 4 s?", "是 4 个线程，还是 4 秒超时？"),
        (&["-wxyz", "127.0.0.1:1"], "unknown flag '-wxyz'", "未知参数 '-wxyz'"),
        (&["hold", "-t4", "ws://127.0.0.1:1"], "4 threads, or a timeout of 4 s?", "是 4 个线程"),
        (&["as", "wrk", "-xyz", "http://127.0.0.1:1/"], "the flag -xyz is none of its flags", "没有参数 -xyz"),
        (&["as", "oha", "-yes", "http://127.0.0.1:1/"], "the flag -yes is none of its flags", "没有参数 -yes"),
    ] {
        for (language, wanted) in [("en", en), ("zh", zh)] {
            let ended = output(&[&["--lang", language], words].concat());
            let said = text(&ended.stderr);
            assert!(said.contains(wanted) && said.lines().count() == 1, "{words:?}: {said}");
            assert!(matches!(ended.status.code(), Some(1 | 2)), "{words:?}: {ended:?}");
        }
    }
}
