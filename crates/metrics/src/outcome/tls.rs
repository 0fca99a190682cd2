//! The reasons of a failed TLS session, as reasons that a user can act on.

use super::status;
use super::table::faults;

faults! {
    /// The reason why there is no TLS session.
    TlsFault;
    UnknownIssuer = 0, "unknown-issuer", UNAVAILABLE;
    Expired = 1, "expired", UNAVAILABLE;
    NotYetValid = 2, "not-yet-valid", UNAVAILABLE;
    WrongName = 3, "wrong-name", UNAVAILABLE;
    Certificate = 4, "certificate", UNAVAILABLE;
    ClientCertificate = 5, "client-certificate", UNAVAILABLE;
    NothingInCommon = 6, "nothing-in-common", UNAVAILABLE;
    NoProtocol = 7, "no-protocol", UNAVAILABLE;
    NotTls = 8, "not-tls", UNAVAILABLE;
    Alert = 9, "alert", UNAVAILABLE;
    ClosedEarly = 10, "closed-early", UNAVAILABLE;
    Other = 11, "other", UNAVAILABLE;
    WeakKey = 12, "weak-key", UNAVAILABLE;
    ChainTooLong = 13, "chain-too-long", UNAVAILABLE;
    TooLarge = 14, "too-large", UNAVAILABLE;
    Renegotiation = 15, "renegotiation", UNAVAILABLE;
    NoAnswer = 16, "no-response", UNAVAILABLE;
    UnsupportedKey = 17, "unsupported-key", UNAVAILABLE;
    UnknownName = 18, "unknown-name", UNAVAILABLE;
}
