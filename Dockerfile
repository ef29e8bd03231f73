# An image of the Debian package: `make deb && docker build -t triphammer .`; see docs/install.md. Every step is
# tools/image.sh, which `make test-packages` runs in a Debian of its own.
FROM debian:bookworm-slim
COPY target/debian/triphammer_*.deb tools/image.sh /tmp/image/
RUN /tmp/image/image.sh
USER triphammer
WORKDIR /data
EXPOSE 7400
ENTRYPOINT ["triphammer"]
CMD ["--help"]
