//! How long kept connections are used.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The shortest age of a connection, and the shortest time without a request, after which it is closed.
pub const CONNECTION_TIME_MIN: Duration = Duration::from_millis(10);

/// Limits of kept connections: one that reaches any of them is closed between two requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionLimits {
    /// The highest number of requests on a connection.
    pub requests: Option<u32>,
    /// The longest time from its establishment.
    pub age: Option<Duration>,
    /// The longest time without a request.
    pub idle: Option<Duration>,
}

impl ConnectionLimits {
    /// The flag of the first limit.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        let given = [
            ("--connection-requests", self.requests.is_some()),
            ("--connection-age", self.age.is_some()),
            ("--keepalive-idle", self.idle.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
