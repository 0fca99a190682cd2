//! All messages for the invalid files in the scenario crate, stored in `mistakes/NAME.txt`, in both languages.
//! `ONRUSH_SCREENS=write cargo test -p report mistakes` writes them.

use std::path::{Path, PathBuf};

use super::*;

fn wrong_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenario/wrong");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    files
}

/// The messages for a file, in both languages. Data files are in another folder, so that this one has nothing else.
fn said(path: &Path) -> [String; 2] {
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let folder = path.parent().expect("a folder").join("../files");
    let mistakes = scenario::parse(&name, &text, &scenario::Folder(folder)).expect_err(&name);
    [Language::En, Language::Zh].map(|language| scenario_mistakes(&mistakes, language))
}

#[test]
fn all_mistakes_are_said_in_both_languages() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("mistakes");
    for path in wrong_files() {
        let [english, chinese] = said(&path);
        let made = format!("{english}\n\n{chinese}\n");
        let file = kept.join(path.with_extension("txt").file_name().expect("a name"));
        if std::env::var_os("ONRUSH_SCREENS").is_some_and(|value| value == "write") {
            std::fs::create_dir_all(&kept).expect("a folder");
            std::fs::write(&file, &made).expect("a file");
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(made, expected, "{}", file.display());
        // The positions are the same, and the texts are in another language.
        let heads = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.starts_with(' '));
            lines.map(|line| line.split(": ").next().unwrap_or_default().to_owned()).collect()
        };
        let (english_heads, chinese_heads) = (heads(&english), heads(&chinese));
        assert_eq!(english_heads[..english_heads.len() - 1], chinese_heads[..chinese_heads.len() - 1]);
        for line in chinese.lines().filter(|line| !line.starts_with(' ')) {
            assert!(!line.is_ascii(), "{line}");
        }
        assert!(english_heads.len() > 1, "{}", path.display());
    }
}
