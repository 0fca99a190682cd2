//! Overriding of flags: the command line overrides a file.

use super::Flags;

impl Flags {
    /// These flags, with those of `base` where these are not given.
    #[must_use]
    pub fn over(&self, base: &Self) -> Self {
        let says_version = self.http10 || self.http11 || self.http2;
        let version = if says_version { self } else { base };
        Self {
            url: self.url.clone().or_else(|| base.url.clone()),
            connections: self.connections.clone().or_else(|| base.connections.clone()),
            requests_each: self.requests_each.clone().or_else(|| base.requests_each.clone()),
            requests: self.requests.clone().or_else(|| base.requests.clone()),
            duration: self.duration.clone().or_else(|| base.duration.clone()),
            method: self.method.clone().or_else(|| base.method.clone()),
            user: self.user.clone().or_else(|| base.user.clone()),
            host: self.host.clone().or_else(|| base.host.clone()),
            data: self.data.clone().or_else(|| base.data.clone()),
            timeout: self.timeout.clone().or_else(|| base.timeout.clone()),
            connect_timeout: self.connect_timeout.clone().or_else(|| base.connect_timeout.clone()),
            grace: self.grace.clone().or_else(|| base.grace.clone()),
            streams: self.streams.clone().or_else(|| base.streams.clone()),
            cacert: self.cacert.clone().or_else(|| base.cacert.clone()),
            cert: self.cert.clone().or_else(|| base.cert.clone()),
            key: self.key.clone().or_else(|| base.key.clone()),
            sni: self.sni.clone().or_else(|| base.sni.clone()),
            alpn: self.alpn.clone().or_else(|| base.alpn.clone()),
            tls_groups: self.tls_groups.clone().or_else(|| base.tls_groups.clone()),
            tls_min: self.tls_min.clone().or_else(|| base.tls_min.clone()),
            expect_status: self.expect_status.clone().or_else(|| base.expect_status.clone()),
            max_redirs: self.max_redirs.clone().or_else(|| base.max_redirs.clone()),
            unix_socket: self.unix_socket.clone().or_else(|| base.unix_socket.clone()),
            curl_file: self.curl_file.clone().or_else(|| base.curl_file.clone()),
            urls: self.urls.clone().or_else(|| base.urls.clone()),
            curl: self.curl.clone().or_else(|| base.curl.clone()),
            message_interval: self.message_interval.clone().or_else(|| base.message_interval.clone()),
            grpc_encoding: self.grpc_encoding.clone().or_else(|| base.grpc_encoding.clone()),
            interval: self.interval.clone().or_else(|| base.interval.clone()),
            rate: self.rate.clone().or_else(|| base.rate.clone()),
            stages: self.stages.clone().or_else(|| base.stages.clone()),
            arrivals: self.arrivals.clone().or_else(|| base.arrivals.clone()),
            max_lateness: self.max_lateness.clone().or_else(|| base.max_lateness.clone()),
            user_stages: self.user_stages.clone().or_else(|| base.user_stages.clone()),
            ramp: self.ramp.clone().or_else(|| base.ramp.clone()),
            warmup: self.warmup.clone().or_else(|| base.warmup.clone()),
            data_bytes: self.data_bytes.clone().or_else(|| base.data_bytes.clone()),
            seed: self.seed.clone().or_else(|| base.seed.clone()),
            until: self.until.clone().or_else(|| base.until.clone()),
            read_bytes: self.read_bytes.clone().or_else(|| base.read_bytes.clone()),
            length_prefix: self.length_prefix.clone().or_else(|| base.length_prefix.clone()),
            ws_type: self.ws_type.clone().or_else(|| base.ws_type.clone()),
            source_ip: self.source_ip.clone().or_else(|| base.source_ip.clone()),
            to: self.to.clone().or_else(|| base.to.clone()),
            budget: self.budget.clone().or_else(|| base.budget.clone()),
            log_share: self.log_share.clone().or_else(|| base.log_share.clone()),
            headers: either(&self.headers, &base.headers),
            cookies: either(&self.cookies, &base.cookies),
            form: either(&self.form, &base.form),
            expect_body: either(&self.expect_body, &base.expect_body),
            expect_headers: either(&self.expect_headers, &base.expect_headers),
            expect_json: either(&self.expect_json, &base.expect_json),
            resolve: either(&self.resolve, &base.resolve),
            connect_to: either(&self.connect_to, &base.connect_to),
            protos: either(&self.protos, &base.protos),
            import_paths: either(&self.import_paths, &base.import_paths),
            protosets: either(&self.protosets, &base.protosets),
            subprotocols: either(&self.subprotocols, &base.subprotocols),
            consents: either(&self.consents, &base.consents),
            no_keepalive: self.no_keepalive || base.no_keepalive,
            no_retry: self.no_retry || base.no_retry,
            insecure: self.insecure || base.insecure,
            no_tls_resumption: self.no_tls_resumption || base.no_tls_resumption,
            location: self.location || base.location,
            shuffle: self.shuffle || base.shuffle,
            rendezvous: self.rendezvous || base.rendezvous,
            preconnect: self.preconnect || base.preconnect,
            no_response: self.no_response || base.no_response,
            ws_deflate: self.ws_deflate || base.ws_deflate,
            persists: self.persists || base.persists,
            http10: version.http10,
            http11: version.http11,
            http2: version.http2,
            user_agent: if self.user_agent.is_empty() { base.user_agent.clone() } else { self.user_agent.clone() },
        }
    }
}

fn either(own: &[String], base: &[String]) -> Vec<String> {
    if own.is_empty() { base.to_vec() } else { own.to_vec() }
}
