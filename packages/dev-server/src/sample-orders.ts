import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const SAMPLES = join(import.meta.dirname, 'sample-orders.ndjson');

/** Sends the sample orders to intake as one batch. Repeated calls return the original receipts. */
export async function sendSampleOrders(intakeUrl: string, apiKey: string): Promise<void> {
  const reply = await fetch(`${intakeUrl}/ingest/orders/batch`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/x-ndjson',
      'Idempotency-Key': 'samples',
    },
    body: await readFile(SAMPLES),
  });
  const { refused } = reply.ok ? ((await reply.json()) as { refused: number }) : { refused: null };
  if (refused !== 0) throw new Error(`The sample orders were rejected with status ${reply.status}.`);
}
