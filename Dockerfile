# A Ringmaster node: docs/operating/docker.md.

# The packages, among them the Node.js release that the node runs on.
FROM node:24-trixie AS packages
WORKDIR /opt/ringmaster
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM debian:trixie-slim
# Speaks the texts of scenarios.
RUN apt-get update && apt-get install -y --no-install-recommends espeak-ng && rm -rf /var/lib/apt/lists/*
# The number of the user is also that of the servers in compose.yaml, which share its files.
RUN groupadd --gid 10001 ringmaster \
  && useradd --uid 10001 --gid ringmaster --no-create-home --home-dir /var/lib/ringmaster --shell /usr/sbin/nologin ringmaster \
  && install --directory --owner=ringmaster --group=ringmaster --mode=0700 /var/lib/ringmaster \
  && ln -s /opt/ringmaster/runtime/cli/ringmaster.mjs /usr/local/bin/ringmaster
WORKDIR /opt/ringmaster
COPY --from=packages /opt/ringmaster/node_modules node_modules
COPY package.json LICENSE README.md CHANGELOG.md CONTRIBUTING.md ./
COPY docs docs
COPY scenarios scenarios
COPY freeswitch-config freeswitch-config
COPY components components
COPY rest-bridge rest-bridge
COPY runtime runtime

ENV PATH=/opt/ringmaster/node_modules/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV RINGMASTER_DATA_DIR=/var/lib/ringmaster
# What starts load: `npm ci` above had no modules of the project to prepare. Node.js keeps compiled code by user, so the user of the
# image makes it. Afterwards it can read and not write it.
RUN install --directory --owner=ringmaster node_modules/.cache \
  && runuser --user=ringmaster -- node runtime/cli/prepare.mjs \
  && chown --recursive root:root node_modules/.cache \
  && chmod --recursive a+rX node_modules/.cache
USER ringmaster
VOLUME /var/lib/ringmaster
EXPOSE 8080/tcp 5060/tcp 5060/udp 20000-20999/udp
HEALTHCHECK --interval=5s --timeout=5s --start-period=5m CMD ["node", "-e", "const { RINGMASTER_HTTP_HOST: host = '127.0.0.1', RINGMASTER_HTTP_PORT: port = '8080' } = process.env; const [first] = host.split(','); fetch(`http://${first.includes(':') ? `[${first}]` : first}:${port}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/ringmaster/runtime/cli/ringmaster.mjs"]
CMD ["start"]
