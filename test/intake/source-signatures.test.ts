import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Source } from '@orders/database/sources/sources.ts';
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api';
import '@shopify/shopify-api/adapters/node';
import { Webhook } from 'standardwebhooks';
import { describeWith, findProgram } from '../harness/programs.ts';
import {
  createTestSource,
  deliver,
  readDeliveryFixture,
  SOURCE_SECRET,
  shopifyHeaders,
  standardHeaders,
  wooCommerceHeaders,
} from '../harness/sources.ts';
import { useStack } from '../harness/use-stack.ts';

const STANDARD_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

test("Shopify's own library accepts them", async () => {
  const [apiVersion] = Object.values(ApiVersion);
  const shopify = shopifyApi({
    apiKey: 'key',
    apiSecretKey: SOURCE_SECRET,
    hostName: 'lamps.example',
    apiVersion: apiVersion as ApiVersion,
    isEmbeddedApp: false,
    logger: { level: LogSeverity.Error },
  });
  const body = readDeliveryFixture('shopify/arabic');
  const validate = (headers: Record<string, string>) =>
    shopify.webhooks.validate({ rawBody: body.toString(), rawRequest: { method: 'POST', url: '/', headers } });
  expect(await validate(shopifyHeaders(body))).toMatchObject({ valid: true, topic: 'ORDERS_CREATE' });
  expect(await validate(shopifyHeaders(body, 'orders/create', 'another'))).toMatchObject({ valid: false });
});

describeWith('php')('WooCommerce', () => {
  // The line of WC_Webhook::generate_signature, whose wp_specialchars_decode is WordPress's htmlspecialchars_decode:
  // base64_encode( hash_hmac( $hash_algo, $payload, wp_specialchars_decode( $this->get_secret(), ENT_QUOTES ), true ) )
  // https://github.com/woocommerce/woocommerce/blob/trunk/plugins/woocommerce/includes/class-wc-webhook.php
  const SIGN =
    "echo base64_encode(hash_hmac('sha256', file_get_contents('php://stdin'), htmlspecialchars_decode($argv[1], ENT_QUOTES), true));";

  test('its own code signs like the tests', () => {
    const body = readDeliveryFixture('woocommerce/arabic');
    const signature = execFileSync(findProgram('php') ?? '', ['-r', SIGN, '--', SOURCE_SECRET], {
      input: body,
    }).toString();
    expect(wooCommerceHeaders(body)).toMatchObject({ 'X-WC-Webhook-Signature': signature });
  });
});

describe('Standard Webhooks', () => {
  const body = readDeliveryFixture('standard-webhooks/order');
  let source: Source;

  const { stack, api } = useStack({ intake: true });

  beforeAll(async () => {
    source = await createTestSource(stack, await stack.account(), 'standard-webhooks', { secret: STANDARD_SECRET });
  });

  test.each([
    [-360, 'before'],
    [360, 'after'],
  ])(
    'a delivery signed by standardwebhooks %i seconds from now is rejected with the difference',
    async (seconds, side) => {
      const now = Math.floor(Date.now() / 1000);
      const signedAt = new Date((now + seconds) * 1000);
      const reply = await deliver(api, source, body, standardHeaders(body, STANDARD_SECRET, 'msg_1', signedAt));
      expect(reply).toMatchObject({ status: 401, body: { code: 'invalid_signature' } });
      const text = `webhook-timestamp is (\\d+) seconds ${side} this service's clock`;
      const [, said] = new RegExp(text).exec(reply.body.detail) ?? [];
      // The clock of the service when it compared them.
      const clock = now + seconds + (side === 'before' ? Number(said) : -Number(said));
      expect(clock).toBeGreaterThanOrEqual(now);
      expect(clock).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
    },
  );

  test('a delivery signed by standardwebhooks three minutes ago is accepted, and another secret is not', async () => {
    const signedAt = new Date(Date.now() - 180_000);
    const headers = standardHeaders(body, STANDARD_SECRET, 'msg_1', signedAt);
    expect(() => new Webhook(STANDARD_SECRET).verify(body.toString(), headers)).not.toThrow();
    expect(await deliver(api, source, body, headers)).toMatchObject({ status: 202 });
    const forged = standardHeaders(body, `whsec_${Buffer.alloc(32, 8).toString('base64')}`);
    expect(await deliver(api, source, body, forged)).toMatchObject({ status: 401 });
  });
});
