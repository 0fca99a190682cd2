//! The location of journals of cluster runs.

use std::path::PathBuf;

use cluster::journal::Journals;
use report::Language;

use crate::exit::Exit;
use crate::session::artifacts;

/// The value that disables journals.
const NOWHERE: &str = "none";

/// The location of journals: as given, or the default. `is_on_bus`: the run uses a bus of many machines.
pub(crate) fn journals(
    given: Option<&str>,
    is_on_bus: bool,
    language: Language,
) -> Result<Option<Journals>, (String, Exit)> {
    let home = match given {
        Some(_) if !is_on_bus => {
            let text = language.pick(
                "--journal needs a bus of many machines, like --join nats://HOST:4222/NAME",
                "--journal 需要多台机器共用的总线，如 --join nats://主机:4222/名称",
            );
            return Err((text.to_owned(), Exit::Usage));
        }
        Some("") => {
            let text = language.pick("--journal wants a folder, or none", "--journal 需要一个目录，或 none");
            return Err((text.to_owned(), Exit::Usage));
        }
        Some(NOWHERE) => None,
        Some(folder) => Some(PathBuf::from(folder)),
        // The default location may be missing: then there is no journal, since none was requested.
        None if is_on_bus => artifacts::runs(language).ok().map(|runs| runs.home().with_file_name("journals")),
        None => None,
    };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Ok(home.map(|home| Journals { home, version, stamp: report::utc_stamp }))
}

/// The message that a journal is not kept.
pub(crate) fn not_kept(path: &str, reason: Option<&str>, language: Language) -> String {
    let place = if path.is_empty() { String::new() } else { format!("{path}{}", language.pick(": ", "：")) };
    match reason {
        Some(reason) => language.pick(
            format!("what is told is not kept on this disk any more: {place}{reason}; the run goes on; make room there, or say another place with --journal DIR"),
            format!("数据不再另存到本机磁盘：{place}{}；压测继续；请腾出空间，或用 --journal DIR 指定其他目录", report::in_chinese(reason)),
        ),
        None => language.pick(
            format!("what is told is not kept on this disk any more: {place}it does not keep up; the run goes on; --journal DIR says another place"),
            format!("数据不再另存到本机磁盘：{place}磁盘写入跟不上；压测继续；可用 --journal DIR 指定其他目录"),
        ),
    }
}
