//! Handshakes of WebSocket: which channel a path leads to, and the responses to those that are refused.

use pacing::Nanos;
use wire::http1::fields;
use wire::websocket::{HandshakeFault, Offered};

use crate::commands;
use crate::messaging::Channel;
use crate::routes::Route;
use crate::shop::{ShopRequest, room_status};
use crate::tools::Tools;

/// Where rooms are.
const ROOMS: &str = "/room/";

/// Why a handshake is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeRefusal {
    /// Its version is not supported.
    Version,
    /// It has no valid key, or the room has no valid number.
    Malformed,
    /// A room wants a token.
    Unauthorized,
    /// The token and the cookie are those of different users.
    Mixed,
}

impl HandshakeRefusal {
    /// The refusal of a request that is a handshake, but not a valid one; `None` for other requests.
    pub(crate) fn from_fault(fault: &HandshakeFault) -> Option<Self> {
        match fault {
            HandshakeFault::Version => Some(Self::Version),
            HandshakeFault::Key => Some(Self::Malformed),
            _ => None,
        }
    }

    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Version => 426,
            Self::Malformed => 400,
            Self::Unauthorized => 401,
            Self::Mixed => 403,
        }
    }

    pub(crate) fn response(self) -> &'static [u8] {
        match self {
            Self::Version => UPGRADE_REQUIRED,
            Self::Malformed => BAD_HANDSHAKE,
            Self::Unauthorized => UNAUTHORIZED,
            Self::Mixed => FORBIDDEN,
        }
    }
}

const UPGRADE_REQUIRED: &[u8] =
    b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const BAD_HANDSHAKE: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const UNAUTHORIZED: &[u8] =
    b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const FORBIDDEN: &[u8] = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The channel of a handshake. `head`: its bytes. Handshakes for rooms are counted as requests.
pub(crate) fn channel(
    requested: &Offered,
    head: &[u8],
    at: Nanos,
    tools: &mut Tools,
) -> Result<Channel, HandshakeRefusal> {
    let path = requested.target.split('?').next().unwrap_or_default();
    if path == commands::PATH {
        return Ok(Channel::Commands);
    }
    let Some(number) = path.strip_prefix(ROOMS) else { return Ok(Channel::Echo) };
    let route = Route::from_target(&requested.target);
    let counted = route.path("GET");
    tools.stats().count(counted);
    let (Route::Room, Ok(number)) = (route, number.parse()) else { return Err(HandshakeRefusal::Malformed) };
    let requested = ShopRequest::read("GET", &requested.target, fields(head)).with_token_of_query();
    let mut shop = tools.shop(counted, at);
    let (status, seen) = (room_status(&requested, &mut shop), shop.seen);
    tools.stats().see(seen);
    match status {
        101 => Ok(Channel::Room(number)),
        403 => Err(HandshakeRefusal::Mixed),
        _ => Err(HandshakeRefusal::Unauthorized),
    }
}
