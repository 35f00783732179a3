#!/bin/sh
# npm start: installs what running needs, and starts everything. Before a full installation, which the tests make, it
# leaves out the packages of tests and checks; after one it keeps them.
set -eu
cd "$(dirname "$0")/../.."
if [ -e node_modules/jest ]; then
  npm run --silent setup
else
  echo 'Installing packages …'
  npx --yes pnpm@12.21.0 install --frozen-lockfile --reporter=append-only --prod \
    --filter order-ingestion --filter '{./apps/**}...' --filter '@orders/dev-server...'
fi
exec node_modules/.bin/node packages/dev-server/src/start.ts "$@"
