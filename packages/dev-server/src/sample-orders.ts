import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const SAMPLES = join(import.meta.dirname, 'sample-orders.ndjson');

/** Sends the sample orders to intake. Idempotency keys make repeated calls return the original receipts. */
export async function sendSampleOrders(intakeUrl: string, apiKey: string): Promise<void> {
  const orders = (await readFile(SAMPLES, 'utf8')).trim().split('\n');
  for (const [index, body] of orders.entries()) {
    const reply = await fetch(`${intakeUrl}/ingest/orders`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${apiKey}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': `sample-${index + 1}`,
      },
      body,
    });
    if (reply.status !== 202) throw new Error(`Sample order ${index + 1} was rejected with status ${reply.status}.`);
  }
}
