import type { Command } from 'commander';
import { cursor, giveUpAfter, json } from '../arguments.ts';
import type { Context } from '../context.ts';
import { type FollowOptions, followEvents } from '../events/follow-events.ts';
import { readSenderConfig } from '../sender-config.ts';

const FOLLOW_HELP = `
Prints the stored events of your account, oldest first, then each new one as it is published. A line has sequence, time,
type, source_order_id and order; with --json it is the event as the API returns it. To continue later, give the sequence
of the last event that you have processed as --after.

ORDERS_URL and ORDERS_API_KEY are those of orders send.

Exit codes: 0 ended by Ctrl-C, by SIGTERM, or as the reader of its output ended; 1 failed; 2 usage error.

Examples:
  $ orders events follow
  $ orders events follow --after 41 --json | jq -c 'select(.type == "order.rejected") | .data'`;

/** `orders events enable | disable | show | follow`. */
export function addEventCommands(program: Command, context: Context): void {
  const events = program.command('events').description("the log of what happened to an account's orders");
  // Loaded on demand, as a sender's command needs no database.
  const load = () => import('../events/manage-events.ts');

  events
    .command('enable')
    .description("record an account's events from now on, for senders to read")
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders events enable "Corner Bakery"')
    .action(async (reference: string, options) => (await load()).changeEvents(context, reference, true, options));

  events
    .command('disable')
    .description('record no more events; reading is refused until they are enabled again')
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(async (reference: string, options) => (await load()).changeEvents(context, reference, false, options));

  events
    .command('show')
    .description('whether events are enabled, and which are stored')
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(async (reference: string, options) => (await load()).showEvents(context, reference, options));

  events
    .command('follow')
    .description('print stored events, then new ones as they are published; needs an API key and no database')
    .option('--after <sequence>', 'continue after this event, instead of starting at the oldest stored one', cursor)
    .option('--url <address>', 'the address of the service, instead of ORDERS_URL')
    .addOption(giveUpAfter())
    .option('--json', 'print one JSON object a line for each event')
    .addHelpText('after', FOLLOW_HELP)
    .action(async (options: FollowOptions & { url?: string }) => {
      const { env, localDirectory } = context.cliContext;
      await followEvents(options, await readSenderConfig(env, options.url, localDirectory), context);
    });
}
