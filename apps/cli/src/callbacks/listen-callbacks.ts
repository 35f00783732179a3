import type { OrdersEvent } from '@orders/client';
import { TEST_EVENT } from '@orders/domain';
import { listen } from '@orders/runtime';
import type { Context } from '../context.ts';
import { plural } from '../count.ts';
import { describeEvent } from '../events/describe-event.ts';
import { painter, redactor } from '../listen/describe-arrival.ts';
import { escapeControlsInLine } from '../sanitize.ts';
import { readEndpointSecret } from '../sender-config.ts';
import { type Callback, createCallbackListener } from './create-callback-listener.ts';

export interface CallbackOptions {
  port: number;
  /** Of the endpoint; in place of `ORDERS_ENDPOINT_SECRET`. */
  secret?: string;
  json?: boolean;
}

/** Max time to finish replies when the command ends. */
const TIMEOUT_MS = 1000;
const MAX_PATH = 200;

/** Receives and verifies deliveries of events until the command is interrupted. */
export async function listenForCallbacks(context: Context, options: CallbackOptions): Promise<void> {
  const { stdout, env, untilInterrupted = () => new Promise<void>(() => {}) } = context.cliContext;
  const secret = readEndpointSecret(env, options.secret);
  const redact = redactor(secret === undefined ? [] : [secret]);
  const paint = painter(stdout.isTTY === true && !env.NO_COLOR && !options.json);
  const writeLine = options.json ? context.report : (text: string) => void stdout.write(`${text}\n`);
  const counts = { accepted: 0, rejected: 0 };

  function show(callback: Callback): void {
    counts[callback.event ? 'accepted' : 'rejected'] += 1;
    const text = options.json ? JSON.stringify(callbackJson(callback)) : describeCallback(callback);
    const color = callback.event ? (callback.verdict === 'verified' ? 'green' : 'yellow') : 'red';
    stdout.write(`${paint(color, redact(text))}\n`);
  }

  const { server, shutdown } = createCallbackListener(secret, show, (message) => writeLine(paint('yellow', message)));
  // Before the first output, so that a reader of it may interrupt at once.
  const interrupted = untilInterrupted();
  const port = await listen(server, '127.0.0.1', options.port);
  const url = `http://127.0.0.1:${port}/`;
  writeLine(`Listening for events on ${paint('bold', url)}\n`);
  if (secret === undefined)
    writeLine(
      `${paint('dim', '# Nothing is verified without a secret. Make an endpoint, and start again with its secret:')}\norders endpoints create <account> ${url}\norders listen --callbacks --port ${port} --secret whsec_…\n`,
    );
  writeLine(`${paint('dim', '# Ctrl-C ends it.')}\n`);
  await interrupted;
  await shutdown.drain(TIMEOUT_MS);
  const { accepted, rejected } = counts;
  writeLine(`${plural(accepted, 'event')}, ${plural(rejected, 'rejected request')}.`);
}

/** A request as one line. */
function describeCallback({ at, path, status, verdict, detail, isAgain, event }: Callback): string {
  const about = event ? describeAny(event, verdict) : `${path.slice(0, MAX_PATH)}  ${detail}`;
  // 18:04:05
  const time = at.toTimeString().slice(0, 8);
  return escapeControlsInLine([time, `${status} ${verdict}`, about, ...(isAgain ? ['again'] : [])].join('  '));
}

function describeAny(event: OrdersEvent, verdict: Callback['verdict']): string {
  // Anything may be in the data of an event that is not verified, and nothing is in that of a test event.
  const isComplete = verdict === 'verified' && event.type !== TEST_EVENT;
  return isComplete ? describeEvent(event) : `${event.type}  ${event.id}`;
}

/** A request as one JSON object; absent values are null. */
function callbackJson({ at, path, status, verdict, detail, webhookId, isAgain, event }: Callback): object {
  return { at, path, status, verdict, detail, webhook_id: webhookId, again: isAgain, event };
}
