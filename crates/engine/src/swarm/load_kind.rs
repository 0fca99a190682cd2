//! What kind of load a history is of: what a check may expect depends on it.

use plan::Step;

use super::history::History;
use super::plans::says_goodbye;
use crate::program::CompiledProgram;

impl History {
    /// The compiled program of its users.
    pub(crate) fn code(&self) -> CompiledProgram {
        CompiledProgram::new(&self.scenario().program, self.scenario().steps.len())
    }

    /// Whether the target takes requests on streams, and sends GOAWAY in the middle of them.
    pub(crate) fn is_sent_away(&self) -> bool {
        let scenario = self.scenario();
        let is_it = |step: &Step| scenario.targets[step.target].protocol == plan::Protocol::Http2 && says_goodbye(step);
        scenario.steps.iter().any(is_it)
    }

    /// Whether WebSocket messages are exchanged.
    pub(crate) fn is_messaging(&self) -> bool {
        self.scenario().steps.iter().any(|step| step.messaging.is_some())
    }

    /// Whether its requests are datagrams.
    pub(crate) fn is_over_datagrams(&self) -> bool {
        self.scenario().target().is_datagram()
    }

    /// Whether the steps of a user have different protocols.
    pub(crate) fn is_mixed(&self) -> bool {
        let kind = |step: &Step| (step.messaging.is_some(), step.call.is_some());
        self.scenario().steps.iter().any(|step| kind(step) != kind(&self.scenario().steps[0]))
    }

    /// The repeated gRPC call, if that is the load.
    pub(crate) fn call(&self) -> Option<&plan::Call> {
        self.scenario().steps[0].call.as_ref()
    }
}
