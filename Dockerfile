# One image for every process; its command is `intake`, `worker`, `notifier`, `portal` or `orders …`.

FROM node:24-bookworm-slim AS manifests
WORKDIR /app
# Only what decides the dependencies, so that a change of sources does not install them again. Every workspace package is named, as the
# lockfile covers all of them; a new one is added here.
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY apps/cli/package.json apps/cli/
COPY apps/intake/package.json apps/intake/
COPY apps/notifier/package.json apps/notifier/
COPY apps/portal/package.json apps/portal/
COPY apps/worker/package.json apps/worker/
COPY packages/bench/package.json packages/bench/
COPY packages/client/package.json packages/client/
COPY packages/database/package.json packages/database/
COPY packages/dev-server/package.json packages/dev-server/
COPY packages/doc-pages/package.json packages/doc-pages/
COPY packages/domain/package.json packages/domain/
COPY packages/http/package.json packages/http/
COPY packages/openapi-tools/package.json packages/openapi-tools/
COPY packages/queue/package.json packages/queue/
COPY packages/runtime/package.json packages/runtime/
COPY packages/test-services/package.json packages/test-services/

FROM manifests AS dependencies
# The apps and what they need: neither the tools of the root nor the packages of the tests with their tools and embedded Postgres.
RUN --mount=type=cache,target=/root/.local/share/pnpm --mount=type=cache,target=/root/.npm \
  npx --yes pnpm@12.21.0 install --frozen-lockfile --prod --filter "{./apps/*}..." --reporter=append-only
# Of the packages what runs: source maps and types are four tenths of them.
RUN find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM manifests AS page
# What the portal's page is built of and with.
RUN --mount=type=cache,target=/root/.local/share/pnpm --mount=type=cache,target=/root/.npm \
  npx --yes pnpm@12.21.0 install --frozen-lockfile --filter "{./apps/portal}" --reporter=append-only
COPY tsconfig.base.json ./
COPY apps/portal/page apps/portal/page
RUN node apps/portal/node_modules/vite/bin/vite.js build apps/portal/page --logLevel warn

FROM node:24-bookworm-slim AS sources
WORKDIR /app
COPY apps apps
COPY packages packages
# The pages that intake and the portal serve.
COPY docs/senders docs/senders
COPY docs/portal docs/portal
# What `orders migrate` grants the apps.
COPY deploy/postgres deploy/postgres
# Of the page only what was built.
RUN rm -rf apps/portal/page
COPY --from=page /app/apps/portal/page/dist apps/portal/page/dist

FROM node:24-bookworm-slim AS node
# What makes packages is not needed to run them: npm, yarn, corepack and the headers of Node.
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /opt/yarn* \
  && for name in npm npx corepack yarn yarnpkg; do rm -f "/usr/local/bin/$name"; done
# `exec`, so that Node gets the signals.
RUN for command in intake:intake worker:worker notifier:notifier portal:portal orders:cli; do \
      printf '#!/bin/sh\nexec node /app/apps/%s/src/main.ts "$@"\n' "${command#*:}" > "/usr/local/bin/${command%:*}" \
      && chmod 755 "/usr/local/bin/${command%:*}" || exit 1; \
    done

# A new root, as what is removed from a layer still lies in the one below it.
FROM scratch
COPY --from=node / /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  NODE_ENV=production HOST=0.0.0.0 PORT=8080 ADMIN_HOST=0.0.0.0 ADMIN_PORT=9090 DRAIN_DELAY=5s
WORKDIR /app
COPY --from=dependencies /app ./
COPY --from=sources /app ./
# Behind all that is large, so that another revision copies nothing again. `docker build --build-arg REVISION="$(git rev-parse HEAD)"`
ARG REVISION
ENV REVISION=$REVISION
LABEL org.opencontainers.image.revision=$REVISION
USER node
EXPOSE 8080 9090
# The short commands of `orders` may end before the first check.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT}/health/ready`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
CMD ["intake"]
