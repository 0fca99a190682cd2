use plan::{Flags, Tool, ToolRun};

/// Any text as a file with curl commands, any words as a command line of another tool: parsed or refused, never a
/// panic.
pub fn curl(input: &[u8]) {
    let _ = plan::curl_words(input);
    // No file of this machine is opened: words that name one are left out.
    let names_file = |word: &&[u8]| word.iter().any(|byte| b"@<".contains(byte)) || word.starts_with(b"-");
    let words: Vec<Vec<u8>> = input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let is_safe = |word: &Vec<u8>| {
        let named = [&b"-T"[..], b"--up", b"-b", b"--coo", b"--ce", b"-E", b"--k", b"--ca", b"-K"];
        !word.iter().any(|byte| b"@<".contains(byte))
            && !named.iter().any(|name| word.starts_with(name))
            && !is_cluster(word)
    };
    if words.iter().all(is_safe) {
        let flags = Flags { curl: Some(words.clone()), ..Flags::default() };
        let _ = flags.plan();
    }
    let text: Vec<String> = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    if !words.iter().any(|word| names_file(&word.as_slice()) && word.len() > 2 && !word.starts_with(b"--")) {
        for tool in Tool::ALL {
            let opens = |word: &String| ["-p", "-u", "-D", "-d", "-F", "--form", "-E", "-s"].contains(&word.as_str());
            if !text.iter().any(opens) {
                let _ = ToolRun::parse(tool, &text, "fuzz");
            }
        }
    }
}

/// Whether combined short flags may contain one that opens a file.
fn is_cluster(word: &[u8]) -> bool {
    word.len() > 2 && word[0] == b'-' && word[1] != b'-'
}
