use super::*;
use terminal::{Cell, Style};

fn lines(columns: usize, text: &str) -> Vec<Vec<Cell>> {
    let mut terminal = Terminal::new(columns);
    terminal.write(text).expect(text);
    terminal.lines()
}

fn read(line: &[Cell]) -> String {
    let mut text = String::new();
    let mut column = 0;
    for cell in line {
        text.push_str(&" ".repeat(cell.column - column));
        text.push(cell.text);
        column = cell.column + cell.width;
    }
    text
}

#[test]
fn a_terminal_shows_what_a_terminal_shows() {
    for (sent, shown) in [
        ("one\r\ntwo", vec!["one", "two"]),
        ("0s left\r\x1b[K1s", vec!["1s"]),
        ("long\rab", vec!["abng"]),
        ("abc\r\x1b[K\r\nd", vec!["", "d"]),
        ("ab\x1b[K", vec!["ab"]),
        ("ab  \r\n", vec!["ab", ""]),
        ("时间x", vec!["时间x"]),
        // Half of a wide character is removed.
        ("时间\rx", vec!["x 间"]),
        ("a\r间", vec!["间"]),
        ("12345678901", vec!["1234567890", "1"]),
        ("123456789间", vec!["123456789", "间"]),
        ("  a", vec!["  a"]),
        ("", vec![""]),
    ] {
        let lines: Vec<String> = lines(10, sent).iter().map(|line| read(line)).collect();
        assert_eq!(lines, shown, "{sent:?}");
    }
}

#[test]
fn colours_last_until_they_end() {
    let line = &lines(20, "a\x1b[1mb\x1b[31mc\x1b[0md\x1b[1;32me\x1b[mf")[0];
    let style = |is_bold, colour| Style { is_bold, colour };
    let styles: Vec<Style> = line.iter().map(|cell| cell.style).collect();
    let plain = style(false, None);
    assert_eq!(styles, [plain, style(true, None), style(true, Some(1)), plain, style(true, Some(2)), plain]);
}

#[test]
fn what_a_terminal_does_not_know_is_no_picture() {
    for sent in ["\x1b[2J", "\x1b[5m", "\x1b]0;title\x07", "\x1b[1A", "\x07", "\t"] {
        assert!(Terminal::new(10).write(sent).is_err(), "{sent:?}");
    }
}

/// Requirements of GitHub: one picture without external resources, with readable contrast.
fn check(picture: &str) {
    for forbidden in ["<script", "foreignObject", "href", "url(", "@import", "<image", "onload", "<!DOCTYPE", "&nbsp;"]
    {
        assert!(!picture.contains(forbidden), "{forbidden}");
    }
    assert_eq!(picture.matches("<text ").count(), picture.matches("</text>").count());
    for tag in picture.split('<').skip(1) {
        assert!(tag.contains('>') && !tag[tag.find('>').expect("a tag")..][1..].contains('>'), "a bare sign: {tag}");
    }
    for entity in picture.split('&').skip(1) {
        assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)), "a bare sign: {entity}");
    }
    assert!(picture.contains("<title>") && picture.contains("role=\"img\"") && picture.contains(",monospace"));
    assert!(picture.contains("<rect width=\"100%\" height=\"100%\""), "it has no ground of its own");
}

#[test]
fn pictures_are_text_in_its_place() {
    let picture = draw("a<b && \"c\"\r\n\r\n  \x1b[31mred\x1b[0m 时间 x\r\n\r\nleft out\r\n\r\n").expect("it is known");
    check(&picture);
    assert!(
        picture.contains("y=\"29\" textLength=\"84.0\"") && picture.contains(">a&lt;b &amp;&amp; &quot;c&quot;<"),
        "{picture}"
    );
    // Two columns in, on the third line; wide characters begin at their columns.
    assert!(
        picture.contains("x=\"32.8\" y=\"65\" textLength=\"25.2\"") && picture.contains(" class=\"c1\">red<"),
        "{picture}"
    );
    assert!(picture.contains("x=\"66.4\" y=\"65\" textLength=\"33.6\"") && picture.contains(">时间<"), "{picture}");
    assert!(picture.contains("x=\"108.4\" y=\"65\" textLength=\"8.4\""), "{picture}");
    assert!(picture.contains(".c1{fill:#") && !picture.contains(".c2{"), "{picture}");
}

/// WCAG 2, 1.4.3.
#[test]
fn colours_can_be_read() {
    let luminance = |colour: &str| {
        let part = |from: usize| {
            let part = f64::from(u8::from_str_radix(&colour[from..from + 2], 16).expect("a colour")) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    };
    let ground = luminance(svg::GROUND);
    for colour in svg::COLOURS.iter().chain(&[svg::TEXT]) {
        let contrast = (luminance(colour) + 0.05) / (ground + 0.05);
        assert!(contrast >= 4.5, "{colour} has {contrast:.1} to 1");
    }
}

/// The stored pictures show the current program.
#[test]
fn kept_pictures_are_of_this_program() {
    for (file, language) in PICTURES {
        let picture = std::fs::read_to_string(root().join(file)).expect("cargo xtask picture writes it");
        check(&picture);
        assert!(picture.len() < 40_000, "{file} has {} bytes", picture.len());
        assert!(picture.contains(&format!(">$ {COMMAND}<")), "{file} is of another command: cargo xtask picture");
        let texts: Vec<String> = picture.split("xml:space=\"preserve\"").skip(1).map(text_of).collect();
        let readme = if language == "en" { "README.md" } else { "README.zh.md" };
        let readme = std::fs::read_to_string(root().join(readme)).expect("a page");
        assert!(
            readme.contains(&format!("]({file})")) && readme.contains(&format!("$ {COMMAND}")),
            "README shows {file}"
        );
        // The texts of the screens that tests expect at the same width.
        let screens = root().join(format!("crates/report/screens/{language}-{COLUMNS}.txt"));
        let screens = std::fs::read_to_string(screens).expect("it is kept");
        let labels = if language == "en" {
            ["Verdict", "Requests/s", "Success", "Response time"]
        } else {
            ["结论", "QPS", "成功率", "响应时间"]
        };
        for label in labels {
            assert!(screens.contains(label), "the program does not say {label} any more");
            assert!(texts.iter().any(|text| text.contains(label)), "{file} does not show {label}: cargo xtask picture");
        }
    }
}

fn text_of(tag: &str) -> String {
    tag.split_once('>').and_then(|(_, text)| text.split_once('<')).map_or(String::new(), |(text, _)| text.to_owned())
}
