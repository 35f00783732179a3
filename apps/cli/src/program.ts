import { VERSION } from '@orders/runtime';
import { Command } from 'commander';
import { addAccountCommands } from './commands/accounts.ts';
import { addEraseCommand } from './commands/erase.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addListenCommand } from './commands/listen.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addOrderCommands } from './commands/orders.ts';
import { addReceiptCommands } from './commands/receipts.ts';
import { addSendCommand } from './commands/send.ts';
import { addSigningCommands } from './commands/signing.ts';
import { addUserCommands } from './commands/users.ts';
import type { Context } from './context.ts';

const EPILOGUE = `
An <account> is given by its id or its exact name. --json prints exactly one JSON value to stdout.

Environment:
  DATABASE_URL  the Postgres of the service
  QUEUE_URL     its queue, for migrate
  SECRETS_KEY   the key that signing secrets are encrypted with, for signing; SECRETS_KEY_PREVIOUS: the one before
  PORTAL_URL    where browsers find the portal, for users invite
  ORDERS_URL    the service, for send
  ORDERS_API_KEY, ORDERS_SIGNING_SECRET: the account's key and secret, for send and listen
  Each may come from a file: DATABASE_URL_FILE says where DATABASE_URL lies.
  Unless NODE_ENV is production, what is unset is taken from the last npm start in this clone.

Exit codes: 0 done, 1 failed, 2 wrong use.

Examples:
  $ npm run --silent orders -- orders list --needs-review
  $ npm run --silent orders -- accounts create "Corner Bakery"
  $ npm run --silent orders -- receipts redrive --all-dead`;

/** All commands. Nothing ends the process or writes to stderr: what goes wrong is thrown, and printed in one place. */
export function createProgram(context: Context, writeHelp: (text: string) => void): Command {
  const program = new Command('orders')
    .description("The operator's command line of the order ingestion service.")
    .version(VERSION, '--version', 'print the version of the service')
    .exitOverride()
    .configureOutput({
      writeOut: writeHelp,
      writeErr: () => {},
      getOutHelpWidth: () => 100,
      getOutHasColors: () => false,
    })
    .addHelpText('after', EPILOGUE);
  addMigrateCommand(program, context);
  addAccountCommands(program, context);
  addKeyCommands(program, context);
  addSigningCommands(program, context);
  addReceiptCommands(program, context);
  addOrderCommands(program, context);
  addUserCommands(program, context);
  addEraseCommand(program, context);
  addListenCommand(program, context);
  addSendCommand(program, context);
  return program;
}
