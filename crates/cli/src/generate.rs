//! Completions and manual, from the same definition as the help.

use clap_complete::Shell;
use report::Language;

use crate::exit::Exit;
use crate::{help, output};

pub(crate) fn completions(shell: Shell, language: Language) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(language), "onrush", &mut script);
    output::to_stdout(&String::from_utf8_lossy(&script), language)
}

pub(crate) fn manual(language: Language) -> Exit {
    let mut page = Vec::new();
    match clap_mangen::Man::new(help::command(language)).render(&mut page) {
        Ok(()) => output::to_stdout(&String::from_utf8_lossy(&page), language),
        Err(error) => {
            output::complain(&output::cannot_write("man", &error, language));
            Exit::System
        }
    }
}
