import { Readable } from 'node:stream';
import { OrdersClient, type Preview, ProblemError } from '@orders/client';
import { GIVE_UP_AFTER } from '../arguments.ts';
import { argument, type CommandSpec, option } from '../command.ts';
import { orderEntries, warningLines } from '../describe-order.ts';
import { Failure } from '../errors.ts';
import { readFileOrStdin } from '../read-json-file.ts';
import { createRetryGate, endOfRun } from '../retry-gate.ts';
import { readSenderConfig, SENDER_ENVIRONMENT_HELP } from '../sender-config.ts';
import { details } from '../table.ts';

const TIMEOUT_MS = 30_000;
/** With these the service rejects an order for its content: no JSON object, too large, a broken rule. */
const REJECTIONS = [400, 413, 422];

const HELP = `\
Prints each field as the service reads it, - for a field without a value, and the warnings: what was guessed or
corrected. Nothing is stored. For many orders, use orders send --dry-run.

${SENDER_ENVIRONMENT_HELP}

Exit codes: 0 the order would be accepted, perhaps with warnings; 1 it would be rejected, or the command failed;
2 usage error.`;

interface Options {
  giveUpAfter: number;
  url?: string;
  json?: boolean;
}

export const preview: CommandSpec = {
  about: 'show how an order would be read, as a sender: needs an API key and no database',
  arguments: [argument('<file>', 'a file with one order as JSON; - is standard input')],
  options: [option('--url <address>', 'the address of the service, instead of ORDERS_URL'), GIVE_UP_AFTER],
  help: HELP,
  examples: ['orders preview order.json', `echo '{"source_order_id":"A-1","emirate":"Sharjha"}' | orders preview -`],
  async run(context, file: string, { giveUpAfter, ...options }: Options) {
    const { stdin, env, localDirectory } = context.cliContext;
    const order = await readFileOrStdin(file, stdin ?? Readable.from([]));
    const { url, apiKey } = await readSenderConfig(env, options.url, localDirectory);
    const client = new OrdersClient({ baseUrl: url, apiKey, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
    const { signal } = new AbortController();
    const gate = createRetryGate({ giveUpAfterMs: giveUpAfter, signal }, (wait) => {
      if (wait) context.report(`Waits ${Math.ceil(wait.ms / 1000)} s: ${wait.why}.`);
    });
    try {
      const read = await gate.run(() => client.preview(order));
      return [read, describePreview(read)];
    } catch (error) {
      if (!(error instanceof ProblemError && REJECTIONS.includes(error.status))) throw endOfRun(error);
      const { status, code, detail, errors } = error.problem;
      context.print(options, { error: { status, code, detail, errors } }, warningLines(errors ?? []) ?? detail);
      throw new Failure(`The order would be rejected (${status} ${code}).`);
    }
  },
};

function describePreview({ normalized, warnings, duplicate_of, cancellation_held }: Preview): string {
  return details([
    ['source order', normalized.source_order_id],
    ['order number', normalized.order_number],
    ...orderEntries(normalized),
    ['warnings', warningLines(warnings)],
    ['duplicate', duplicate_of ? `of order ${duplicate_of.order_id}` : undefined],
    ['cancelled', cancellation_held ? 'on arrival: a cancellation is held' : undefined],
  ]);
}
