use super::*;

/// A DER value with its tag and its length.
fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let inside = parts.concat();
    let mut bytes = vec![tag];
    match inside.len() {
        length @ 0..0x80 => bytes.push(length as u8),
        length @ 0x80..0x100 => bytes.extend([0x81, length as u8]),
        length => {
            bytes.push(0x82);
            bytes.extend((length as u16).to_be_bytes());
        }
    }
    bytes.extend(inside);
    bytes
}

fn attribute(kind: &[u8], form: u8, text: &[u8]) -> Vec<u8> {
    value(tag::SEQUENCE, &[&value(tag::OBJECT_IDENTIFIER, &[kind]), &value(form, &[text])])
}

/// A name of sets with one attribute each.
fn name(attributes: &[Vec<u8>]) -> Vec<u8> {
    let sets: Vec<u8> = attributes.iter().flat_map(|attribute| value(tag::SET, &[attribute])).collect();
    value(tag::SEQUENCE, &[&sets])
}

fn common_name(text: &str) -> Vec<u8> {
    name(&[attribute(&[0x55, 4, 3], tag::UTF8_STRING, text.as_bytes())])
}

fn utc(text: &str) -> Vec<u8> {
    value(tag::UTC_TIME, &[text.as_bytes()])
}

fn generalized(text: &str) -> Vec<u8> {
    value(tag::GENERALIZED_TIME, &[text.as_bytes()])
}

fn key(kind: &[u8], key: &[u8]) -> Vec<u8> {
    let kind = value(tag::SEQUENCE, &[&value(tag::OBJECT_IDENTIFIER, &[kind])]);
    value(tag::SEQUENCE, &[&kind, &value(tag::BIT_STRING, &[&[0], key])])
}

fn rsa_key(modulus: &[u8]) -> Vec<u8> {
    let (modulus, exponent) = (value(tag::INTEGER, &[modulus]), value(tag::INTEGER, &[&[1, 0, 1]]));
    key(RSA_ENCRYPTION, &value(tag::SEQUENCE, &[&modulus, &exponent]))
}

fn extension(which: &[u8], is_critical: bool, content: &[u8]) -> Vec<u8> {
    let critical = if is_critical { value(tag::BOOLEAN, &[&[0xff]]) } else { Vec::new() };
    value(tag::SEQUENCE, &[&value(tag::OBJECT_IDENTIFIER, &[which]), &critical, &value(tag::OCTET_STRING, &[content])])
}

/// The parts that differ from test to test.
struct Made {
    version: Vec<u8>,
    issuer: Vec<u8>,
    validity: [Vec<u8>; 2],
    subject: Vec<u8>,
    key: Vec<u8>,
    identifiers: Vec<u8>,
    extensions: Vec<Vec<u8>>,
}

impl Made {
    fn plain() -> Self {
        Self {
            version: value(tag::explicit(0), &[&value(tag::INTEGER, &[&[2]])]),
            issuer: common_name("someone"),
            validity: [utc("200102030405Z"), utc("300102030405Z")],
            subject: common_name("example.org"),
            key: key(&[0x2b, 0x65, 0x70], &[7; 32]),
            identifiers: Vec::new(),
            extensions: Vec::new(),
        }
    }

    fn der(&self) -> Vec<u8> {
        let algorithm = value(tag::SEQUENCE, &[&value(tag::OBJECT_IDENTIFIER, &[&[0x2b, 0x65, 0x70]])]);
        let validity = value(tag::SEQUENCE, &[&self.validity[0], &self.validity[1]]);
        let extensions = match self.extensions.concat() {
            none if none.is_empty() => none,
            some => value(tag::explicit(3), &[&value(tag::SEQUENCE, &[&some])]),
        };
        let signed = value(
            tag::SEQUENCE,
            &[
                &self.version,
                &value(tag::INTEGER, &[&[1]]),
                &algorithm,
                &self.issuer,
                &validity,
                &self.subject,
                &self.key,
                &self.identifiers,
                &extensions,
            ],
        );
        value(tag::SEQUENCE, &[&signed, &algorithm, &value(tag::BIT_STRING, &[&[0], &[9; 64]])])
    }
}

