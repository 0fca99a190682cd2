//! How the targets of a load are reached.

use plan::draft::Connection;
use plan::{Draft, Plan, Schema, TargetPolicy};

use super::Load;
use crate::commands::grpc;
use crate::exit::Exit;
use crate::session::consent::{self, Asking, TargetAccess};

impl Load {
    /// Resolves each target, with its TLS client configuration, and sets the plan's target policy. `target_policy`: the
    /// consented policy.
    pub(crate) fn routes(
        &self,
        plan: &mut Plan,
        connection: &Connection,
        target_policy: Option<TargetPolicy>,
    ) -> Result<Vec<TargetAccess>, Exit> {
        let language = self.view.language;
        // A consent for a question that is harmless for any host is none for the load.
        let target_policy = target_policy.filter(|target_policy| *target_policy != TargetPolicy::Anywhere);
        let loads: Vec<String> =
            plan.scenarios.iter().map(|one| consent::load_in_words(&one.load, one.requests_most(), language)).collect();
        let asking = Asking { connection, load: loads.join(language.pick("; ", "；")), language };
        let mut targets = Vec::new();
        for scenario in &mut plan.scenarios {
            let connect_timeout = scenario.steps.first().expect("a scenario has a step").connect_timeout;
            for target in &mut scenario.targets {
                target.target_policy = target_policy.clone().unwrap_or_else(|| target.target_policy.clone());
                targets.push((target, connect_timeout));
            }
        }
        let routes = asking.routes(targets).map_err(|(text, exit)| self.refuse(&text, exit))?;
        let target_policy = plan.scenarios[0].target().target_policy.clone();
        *plan = plan.clone().reaching(&target_policy);
        Ok(routes)
    }

    /// The schema of the target's services, if the plan needs it, and the target policy after consent.
    pub(crate) fn described(&self, draft: &Draft) -> Result<Option<(Schema, TargetPolicy)>, Exit> {
        let say = |wrong: grpc::GrpcCommandError| {
            let (text, exit) = wrong.say(self.view.language);
            self.refuse(&text, exit)
        };
        let Some(mut requested) = draft.reflection().map_err(|error| say(error.into()))? else { return Ok(None) };
        if let Some(load) = &requested.load {
            let load = consent::load_in_words(load, 1, self.view.language);
            let asking = Asking { connection: &draft.connection, load, language: self.view.language };
            let way = asking.way(&mut requested.target, requested.connect_timeout);
            way.map_err(|(text, exit)| self.refuse(&text, exit))?;
        }
        let schema = grpc::reflected(&requested, requested.symbol.as_deref().unwrap_or_default()).map_err(say)?;
        Ok(Some((schema, requested.target.target_policy)))
    }
}
