//! The course promises verdicts of its loads: they have them, and the page says them in the words of the program.

use crate::shown::Shown;

const COURSE: &str = include_str!("../../../../docs/course.md");
/// Where the loads of the page go.
const SERVER: &str = "http://127.0.0.1:8080";

/// Commands of the page, and the kinds of their verdicts.
const PROMISED: [(&str, &str); 4] = [
    ("-c 10 -z 5s http://127.0.0.1:8080/delay/20", "below"),
    ("-c 10 -z 3s http://127.0.0.1:8080/serial/5", "target"),
    ("-q 300 -z 5s http://127.0.0.1:8080/delay/lognormal/5,1", "plan_kept"),
    ("--stages 50:2s,50:2s,150:2s,150:2s,250:2s,250:2s http://127.0.0.1:8080/serial/5", "target"),
];

/// The words of a verdict that a page repeats: figures come behind them.
const REPEATED: usize = 4;

#[test]
fn loads_of_the_course_have_the_verdicts_that_it_promises() {
    for (command, kind) in PROMISED {
        let (_, behind) = COURSE.split_once(&format!("$ onrush {command}\n")).expect("a command of the course");
        let section = behind.split("\n## ").next().expect("a section").replace(['\n', '*'], " ");
        let section = section.split_whitespace().collect::<Vec<_>>().join(" ");
        let words: Vec<&str> = command.split(' ').collect();
        let (url, flags) = words.split_last().expect("a URL");
        let flags: Vec<(&str, &str)> = flags.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let shown = Shown::plainly(url.strip_prefix(SERVER).expect("a path of the server"), &flags);
        assert_eq!(shown.limit(), kind, "{command}: {}", shown.words());
        let said = shown.words().split_whitespace().take(REPEATED).collect::<Vec<_>>().join(" ");
        let said = said.trim_end_matches([':', ',', ';']);
        assert!(section.contains(said), "{command}: the page does not say '{said}'");
    }
}
