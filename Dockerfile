# One static binary in an empty image. Build and run:
#   docker build -t onrush .
#   docker run --rm --network host onrush -q 500 -z 10s http://127.0.0.1:8080/

FROM rust:1.95.0-bookworm AS build
# The toolchain of the image, without the components that only developers need.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /src
COPY . .
RUN cargo xtask dist --binary

FROM scratch
LABEL org.opencontainers.image.title="onrush" \
      org.opencontainers.image.description="A load generator with accurate results." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
# Whom HTTPS trusts.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/LICENSE /src/target/dist/THIRD-PARTY.txt /usr/share/doc/onrush/
COPY --from=build /src/target/dist/bin/onrush /usr/bin/onrush
# Nobody: loads need no rights.
USER 65532:65532
ENTRYPOINT ["/usr/bin/onrush"]
CMD ["--help"]
