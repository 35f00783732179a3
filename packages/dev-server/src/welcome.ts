import { createHash } from 'node:crypto';
import { join } from 'node:path';
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
