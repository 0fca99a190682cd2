//! Lowering of steps that change cookies: they belong to the host of the scenario's target.

use plan::{AssignedTo, Assignment, Node, ValuePattern};

use super::nodes::Nodes;
use super::urls::Scheme;
use crate::diagnostic::Problem;
use crate::file::{CookieChange, Step};

impl Nodes<'_, '_> {
    /// A change of cookies. Errors are reported, and give no node.
    pub(super) fn cookies(&mut self, step: &Step, change: &CookieChange) -> Option<Node> {
        self.dynamic_parts.naming.at = step.at;
        let made = self.assigned_cookies(change);
        self.dynamic_parts.reported(step.at, made).map(Node::Set)
    }

    fn assigned_cookies(&mut self, change: &CookieChange) -> Result<Vec<Assignment>, Problem> {
        let nothing = ValuePattern::Constant(plan::Value::Null);
        let clear = Assignment { to: AssignedTo::NoCookies, name: "cookies".to_owned(), value: nothing };
        let mut all: Vec<Assignment> = change.clear.then_some(clear).into_iter().collect();
        if change.set.is_empty() {
            return Ok(all);
        }
        // They are found again by the host that the target has in requests.
        let mut draft = self.dynamic_parts.draft();
        let base = self.dynamic_parts.base(Scheme::Http)?;
        self.dynamic_parts.go_to(&mut draft, &base)?;
        let (target, _) = draft.part(None, false)?;
        for (name, value) in &change.set {
            let value = ValuePattern::Slot(self.dynamic_parts.naming.rendering(value)?);
            let to = AssignedTo::Cookie { host: target.host.clone(), is_tls: target.tls.is_some() };
            all.push(Assignment { to, name: name.clone(), value });
        }
        Ok(all)
    }
}
