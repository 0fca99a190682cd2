use super::*;

#[test]
fn the_link_of_a_page_is_found() {
    let english = "onrush: the page is at http://127.0.0.1:8089/#token=abc-1";
    assert_eq!(link_in(english), Some("http://127.0.0.1:8089/#token=abc-1"));
    assert_eq!(link_in("onrush: 页面地址 http://127.0.0.1:1/#token=x y"), Some("http://127.0.0.1:1/#token=x"));
    for other in ["", "loading http://127.0.0.1:8080/ (127.0.0.1:8080)", "http://127.0.0.1:"] {
        assert_eq!(link_in(other), None, "{other}");
    }
}

#[test]
fn a_disturbed_run_is_no_picture() {
    assert_eq!(is_disturbed(r#"{"verdict": {"is_unreliable": true}}"#), Ok(true));
    assert_eq!(is_disturbed(r#"{"verdict": {"is_unreliable": false}}"#), Ok(false));
    assert!(is_disturbed("{}").is_err() && is_disturbed("").is_err());
}

/// The first bytes of a PNG: its mark, the length and the name of its head, its width and its height.
#[test]
fn kept_pictures_have_their_size_and_their_pages() {
    for PagePictures { language, report, page, .. } in &PAGES {
        let end = if *language == "en" { "md" } else { "zh.md" };
        for (file, shown) in [(report, format!("docs/reports.{end}")), (page, format!("docs/web.{end}"))] {
            let picture = std::fs::read(root().join(file)).expect("cargo xtask picture writes it");
            assert!(picture.len() < 300_000, "{file} has {} bytes", picture.len());
            let size = [16, 20].map(|at| u32::from_be_bytes(picture[at..at + 4].try_into().expect("four bytes")));
            assert_eq!((&picture[1..4], size), (&b"PNG"[..], [1000, 1400]), "{file}");
            let text = std::fs::read_to_string(root().join(&shown)).expect("a page");
            assert!(text.contains(&format!("]({})", file.trim_start_matches("docs/"))), "{shown} does not show {file}");
        }
    }
}
