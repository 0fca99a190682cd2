//! `onrush check`: valid, invalid and missing files.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use crate::{onrush, output, text};

/// A file of the crate of scenario files.
fn file(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenario").join(name);
    path.to_string_lossy().into_owned()
}

#[test]
fn a_right_file_is_reported_in_a_line() {
    for (flags, said) in [
        (&[][..], "no mistakes; 1 scenario (buyers), 15 steps, 0 data sets, 3 thresholds\n"),
        (&["--lang", "zh"], "没有错误；1 个场景（buyers），15 个步骤，0 个数据集，3 个阈值\n"),
    ] {
        let done = output(&[&["check", &file("../../examples/shop.yaml")], flags].concat());
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
        assert!(text(&done.stdout).ends_with(said), "{}", text(&done.stdout));
    }
}

#[test]
fn all_mistakes_of_a_wrong_file_are_reported_at_once_in_both_languages() {
    for (flags, said) in [
        (
            &[][..],
            [
                "'stpes' is no key of a scenario; did you mean 'steps'?",
                "'extrct' is no key of a get step",
                "3 mistakes",
            ],
        ),
        (&["--lang", "zh"], ["场景中没有 'stpes' 这个字段；是否想写 'steps'？", "没有 'extrct' 这个字段", "3 处错误"]),
    ] {
        let done = output(&[&["check", &file("wrong/crlf-and-bom.yaml")], flags].concat());
        assert_eq!((done.status.code(), text(&done.stderr)), (Some(1), String::new()));
        let out = text(&done.stdout);
        assert!(said.iter().all(|said| out.contains(said)), "{out}");
        assert!(
            out.contains("crlf-and-bom.yaml:5:5: ") && out.contains("  5 |     stpes: [{get: /}]\n    |     ^^^^^\n"),
            "{out}"
        );
    }
}

#[test]
fn several_files_are_reported_one_after_the_other() {
    let (right, wrong) = (file("../../examples/shop.yaml"), file("wrong/unclosed.yaml"));
    let done = output(&["check", &right, &wrong, &right]);
    assert_eq!(done.status.code(), Some(1));
    let out = text(&done.stdout);
    assert_eq!((out.matches("no mistakes").count(), out.matches("1 mistake\n").count()), (2, 1), "{out}");
}

#[test]
fn a_file_that_is_not_there_is_a_wrong_command_line() {
    for (flags, said) in [(&[][..], "cannot read the file: No such file"), (&["--lang", "zh"], "无法读取文件：")]
    {
        let done = output(&[&["check", "nobody.yaml", &file("../../examples/shop.yaml")], flags].concat());
        assert_eq!(done.status.code(), Some(2));
        assert!(text(&done.stderr).contains(said), "{}", text(&done.stderr));
        assert!(text(&done.stdout).contains("shop.yaml"), "the other file is told all the same");
    }
    for (words, said) in
        [(&["check"][..], "FILE"), (&["chekc", "shop.yaml"], "check"), (&["check", "--fast", "x"], "--fast")]
    {
        let done = output(words);
        assert_eq!(done.status.code(), Some(2), "{words:?}");
        assert!(text(&done.stderr).contains(said), "{words:?}: {}", text(&done.stderr));
    }
}

#[test]
fn data_files_lie_beside_the_file_and_nothing_is_sent() {
    let folder = std::env::temp_dir().join(format!("onrush-check-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("inner")).expect("a folder of our own");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a socket of ours");
    let address = listener.local_addr().expect("an address");
    let yaml = format!(
        "target: http://{address}\ndata: {{users: users.csv}}\nsetup: [{{post: /reset}}]\nscenarios:\n  a: {{load: {{users: 1, for: 1s}}, steps: [{{get: \"/${{users.name}}\"}}]}}\n"
    );
    std::fs::write(folder.join("inner/a.yaml"), yaml).expect("a file of our own");
    std::fs::write(folder.join("inner/users.csv"), "name\nanna\n").expect("a file of our own");
    let check = || onrush(&["check", "inner/a.yaml"]).current_dir(&folder).output().expect("the binary starts");
    assert_eq!(check().status.code(), Some(0));
    std::fs::write(folder.join("inner/users.csv"), "nmae\nanna\n").expect("a file of our own");
    let done = check();
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stdout).contains("'users' has no column 'name'; it has: nmae; did you mean 'nmae'?"));
    assert!(listener.accept().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "somebody connected");
    std::fs::remove_dir_all(&folder).expect("a folder of our own");
}
