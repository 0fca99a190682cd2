//! The terminal is given back when something panics: in a real one, `tmux`.

use std::process::Command;
use std::time::{Duration, Instant};

use report::Language;
use screen::{Act, Display, Look, Source};
use serde_json::{Value, json};

/// It shows something, and then breaks.
struct Breaks(Instant);

impl Source for Breaks {
    fn run(&self) -> Value {
        assert!(self.0.elapsed() < Duration::from_secs(2), "broken on purpose");
        json!({"state": "running", "plan": {"target": "shown-before"}})
    }

    fn charts(&self) -> Value {
        Value::Null
    }

    fn act(&self, _: &Act) -> Result<(), [String; 2]> {
        Ok(())
    }
}

/// Runs in the terminal of the test below.
#[test]
#[ignore = "it is the child of another test"]
fn child() {
    let look = Look { language: Language::En, has_colors: true };
    let mut display = Display::start(Box::new(Breaks(Instant::now())), look).expect("a terminal");
    std::thread::sleep(Duration::from_secs(4));
    display.end();
}

struct Tmux(String);

impl Tmux {
    fn ask(&self, words: &[&str]) -> String {
        let out = Command::new("tmux").args(["-L", &self.0]).args(words).output();
        let out = out.expect("`cargo xtask test` installs tmux");
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    fn until(&self, part: &str) -> String {
        let begun = Instant::now();
        loop {
            let text = self.ask(&["capture-pane", "-p"]);
            if text.contains(part) {
                return text;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "{part}:\n{text}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.ask(&["kill-server"]);
    }
}

#[test]
fn a_panic_gives_the_terminal_back() {
    let tmux = Tmux(format!("onrush-screen-{}", std::process::id()));
    let own = std::env::current_exe().expect("a path");
    let child =
        format!("echo before; {} --ignored --exact child --nocapture; stty -a; echo ended; sleep 60", own.display());
    tmux.ask(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "50", &child]);
    assert!(!tmux.until("shown-before").contains("before;"), "nothing else is there");
    assert_eq!(tmux.ask(&["display-message", "-p", "#{alternate_on}"]).trim(), "1");
    let text = tmux.until("ended");
    assert_eq!(tmux.ask(&["display-message", "-p", "#{alternate_on}"]).trim(), "0");
    // What stood there is there again, what went wrong is told, and lines are lines.
    for part in ["before\n", "broken on purpose", "isig icanon", " echo "] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}
