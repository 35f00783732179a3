import { createApiKey, createSigningSecret } from '@orders/domain';
import { listen } from '@orders/runtime';
import { type Command, Option } from 'commander';
import { basePath, port } from '../arguments.ts';
import { type CallbackOptions, listenForCallbacks } from '../callbacks/listen-callbacks.ts';
import type { Context } from '../context.ts';
import { plural } from '../count.ts';
import { UsageError } from '../errors.ts';
import type { Arrival, Setup } from '../listen/arrival.ts';
import { createListener } from '../listen/create-listener.ts';
import { createDeliveries } from '../listen/deliveries.ts';
import { arrivalJson, describeArrival, type Paint, painter, redactor, verdictOf } from '../listen/describe-arrival.ts';
import { NO_FAILURES, parseFailures, type SimulatedFailures } from '../listen/failures.ts';
import { readSenderSecrets, type SenderSecrets } from '../sender-config.ts';

interface Options extends CallbackOptions {
  basePath: string;
  fail: SimulatedFailures;
  raw?: boolean;
  callbacks?: boolean;
}

/** Max time to finish replies when the command ends. */
const TIMEOUT_MS = 1000;

const EPILOGUE = `
It serves five routes of the service, POST <base>/ingest/webhook, POST <base>/ingest/orders, each also with /cancel, and
GET <base>/ingest/status/{receipt_id}, with receipts in memory: no database, no queue. Each delivery is shown with its
verdict, the likely cause if a signature or a body is wrong, the order that it would become, and which of the last 500
deliveries it duplicates, with the differences. A cancellation is never requested: nothing is dispatched here. It listens
on this machine only. orders send works with it if called with --webhook --no-wait, and so does orders cancel.

The key and the secret are generated and shown at the start, unless ORDERS_API_KEY and ORDERS_SIGNING_SECRET are set.

--fail: 503 refuses the first delivery, 503x3 the first three, 503,429,500 the first three in turn, 503/3 every third.

--callbacks receives events instead, as an endpoint does, at any path: each is one line with the verdict on its signature
and what is wrong with it, and the reply is 204 or 401. --secret, or ORDERS_ENDPOINT_SECRET, is the secret of the
endpoint. It takes no orders.

Ctrl-C ends it and prints a summary. With --json everything but the deliveries goes to stderr.

Examples:
  $ orders listen
  $ orders listen --fail 503x3 --raw
  $ orders listen --callbacks --secret whsec_…
  $ orders listen --json | jq -c '[.status, .code, .order.source_order_id]'`;

/** `orders listen`. */
export function addListenCommand(program: Command, context: Context): void {
  program
    .command('listen')
    .description('a local echo for senders: shows each delivery, its verdict and what order it would become')
    .option('--port <port>', 'listen on this port of 127.0.0.1; 0: any free port', port, 8090)
    .option('--base-path <path>', 'a prefix of all paths, such as /api', basePath, '')
    .addOption(
      new Option('--fail <refusals>', 'refuse deliveries with 429, 500 or 503, to test whether the sender retries')
        .argParser(parseFailures)
        .default(NO_FAILURES, 'none'),
    )
    .option('--raw', 'show headers and body too, without key and signature')
    .addOption(
      new Option('--callbacks', 'receive and verify events, instead of orders').conflicts(['basePath', 'fail', 'raw']),
    )
    .option('--secret <secret>', 'with --callbacks: the secret of the endpoint, whsec_…')
    .option('--json', 'print one JSON object a line for each request')
    .addHelpText('after', EPILOGUE)
    .action((options: Options) => {
      if (options.callbacks) return listenForCallbacks(context, options);
      if (options.secret !== undefined) throw new UsageError('--secret needs --callbacks.');
      return run(context, options);
    });
}

async function run(context: Context, options: Options): Promise<void> {
  const { stdout, env, untilInterrupted = () => new Promise<void>(() => {}) } = context.cliContext;
  const secrets = readSenderSecrets(env);
  const setup = {
    apiKey: secrets.ORDERS_API_KEY ?? createApiKey(),
    signingSecret: secrets.ORDERS_SIGNING_SECRET ?? createSigningSecret(),
    basePath: options.basePath,
    failures: options.fail,
    deliveries: createDeliveries(),
  };
  const redact = redactor([setup.apiKey, setup.signingSecret]);
  const paint = painter(stdout.isTTY === true && !env.NO_COLOR && !options.json);
  const writeLine = options.json ? context.report : (text: string) => void stdout.write(`${text}\n`);
  const verdicts = new Map<string, number>();
  const { raw = false } = options;

  function show(arrival: Arrival): void {
    const verdict = verdictOf(arrival);
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    const text = options.json
      ? JSON.stringify(arrivalJson(arrival, { raw }))
      : describeArrival(arrival, { raw, paint });
    stdout.write(`${redact(text)}\n`);
  }

  const { server, shutdown } = createListener(setup, show, (message) => writeLine(paint('yellow', message)));
  // Before the first output, so that a reader of it may interrupt at once.
  const interrupted = untilInterrupted();
  const port = await listen(server, '127.0.0.1', options.port);
  writeLine(startMessage(setup, secrets, `http://127.0.0.1:${port}${setup.basePath}`, paint));
  await interrupted;
  await shutdown.drain(TIMEOUT_MS);
  writeLine(summary(verdicts));
}

const SAMPLE =
  '{"source_order_id":"LISTEN-1","customer":{"name":"Aisha","phone":"050 123 4567"},"emirate":"Dubai","total":"149.50"}';

/** The listener's address, and lines to paste into a shell. Shows only secrets that were generated for this listener. */
function startMessage(setup: Setup, given: SenderSecrets, url: string, paint: Paint): string {
  const exports = [
    ...(given.ORDERS_API_KEY === undefined ? [`export ORDERS_API_KEY=${setup.apiKey}`] : []),
    ...(given.ORDERS_SIGNING_SECRET === undefined ? [`export ORDERS_SIGNING_SECRET=${setup.signingSecret}`] : []),
  ];
  const hint =
    exports.length === 0
      ? '# Send an order, with the key and secret that are set:'
      : '# Paste this into another shell to send an order:';
  return [
    `Listening on ${paint('bold', `${url}/ingest/webhook`)} and ${url}/ingest/orders`,
    '',
    paint('dim', hint),
    ...exports,
    `BODY='${SAMPLE}'`,
    `SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$ORDERS_SIGNING_SECRET" -r | cut -d' ' -f1)`,
    `curl -si ${url}/ingest/webhook -H "Authorization: Bearer $ORDERS_API_KEY" -H 'Content-Type: application/json' \\`,
    `  -H "x-service-signature: sha256=$SIGNATURE" --data-binary "$BODY"`,
    '',
    paint('dim', '# Ctrl-C ends it.'),
    '',
  ].join('\n');
}

/** Request counts by verdict. */
function summary(verdicts: ReadonlyMap<string, number>): string {
  const total = [...verdicts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return 'No requests.';
  const parts = [...verdicts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([verdict, count]) => `${count} × ${verdict}`);
  return `${plural(total, 'request')}: ${parts.join(', ')}.`;
}
