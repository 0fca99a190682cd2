//! How the connections to each target are made: to which addresses, which are looked up again, and with what TLS.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use plan::{LookupAgain, Plan, Target};
use wire::tls::ClientConfig;

use super::RunOptions;
use crate::names::AddressSet;

/// How the connections to a target are made.
#[derive(Clone, Debug)]
pub(super) struct TargetRoute {
    /// Its addresses, at least one.
    pub(super) addresses: Vec<SocketAddr>,
    /// Where they are looked up again.
    pub(super) name: Option<Arc<AddressSet>>,
    pub(super) tls: Option<ClientConfig>,
}

impl TargetRoute {
    /// A target with one address.
    pub(super) fn to(address: SocketAddr, tls: Option<ClientConfig>) -> Self {
        Self { addresses: vec![address], name: None, tls }
    }
}

/// The routes to all targets of a plan, in their order, and the names that are looked up again. Targets with the same name
/// share its addresses.
pub(super) fn routes(plan: &Plan, options: &RunOptions) -> (Vec<TargetRoute>, Vec<Arc<AddressSet>>) {
    let first = (options.address, options.tls.clone());
    let single = std::iter::once(first).chain(options.others.iter().cloned());
    let mut routes: Vec<TargetRoute> = single.map(|(address, tls)| TargetRoute::to(address, tls)).collect();
    let mut names: Vec<Arc<AddressSet>> = Vec::new();
    let targets = plan.scenarios.iter().flat_map(|scenario| &scenario.targets);
    for ((route, addresses), target) in routes.iter_mut().zip(&options.names).zip(targets) {
        if addresses.is_empty() {
            continue;
        }
        route.addresses.clone_from(addresses);
        if !is_looked_up_again(target) {
            continue;
        }
        let fits = names.iter().find(|set| set.fits(target) && *set.addresses() == **addresses).cloned();
        route.name = Some(fits.unwrap_or_else(|| {
            names.push(Arc::new(AddressSet::new(target, addresses)));
            names[names.len() - 1].clone()
        }));
    }
    (routes, names)
}

/// Whether the name of a target may move: it is no address, not this machine, and no addresses are given in its place.
pub(crate) fn is_looked_up_again(target: &Target) -> bool {
    let (host, _) = target.dialed();
    let is_given = target.unix.is_some() || !target.places.is_empty() || host.parse::<IpAddr>().is_ok();
    !is_given && target.names.again != LookupAgain::Never && plan::is_name_of_others(host)
}
