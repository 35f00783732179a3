import { listAttempts, listEndpoints, MAX_RESENT } from '@orders/database/endpoints/endpoints.ts';
import { readEndpointUrl, readEventTypes } from '@orders/domain/endpoints.ts';
import { EVENT_TYPES, type EventType } from '@orders/domain/events.ts';
import { type Command, Option } from 'commander';
import { endpointId, json, numberUpTo, sequence, span } from '../arguments.ts';
import type { Context } from '../context.ts';
import {
  addEndpoint,
  deleteEndpoint,
  replaceEndpointSecret,
  resendRange,
  switchEndpoint,
} from '../endpoints/change-endpoint.ts';
import {
  attemptJson,
  describeEndpoint,
  describeNewEndpoint,
  tabulateAttempts,
  tabulateEndpoints,
} from '../endpoints/describe-endpoint.ts';
import { describeTried, tryEndpoint } from '../endpoints/try-endpoint.ts';
import { Failure, UsageError } from '../errors.ts';
import { requireAccount, requireEndpoint } from '../require.ts';
import { plural } from '../table.ts';

const ACCOUNT = ['<account>', 'id or exact name'] as const;
const ENDPOINT = ['<endpoint-id>', 'ep_…, as list shows it', endpointId] as const;
/** No more are kept of an endpoint. */
const MAX_ATTEMPTS = 1000;
const DEFAULT_ATTEMPTS = 20;
const overlap = span('--overlap');

