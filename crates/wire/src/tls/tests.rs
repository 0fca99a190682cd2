use super::*;

struct Authority {
    certificate: rcgen::Certificate,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

fn authority() -> Authority {
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut params = rcgen::CertificateParams::new(Vec::new()).expect("params");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).expect("a certificate");
    Authority { certificate, issuer: rcgen::Issuer::new(params, key) }
}

impl Authority {
    /// Certificate and key, as PEM.
    fn signs(&self, name: &str, days: std::ops::Range<i32>) -> (Vec<u8>, Vec<u8>) {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params = rcgen::CertificateParams::new(vec![name.to_owned()]).expect("params");
        params.not_before = rcgen::date_time_ymd(days.start, 1, 1);
        params.not_after = rcgen::date_time_ymd(days.end, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.pem().into_bytes(), key.serialize_pem().into_bytes())
    }

    fn pem(&self) -> Vec<u8> {
        self.certificate.pem().into_bytes()
    }
}

fn client_of(authority: &Authority, name: &str) -> ClientSettings {
    ClientSettings {
        trust: Trust::Pem(authority.pem()),
        certificate: None,
        name: name.to_owned(),
        alpn: vec!["h2".to_owned(), "http/1.1".to_owned()],
        groups: Vec::new(),
        only_tls13: false,
        resumes: true,
    }
}

fn server_of((certificates, key): (Vec<u8>, Vec<u8>)) -> ServerSettings {
    ServerSettings { certificates, key, alpn: vec!["http/1.1".to_owned()], clients: None }
}

