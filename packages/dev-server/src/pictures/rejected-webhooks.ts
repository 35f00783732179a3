import { createHmac } from 'node:crypto';
import type { DevFile } from '../local-state.ts';

/** Sends webhooks with wrong signatures, so that the log of rejected deliveries has entries. */
export async function sendRejectedWebhooks({ intakeUrl, accounts: [kitchen] }: DevFile): Promise<void> {
  if (!kitchen?.signingSecret) return;
  const body = JSON.stringify({ source_order_id: 'picture-1', emirate: 'Dubai' }, null, 2);
  const hmac = (text: string, encoding: 'hex' | 'base64') =>
    createHmac('sha256', kitchen.signingSecret ?? '')
      .update(text)
      .digest(encoding);
  const signatures = [hmac(JSON.stringify(JSON.parse(body)), 'hex'), hmac(body, 'base64'), hmac(`${body}\n`, 'hex')];
  for (const signature of signatures) {
    await fetch(`${intakeUrl}/ingest/webhook`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${kitchen.apiKey}`,
        'Content-Type': 'application/json',
        'x-service-signature': `sha256=${signature}`,
      },
      body,
    });
  }
}