/// What `look` reads from the certificate, after every truncation was refused and each byte was replaced by a few wrong
/// values.
fn read<T>(made: &Made, look: impl Fn(&Certificate<'_>) -> T) -> T {
    let mut der = made.der();
    for length in 0..der.len() {
        assert_eq!(Certificate::read(&der[..length]), None, "{length} of {}", der.len());
    }
    for at in 0..der.len() {
        let right = der[at];
        for wrong in [0, 1, 0x1f, 0x30, 0x7f, 0x80, 0x81, 0x84, 0xff, right ^ 1, right ^ 0x80] {
            der[at] = wrong;
            if let Some(certificate) = Certificate::read(&der) {
                // Any content can be shown.
                let names: Vec<String> = certificate.names().collect();
                let text = format!("{}{}{names:?}", certificate.subject, certificate.issuer);
                assert!(!text.contains(char::is_control), "{text}");
            }
        }
        der[at] = right;
    }
    der.extend(b"what follows is of someone else");
    look(&Certificate::read(&der).expect("a certificate"))
}

#[test]
fn a_certificate_says_whom_it_names_and_who_signed_it() {
    let read = read(&Made::plain(), |read| {
        assert!(!read.is_self_signed() && read.rsa_bits.is_none() && read.names().next().is_none());
        [read.subject.to_string(), read.issuer.to_string(), read.not_before.to_string(), read.not_after.to_string()]
    });
    let times = ["Jan  2 03:04:05 2020 +00:00", "Jan  2 03:04:05 2030 +00:00"];
    assert_eq!(read, ["CN=example.org", "CN=someone", times[0], times[1]]);
    let mut own = Made::plain();
    own.issuer = own.subject.clone();
    assert!(self::read(&own, |read| read.is_self_signed()));
}

/// Kinds, forms of text, and several attributes in one set.
#[test]
fn names_are_lines_of_text() {
    let of = |attributes: &[Vec<u8>]| {
        let subject = name(attributes);
        read(&Made { subject, ..Made::plain() }, |read| read.subject.to_string())
    };
    for (kind, form, text, expected) in [
        (&[0x55, 4, 6][..], tag::PRINTABLE_STRING, &b"CN"[..], "C=CN"),
        (&[0x55, 4, 7], tag::UTF8_STRING, "杭州".as_bytes(), "L=杭州"),
        (&[0x55, 4, 8], tag::T61_STRING, b"Z\xfcrich", "ST=Z\u{fffd}rich"),
        (&[0x55, 4, 10], tag::BMP_STRING, &[0x67, 0x6d, 0x5d, 0xde], "O=杭州"),
        (&[0x55, 4, 10], tag::BMP_STRING, &[0xd8, 0x3d, 0xde, 0x00, 0x00], "O=\u{1f600}"),
        (&[0x55, 4, 10], tag::BMP_STRING, &[0xd8, 0x3d], "O=\u{fffd}"),
        (&[0x55, 4, 11], tag::IA5_STRING, b"a*b", "OU=a*b"),
        (&[0x55, 4, 5], tag::NUMERIC_STRING, b"12", "serialNumber=12"),
        (&[0x55, 4, 99], tag::UTF8_STRING, b"x", "2.5.4.99=x"),
        (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], tag::IA5_STRING, b"org", "DC=org"),
        (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], tag::IA5_STRING, b"a@b", "Email=a@b"),
        (&[0x2a, 0x86, 0x48, 0xce, 0x3d], tag::UTF8_STRING, b"x", "1.2.840.10045=x"),
        (&[0x88, 0x37, 3], tag::UTF8_STRING, b"x", "2.999.3=x"),
        (&[0x55, 4, 3], tag::OCTET_STRING, &[0, 0xab], "CN=00AB"),
        (&[0x55, 4, 3], tag::UTF8_STRING, b"a\x1b[2J\nb", "CN=a\u{fffd}[2J\u{fffd}b"),
        (&[0x55, 4, 3], tag::UTF8_STRING, b"", "CN="),
    ] {
        assert_eq!(of(&[attribute(kind, form, text)]), expected);
    }
    let (one, other) = (attribute(&[0x55, 4, 6], 0x13, b"CN"), attribute(&[0x55, 4, 3], 0x0c, b"x"));
    assert_eq!(of(&[one.clone(), other.clone()]), "C=CN, CN=x");
    assert_eq!(of(&[[one.clone(), other.clone()].concat(), one]), "C=CN + CN=x, C=CN");
    assert_eq!(of(&[]), "");
}

#[test]
fn hosts_and_addresses_are_reported_and_other_names_are_not() {
    let names_in = |content: &[u8], others: bool| {
        let content = value(tag::SEQUENCE, &[content]);
        let mut extensions = vec![extension(SUBJECT_ALT_NAME, others, &content)];
        if others {
            extensions.insert(0, extension(&[0x55, 0x1d, 0x13], true, &[0x30, 0]));
            extensions.push(extension(&[0x55, 0x1d, 0x0f], false, &[3, 2, 7, 0x80]));
        }
        // The unique identifiers of version 2 stand before the extensions.
        let identifiers = if others { [value(0x81, &[&[0, 1]]), value(0x82, &[&[0, 2]])].concat() } else { Vec::new() };
        read(&Made { extensions, identifiers, ..Made::plain() }, |read| read.names().collect::<Vec<_>>())
    };
    let content = [
        value(0x82, &[b"example.org"]),
        value(0x81, &[b"a@example.org"]),
        value(0x82, &[b"*.example.org"]),
        value(0x86, &[b"https://example.org"]),
        value(0x87, &[&[127, 0, 0, 1]]),
        value(0x87, &[&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]]),
        value(0x87, &[&[1, 2, 3]]),
        value(0xa4, &[&common_name("x")]),
        value(0x82, &[&[0xff]]),
        value(0x82, &[b"a\rb"]),
    ]
    .concat();
    for others in [false, true] {
        let names = names_in(&content, others);
        assert_eq!(names, ["example.org", "*.example.org", "127.0.0.1", "::1", "a\u{fffd}b"]);
        // A malformed value ends the list.
        assert_eq!(names_in(&[&content[..13], &[0x82, 0x7f]].concat(), others), ["example.org"]);
        assert!(names_in(&[], others).is_empty());
    }
    let extensions = vec![extension(&[0x55, 0x1d, 0x13], true, &[0x30, 0])];
    assert_eq!(read(&Made { extensions, ..Made::plain() }, |read| read.names().count()), 0);
}

