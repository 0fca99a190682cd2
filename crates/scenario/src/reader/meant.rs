//! Suggestions for unknown keys: one of similar spelling, one of another program, or one of another object.

use plan::did_you_mean;

use crate::keys::{CHOICE, DATA, DEFAULTS, EXPECT, FILE, LOAD, NETWORK, Object, RECEIVE, RUN, SCENARIO, TAKE, steps};

/// Words of other programs, and their names here.
const WORDS: [(&str, &[&str]); 28] = [
    ("users", &["vus", "virtual_users", "concurrency", "threads", "vu"]),
    ("for", &["duration", "time"]),
    ("rate", &["rps", "qps", "tps", "arrival_rate"]),
    ("iterations_per_user", &["loops", "iterations_each"]),
    ("ramp", &["ramp_up", "rampup", "ramp_time"]),
    ("target", &["url", "base_url", "baseurl", "host"]),
    ("vars", &["variables", "env"]),
    ("data", &["feeders", "csv", "datasets"]),
    ("setup", &["before"]),
    ("teardown", &["after"]),
    ("on_start", &["start", "setup", "before"]),
    ("on_stop", &["stop", "teardown", "after"]),
    ("steps", &["requests", "flow", "tasks"]),
    ("extract", &["take", "capture", "extractors", "save"]),
    ("expect", &["assert", "asserts", "assertions", "check", "checks", "validate"]),
    ("think", &["sleep", "wait", "pause", "delay"]),
    ("repeat", &["loop"]),
    ("on_failure", &["on_error"]),
    ("form", &["form_data", "urlencoded"]),
    ("json", &["body_json", "json_body"]),
    ("barrier", &["meet", "rendezvous_point"]),
    ("pacing", &["every"]),
    ("start_after", &["begin", "delay_start"]),
    ("carry_state", &["keep"]),
    ("max_rounds", &["most"]),
    ("order", &["pick"]),
    ("sharing", &["share"]),
    ("on_end", &["at_end"]),
];

/// The key that was probably meant.
pub(crate) fn meant<'k>(key: &str, known: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    let lower = key.to_ascii_lowercase().replace('-', "_");
    let same = known.clone().find(|known| *known == lower);
    same.or_else(|| did_you_mean(key, known.clone())).or_else(|| {
        let of_others = WORDS.iter().filter(|(_, words)| words.contains(&lower.as_str())).map(|(word, _)| *word);
        of_others.into_iter().find_map(|word| known.clone().find(|known| *known == word))
    })
}

/// The object that a key belongs to, if `object` does not have it.
pub(crate) fn home(key: &str, object: &Object) -> Option<&'static Object> {
    const PLACES: [&Object; 6] = [&LOAD, &RUN, &DEFAULTS, &NETWORK, &SCENARIO, &FILE];
    const WITHIN: [&Object; 5] = [&EXPECT, &TAKE, &RECEIVE, &DATA, &CHOICE];
    // These have a different meaning in each object.
    const MANY: [&str; 9] = ["name", "json", "file", "key", "text", "type", "log", "hdr", "weight"];
    if MANY.contains(&key) {
        return None;
    }
    let has = |place: &&'static Object| place.id != object.id && place.field(key).is_some();
    let step = steps().find(|step| step.id == key);
    PLACES.into_iter().find(has).or(step).or_else(|| {
        let is_step = steps().any(|step| step.id == object.id);
        let of_step = steps().filter(|_| !is_step).find(|step| step.field(key).is_some());
        WITHIN.into_iter().filter(|_| is_step).find(has).or(of_step)
    })
}
