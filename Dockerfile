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
COPY apps/portal/page/package.json apps/portal/page/
COPY apps/worker/package.json apps/worker/
COPY verification/bench/package.json verification/bench/
COPY packages/bundle/package.json packages/bundle/
COPY packages/client/package.json packages/client/
COPY packages/database/package.json packages/database/
COPY packages/dev-server/package.json packages/dev-server/
COPY packages/doc-pages/package.json packages/doc-pages/
COPY packages/domain/package.json packages/domain/
COPY packages/http/package.json packages/http/
COPY verification/openapi-tools/package.json verification/openapi-tools/
COPY packages/order-files/package.json packages/order-files/
COPY packages/queue/package.json packages/queue/
COPY packages/runtime/package.json packages/runtime/
COPY packages/test-services/package.json packages/test-services/

FROM manifests AS bundle
# Only the dependencies of the apps, and what bundles them and packs the client.
RUN --mount=type=cache,target=/root/.local/share/pnpm --mount=type=cache,target=/root/.npm \
  npx --yes pnpm@12.21.0 install --frozen-lockfile --prod --filter "{./apps/*}..." --filter ./packages/bundle --reporter=append-only
COPY LICENSE tsconfig.base.json ./
COPY apps apps
COPY packages packages
RUN node packages/bundle/src/main.ts

FROM manifests AS page
# The dependencies of the portal's page, and its build tools.
RUN --mount=type=cache,target=/root/.local/share/pnpm --mount=type=cache,target=/root/.npm \
  npx --yes pnpm@12.21.0 install --frozen-lockfile --prod --filter @orders/portal... --filter @orders/portal-page... --reporter=append-only
COPY tsconfig.base.json ./
# The page shares functions with the portal and with packages.
COPY apps/portal apps/portal
COPY packages packages
RUN node apps/portal/page/node_modules/vite/bin/vite.js build apps/portal/page --logLevel warn

FROM node:24-bookworm-slim AS assets
# What the bundled apps read at run time, at the same paths as in the sources: the version, styles and scripts of pages, the schema, the
# pages and clients that intake and the portal serve, and what `orders migrate` grants the apps.
WORKDIR /app
COPY package.json ./
COPY apps apps
COPY packages packages
RUN rm -rf apps/portal/page && find apps packages -type f ! -name '*.css' ! -name '*.js' ! -name '*.sql' ! -name '*.py' ! -name '*.php' -delete && find apps packages -type d -empty -delete
COPY docs/senders docs/senders
COPY docs/portal docs/portal
COPY deploy/postgres deploy/postgres
COPY --from=page /app/apps/portal/page/dist apps/portal/page/dist
COPY --from=bundle /app/packages/client/dist packages/client/dist

FROM node:24-bookworm-slim AS node
# Package managers and the headers of Node are not needed at run time.
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /opt/yarn* \
  && for name in npm npx corepack yarn yarnpkg; do rm -f "/usr/local/bin/$name"; done
# `exec`, so that Node gets the signals.
RUN for command in intake:intake worker:worker notifier:notifier portal:portal orders:cli; do \
      printf '#!/bin/sh\nexec node /app/bundle/%s.js "$@"\n' "${command#*:}" > "/usr/local/bin/${command%:*}" \
      && chmod 755 "/usr/local/bin/${command%:*}" || exit 1; \
    done

# A new root: files that are deleted in a layer still take space in the one below.
FROM scratch
COPY --from=node / /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  NODE_ENV=production HOST=0.0.0.0 PORT=8080 ADMIN_HOST=0.0.0.0 ADMIN_PORT=9090 DRAIN_DELAY=5s
WORKDIR /app
COPY --from=assets /app ./
COPY --from=bundle /app/bundle bundle
# Last, so that another revision reuses all other layers. `docker build --build-arg REVISION="$(git rev-parse HEAD)"`
ARG REVISION
ENV REVISION=$REVISION
LABEL org.opencontainers.image.revision=$REVISION
USER node
EXPOSE 8080 9090
# The short commands of `orders` may end before the first check.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT}/health/ready`).then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
CMD ["intake"]
