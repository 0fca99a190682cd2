//! Redaction of what is shown or kept of a load. `with_secrets`: nothing is redacted.

use std::sync::{Arc, Mutex, PoisonError};

use engine::RunResult;
use plan::{Credential, FlagDialect, Plan, SecretValues, credential};

/// The plan for views.
pub(crate) fn shown_plan(plan: &Plan, with_secrets: bool) -> Arc<Plan> {
    Arc::new(if with_secrets { plan.clone() } else { plan.without_secrets() })
}

/// A scenario file in which secrets by name are already redacted.
pub(crate) fn file(plan: &Plan, text: &str, with_secrets: bool) -> String {
    if with_secrets {
        return text.to_owned();
    }
    let known = SecretValues::from_plan(plan);
    let line = |line: &str| {
        let mut line = known.hide(line);
        // YAML takes a bare `*` as the name of an alias.
        for end in [",", "}", "]"] {
            line = line.replace(&format!(": {MASK}{end}"), &format!(": \"{MASK}\"{end}"));
        }
        match line.strip_suffix(&format!(": {MASK}")) {
            Some(before) => format!("{before}: \"{MASK}\"\n"),
            None => line + "\n",
        }
    };
    text.lines().map(line).collect()
}

/// The replacement for a secret.
pub(crate) const MASK: &str = "***";

/// Words typed on a page, which replace the command line.
static TYPED: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Sets the typed words.
pub(crate) fn typed(words: Vec<String>) {
    *TYPED.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
}

/// The typed words, without the name of the program.
pub(crate) fn words_typed() -> Vec<String> {
    let typed = TYPED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    typed.unwrap_or_else(|| std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect())
}

/// The command line of a load.
pub(crate) fn command(plan: &Plan, with_secrets: bool) -> Vec<String> {
    let all = words_typed();
    if with_secrets {
        return all;
    }
    let known = SecretValues::from_plan(plan);
    words(&all).iter().map(|word| known.hide(&masked(word))).collect()
}

/// The same for held connections.
pub(crate) fn command_of_hold() -> Vec<String> {
    let all = words_typed();
    let known = SecretValues::from_words(all.iter().map(String::as_str));
    words(&all).iter().map(|word| known.hide(&masked(word))).collect()
}

/// The words of a command line without the values of secret flags, and with redacted export destinations.
fn words(all: &[String]) -> Vec<String> {
    let dialects = FlagDialect::from_words(all.iter().map(String::as_str));
    let (mut before, mut is_next_secret) = ("", false);
    let hidden = all.iter().zip(dialects).map(|(word, dialect)| {
        let flag = std::mem::replace(&mut before, word.as_str());
        let is_secret = std::mem::take(&mut is_next_secret);
        if is_secret {
            return MASK.to_owned();
        }
        match credential(word, dialect) {
            Some(Credential::From(place)) => return format!("{}{MASK}", &word[..place]),
            says_who => is_next_secret = says_who.is_some(),
        }
        let (name, value) = word.split_once('=').filter(|_| word.starts_with("--")).unwrap_or((flag, word));
        let front = &word[..word.len() - value.len()];
        match name {
            "--export" => format!("{front}{}", exported(value)),
            "--vary" => format!("{front}{}", varied(value)),
            _ => word.clone(),
        }
    });
    hidden.collect()
}

/// A varied flag, without its values if it is secret.
fn varied(text: &str) -> String {
    let (name, _) = text.split_once('=').unwrap_or((text, ""));
    let name = name.trim_start_matches('-');
    let is_flag =
        |hyphens: &str| credential(&format!("{hyphens}{name}"), FlagDialect::Onrush) == Some(Credential::Next);
    let is_secret = is_flag("--") || (name.len() == 1 && is_flag("-")) || plan::is_secret_field(name);
    if is_secret { format!("{name}={MASK}") } else { masked(text) }
}

/// An export with its destination as reports show it.
fn exported(text: &str) -> String {
    match export::Export::parse(text) {
        Ok(export) => format!("{}={}", export.kind(), export.place()),
        Err(_) => plan::masked_url(text),
    }
}

/// A word without a secret that a name in it indicates. One that begins with `@` names a file, and is no secret.
fn masked(word: &str) -> String {
    if word.starts_with('@') { plan::masked_header(word) } else { plan::masked_header(&plan::masked_url(word)) }
}

/// The results with redacted server messages.
pub(crate) fn received(plan: &Plan, mut result: RunResult, with_secrets: bool) -> RunResult {
    if !with_secrets {
        let known = SecretValues::from_plan(plan);
        let all = result.per_scenario.iter_mut().chain([&mut result.total]);
        all.for_each(|seen| seen.change_server_texts(|said| known.hide(&plan::masked(said))));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_credentials_lose_their_values() {
        let hidden = |line: &str| {
            let all: Vec<String> = line.split(' ').map(str::to_owned).collect();
            words(&all).iter().map(|word| masked(word)).collect::<Vec<_>>().join(" ")
        };
        for (line, meant) in [
            ("-n 1 -u me:S URL", "-n 1 -u *** URL"),
            ("-ume:S --cookie=c=S -b c=S", "-u*** --cookie=*** -b ***"),
            ("hold URL --user me:S", "hold URL --user ***"),
            ("as ab -A me:S -C x=S URL", "as ab -A *** -C *** URL"),
            ("-A agent URL", "-A agent URL"),
            ("hold -ku me:S URL", "hold -ku *** URL"),
            ("hold -kume:S URL", "hold -ku*** URL"),
            ("sweep --vary c=1,2 -kLu me:S URL", "sweep --vary c=1,2 -kLu *** URL"),
            ("hold -kb c=S URL", "hold -kb *** URL"),
            ("-c 1 curl -sSku me:S URL", "-c 1 curl -sSku *** URL"),
            ("-c 1 curl -sSkLume:S URL", "-c 1 curl -sSkLu*** URL"),
            ("-c 1 curl --oauth2 S URL", "-c 1 curl --oauth2 *** URL"),
            ("-c 1 curl -ou URL", "-c 1 curl -ou URL"),
            ("as ab -kA me:S URL", "as ab -kA *** URL"),
            ("--lang zh as ab -kA me:S URL", "--lang zh as ab -kA *** URL"),
            ("-X u -d u URL", "-X u -d u URL"),
            ("--user=me:S -c 1", "--user=*** -c 1"),
            ("-d @/etc/hostname", "-d @/etc/hostname"),
            ("http://me:S@host/", "http://***@host/"),
        ] {
            assert_eq!(hidden(line), meant);
        }
        assert_eq!(hidden("--vary u=a:b,c:d --vary b=x=y --vary c=1,2"), "--vary u=*** --vary b=*** --vary c=1,2");
        assert_eq!(
            hidden("--vary user=a:b,c:d --vary=password=x,y --vary threads=1"),
            "--vary user=*** --vary=password=*** --vary threads=1"
        );
        let export = hidden("--export influx=http://h:8086/write?db=x&u=me&p=S --export=csv=a.csv");
        assert!(!export.contains("p=S") && export.ends_with("--export=csv=a.csv"), "{export}");
    }
}
