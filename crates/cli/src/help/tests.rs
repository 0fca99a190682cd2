use super::*;

fn each(command: &Command, visit: &mut impl FnMut(&Command)) {
    visit(command);
    command.get_subcommands().for_each(|inner| each(inner, visit));
}

#[test]
fn every_flag_has_a_text() {
    for language in [Language::En, Language::Zh] {
        each(&command(language), &mut |command| {
            for arg in command.get_arguments() {
                let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!text.is_empty(), "{} {}", command.get_name(), arg.get_id());
            }
        });
    }
}

#[test]
fn the_definition_is_sound() {
    command(Language::En).debug_assert();
    command(Language::Zh).debug_assert();
}

#[test]
fn chinese_help_is_chinese() {
    let mut help = command(Language::Zh);
    each(&help.clone(), &mut |command| {
        for arg in command.get_arguments() {
            let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let is_list = arg.get_id() == "shell";
            assert!(is_list || text.chars().any(|each| ('一'..='龥').contains(&each)), "{text}");
        }
    });
    let page = help.render_help().to_string();
    assert!(page.contains("用法：") && page.contains("选项") && !page.contains("Options:"), "{page}");
}
