import type { CliContext } from './context.ts';
import { type Program, runProgram } from './run-program.ts';

const COMMANDS: Program['commands'] = {
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  accounts: async () => (await import('./commands/accounts.ts')).accounts,
  keys: async () => (await import('./commands/keys.ts')).keys,
  signing: async () => (await import('./commands/signing.ts')).signing,
  sources: async () => (await import('./commands/sources.ts')).sources,
  receipts: async () => (await import('./commands/receipts.ts')).receipts,
  orders: async () => (await import('./commands/orders.ts')).orders,
  users: async () => (await import('./commands/users.ts')).users,
  erase: async () => (await import('./commands/erase.ts')).erase,
  audit: async () => (await import('./commands/audit.ts')).audit,
  events: async () => (await import('./commands/events.ts')).events,
  endpoints: async () => (await import('./commands/endpoints.ts')).endpoints,
  archive: async () => (await import('./commands/archive.ts')).archive,
  send: async () => (await import('./commands/send.ts')).send,
  preview: async () => (await import('./commands/preview.ts')).preview,
  cancel: async () => (await import('./commands/cancel.ts')).cancel,
  listen: async () => (await import('./commands/listen.ts')).listen,
};

const EPILOGUE = `
For operators, with a database; send, preview, cancel, listen and events follow are for senders and need none.
An <account> is given by its id or its exact name. --json prints exactly one JSON value to stdout.

Environment:
  DATABASE_URL  the Postgres of the service
  TARGET_DATABASE_URL, SOURCE_DATABASE_URL
                   the Postgres of another installation, and this one as that reaches it, for accounts move
  QUEUE_URL     its queue, for migrate
  SECRETS_KEY   the key that encrypts secrets, for signing, sources and endpoints; SECRETS_KEY_PREVIOUS: the one before
  PORTAL_URL    the portal's address for browsers, for users invite
  INTAKE_URL    intake's address for senders, for sources
  CALLBACK_ALLOW  hosts at which endpoints may be private and use http, for endpoints
  INSTALLATION_NUMBER
                   0 to 8999, for migrate of an empty database: which of several installations it is
  PARTITION_WIDTH  day, week or month, for migrate: how long a partition of receipts is
  ORDER_RETENTION  the age of the orders that archive stores and drops, such as 730d
  ORDERS_URL    the service, for send, preview, cancel, listen and events follow
  ORDERS_API_KEY, ORDERS_SIGNING_SECRET: the account's key and secret, for the same
  Each may come from a file: DATABASE_URL_FILE is the path of a file with DATABASE_URL.
  Unless NODE_ENV is production, unset variables are taken from the last npm start in this clone.

Exit codes: 0 done, 1 failed, 2 usage error.

Examples:
  $ npm run --silent orders -- send orders.ndjson
  $ npm run --silent orders -- cancel SHOP-10001 --reason 'Sold out'
  $ npm run --silent orders -- orders list --needs-review
  $ npm run --silent orders -- accounts create "Corner Bakery"
  $ npm run --silent orders -- receipts redrive --all-dead`;

/** All commands, for operators and senders. */
const PROGRAM: Program = {
  about: 'The command line of the order ingestion service, for operators and senders.',
  commands: COMMANDS,
  epilogue: EPILOGUE,
};

/**
 * Runs one command of operators or senders.
 *
 * @param argv the arguments after the program's name.
 * @returns the exit code: 0 done, 1 failed, 2 usage error.
 */
export function runCli(argv: readonly string[], cliContext: CliContext): Promise<number> {
  return runProgram(PROGRAM, argv, cliContext);
}
