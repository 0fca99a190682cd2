//! What commands carry, and how often it is in memory.

use std::path::PathBuf;
use std::sync::Arc;

use crate::{Flags, SHARED_BYTES_MIN};

/// A file that goes with the value.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Requests of all steps, and of their ways: the same bytes are there once.
#[test]
fn what_a_command_carries_is_there_once() {
    let path = std::env::temp_dir().join(format!("onrush-plan-large-{}", std::process::id()));
    let content = b"a line of it\n".repeat(2 * SHARED_BYTES_MIN / 13);
    std::fs::write(&path, &content).expect("it is written");
    let file = File(path);
    let name = file.0.display();
    let stripped = content.iter().copied().filter(|byte| *byte != b'\n').collect::<Vec<_>>();
    let cases = [
        (format!("-d @{name}"), stripped.clone()),
        (format!("-d a=1 -d @{name} -d b=2"), [b"a=1&", &stripped[..], b"&b=2"].concat()),
        (format!("--data-binary @{name}"), content.clone()),
        (format!("-X PUT --json @{name}"), content.clone()),
        (format!("-F a=@{name}"), content.clone()),
        (format!("-F x=y -F a=@{name} -F b=<{name}"), content.clone()),
    ];
    for (words, expect) in cases {
        let urls = ["http://a/1", "http://a/2"].map(str::to_owned);
        let command = std::iter::once("-L".to_owned()).chain(words.split(' ').map(str::to_owned)).chain(urls);
        let curl = Some(command.map(String::into_bytes).collect());
        let plan = Flags { curl, ..Flags::default() }.plan().expect("a good command");
        let steps = &plan.scenarios[0].steps;
        assert_eq!(steps.len(), 2, "{words}");
        let first = steps[0].request.body.shared().expect("it is large");
        for step in steps {
            let form = &step.follow.as_ref().expect("it follows").form;
            for body in [&step.request.body, &form.body] {
                assert!(Arc::ptr_eq(body.shared().expect("it is large"), first), "{words}");
            }
        }
        assert_eq!(Arc::strong_count(first), 4, "{words}: nobody else has it");
        let is_form = words.contains("-F");
        let found = first.windows(expect.len()).any(|window| window == expect);
        assert!(if is_form { found } else { **first == expect }, "{words}");
        let slack = first.capacity() - first.len();
        assert!(slack <= first.len() + 64, "{words}: room for {slack} bytes more");
    }
    // A file that is put somewhere is read for each place.
    let command = format!("-T {name} http://a/1").split(' ').map(|word| word.as_bytes().to_vec()).collect();
    let plan = Flags { curl: Some(command), ..Flags::default() }.plan().expect("a good command");
    let body = plan.scenarios[0].steps[0].request.body.shared().expect("it is large");
    assert_eq!((&**body, Arc::strong_count(body)), (&content, 1));
    // That of a flag, too.
    let flags = Flags { url: Some("http://a/".to_owned()), data: Some(format!("@{name}")), ..Flags::default() };
    let plan = flags.plan().expect("good flags");
    let body = plan.scenarios[0].steps[0].request.body.shared().expect("it is large");
    assert_eq!((&**body, Arc::strong_count(body)), (&content, 1));
    assert_eq!(plan.clone(), plan);
}
