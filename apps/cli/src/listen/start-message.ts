import type { SenderSecrets } from '../sender-config.ts';
import type { Paint } from './describe-arrival.ts';
import type { Setup } from './handle-request.ts';

const SAMPLE =
  '{"source_order_id":"LISTEN-1","customer":{"name":"Aisha","phone":"050 123 4567"},"emirate":"Dubai","total":"149.50"}';

/** The start message: the listener's address, and lines to paste into a shell. Shows only secrets that were generated for this listener. */
export function startMessage({
  setup,
  given,
  url,
  paint,
}: {
  setup: Setup;
  given: SenderSecrets;
  url: string;
  paint: Paint;
}): string {
  const exports = [
    ...(given.ORDERS_API_KEY === undefined ? [`export ORDERS_API_KEY=${setup.apiKey}`] : []),
    ...(given.ORDERS_SIGNING_SECRET === undefined ? [`export ORDERS_SIGNING_SECRET=${setup.signingSecret}`] : []),
  ];
  return [
    `Listening on ${paint('bold', `${url}/ingest/webhook`)} and ${url}/ingest/orders`,
    '',
    paint(
      'dim',
      exports.length === 0
        ? '# Send an order, with the key and secret that are set:'
        : '# Paste this into another shell to send an order:',
    ),
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
