# An image of the Debian package: `make dist`, then `docker build -t triphammer .`; see docs/install.md. Every step is
# tools/image.sh. `make dist` makes an image by the same steps without Docker, and reads here what runs in it.
FROM debian:trixie-slim
ARG TARGETARCH
COPY target/dist/triphammer_*_${TARGETARCH}.deb tools/image.sh /tmp/image/
RUN /tmp/image/image.sh
USER triphammer
WORKDIR /data
VOLUME /data
EXPOSE 7400
ENTRYPOINT ["triphammer"]
CMD ["serve", "--listen", "0.0.0.0:7400"]
