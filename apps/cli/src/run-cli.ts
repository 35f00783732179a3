import { VERSION } from '@orders/runtime/version.ts';
import { Command } from 'commander';
import { addCommand, type CommandSpec, type Group } from './command.ts';
import { readRevision } from './config.ts';
import { type CliContext, type Context, createContext } from './context.ts';
import { outcomeOf } from './errors.ts';

/** Loaded on demand, so a sender's command starts without the database and queue drivers. */
const COMMANDS: Record<string, () => Promise<CommandSpec | Group>> = {
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
  cancel: async () => (await import('./commands/cancel.ts')).cancel,
  listen: async () => (await import('./commands/listen.ts')).listen,
};

const EPILOGUE = `
For operators, with a database; send, cancel, listen and events follow are for senders and need none.
An <account> is given by its id or its exact name. --json prints exactly one JSON value to stdout.

Environment:
  DATABASE_URL  the Postgres of the service
  QUEUE_URL     its queue, for migrate
  SECRETS_KEY   the key that encrypts secrets, for signing, sources and endpoints; SECRETS_KEY_PREVIOUS: the one before
  PORTAL_URL    the portal's address for browsers, for users invite
  INTAKE_URL    intake's address for senders, for sources
  CALLBACK_ALLOW  hosts at which endpoints may be private and use http, for endpoints
  INSTALLATION_NUMBER
                   0 to 8999, for migrate of an empty database: which of several installations it is
  PARTITION_WIDTH  day, week or month, for migrate: how long a partition of receipts is
  ORDER_RETENTION  the age of the orders that archive stores and drops, such as 730d
  ORDERS_URL    the service, for send, cancel, listen and events follow
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

/**
 * Creates the program with the command that is called, or with all commands if there is no such command, for help. It never exits or
 * writes to stderr: errors are thrown and printed in one place.
 */
async function createProgram(
  context: Context,
  writeHelp: (text: string) => void,
  commandName: string | undefined,
): Promise<Command> {
  const program = new Command('orders')
    .description('The command line of the order ingestion service, for operators and senders.')
    .version(
      `${VERSION} (revision ${readRevision(context.cliContext.env)})`,
      '--version',
      'print the version of the service and its revision',
    )
    .exitOverride()
    .configureOutput({
      writeOut: writeHelp,
      writeErr: () => {},
      getOutHelpWidth: () => 100,
      getOutHasColors: () => false,
    })
    .addHelpText('after', EPILOGUE);
  const isKnown = commandName !== undefined && Object.hasOwn(COMMANDS, commandName);
  for (const [name, load] of Object.entries(COMMANDS))
    if (!isKnown || name === commandName) addCommand(program, name, await load(), context);
  return program;
}

/**
 * Runs one command.
 *
 * @param argv the arguments after the program's name.
 * @returns the exit code: 0 done, 1 failed, 2 usage error.
 */
export async function runCli(argv: readonly string[], cliContext: CliContext): Promise<number> {
  const writeHelp = (text: string) => cliContext.stdout.write(text);
  const program = await createProgram(createContext(cliContext), writeHelp, argv[0]);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    const { exitCode, line } = outcomeOf(error, commandOf(program, argv));
    if (line) cliContext.stderr.write(`${line}\n`);
    return exitCode;
  }
}

/** The full name of the called command, as far as it exists: `orders keys create`. */
function commandOf(program: Command, argv: readonly string[]): string {
  const words = [program.name()];
  let command: Command | undefined = program;
  for (const word of argv) {
    command = command.commands.find((subcommand) => subcommand.name() === word);
    if (!command) break;
    words.push(word);
  }
  return words.join(' ');
}
