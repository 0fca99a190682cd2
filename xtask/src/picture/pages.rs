//! Pictures of the HTML report and of the web page: of a real run, as a browser without a window shows them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::{Failure, install, root};

/// Two scenarios of a minute: one at a rate, one of users that come and go.
const SCENARIOS: &str = r#"target: http://127.0.0.1:8080
scenarios:
  browse:
    load: {rate: ["50:10s", "200:20s", "200:20s", "50:10s"]}
    steps:
      - get: /delay/lognormal/12,0.4
  buy:
    load: {users: ["5:20s", "30:20s", "10:20s"]}
    steps:
      - get: /delay/lognormal/20,0.3
      - get: /items/7
      - think: 100ms
thresholds: ["p99(response_time) < 100ms", "failed / done < 1%"]
run: {seed: 7}
"#;
/// When the web page is shown: in the middle of the run.
const WATCHED_AFTER: Duration = Duration::from_secs(35);
/// Of a window, in pixels.
const SIZE: &str = "1000,1400";
/// How long a page may run its scripts before it is shown, in milliseconds of its own time.
const SCRIPTS_MS: &str = "5000";

/// The pictures of a language.
pub(super) struct PagePictures {
    pub(super) language: &'static str,
    pub(super) report: &'static str,
    pub(super) page: &'static str,
    /// As the setting of the browser writes it: 0 is dark, 1 is light.
    pub(super) colours: &'static str,
}

/// English in light colours, Chinese in dark ones.
pub(super) const PAGES: [PagePictures; 2] = [
    PagePictures { language: "en", report: "docs/report.png", page: "docs/page.png", colours: "1" },
    PagePictures { language: "zh", report: "docs/report.zh.png", page: "docs/page.zh.png", colours: "0" },
];

/// Runs the load in each language, and shows its page and its report. The server listens already.
pub(super) fn pictures(binary: &Path) -> Result<(), Failure> {
    install::ensure("chromium", "chromium", &["/usr/bin/chromium"])?;
    install::ensure(
        "a font with Chinese letters",
        "fonts-wqy-zenhei",
        &["/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc"],
    )?;
    let folder = root().join("target/pictures");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    write(&folder.join("shop.yaml"), SCENARIOS)?;
    PAGES.iter().try_for_each(|pages| pictures_of(pages, binary, &folder))
}

fn pictures_of(pages: &PagePictures, binary: &Path, folder: &Path) -> Result<(), Failure> {
    let shown = folder.join("shown.png");
    // The browser takes time of the cores, so the run that is watched is not the one that is reported.
    watch(pages, binary, folder, &shown)?;
    keep(&shown, pages.page)?;
    let html = report(pages, binary, folder)?;
    show(&format!("file://{html}"), &shown, pages)?;
    keep(&shown, pages.report)
}

/// Shows the web page of a run that goes on, and ends the run.
fn watch(pages: &PagePictures, binary: &Path, folder: &Path, shown: &Path) -> Result<(), Failure> {
    let mut run = Running(
        load(pages, binary, folder)
            .args(["--web", "--web-listen", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", binary.display()))?,
    );
    let link = link(&mut run.0)?;
    std::thread::sleep(WATCHED_AFTER);
    show(&link, shown, pages)
}

/// Runs the load to its end: the path of its page.
fn report(pages: &PagePictures, binary: &Path, folder: &Path) -> Result<String, Failure> {
    let [html, json] = ["html", "json"].map(|end| folder.join(format!("report.{}.{end}", pages.language)));
    for old in [&html, &json] {
        // There is none the first time.
        let _ = std::fs::remove_file(old);
    }
    let ended = load(pages, binary, folder).arg("--html").arg(&html).arg("--json").arg(&json).status();
    let ended = ended.map_err(|error| format!("{}: {error}", binary.display()))?;
    if !ended.success() {
        return Err(format!("the run ended with {ended}"));
    }
    let report = std::fs::read_to_string(&json).map_err(|error| format!("{}: {error}", json.display()))?;
    // A stall of this machine is not what the picture is for.
    match is_disturbed(&report)? {
        true => Err(format!(
            "this machine disturbed the run, so {} stays as it was; try again when it is quiet",
            pages.report
        )),
        false => Ok(html.display().to_string()),
    }
}

/// The run, without its last flags.
fn load(pages: &PagePictures, binary: &Path, folder: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["run", "shop.yaml", "--no-save", "--quiet", "--lang", pages.language]);
    command.current_dir(folder).stdout(Stdio::null());
    command
}

/// Puts a picture to its place.
fn keep(shown: &Path, place: &str) -> Result<(), Failure> {
    std::fs::copy(shown, root().join(place)).map_err(|error| format!("{place}: {error}"))?;
    println!("{place}");
    Ok(())
}

/// A run of ours; it ends with the value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The link that a run prints; what follows on its stderr is read and forgotten.
fn link(run: &mut Child) -> Result<String, Failure> {
    let mut lines = BufReader::new(run.stderr.take().ok_or("no pipe")?).lines();
    let mut said = String::new();
    for line in lines.by_ref() {
        let line = line.map_err(|error| error.to_string())?;
        if let Some(link) = link_in(&line) {
            std::thread::spawn(move || lines.for_each(drop));
            return Ok(link.to_owned());
        }
        said += &line;
    }
    Err(format!("the run named no page: {said}"))
}

/// The address of a page with its token, in a line that a run prints.
fn link_in(line: &str) -> Option<&str> {
    let link = &line[line.find("http://127.0.0.1:")?..];
    let link = link.split_whitespace().next()?;
    link.contains("#token=").then_some(link)
}

/// Whether stalls of this machine made the result of a run unreliable.
fn is_disturbed(report: &str) -> Result<bool, Failure> {
    let report: serde_json::Value = serde_json::from_str(report).map_err(|error| format!("the report: {error}"))?;
    report["verdict"]["is_unreliable"]
        .as_bool()
        .ok_or_else(|| "the report does not say whether it is reliable".to_owned())
}

/// Shows an address in a browser, and keeps what it shows.
fn show(address: &str, file: &Path, pages: &PagePictures) -> Result<(), Failure> {
    let mut browser = Command::new("chromium");
    browser
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .arg(format!("--lang={}", pages.language))
        .arg(format!("--accept-lang={}", pages.language))
        .arg(format!("--blink-settings=preferredColorScheme={}", pages.colours))
        .arg(format!("--virtual-time-budget={SCRIPTS_MS}"))
        .arg(format!("--window-size={SIZE}"))
        .arg(format!("--screenshot={}", file.display()))
        .arg(address);
    let done = browser.stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let done = done.map_err(|error| format!("chromium does not start: {error}"))?;
    match done.status.success() && file.exists() {
        true => Ok(()),
        false => Err(format!("chromium: {}", String::from_utf8_lossy(&done.stderr))),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests;
