//! The log of `--log`: a line for each exchange, written by a thread of its own, so that no shard waits for a disk.

use std::path::Path;
use std::thread::JoinHandle;

use engine::{LogFilter, LogReader, LogSink, RequestLogConfig};
use plan::{Need, PlanError, parse_count, parse_share};
use report::{LOG_COLUMNS, Language, LogStyle, StepName};

use crate::options::args::LogArgs;
use crate::output;
use crate::session::files::{NotWritten, OutputFile};

/// The default random seed.
const SEED_DEFAULT: u64 = 1;

/// The options of the request log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracing {
    slowest: usize,
    log: Option<(String, LogFilter)>,
}

impl Tracing {
    /// Reads the flags.
    pub(crate) fn new(args: &LogArgs, seed: Option<&str>) -> Result<Self, PlanError> {
        let slowest =
            args.slowest.as_deref().map(|text| parse_count("--slowest", text, 1, metrics::SLOWEST_MAX as u64));
        let slowest = slowest.transpose()?.unwrap_or(0) as usize;
        let Some(path) = args.log.clone() else {
            let without = [("--log-only", args.log_only.is_some()), ("--log-share", args.log_share.is_some())];
            return match without.into_iter().find(|(_, is_given)| *is_given) {
                Some((flag, _)) => Err(PlanError::Needs { flag, needed: Need::Log }),
                None => Ok(Self { slowest, log: None }),
            };
        };
        let share = args.log_share.as_deref().map(|text| parse_share("--log-share", text)).transpose()?;
        let seed = seed.map(|text| parse_count("--seed", text, 0, u64::MAX)).transpose()?;
        let options = LogFilter {
            only_failed: args.log_only.is_some(),
            per_million: share.unwrap_or(1_000_000),
            seed: seed.unwrap_or(SEED_DEFAULT),
        };
        Ok(Self { slowest, log: Some((path, options)) })
    }

    /// The path of the log.
    pub(crate) fn path(&self) -> Option<&str> {
        self.log.as_ref().map(|(path, _)| path.as_str())
    }

    /// Whether there is a log.
    pub(crate) fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    /// Opens the file, and begins to write records.
    pub(crate) fn begin(&self, steps: Vec<StepName>) -> Result<(RequestLogConfig, Option<Writing>), NotWritten> {
        let Some((path, options)) = &self.log else {
            return Ok((RequestLogConfig { slowest: self.slowest, log: None }, None));
        };
        let place = OutputFile::open(Path::new(path))?;
        let (pipe, reader) = LogSink::new(*options);
        let style = LogStyle { is_csv: Path::new(path).extension().is_some_and(|ending| ending == "csv"), steps };
        let thread = std::thread::Builder::new().name("log".to_owned()).spawn(move || write(place, &reader, &style));
        let thread = thread.map_err(|error| (path.clone(), error))?;
        let log_config = RequestLogConfig { slowest: self.slowest, log: Some(pipe.clone()) };
        Ok((log_config, Some(Writing { pipe, thread })))
    }
}

/// A log that is being written.
pub(crate) struct Writing {
    pipe: LogSink,
    thread: JoinHandle<(u64, Result<(), NotWritten>)>,
}

impl Writing {
    /// Writes the rest after the load, and reports missing records. False when the file could not be written.
    pub(crate) fn finish(self, language: Language) -> bool {
        self.pipe.end();
        let (left_out, written) = self.thread.join().expect("the log does not panic");
        if left_out > 0 {
            output::note(&language.pick(
                format!("onrush: requests that the log has no line for: {left_out}; they ended faster than lines are written; --log-share 10% writes fewer"),
                format!("onrush: 日志缺少 {left_out} 个请求：请求结束得比写入快；可用 --log-share 10% 减少写入"),
            ));
        }
        match written {
            Ok(()) => true,
            Err((path, error)) => {
                output::complain(&output::cannot_write(&path, &error, language));
                false
            }
        }
    }
}

/// Writes records. After a failure the rest is read all the same, so that the load is not disturbed.
fn write(mut place: OutputFile, reader: &LogReader, style: &LogStyle) -> (u64, Result<(), NotWritten>) {
    let (mut text, mut bytes, mut failure) = (String::new(), 0, None);
    if style.is_csv {
        text = format!("{LOG_COLUMNS}\n");
    }
    loop {
        if failure.is_none() && !text.is_empty() {
            bytes += text.len() as u64;
            failure = place.write(&text).err();
        }
        text.clear();
        let Some(batch) = reader.next_batch() else { break };
        let began = reader.began_unix();
        if failure.is_none() {
            batch.lines().iter().for_each(|line| style.line(line, began, &mut text));
        }
    }
    let written = match failure {
        Some(error) => Err(place.not_written(error)),
        None => place.end(bytes),
    };
    (reader.left_out(), written)
}
