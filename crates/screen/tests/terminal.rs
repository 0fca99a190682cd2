//! The terminal is restored after a panic: in a real one, `tmux`.

#[macro_use]
extern crate claims;

use std::path::PathBuf;
use std::process::Command;

use claims::wait_for;
use report::Language;
use screen::{Act, Display, ScreenStyle, Source};
use serde_json::{Value, json};

/// The variable with the path of a file whose presence makes the child panic.
const BREAKS_BY: &str = "ONRUSH_SCREEN_BREAKS_BY";
/// A source that panics on request.
struct Breaks {
    by: PathBuf,
    /// Lives as long as the display.
    _alive: std::sync::mpsc::Sender<()>,
}

impl Source for Breaks {
    fn run(&self) -> Value {
        // Not counted: how often the screen looks depends on time.
        ::core::assert!(!self.by.exists(), "broken on purpose");
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
    let style = ScreenStyle { language: Language::En, has_colors: true };
    let (_alive, gone) = std::sync::mpsc::channel();
    let source = Breaks { by: std::env::var_os(BREAKS_BY).expect("the test says").into(), _alive };
    let mut display = Display::start(Box::new(source), style).expect("a terminal");
    assert!(gone.recv().is_err(), "nothing is sent");
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
        let mut text = String::new();
        wait_for(part, || {
            text = self.ask(&["capture-pane", "-p"]);
            text.contains(part)
        });
        text
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
    let breaks_by = std::env::temp_dir().join(format!("onrush-screen-{}.breaks", std::process::id()));
    let child = format!(
        "echo before; {BREAKS_BY}={} {} --ignored --exact child --nocapture; stty -a; echo ended; exec cat",
        breaks_by.display(),
        own.display()
    );
    tmux.ask(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "50", &child]);
    assert!(!tmux.until("shown-before").contains("before;"), "nothing else is there");
    assert_eq!(tmux.ask(&["display-message", "-p", "#{alternate_on}"]).trim(), "1");
    std::fs::write(&breaks_by, "").expect("a file");
    let text = tmux.until("ended");
    std::fs::remove_file(&breaks_by).expect("it is ours");
    assert_eq!(tmux.ask(&["display-message", "-p", "#{alternate_on}"]).trim(), "0");
    // The old content is restored, the panic message is shown, and lines are lines.
    for part in ["before\n", "broken on purpose", "isig icanon", " echo "] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}
