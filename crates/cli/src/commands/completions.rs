//! Completions and manual pages, from the same table as the help.

use clap_complete::Shell;
use report::Language;

use crate::exit::Exit;
use crate::help;
use crate::output;

pub(crate) fn completions(shell: Shell, language: Language) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::completed(language), "onrush", &mut script);
    let script = String::from_utf8_lossy(&script);
    if shell == Shell::Fish {
        return output::to_stdout(&for_fish(&script), language);
    }
    output::to_stdout(&script, language)
}

/// Fish takes no dot in a flag name where it looks for the command, and would complete nothing at all. This makes it
/// ignore flags that it does not know.
fn for_fish(script: &str) -> String {
    let is_plain = |name: &&str| !name.contains('.');
    let line = |line: &str| match line.trim_start().strip_prefix("string join \\n ") {
        Some(names) => {
            let names: Vec<&str> = names.split(' ').filter(is_plain).collect();
            format!("    string join \\n {}\n", names.join(" "))
        }
        None => format!("{}\n", line.replace("argparse -s (", "argparse -i -s (")),
    };
    script.lines().map(line).collect()
}

pub(crate) fn manual(called: &str, language: Language) -> Exit {
    let called = called.split_whitespace().collect::<Vec<_>>().join(" ");
    let called = if called == "onrush" { "" } else { &called };
    if let Some(page) = help::manual::page(called, language) {
        return output::to_stdout(&page, language);
    }
    let known: Vec<&str> = help::manual::pages().into_iter().map(|(known, _, _)| known).skip(1).collect();
    let (known, listed) = (known.join(", "), known.join("、"));
    output::complain(&language.pick(
        format!("there is no command '{called}'; the manual has pages for {known}"),
        format!("没有命令 '{called}'；手册页有：{listed}"),
    ));
    Exit::Usage
}
