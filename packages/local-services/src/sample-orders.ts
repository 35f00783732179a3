import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const SAMPLES = join(import.meta.dirname, 'sample-orders.ndjson');

/** Sends the sample orders, one a line, through intake's own door; sent again, they come back with the receipts of the first time. */
export async function sendSampleOrders(intakeUrl: string, apiKey: string): Promise<void> {
  const orders = (await readFile(SAMPLES, 'utf8')).trim().split('\n');
  for (const [at, body] of orders.entries()) {
    const reply = await fetch(`${intakeUrl}/ingest/orders`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${apiKey}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': `sample-${at + 1}`,
      },
      body,
    });
    if (reply.status !== 202) throw new Error(`Sample order ${at + 1} was refused with ${reply.status}.`);
  }
}
