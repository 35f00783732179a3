import { CursorExpiredError, OrdersClient, type OrdersEvent } from '@orders/client';
import { cursor, GIVE_UP_AFTER } from '../arguments.ts';
import { type CommandSpec, option } from '../command.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { LOG_TIMEOUT_MS, readLog, TYPE_WIDTH } from '../events/read-log.ts';
import { createRetryGate, endOfRun } from '../retry-gate.ts';
import { escapeControlsInLine } from '../sanitize.ts';
import { readSenderConfig, type SenderConfig } from '../sender-config.ts';
import { plural } from '../table.ts';

/** What the types of events have in addition. */
type AnyData = Partial<Extract<OrdersEvent, { type: 'receipt.written' }>['data']> &
  Partial<Extract<OrdersEvent, { type: 'receipt.duplicate' }>['data']> &
  Partial<Extract<OrdersEvent, { type: 'receipt.dead' }>['data']> & { reason?: string | undefined };

/** An event as one line, with what its type adds at the end. */
function describeEvent({ type, timestamp, data }: OrdersEvent): string {
  const { sequence, source_order_id, order_id, receipt_id } = data;
  const { warnings, duplicate_of, changed, error, reason } = data as AnyData;
  const parts = [
    `${sequence}`,
    timestamp.replace('T', ' ').replace(/\.\d+/, ''),
    type.padEnd(TYPE_WIDTH),
    source_order_id || '-',
    order_id === null ? `receipt ${receipt_id}` : `order ${order_id}`,
    ...(warnings?.length ? [plural(warnings.length, 'warning')] : []),
    ...(duplicate_of ? [`of ${duplicate_of}`] : []),
    ...(changed?.length ? [`changed ${changed.join(', ')}`] : []),
    ...(error ? [error] : []),
    ...(reason ? [`"${reason}"`] : []),
  ];
  return escapeControlsInLine(parts.join('  '));
}

/** What to print, and from where. */
interface FollowOptions {
  /** The sequence of the last event that is known. */
  after?: string;
  /** In milliseconds. */
  giveUpAfter: number;
  json?: boolean;
}

/**
 * Prints events until the command is interrupted.
 *
 * @throws {Failure} with the cursor to continue from, if the service rejects the requests, or has not replied for too long.
 */
async function followEvents(
  { after, giveUpAfter, json }: FollowOptions,
  { url, apiKey }: SenderConfig,
  { cliContext, report }: Context,
): Promise<void> {
  const { stdout, untilInterrupted = () => new Promise<void>(() => {}) } = cliContext;
  const controller = new AbortController();
  const { signal } = controller;
  void untilInterrupted().then(() => controller.abort());
  const client = new OrdersClient({ baseUrl: url, apiKey, timeoutMs: LOG_TIMEOUT_MS, maxRetries: 0 });
  const gate = createRetryGate({ giveUpAfterMs: giveUpAfter, signal }, (wait) => {
    if (wait) report(`Waits ${Math.ceil(wait.ms / 1000)} s: ${wait.why}.`);
  });
  let cursor = after;
  const advice = () => (cursor === undefined ? '' : `Continue with --after ${cursor}.`);
  try {
    for await (const { events, next } of readLog({ client, gate, signal }, after)) {
      for (const event of events) stdout.write(`${json ? JSON.stringify(event) : describeEvent(event)}\n`);
      cursor = next;
    }
  } catch (error) {
    if (!signal.aborted) throw withAdvice(error, advice());
    if (advice()) report(advice());
  }
}

function withAdvice(error: unknown, advice: string): unknown {
  if (error instanceof CursorExpiredError)
    return new Failure(
      'Events after this cursor are no longer stored (410 cursor_expired). Reconcile your open orders, and start again without --after.',
    );
  const end = endOfRun(error);
  return end instanceof Failure && advice ? new Failure(`${end.message} ${advice}`) : end;
}

const FOLLOW_HELP = `\
Prints the stored events of your account, oldest first, then each new one as it is published. A line has sequence, time,
type, source_order_id and order; with --json it is the event as the API returns it. To continue later, give the sequence
of the last event that you have processed as --after.

ORDERS_URL and ORDERS_API_KEY are those of orders send.

Exit codes: 0 ended by Ctrl-C, by SIGTERM, or as the reader of its output ended; 1 failed; 2 usage error.`;

/** In a file of its own, as a sender's command must not load what operators need. */
export const follow: CommandSpec = {
  about: 'print stored events, then new ones as they are published; needs an API key and no database',
  options: [
    option('--after <sequence>', 'continue after this event, instead of starting at the oldest stored one', cursor),
    option('--url <address>', 'the address of the service, instead of ORDERS_URL'),
    GIVE_UP_AFTER,
    option('--json', 'print one JSON object a line for each event'),
  ],
  json: false,
  help: FOLLOW_HELP,
  examples: [
    'orders events follow',
    `orders events follow --after 41 --json | jq -c 'select(.type == "order.rejected") | .data'`,
  ],
  async run(context, options: FollowOptions & { url?: string }) {
    const { env, localDirectory } = context.cliContext;
    await followEvents(options, await readSenderConfig(env, options.url, localDirectory), context);
    return undefined;
  },
};
