import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CursorExpiredError, OrdersClient, type OrdersEvent } from '@orders/client';
import { readEndpointUrl } from '@orders/domain/endpoints.ts';
import { EVENT_TYPES, type EventType } from '@orders/domain/events.ts';
import { backoff } from '@orders/runtime/concurrency/timers.ts';
import { LOOPBACK_HOSTS, parseDuration } from '@orders/runtime/config/environment.ts';
import { eventTypes, parseEventReference } from '../arguments.ts';
import { type CommandSpec, option } from '../command.ts';
import type { Context } from '../context.ts';
import { Failure, UsageError } from '../errors.ts';
import { type Posted, type Program, postEvent } from '../events/post-event.ts';
import {
  cursorAt,
  type EventReference,
  findEvent,
  LOG_TIMEOUT_MS,
  newestCursor,
  readLog,
  TYPE_WIDTH,
} from '../events/read-log.ts';
import { createRetryGate, endOfRun, type Session } from '../retry-gate.ts';
import { escapeControlsInLine } from '../sanitize.ts';
import { readSenderConfig } from '../sender-config.ts';

interface Options {
  forwardTo: string;
  secret?: string;
  types?: EventType[];
  since?: Since;
  replay?: EventReference;
  url?: string;
}

/** Where to start: `at` is in milliseconds since 1970. */
type Since = EventReference | { at: number } | 'now';

/** How long `--replay` waits for a service that is away. */
const REPLAY_GIVE_UP_MS = 60_000;
const BACKOFF = { base: 250, cap: 2_000 };

async function listenTo(context: Context, options: Options): Promise<undefined> {
  const { cliContext, report } = context;
  const { env, localDirectory, untilInterrupted = () => new Promise<void>(() => {}) } = cliContext;
  const { url, apiKey } = await readSenderConfig(env, options.url, localDirectory);
  const program = { url: options.forwardTo, secret: options.secret ?? secretOf(apiKey) };
  const { replay } = options;
  const controller = new AbortController();
  const { signal } = controller;
  // An event that was not posted is no success: a replay ends as any command does.
  if (!replay) void untilInterrupted().then(() => controller.abort());
  const client = new OrdersClient({ baseUrl: url, apiKey, timeoutMs: LOG_TIMEOUT_MS, maxRetries: 0 });
  const giveUpAfterMs = replay ? REPLAY_GIVE_UP_MS : Number.POSITIVE_INFINITY;
  const session = { client, signal, gate: createRetryGate({ giveUpAfterMs, signal }, outageReporter(report)) };
  report(`Signs with the secret ${program.secret}`);
  try {
    if (replay) await replayEvent(replay, session, program, context);
    else await forwardEvents(options, session, program, context);
  } catch (error) {
    if (!signal.aborted) throw endOfListening(error);
  }
  return undefined;
}

