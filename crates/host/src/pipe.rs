//! Named pipes and devices as outputs.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Maximum time to wait for a reader of a pipe.
const PIPE_WAIT_MAX: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);
/// `O_NONBLOCK` on Linux: opening a pipe without a reader fails instead of waiting.
const NONBLOCK: i32 = 0o4000;
/// `ENXIO`: the pipe has no reader.
const NO_READER: i32 = 6;

/// Opens an existing pipe or device for writing. Opening a pipe waits for its reader, but not forever.
///
/// # Errors
/// It cannot be opened, or there is no reader.
pub fn open_special(path: &Path) -> Result<File, Error> {
    open_within(path, PIPE_WAIT_MAX)
}

fn open_within(path: &Path, wait: Duration) -> Result<File, Error> {
    let begun = Instant::now();
    loop {
        match OpenOptions::new().write(true).custom_flags(NONBLOCK).open(path) {
            // There is a reader, so this does not block; writes may.
            Ok(_reader_is_there) => return OpenOptions::new().write(true).open(path),
            Err(error) if error.raw_os_error() == Some(NO_READER) => {
                if begun.elapsed() > wait {
                    return Err(Error::new(ErrorKind::NotConnected, "nobody reads this pipe"));
                }
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_waits_for_its_reader_and_not_for_ever() {
        let path = std::env::temp_dir().join(format!("onrush-pipe-{}", std::process::id()));
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo starts").success());
        let alone = open_within(&path, Duration::ZERO).expect_err("nobody reads it");
        assert_eq!(alone.kind(), ErrorKind::NotConnected);
        let from = path.clone();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            File::open(from).and_then(|mut file| file.read_to_string(&mut text)).map(|_| text)
        });
        let mut file = open_within(&path, Duration::from_secs(3_600)).expect("somebody reads it");
        file.write_all(b"all of it").expect("it is read");
        drop(file);
        assert_eq!(reader.join().expect("it ends").expect("it reads"), "all of it");
        std::fs::remove_file(&path).expect("it is there");
    }
}
