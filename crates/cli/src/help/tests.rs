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

const LANGUAGES: [Language; 2] = [Language::En, Language::Zh];

/// Every help page, with its name.
fn all_pages(is_long: bool, columns: usize, language: Language) -> Vec<(&'static str, String)> {
    let commands = COMMANDS.into_iter().chain([("onrush", Mode::Top), ("list", Mode::Ask), ("describe", Mode::Ask)]);
    commands.map(|(name, mode)| (name, page::page(name, mode, is_long, Some(columns), language))).collect()
}

#[test]
fn chinese_help_is_chinese() {
    for (name, page) in all_pages(true, 100, Language::Zh) {
        for word in ["Usage", "Options", "OPTIONS", "flags", "Commands", "Examples", "Exit codes"] {
            assert!(!page.contains(word), "{name}: {word} in {page}");
        }
        assert!(page.contains("用法：") && page.contains("示例：") && page.contains("退出码："), "{page}");
    }
    for row in COMMANDS.into_iter().flat_map(|(_, mode)| flags::rows(mode)) {
        let text = row.text(Language::Zh);
        assert!(row.name == "shell" || text.chars().any(|each| ('一'..='龥').contains(&each)), "{text}");
        let is_chinese = |each: char| ('一'..='龥').contains(&each);
        let chars: Vec<char> = text.chars().collect();
        let is_mixed = |pair: &[char]| {
            (is_chinese(pair[0]) && ",;".contains(pair[1])) || (",;".contains(pair[0]) && is_chinese(pair[1]))
        };
        assert!(!chars.windows(2).any(is_mixed), "half-width marks in {text}");
    }
}

#[test]
fn no_line_of_help_is_too_wide() {
    use unicode_width::UnicodeWidthStr;
    let examples: Vec<&str> = COMMANDS
        .into_iter()
        .chain([("onrush", Mode::Top)])
        .flat_map(|(name, _)| texts::examples(name))
        .map(|each| each.0)
        .collect();
    for language in LANGUAGES {
        for columns in [60, 80, 100, 120] {
            for (name, page) in [all_pages(true, columns, language), all_pages(false, columns, language)].concat() {
                for line in page.lines() {
                    // An example stays whole, and fits the usual terminal; a word may be longer than its column.
                    let is_example = columns < 80 && examples.contains(&line.trim());
                    let is_whole = is_example || !line.trim().contains(' ');
                    assert!(line.width() <= columns || is_whole, "{name} at {columns}: {line}");
                }
            }
        }
    }
}

#[test]
fn the_short_help_is_short() {
    for language in LANGUAGES {
        let flags_of =
            |page: &str| page.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --")).count();
        let pages = (all_pages(false, 80, language), all_pages(true, 80, language));
        let top =
            |pages: &[(&str, String)]| pages.iter().find(|(name, _)| *name == "onrush").map(|(_, page)| page.clone());
        let (short, long) = (top(&pages.0).expect("a page"), top(&pages.1).expect("a page"));
        assert_eq!(flags_of(&short), 15, "{short}");
        assert!(short.lines().count() <= 60, "{} lines: {short}", short.lines().count());
        assert_eq!(flags_of(&long), flags::rows(Mode::Top).len() - 1, "all but the URL: {long}");
        for name in COMMANDS.map(|(name, _)| name).into_iter().chain(FRONT_ENDS) {
            assert!(short.contains(&format!("\n  {name} ")) && long.contains(&format!("\n  {name} ")), "{name}");
        }
        let titles = flags::rows(Mode::Top).into_iter().map(|row| row.group.title(language));
        titles.for_each(|title| assert!(long.contains(&format!("\n{title}{}", language.pick(":", "："))), "{title}"));
    }
}

#[test]
fn each_command_is_found_where_help_is_requested() {
    let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    for (requested_for, name, mode) in [
        ("onrush --help", "onrush", Mode::Top),
        ("onrush -c 5 --help", "onrush", Mode::Top),
        ("onrush hold -h", "hold", Mode::Hold),
        ("onrush grpc --help", "grpc", Mode::Grpc),
        ("onrush grpc list --help", "list", Mode::Ask),
        ("onrush man --help", "man", Mode::Man),
        ("onrush localhost --help", "onrush", Mode::Top),
        ("onrush --lang zh hold --help", "hold", Mode::Hold),
        ("onrush --lang=zh serve --help", "serve", Mode::Serve),
        ("onrush --help --lang", "onrush", Mode::Top),
        ("onrush --lang", "onrush", Mode::Top),
        ("onrush help hold", "hold", Mode::Hold),
        ("onrush --lang zh help serve", "serve", Mode::Serve),
        ("onrush help", "onrush", Mode::Top),
    ] {
        assert_eq!(requested(&words(requested_for)), (name, mode), "{requested_for}");
    }
}

#[test]
fn every_command_has_a_manual_page_with_all_its_flags() {
    for language in LANGUAGES {
        for (called, name, mode) in manual::pages() {
            let page = manual::page(called, language).expect("a page");
            let flags = mode.map(flags::rows).unwrap_or_default();
            assert_eq!(
                page.matches("\n.TP\n\\fB\\-").count(),
                flags.iter().filter(|row| !row.is_word()).count(),
                "{called}"
            );
            assert!(page.starts_with(".TH ONRUSH") && page.contains(language.pick(".SH \"EXAMPLES\"", ".SH \"示例\"")));
            for (command, _, _) in texts::examples(name) {
                assert!(page.contains(&command.replace('\\', "\\e").replace('-', "\\-")), "{command} in {page}");
            }
        }
        assert_eq!(manual::page("no such", language), None);
    }
}