/// Passes bytes to and fro in pieces of `piece` bytes until both sides are quiet; the first fault ends it.
fn converse(client: &mut Session, server: &mut Session, piece: usize) -> Result<(), (&'static str, TlsFault)> {
    let (mut to_server, mut to_client, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    client.start(&mut to_server).map_err(|fault| ("client", fault))?;
    while !(to_server.is_empty() && to_client.is_empty()) {
        let mut wire = std::mem::take(&mut to_server);
        for part in wire.chunks_mut(piece) {
            server.feed(part, &mut plain, &mut to_client).map_err(|fault| ("server", fault))?;
        }
        let mut wire = std::mem::take(&mut to_client);
        for part in wire.chunks_mut(piece) {
            client.feed(part, &mut plain, &mut to_server).map_err(|fault| ("client", fault))?;
        }
    }
    Ok(())
}

fn met(
    client: &ClientConfig,
    server: &ServerConfig,
    piece: usize,
) -> Result<(Session, Session), (&'static str, TlsFault)> {
    let (mut client, mut server) = (client.session().expect("a session"), server.session().expect("a session"));
    converse(&mut client, &mut server, piece)?;
    Ok((client, server))
}

#[test]
fn bytes_pass_at_every_cut() {
    let authority = authority();
    let client = ClientConfig::new(&client_of(&authority, "here")).expect("settings");
    let server = ServerConfig::new(&server_of(authority.signs("here", 2020..2100))).expect("settings");
    let text: Vec<u8> = (0..70_000u32).map(|index| index as u8).collect();
    for piece in [1, 2, 7, 100, 1_000, 20_000, usize::MAX >> 1] {
        let (mut client, mut server) = met(&client, &server, piece).expect("they meet");
        assert!(!client.is_handshaking() && !server.is_handshaking());
        assert_eq!(client.alpn(), Some(&b"http/1.1"[..]));
        assert_eq!(client.version(), "TLS 1.3");
        let (mut wire, mut plain, mut back) = (Vec::new(), Vec::new(), Vec::new());
        client.seal(&text, &mut wire).expect("sealed");
        client.close(&mut wire).expect("closed");
        for part in wire.chunks_mut(piece) {
            server.feed(part, &mut plain, &mut back).expect("opened");
        }
        assert!(plain == text, "{piece}");
        assert!(server.is_closed_by_peer());
        assert!(server.tail.is_empty() && server.tail.capacity() < 70_000);
    }
}

/// Either side closes first: the other one receives it, and its reply is received.
#[test]
fn an_end_is_answered() {
    let authority = authority();
    let client = ClientConfig::new(&client_of(&authority, "here")).expect("settings");
    let server = ServerConfig::new(&server_of(authority.signs("here", 2020..2100))).expect("settings");
    for (is_server_first, piece) in [(true, 1), (true, 1_000), (false, 1), (false, 1_000)] {
        let (client, server) = met(&client, &server, 1_000).expect("they meet");
        let (mut first, mut second) = if is_server_first { (server, client) } else { (client, server) };
        let (mut wire, mut back, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        first.seal(b"the last words", &mut wire).expect("sealed");
        first.close(&mut wire).expect("closed");
        for part in wire.chunks_mut(piece) {
            second.feed(part, &mut plain, &mut back).expect("opened");
        }
        assert_eq!((plain.as_slice(), back.len()), (&b"the last words"[..], 0));
        assert!(second.is_closed_by_peer() && !first.is_closed_by_peer());
        second.close(&mut back).expect("answered");
        for part in back.chunks_mut(piece) {
            first.feed(part, &mut plain, &mut Vec::new()).expect("opened");
        }
        assert!(first.is_closed_by_peer(), "{is_server_first} {piece}");
    }
}

#[test]
fn sessions_are_taken_up_again() {
    let authority = authority();
    let server = ServerConfig::new(&server_of(authority.signs("here", 2020..2100))).expect("settings");
    let resumes = |settings: &ClientSettings| {
        let client = ClientConfig::new(settings).expect("settings");
        let kinds: Vec<bool> =
            (0..2).map(|_| met(&client, &server, 4_096).expect("they meet").0.is_resumed()).collect();
        let apart = met(&client.clone(), &server, 4_096).expect("they meet").0.is_resumed();
        (kinds, apart)
    };
    let mut settings = client_of(&authority, "here");
    assert_eq!(resumes(&settings), (vec![false, true], false), "a clone has a memory of its own");
    settings.resumes = false;
    assert_eq!(resumes(&settings), (vec![false, false], false));
}

#[test]
fn who_is_not_trusted_is_named() {
    let (authority, other) = (authority(), authority());
    let fault = |settings: &ClientSettings, pair| {
        let client = ClientConfig::new(settings).expect("settings");
        let server = ServerConfig::new(&server_of(pair)).expect("settings");
        let fault = met(&client, &server, 4_096).map(drop);
        (fault, client.refused())
    };
    let settings = client_of(&authority, "here");
    let (verdict, refused) = fault(&settings, authority.signs("there", 2020..2100));
    assert_eq!(verdict, Err(("client", TlsFault::WrongName)));
    let refused = refused.expect("it is remembered");
    assert_eq!((refused.names, refused.wanted), (vec!["there".to_owned()], "here".to_owned()));
    let (verdict, refused) = fault(&settings, authority.signs("here", 2001..2002));
    assert_eq!(verdict, Err(("client", TlsFault::Expired)));
    assert!(refused.expect("it is remembered").not_after.contains("2002"));
    assert_eq!(fault(&settings, authority.signs("here", 2090..2100)).0, Err(("client", TlsFault::NotYetValid)));
    assert_eq!(fault(&settings, other.signs("here", 2020..2100)).0, Err(("client", TlsFault::UnknownIssuer)));
    let trusting = ClientSettings { trust: Trust::Anybody, ..settings.clone() };
    assert_eq!(fault(&trusting, other.signs("there", 2001..2002)), (Ok(()), None));
}

#[test]
fn a_certificate_that_is_named_itself_is_trusted() {
    let key = rcgen::KeyPair::generate().expect("a key");
    let made = |years: (i32, i32)| {
        let mut params = rcgen::CertificateParams::new(vec!["here".to_owned()]).expect("params");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.not_before = rcgen::date_time_ymd(years.0, 1, 1);
        params.not_after = rcgen::date_time_ymd(years.1, 1, 1);
        params.self_signed(&key).expect("a certificate").pem().into_bytes()
    };
    for (years, name, expect) in [
        ((2020, 2100), "here", Ok(())),
        ((2020, 2100), "there", Err(("client", TlsFault::WrongName))),
        ((2001, 2002), "here", Err(("client", TlsFault::Expired))),
    ] {
        let certificate = made(years);
        let settings = ClientSettings { trust: Trust::Pem(certificate.clone()), ..client_of(&authority(), name) };
        let server = ServerConfig::new(&server_of((certificate, key.serialize_pem().into_bytes()))).expect("settings");
        let client = ClientConfig::new(&settings).expect("settings");
        assert_eq!(met(&client, &server, 4_096).map(drop), expect, "{years:?} {name}");
    }
}

#[test]
fn clients_show_certificates() {
    let authority = authority();
    let mut settings = server_of(authority.signs("here", 2020..2100));
    settings.clients = Some(authority.pem());
    let server = ServerConfig::new(&settings).expect("settings");
    let mut requested = client_of(&authority, "here");
    // The client considers the handshake complete before the server has verified it: the alert comes later.
    let bare = ClientConfig::new(&requested).expect("settings");
    assert_eq!(met(&bare, &server, 4_096).map(drop), Err(("server", TlsFault::ClientCertificate)));
    let (mut client, mut there) = (bare.session().expect("a session"), server.session().expect("a session"));
    let (mut wire, mut back, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    client.start(&mut wire).expect("a flight");
    there.feed(&mut wire, &mut plain, &mut back).expect("a flight");
    wire.clear();
    client.feed(&mut back, &mut plain, &mut wire).expect("a flight");
    back.clear();
    assert!(there.feed(&mut wire, &mut plain, &mut back).is_err());
    assert_eq!(client.feed(&mut back, &mut plain, &mut Vec::new()), Err(TlsFault::ClientCertificate));
    requested.certificate = Some(authority.signs("me", 2020..2100));
    let known = ClientConfig::new(&requested).expect("settings");
    assert!(met(&known, &server, 4_096).is_ok());
}

#[test]
fn groups_and_versions() {
    let authority = authority();
    let server = ServerConfig::new(&server_of(authority.signs("here", 2020..2100))).expect("settings");
    for group in GROUPS.iter() {
        let mut settings = client_of(&authority, "here");
        settings.groups = vec![(*group).to_owned()];
        settings.only_tls13 = true;
        let client = ClientConfig::new(&settings).expect("settings");
        // Servers of this machine support all but the rare groups.
        let met = met(&client, &server, 4_096).map(drop);
        assert!(matches!(met, Ok(()) | Err((_, TlsFault::NothingInCommon))), "{group}: {met:?}");
    }
    let mut settings = client_of(&authority, "here");
    settings.groups = vec!["x448".to_owned()];
    assert_eq!(ClientConfig::new(&settings).err(), Some(SetupError::Group { name: "x448".to_owned() }));
}

#[test]
fn what_is_no_tls_is_said_to_be_none() {
    let authority = authority();
    let client = ClientConfig::new(&client_of(&authority, "here")).expect("settings");
    for response in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\0\0\0\0\0\0\0\0\0\0"] {
        let mut session = client.session().expect("a session");
        session.start(&mut Vec::new()).expect("a flight");
        let mut response = response.to_vec();
        let fault = session.feed(&mut response, &mut Vec::new(), &mut Vec::new());
        assert_eq!(fault, Err(TlsFault::NotTls));
    }
}

#[test]
fn texts_that_are_no_certificates() {
    let authority = authority();
    let mut settings = client_of(&authority, "here");
    settings.trust = Trust::Pem(b"hello".to_vec());
    assert_eq!(
        ClientConfig::new(&settings).err(),
        Some(SetupError::NoCertificate { of: CertificatePart::Authorities })
    );
    settings.trust = Trust::Pem(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec());
    assert!(matches!(ClientConfig::new(&settings).err(), Some(SetupError::BadCertificate { number: 1, .. })));
    let (one, other) = (authority.signs("a", 2020..2100), authority.signs("b", 2020..2100));
    let mut settings = client_of(&authority, "here");
    settings.certificate = Some((one.0.clone(), b"no key".to_vec()));
    assert_eq!(ClientConfig::new(&settings).err(), Some(SetupError::NoKey));
    settings.certificate = Some((one.0, other.1));
    assert!(matches!(ClientConfig::new(&settings).err(), Some(SetupError::BadPair { .. })));
    let settings = client_of(&authority, "a b");
    assert!(matches!(ClientConfig::new(&settings).err(), Some(SetupError::Name { .. })));
}

/// Peer alerts and verifier errors have a kind of their own where the user can act on them.
#[test]
fn alerts_and_keys_have_their_own_kinds() {
    use rustls::{AlertDescription as Alert, CertificateError as Certificate, Error};
    let key = Certificate::UnsupportedSignatureAlgorithmForPublicKeyContext {
        signature_algorithm_id: Vec::new(),
        public_key_algorithm_id: Vec::new(),
    };
    let cases = [
        (Error::AlertReceived(Alert::UnrecognisedName), TlsFault::UnknownName),
        (Error::AlertReceived(Alert::HandshakeFailure), TlsFault::NothingInCommon),
        (Error::AlertReceived(Alert::InternalError), TlsFault::Alert),
        (Error::AlertReceived(Alert::UnknownCA), TlsFault::ClientCertificate),
        (Error::InvalidCertificate(key), TlsFault::UnsupportedKey),
        (Error::InvalidCertificate(Certificate::BadEncoding), TlsFault::Certificate),
        (Error::InvalidCertificate(Certificate::BadSignature), TlsFault::UnknownIssuer),
    ];
    for (error, expected) in cases {
        assert_eq!(TlsFault::from_error(&error), expected, "{error:?}");
    }
}