/** `orders endpoints create | list | test | rotate | disable | enable | resend | deliveries | remove`. */
export function addEndpointCommands(program: Command, context: Context): void {
  const endpoints = program.command('endpoints').description("URLs to which an account's events are delivered");

  endpoints
    .command('create')
    .description('make an endpoint that gets the events from now on; its secret is shown only once')
    .argument(...ACCOUNT)
    .argument('<url>', 'https, at a public address; CALLBACK_ALLOW lists exceptions')
    .option(
      '--types <types>',
      `types of events, separated by commas: ${EVENT_TYPES.join(', ')} (default: all)`,
      eventTypes,
    )
    .addOption(json())
    .addHelpText(
      'after',
      '\nExamples:\n  $ orders endpoints create "Corner Bakery" https://shop.example.com/events\n  $ orders endpoints create 12 https://shop.example.com/events --types order.confirmed,order.rejected',
    )
    .action(async (account: string, address: string, options: { types?: EventType[]; json?: boolean }) => {
      const { CALLBACK_ALLOW } = await context.config();
      const read = readEndpointUrl(address, CALLBACK_ALLOW);
      if ('error' in read) throw new UsageError(`The URL ${read.error}.`);
      const { types = null } = options;
      const created = await context.withSecrets((database, keys) =>
        addEndpoint(database, keys, account, { url: read.url, types }),
      );
      context.print(options, created, () => describeNewEndpoint(created));
    });

  endpoints
    .command('list')
    .description("an account's endpoints, with the number of undelivered events")
    .argument(...ACCOUNT)
    .addOption(json())
    .addHelpText(
      'after',
      '\nPending events were not tried yet; waiting ones failed, or are sent again; at most 10,000 of each are counted. Events of a disabled endpoint wait while they are stored, 30 days by default.',
    )
    .action(async (reference: string, options) => {
      const all = await context.withDatabase(async (database) => {
        const { account_id } = await requireAccount(database, reference);
        return listEndpoints(database, account_id);
      });
      context.print(options, all, () => (all.length > 0 ? tabulateEndpoints(all) : 'The account has no endpoints.'));
    });

  endpoints
    .command('test')
    .description('deliver a test event, also to a disabled endpoint, and wait up to 20 seconds for the outcome')
    .argument(...ENDPOINT)
    .addOption(json())
    .action(async (id: string, options) => {
      const attempt = await context.withDatabase((database) => tryEndpoint(database, id));
      const line = describeTried(attempt);
      if (options.json || attempt.error === null) context.print(options, attempt, () => line);
      if (attempt.error !== null) throw new Failure(line);
    });

  endpoints
    .command('rotate')
    .description('make a new secret, which is shown only once; deliveries are signed with both for a time')
    .argument(...ENDPOINT)
    .addOption(
      new Option('--overlap <time>', 'how long deliveries are signed with the old secret too')
        .argParser(overlap)
        .default(overlap('24h'), '24h'),
    )
    .addOption(json())
    .action(async (id: string, options: { overlap: number; json?: boolean }) => {
      const rotated = await context.withSecrets((database, keys) =>
        replaceEndpointSecret(database, keys, id, options.overlap),
      );
      context.print(options, rotated, () => describeNewEndpoint(rotated));
    });

  for (const [verb, isEnabled, description] of [
    ['disable', false, 'deliver nothing until it is enabled; events wait while they are stored, 30 days by default'],
    ['enable', true, 'resume deliveries, including missed events'],
  ] as const)
    endpoints
      .command(verb)
      .description(description)
      .argument(...ENDPOINT)
      .addOption(json())
      .action(async (id: string, options) => {
        const endpoint = await context.withDatabase((database) => switchEndpoint(database, id, isEnabled));
        context.print(options, endpoint, () => describeEndpoint(endpoint));
      });

  endpoints
    .command('resend')
    .description('deliver stored events of its types again, with the same ids')
    .argument(...ENDPOINT)
    .requiredOption('--from <sequence>', 'first sequence', sequence('--from'))
    .option('--to <sequence>', 'last sequence (default: all that follow)', sequence('--to'))
    .addOption(json())
    .addHelpText(
      'after',
      `\nDelivers only the oldest ${MAX_RESENT} of the range; run it again for the rest.\n\nExample:\n  $ orders endpoints resend ep_2f9c0d… --from 120 --to 140`,
    )
    .action(async (id: string, { from, to, ...options }) => {
      if (to < from) throw new UsageError('--to must not be before --from.');
      const { endpoint, resent } = await context.withDatabase((database) => resendRange(database, id, { from, to }));
      context.print(options, { endpoint_id: id, events: resent }, () => {
        if (resent === 0) return 'No stored event of this range was due before.';
        const when = endpoint.disabled ? ' once the endpoint is enabled' : '';
        const more = resent === MAX_RESENT ? ' There may be more: repeat it later with another --from.' : '';
        return `${plural(resent, 'event')} will be delivered again${when}.${more}`;
      });
    });

  endpoints
    .command('deliveries')
    .description('the newest attempts to deliver, newest first; kept for 7 days')
    .argument(...ENDPOINT)
    .addOption(
      new Option('--limit <number>', 'at most this many')
        .argParser(numberUpTo('--limit', MAX_ATTEMPTS))
        .default(DEFAULT_ATTEMPTS),
    )
    .addOption(json())
    .action(async (id: string, options: { limit: number; json?: boolean }) => {
      const found = await context.withDatabase(async (database) =>
        listAttempts(database, await requireEndpoint(database, id), { limit: options.limit }),
      );
      const attempts = found.map(attemptJson);
      context.print(options, attempts, () =>
        attempts.length > 0 ? tabulateAttempts(attempts) : 'Nothing was delivered to this endpoint in the last 7 days.',
      );
    });

  endpoints
    .command('remove')
    .description('remove an endpoint with its attempts and waiting deliveries')
    .argument(...ENDPOINT)
    .addOption(json())
    .action(async (id: string, options) => {
      const { account_id } = await context.withDatabase((database) => deleteEndpoint(database, id));
      context.print(options, { account_id, endpoint_id: id, removed: true }, () => `Endpoint ${id} is removed.`);
    });
}

function eventTypes(text: string): EventType[] {
  const read = readEventTypes(text.split(',').map((type) => type.trim()));
  if ('types' in read) return read.types;
  throw new UsageError(`--types takes ${EVENT_TYPES.join(', ')}, with commas between them.`);
}
