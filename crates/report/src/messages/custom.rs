//! Failures of custom protocols: cause and remedy, as the protocol says them.

use metrics::CUSTOM_FAILURES_EACH;
use protocol::{OwnFailure, Phrase, Protocol};

use crate::Language;

/// Cause and remedy of the failure with this number.
pub(super) fn remedy(number: u8, language: Language) -> String {
    text(own_failure(number, protocol::registered()), language)
}

/// The section of the page `why` that explains the failure with this number.
pub(super) fn section(number: u8) -> Option<&'static str> {
    own_failure(number, protocol::registered())?.section
}

/// The same of a silence of servers.
pub(super) fn silence_section(request: &plan::CustomRequest) -> Option<&'static str> {
    protocol::by_name(&request.protocol)?.silence_section()
}

/// Why no response may come to requests of a protocol.
pub(super) fn silence(request: &plan::CustomRequest) -> Option<Phrase> {
    protocol::by_name(&request.protocol)?.silence()
}

/// The failure with this number, where these protocols are registered.
fn own_failure(number: u8, registered: &[&dyn Protocol]) -> Option<&'static OwnFailure> {
    let number = usize::from(number);
    let protocol = registered.get(number / CUSTOM_FAILURES_EACH)?;
    protocol.about().failures.get(number % CUSTOM_FAILURES_EACH)
}

fn text(failure: Option<&OwnFailure>, language: Language) -> String {
    match failure {
        Some(OwnFailure { cause, remedy, .. }) => {
            language.pick(format!("{}; {}", cause.en, remedy.en), format!("{}；{}", cause.zh, remedy.zh))
        }
        None => language
            .pick("the server broke the protocol; look at its log", "服务端违反了协议；请查看服务端日志")
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use metrics::{Class, Stage};
    use protocol::{About, Endpoint, Mistake, Phrase, Request, StepFields};

    use super::*;

    struct Own(&'static About);

    impl Protocol for Own {
        fn about(&self) -> &'static About {
            self.0
        }

        fn prepare(&self, _: &Endpoint, _: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake> {
            Err(Mistake { key: None, en: String::new(), zh: String::new() })
        }
    }

    const fn about(name: &'static str, failures: &'static [OwnFailure]) -> About {
        let help = Phrase { en: "", zh: "" };
        About { name, title: name, help, schemes: &[], keys: &[], main_key: "", failures }
    }

    const fn failure(name: &'static str, cause: Phrase) -> OwnFailure {
        let remedy = Phrase { en: "look at its log", zh: "请查看其日志" };
        OwnFailure { name, class: Class::FailedUnanswered, stage: Stage::Exchanging, cause, remedy, section: None }
    }

    static FIRST: About = about("first", &[]);
    static SECOND: About = about(
        "second",
        &[
            failure("second-cut", Phrase { en: "a frame is cut", zh: "帧不完整" }),
            failure("second-sum", Phrase { en: "a checksum is wrong", zh: "校验和错误" }),
        ],
    );

    /// Nothing is registered: that would be seen by all tests of this process.
    #[test]
    fn each_failure_has_the_texts_of_its_protocol() {
        let (first, second) = (Own(&FIRST), Own(&SECOND));
        let said = |number: usize, language| text(own_failure(number as u8, &[&first, &second]), language);
        assert_eq!(said(CUSTOM_FAILURES_EACH, Language::En), "a frame is cut; look at its log");
        assert_eq!(said(CUSTOM_FAILURES_EACH + 1, Language::En), "a checksum is wrong; look at its log");
        assert_eq!(said(CUSTOM_FAILURES_EACH + 1, Language::Zh), "校验和错误；请查看其日志");
        for unknown in [0, CUSTOM_FAILURES_EACH + 2, 2 * CUSTOM_FAILURES_EACH, 255] {
            assert_eq!(said(unknown, Language::En), "the server broke the protocol; look at its log");
            assert_eq!(said(unknown, Language::Zh), "服务端违反了协议；请查看服务端日志");
        }
    }
}
