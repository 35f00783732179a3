/** Makes calls: see client-drivers.ts. */
import { json } from 'node:stream/consumers';
import { type ClientOptions, OrdersClient, OrdersError, type OrdersEvent, signBody, verifyEvent } from '@orders/client';

type Options = Record<string, unknown>;
interface Call {
  client: Options;
  method: string;
  args: unknown[];
  options: Options;
}
type Method = (...args: unknown[]) => Promise<unknown>;

const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const named = ({ timeout, ...options }: Options): Options => ({
  ...Object.fromEntries(Object.entries(options).map(([name, value]) => [camel(name), value])),
  ...(timeout !== undefined && { timeoutMs: Number(timeout) * 1000 }),
});

async function run({ client: given, method, args, options }: Call): Promise<unknown> {
  const name = camel(method);
  if (name === 'signBody') return (signBody as Method)(...args);
  if (name === 'verifyEvent') return (verifyEvent as Method)(...args);
  const orders = new OrdersClient(named(given) as unknown as ClientOptions);
  if (name !== 'events') return (orders as unknown as Record<string, Method>)[name]?.(...args, named(options));
  const { take, ...others } = options;
  const events: OrdersEvent[] = [];
  for await (const event of orders.events(others)) {
    events.push(event);
    if (events.length === take) break;
  }
  return events;
}

function outcomeOf(error: unknown): object {
  if (error instanceof TypeError) return { misuse: error.message };
  if (!(error instanceof OrdersError)) throw error;
  const { status, retryAfterSeconds, errors, installationUrl, keptAs, receipt } = error as OrdersError & Options;
  return {
    error: {
      kind: error.name.replace('Error', ''),
      code: error.code,
      status: status ?? null,
      retry_after: retryAfterSeconds ?? null,
      request_id: error.requestId ?? null,
      is_retryable: error.isRetryable,
      errors: errors ?? [],
      installation_url: installationUrl ?? null,
      kept_as: keptAs ?? null,
      receipt: receipt ?? null,
      message: error.message,
    },
  };
}

const calls = (await json(process.stdin)) as Call[];
const outcomes = await Promise.all(calls.map((call) => run(call).then((ok) => ({ ok }), outcomeOf)));
process.stdout.write(JSON.stringify(outcomes));