/** Follows from the key, so that it stays the same and the key cannot be computed from it. */
function secretOf(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('orders listen').digest('base64')}`;
}

/** Says once that the service is away, and once that it is back. */
function outageReporter(report: Context['report']): Parameters<typeof createRetryGate>[1] {
  let isAway = false;
  return (wait) => {
    if (wait && !isAway) report(`Waits for the service: ${wait.why}.`);
    if (!wait && isAway) report('The service is back.');
    isAway = wait !== null;
  };
}

function endOfListening(error: unknown): unknown {
  if (!(error instanceof CursorExpiredError)) return endOfRun(error);
  return new Failure('The next events are no longer stored (410 cursor_expired). Start again without --since.');
}

/** Posts one event. */
async function replayEvent(
  reference: EventReference,
  session: Session,
  program: Program,
  { cliContext }: Context,
): Promise<void> {
  const event = await requireEvent(session, reference);
  const posted = await postEvent(event, program, session.signal);
  cliContext.stdout.write(describePosted(event, posted));
  if (!isTaken(posted)) throw new Failure('The program did not take the event.');
}

/** Posts events in their order, one after the other, until the command is interrupted. */
async function forwardEvents(
  { types, since = 'now' }: Options,
  session: Session,
  program: Program,
  { cliContext, report }: Context,
): Promise<void> {
  let cursor = await startOf(session, since);
  const { origin, pathname } = new URL(program.url);
  report(`Posts events to ${origin}${pathname} until Ctrl-C.`);
  try {
    for await (const { events, next } of readLog(session, cursor)) {
      for (const event of events) {
        if (!types || (types as string[]).includes(event.type)) {
          const posted = await postWhenItListens(event, program, session.signal, report);
          cliContext.stdout.write(describePosted(event, posted));
        }
        cursor = String(event.data.sequence);
      }
      cursor = next;
    }
  } catch (error) {
    if (session.signal.aborted) report(`Continue with --since ${cursor}.`);
    throw error;
  }
}

/** Posts an event as soon as there is a program: while it restarts, nothing is lost. */
async function postWhenItListens(
  event: OrdersEvent,
  program: Program,
  signal: AbortSignal,
  report: Context['report'],
): Promise<Posted> {
  for (let failures = 0; ; failures++) {
    const posted = await postEvent(event, program, signal);
    if (posted.error !== 'ECONNREFUSED') return posted;
    if (failures === 0) report(`Nothing listens at ${new URL(program.url).origin}: events wait until a program does.`);
    await sleep(backoff(failures, BACKOFF), undefined, { signal });
  }
}

async function startOf(session: Session, since: Since): Promise<string> {
  if (since === 'now') return newestCursor(session);
  if ('at' in since) return cursorAt(session, since.at);
  if ('sequence' in since) return String(since.sequence);
  return String((await requireEvent(session, since)).data.sequence);
}

async function requireEvent(session: Session, reference: EventReference): Promise<OrdersEvent> {
  const event = await findEvent(session, reference);
  if (!event) throw new Failure('No stored event of this account has this id.');
  return event;
}

const isTaken = ({ status }: Posted) => status !== null && status >= 200 && status < 300;

function describePosted({ id, type }: OrdersEvent, { status, error, ms }: Posted): string {
  const time = new Date().toISOString().replace('T', ' ').replace(/\.\d+/, '');
  return `${escapeControlsInLine([time, type.padEnd(TYPE_WIDTH), id, status ?? error, `${ms} ms`].join('  '))}\n`;
}

/** The developer's machine; the last one is its name in a container of Docker. */
const OWN_HOSTS = [...LOOPBACK_HOSTS, 'host.docker.internal:*'];

function forwardUrl(text: string): string {
  const read = readEndpointUrl(text, OWN_HOSTS);
  if ('url' in read) return read.url;
  const hint = read.code === 'scheme' ? ' Only this machine, such as localhost, may have http.' : '';
  throw new UsageError(`--forward-to ${read.error}.${hint}`);
}

/** https://www.standardwebhooks.com requires 24 to 64 bytes. */
function secretFor(text: string): string {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  const { length } = Buffer.from(base64 ?? '', 'base64');
  if (length >= 24 && length <= 64) return text;
  throw new UsageError('--secret takes the secret of an endpoint: whsec_ and the base64 of 24 to 64 bytes.');
}

function replayed(text: string): EventReference {
  const reference = parseEventReference(text);
  if (reference) return reference;
  throw new UsageError('--replay takes the id of an event, evt_ and 32 hex digits, or its sequence.');
}

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

function startingPoint(text: string): Since {
  const reference = text === 'now' ? text : parseEventReference(text);
  if (reference) return reference;
  const at = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return { at };
  try {
    return { at: Date.now() - parseDuration(text) };
  } catch {}
  throw new UsageError(
    '--since takes now, the id or sequence of an event, a time such as 2026-11-24T08:30Z, or a time span such as 10m.',
  );
}

const HELP = `\
Posts the events of your account to a program on your machine as the service delivers them to an endpoint: with the same
body and headers, and signed with a secret that it prints. The secret stays the same for an API key.

http:// is only for this machine: localhost, 127.0.0.1, [::1] and, from a container, host.docker.internal. Any other host
needs https://.

Events are posted in their order, one after the other. A line has time, type, event id, the status of the reply or what
went wrong, and milliseconds. While nothing listens at the address, events wait. An event that gets no 2xx, or no reply
within 15 seconds, is not posted again by itself: the next one follows. --replay posts it again.

While the service is away, it waits. ORDERS_URL and ORDERS_API_KEY are those of orders send.

Exit codes: 0 ended by Ctrl-C, by SIGTERM, or as the reader of its output ended, or the replayed event got 2xx; 1 failed;
2 usage error. With --replay, 130 ended by Ctrl-C; 143 ended by SIGTERM.`;

export const listen: CommandSpec = {
  about: "post an account's events to a program on your machine, as they happen; needs an API key and no database",
  options: [
    option('--forward-to <address>', 'where to post them', forwardUrl).makeOptionMandatory(),
    option('--types <types>', `only these, separated by commas: ${EVENT_TYPES.join(', ')} (default: all)`, eventTypes),
    option(
      '--since <start>',
      'continue after the event with this id or sequence, or start at a time, such as 2026-11-24T08:30Z, or so long ago, such as 10m (default: now)',
      startingPoint,
    ),
    option('--replay <event>', 'post this event (id or sequence) once, and end', replayed).conflicts([
      'since',
      'types',
    ]),
    option('--secret <secret>', 'sign with this secret of an endpoint, whsec_…', secretFor),
    option('--url <address>', 'the address of the service, instead of ORDERS_URL'),
  ],
  json: false,
  help: HELP,
  examples: [
    'orders listen --forward-to http://localhost:3000/hook',
    'orders listen --forward-to http://localhost:3000/hook --types order.confirmed,order.rejected --since 10m',
    'orders listen --forward-to http://localhost:3000/hook --replay evt_0e6d3f2b9a4c4b0e8f1d2c3b4a5f6e7d',
  ],
  run: listenTo,
};
