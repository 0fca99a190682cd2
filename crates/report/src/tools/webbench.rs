//! webbench.

use plan::WebbenchSettings;

use super::{Faults, Pages, responses};
use figures::Run;

pub(super) fn begin(settings: &WebbenchSettings) -> Pages {
    let clients = if settings.clients == 1 { "1 client".to_owned() } else { format!("{} clients", settings.clients) };
    let reload = if settings.reloads { ", forcing reload" } else { "" };
    Pages {
        stdout: format!(
            "\nRequest:\n{}\nRuning info: {clients}, running {} sec{reload}.\n",
            plan::masked(&settings.request),
            settings.duration_s
        ),
        stderr: "Webbench - Simple Web Benchmark 1.5\nCopyright (c) Radim Kolar 1997-2004, GPL Open Source Software.\n"
            .to_owned(),
        files: Vec::new(),
    }
}

pub(super) fn finish(_: &WebbenchSettings, run: &Run) -> Pages {
    let (good, failed) = (responses(run), Faults::new(&run.tally).all());
    let seconds = run.wall.as_secs_f64().max(1e-9);
    let pages_per_minute = ((good + failed) as f64 / seconds * 60.0) as u64;
    let bytes_per_s = (run.tally.bytes_received() as f64 / seconds) as u64;
    let stdout = format!(
        "\nSpeed={pages_per_minute} pages/min, {bytes_per_s} bytes/sec.\nRequests: {good} susceed, {failed} failed.\n"
    );
    Pages { stdout, ..Pages::default() }
}
