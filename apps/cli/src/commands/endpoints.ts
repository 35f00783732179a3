import { listAttempts, listEndpoints, MAX_RESENT } from '@orders/database/endpoints/endpoints.ts';
import { readEndpointUrl } from '@orders/domain/endpoints.ts';
import { EVENT_TYPES, type EventType } from '@orders/domain/events.ts';
import { ACCOUNT, endpointId, eventTypes, numberUpTo, overlap, sequence } from '../arguments.ts';
import { argument, type CommandSpec, type Group, option, rows } from '../command.ts';
import {
  addEndpoint,
  attemptJson,
  deleteEndpoint,
  describeEndpoint,
  describeNewEndpoint,
  describeTried,
  replaceEndpointSecret,
  resendRange,
  switchEndpoint,
  tabulateAttempts,
  tabulateEndpoints,
  tryEndpoint,
} from '../endpoints.ts';
import { Failure, UsageError } from '../errors.ts';
import { requireAccount, requireEndpoint } from '../require.ts';
import { plural } from '../table.ts';

const ENDPOINT = argument('<endpoint-id>', 'ep_…, as list shows it', endpointId);
/** No more are kept of an endpoint. */
const MAX_ATTEMPTS = 1000;
const DEFAULT_ATTEMPTS = 20;

function switchCommand(about: string, isEnabled: boolean): CommandSpec {
  return {
    about,
    arguments: [ENDPOINT],
    async run({ withDatabase }, id: string) {
      const endpoint = await withDatabase((database) => switchEndpoint(database, id, isEnabled));
      return [endpoint, describeEndpoint(endpoint)];
    },
  };
}

export const endpoints: Group = {
  about: "URLs to which an account's events are delivered",
  commands: {
    create: {
      about: 'make an endpoint that gets the events from now on; its secret is shown only once',
      arguments: [ACCOUNT, argument('<url>', 'https, at a public address; CALLBACK_ALLOW lists exceptions')],
      options: [
        option(
          '--types <types>',
          `types of events, separated by commas: ${EVENT_TYPES.join(', ')} (default: all)`,
          eventTypes,
        ),
      ],
      examples: [
        'orders endpoints create "Corner Bakery" https://shop.example.com/events',
        'orders endpoints create 12 https://shop.example.com/events --types order.confirmed,order.rejected',
      ],
      async run(
        { config, withSecrets },
        account: string,
        address: string,
        { types = null }: { types?: EventType[] | null },
      ) {
        const { CALLBACK_ALLOW } = await config();
        const read = readEndpointUrl(address, CALLBACK_ALLOW);
        if ('error' in read) throw new UsageError(`The URL ${read.error}.`);
        const created = await withSecrets((database, keys) =>
          addEndpoint(database, keys, account, { url: read.url, types }),
        );
        return [created, describeNewEndpoint(created)];
      },
    },
    list: {
      about: "an account's endpoints, with the number of undelivered events",
      arguments: [ACCOUNT],
      help: 'Pending events were not tried yet; waiting ones failed, or are sent again; at most 10,000 of each are counted. Events of a disabled endpoint wait while they are stored, 30 days by default.',
      async run({ withDatabase }, reference: string) {
        const all = await withDatabase(async (database) =>
          listEndpoints(database, (await requireAccount(database, reference)).account_id),
        );
        return rows(all, tabulateEndpoints, 'The account has no endpoints.');
      },
    },
    test: {
      about: 'deliver a test event, also to a disabled endpoint, and wait up to 20 seconds for the outcome',
      arguments: [ENDPOINT],
      async run({ withDatabase, print }, id: string, options: { json?: boolean }) {
        const attempt = await withDatabase((database) => tryEndpoint(database, id));
        const line = describeTried(attempt);
        if (attempt.error === null) return [attempt, line];
        if (options.json) print(options, attempt, line);
        throw new Failure(line);
      },
    },
    rotate: {
      about: 'make a new secret, which is shown only once; deliveries are signed with both for a time',
      arguments: [ENDPOINT],
      options: [overlap('how long deliveries are signed with the old secret too')],
      async run({ withSecrets }, id: string, options: { overlap: number }) {
        const rotated = await withSecrets((database, keys) =>
          replaceEndpointSecret(database, keys, id, options.overlap),
        );
        return [rotated, describeNewEndpoint(rotated)];
      },
    },
    disable: switchCommand(
      'deliver nothing until it is enabled; events wait while they are stored, 30 days by default',
      false,
    ),
    enable: switchCommand('resume deliveries, including missed events', true),
    resend: {
      about: 'deliver stored events of its types again, with the same ids',
      arguments: [ENDPOINT],
      options: [
        option('--from <sequence>', 'first sequence', sequence('--from')).makeOptionMandatory(),
        option('--to <sequence>', 'last sequence (default: all that follow)', sequence('--to')),
      ],
      help: `Delivers only the oldest ${MAX_RESENT} of the range; run it again for the rest.`,
      examples: ['orders endpoints resend ep_2f9c0d… --from 120 --to 140'],
      async run({ withDatabase }, id: string, { from, to }: { from: number; to?: number }) {
        if (to !== undefined && to < from) throw new UsageError('--to must not be before --from.');
        const { endpoint, resent } = await withDatabase((database) => resendRange(database, id, { from, to }));
        const when = endpoint.disabled ? ' once the endpoint is enabled' : '';
        const more = resent === MAX_RESENT ? ' There may be more: repeat it later with another --from.' : '';
        const text =
          resent === 0
            ? 'No stored event of this range was due before.'
            : `${plural(resent, 'event')} will be delivered again${when}.${more}`;
        return [{ endpoint_id: id, events: resent }, text];
      },
    },
    deliveries: {
      about: 'the newest attempts to deliver, newest first; kept for 7 days',
      arguments: [ENDPOINT],
      options: [option('--limit <number>', 'at most this many', numberUpTo('--limit', MAX_ATTEMPTS), DEFAULT_ATTEMPTS)],
      async run({ withDatabase }, id: string, { limit }: { limit: number }) {
        const found = await withDatabase(async (database) =>
          listAttempts(database, await requireEndpoint(database, id), { limit }),
        );
        return rows(
          found.map(attemptJson),
          tabulateAttempts,
          'Nothing was delivered to this endpoint in the last 7 days.',
        );
      },
    },
    remove: {
      about: 'remove an endpoint with its attempts and waiting deliveries',
      arguments: [ENDPOINT],
      async run({ withDatabase }, id: string) {
        const { account_id } = await withDatabase((database) => deleteEndpoint(database, id));
        return [{ account_id, endpoint_id: id, removed: true }, `Endpoint ${id} is removed.`];
      },
    },
  },
};
