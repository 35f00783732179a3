import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type DevFile, LOCAL_DIRECTORY } from './local-state.ts';

/** The message of `npm start`: URLs, demo credentials and three commands to paste. */
export function welcome(
  { intakeUrl, portalUrl, accounts, signIns }: DevFile,
  { database, queue }: { database: string; queue: string },
): string {
  const [kitchen] = accounts;
  const [holder, operator] = signIns;
  const reply = join(LOCAL_DIRECTORY, 'first-reply.txt');
  const order = `{"source_order_id":"demo-1","customer":{"name":"Aisha Khan","phone":"050 123 4567"},"address":"Apt 1204, Marina Heights","emirate":"Dubai","items":[{"name":"Soup","quantity":2}],"total":"149.50"}`;
  const webhook = `{"source_order_id":"demo-2","customer":{"name":"Omar","phone":"+971 50 765 4321"},"emirate":"AUH","total":99}`;
  return `
The order ingestion service is running. Press Ctrl-C to stop it; its data stays in .local/.

  address         ${intakeUrl}
  guides          ${intakeUrl}/docs/senders
  API document    ${intakeUrl}/docs
  database        ${database}
  queue           ${queue}
  account         ${kitchen?.name} (id ${kitchen?.id})
  API key         ${kitchen?.apiKey}
  signing secret  ${kitchen?.signingSecret}

  portal          ${portalUrl}
  as the account  ${holder?.email}  ${holder?.password}
  as operator     ${operator?.email}  ${operator?.password}

1. Send an order:

curl -si -w '\\n' ${intakeUrl}/ingest/orders \\
  -H 'Authorization: Bearer ${kitchen?.apiKey}' \\
  -H 'Content-Type: application/json' -H 'Idempotency-Key: demo-1-${contentHash(order)}' \\
  -d '${order}' | tee '${reply}'

2. Send one as a signed webhook:

BODY='${webhook}'
SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac '${kitchen?.signingSecret}' -r | cut -d' ' -f1)
curl -si -w '\\n' ${intakeUrl}/ingest/webhook \\
  -H 'Authorization: Bearer ${kitchen?.apiKey}' \\
  -H 'Content-Type: application/json' -H "x-service-signature: sha256=$SIGNATURE" \\
  -d "$BODY"

3. Query the status of the first (its receipt id is in the first response):

curl -s -w '\\n' ${intakeUrl}/ingest/status/$(grep -o '"receipt_id":"[^"]*' '${reply}' | cut -d'"' -f4) \\
  -H 'Authorization: Bearer ${kitchen?.apiKey}'

The portal lists the orders for review, with 60 samples; or: npm run --silent orders -- orders list --needs-review
`;
}

/** As docs/senders/retries.md derives keys: one for each content of an order. */
function contentHash(body: string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 16);
}

/** The output of the apps, held while they start. */
interface HeldOutput {
  /** Takes the output of a process. */
  add(stream: Readable | null): void;
  /** Prints all output from now on. What was held is dropped, but for warnings and errors, or printed as a whole. */
  release(what: 'warnings' | 'all'): void;
}

/** The level of a log line that a person should see. */
const WARNING = /^\S+ (warn|error) /;

/** So that the message of `npm start` comes before the log lines of its own requests. */
export function holdOutput(print: (text: string) => void): HeldOutput {
  let held: string[] | null = [];
  return {
    add(stream) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        if (held) held.push(text);
        else print(text);
      });
    },
    release(what) {
      const lines = (held?.join('') ?? '').split(/(?<=\n)/);
      held = null;
      for (const line of lines) if (what === 'all' || WARNING.test(line)) print(line);
    },
  };
}

/** Runs a step of the start, and prints a line when it begins. */
type RunStep = <T>(what: string, work: () => Promise<T>) => Promise<T>;

/** @param verbose prints how long each step took, too. */
export function createSteps(print: (text: string) => void, verbose: boolean): RunStep {
  return async (what, work) => {
    print(`${what} …`);
    const startedAt = performance.now();
    const result = await work();
    if (verbose) print(`${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    return result;
  };
}
