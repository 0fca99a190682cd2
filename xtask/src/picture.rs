//! The pictures in README: what a terminal shows of a real run, as text in an SVG. Those of pages are in `pages`.

mod pages;
mod svg;
mod terminal;

use std::process::{Command, Stdio};

use crate::served::Served;
use crate::{Failure, cargo, install, root, run};
use terminal::Terminal;

/// The address of the run, as in README.
const ADDRESS: &str = "127.0.0.1:8080";
/// The command line of the run.
const COMMAND: &str = "onrush -q 500 -z 5s http://127.0.0.1:8080/delay/lognormal/5,0.5";
/// The columns of the terminal.
const COLUMNS: usize = 100;
const ROWS: usize = 50;
/// The files, and the languages of their runs.
const PICTURES: [(&str, &str); 2] = [("docs/run.svg", "en"), ("docs/run.zh.svg", "zh")];

/// Runs a load in a terminal for each language, and draws the terminal; then shows the pages of another load.
pub(crate) fn pictures() -> Result<(), Failure> {
    install::ensure("script", "bsdutils", &["/usr/bin/script"])?;
    run(&mut cargo(&["build", "--release"]))?;
    let binary = root().join("target/release/onrush");
    let _served = Served::at(&binary, ADDRESS, &[]).map_err(|failure| format!("{failure}; {ADDRESS} must be free"))?;
    for (file, language) in PICTURES {
        let shown = shown(language)?;
        // A stall of this machine does not belong in the picture.
        if shown.contains("UNRELIABLE") || shown.contains("结果不可靠") {
            return Err(format!(
                "this machine disturbed the run, so {file} stays as it was; try again when it is quiet:\n{shown}"
            ));
        }
        let drawn = draw(&shown)?;
        let path = root().join(file);
        std::fs::write(&path, drawn).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("{file}");
    }
    pages::pictures(&binary)
}

/// The bytes sent to a terminal, from the prompt on.
fn shown(language: &str) -> Result<String, Failure> {
    let (binary, words) = (root().join("target/release/onrush"), COMMAND.strip_prefix("onrush").unwrap_or_default());
    let line = format!("stty cols {COLUMNS} rows {ROWS}; exec {} --lang {language}{words}", binary.display());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &line, "/dev/null"]).stdin(Stdio::null());
    let done = script.env("TERM", "xterm-256color").env_remove("NO_COLOR").output();
    let done = done.map_err(|error| format!("script does not start: {error}"))?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    if !done.status.success() {
        return Err(format!("the run ended with {}: {text}", done.status));
    }
    Ok(format!("$ {COMMAND}\r\n{text}"))
}

/// The final screen, as a picture.
fn draw(shown: &str) -> Result<String, Failure> {
    let mut terminal = Terminal::new(COLUMNS);
    terminal.write(shown)?;
    let mut lines = terminal.lines();
    trim(&mut lines);
    // The last section has the details of the run; the picture shows those above it.
    if let Some(end) = lines.iter().rposition(Vec::is_empty) {
        lines.truncate(end);
        trim(&mut lines);
    }
    Ok(svg::drawn(&lines, COLUMNS, COMMAND))
}

/// Removes the empty lines at the end.
fn trim(lines: &mut Vec<Vec<terminal::Cell>>) {
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
}

#[cfg(test)]
mod tests;
