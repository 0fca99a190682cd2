use plan::Flags;

/// Any words on the command line: a plan or an error, never a panic.
pub fn plan_text(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else { return };
    let mut words = input.split('\u{1}').map(str::to_owned);
    let flags = Flags {
        url: words.next(),
        headers: words.next().into_iter().collect(),
        duration: words.next(),
        connections: words.next(),
        expect_status: words.next(),
        method: words.next(),
        interval: words.next(),
        rate: words.next().filter(|word| !word.is_empty()),
        stages: words.next().filter(|word| !word.is_empty()),
        user_stages: words.next().filter(|word| !word.is_empty()),
        ramp: words.next().filter(|word| !word.is_empty()),
        warmup: words.next().filter(|word| !word.is_empty()),
        ..Flags::default()
    };
    match flags.plan() {
        Ok(plan) => {
            let request = &plan.scenarios[0].steps[0].request;
            let mut bytes = Vec::new();
            let version = wire::http1::Version::Http11;
            wire::http1::render_request(
                &request.method,
                &request.path,
                version,
                &request.headers,
                &request.body,
                &mut bytes,
            );
            // An accepted plan is one request to a server: no line end was injected.
            let mut server = wire::http1::Server::default();
            if let Ok((taken, wire::http1::ServerEvent::Head(head))) = server.handle(&bytes) {
                assert_eq!((head.method, head.target), (request.method.as_str(), request.path.as_str()));
                assert_eq!(taken + request.body.len(), bytes.len());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