#[test]
fn the_first_version_has_no_number() {
    let made = Made { version: Vec::new(), ..Made::plain() };
    assert_eq!(read(&made, |read| read.subject.to_string()), "CN=example.org");
}

#[test]
fn bits_of_a_key_are_those_of_its_modulus() {
    let bits = |key: Vec<u8>| read(&Made { key, ..Made::plain() }, |read| read.rsa_bits);
    let modulus = |first: &[u8], rest: usize| rsa_key(&[first, &vec![0xab; rest]].concat());
    assert_eq!(bits(modulus(&[0, 0x80], 127)), Some(1_024));
    assert_eq!(bits(modulus(&[0x7f], 127)), Some(1_023));
    assert_eq!(bits(modulus(&[0, 0xff], 255)), Some(2_048));
    assert_eq!(bits(modulus(&[1], 256)), Some(2_049));
    assert_eq!(bits(rsa_key(&[0, 0])), None);
    assert_eq!(bits(rsa_key(&[])), None);
    assert_eq!(bits(key(RSA_ENCRYPTION, b"no key")), None);
    assert_eq!(bits(key(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1], &[4; 65])), None);
}

/// Both forms, the years meant by two digits, and values that are no time.
#[test]
fn times_are_seconds_of_the_calendar() {
    let of = |time: Vec<u8>| {
        let made = Made { validity: [time, utc("300102030405Z")], ..Made::plain() };
        Certificate::read(&made.der()).map(|read| (read.not_before.unix_seconds(), read.not_before.to_string()))
    };
    for (time, seconds, text) in [
        (utc("700101000000Z"), 0, "Jan  1 00:00:00 1970 +00:00"),
        (utc("500101000000Z"), -631_152_000, "Jan  1 00:00:00 1950 +00:00"),
        (utc("491231235959Z"), 2_524_607_999, "Dec 31 23:59:59 2049 +00:00"),
        (utc("000229123456Z"), 951_827_696, "Feb 29 12:34:56 2000 +00:00"),
        (generalized("20500101000000Z"), 2_524_608_000, "Jan  1 00:00:00 2050 +00:00"),
        (generalized("19691231235959Z"), -1, "Dec 31 23:59:59 1969 +00:00"),
        (generalized("21000301000000Z"), 4_107_542_400, "Mar  1 00:00:00 2100 +00:00"),
        (generalized("00000101000000Z"), -62_167_219_200, "Jan  1 00:00:00 0 +00:00"),
        (generalized("99991231235959Z"), 253_402_300_799, "Dec 31 23:59:59 9999 +00:00"),
    ] {
        assert_eq!(of(time), Some((seconds, text.to_owned())));
    }
    for wrong in [
        utc("7001010000Z"),
        utc("700101000000"),
        utc("700101000000+0000"),
        utc("701301000000Z"),
        utc("700001000000Z"),
        utc("700132000000Z"),
        utc("700230000000Z"),
        utc("710229000000Z"),
        utc("700431000000Z"),
        utc("700101240000Z"),
        utc("700101006000Z"),
        utc("700101000060Z"),
        utc("7O0101000000Z"),
        utc(""),
        generalized("21000229000000Z"),
        generalized("20000101000000.5Z"),
        generalized("2000010100000Z"),
        generalized("700101000000Z"),
        value(tag::UTF8_STRING, &[b"700101000000Z"]),
    ] {
        assert_eq!(of(wrong.clone()), None, "{wrong:?}");
    }
    let mut ordered: Vec<_> = (0..400).map(|year| generalized(&format!("{:04}0301000000Z", 1800 + year))).collect();
    ordered.push(generalized("22000301000000Z"));
    let seconds: Vec<i64> = ordered.into_iter().filter_map(of).map(|(seconds, _)| seconds).collect();
    // Four hundred years are a whole number of weeks.
    assert_eq!(seconds[400] - seconds[0], 146_097 * 86_400);
    assert!(seconds.windows(2).all(|pair| [365, 366].map(|days| days * 86_400).contains(&(pair[1] - pair[0]))));
}

/// Lengths too large for any memory, indefinite ones, and tags of several bytes.
#[test]
fn hostile_lengths_are_refused() {
    for der in [
        &[][..],
        &[0x30],
        &[0x30, 0x80],
        &[0x30, 0x80, 0, 0],
        &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0],
        &[0x30, 0x85, 0, 0, 0, 0, 1, 0],
        &[0x30, 0xff],
        &[0x3f, 0x01, 0],
        &[0x30, 0x02, 0x30, 0x01],
    ] {
        assert_eq!(Certificate::read(der), None, "{der:?}");
    }
}
