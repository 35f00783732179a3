import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Problem } from '../../src/problems.ts';
import { authenticateDelivery, readSourceSecret } from '../../src/sources/authenticate-delivery.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import type { SourceSettings } from '../../src/sources/settings.ts';

type Signature = SourceSettings['signature'];
type Headers = Record<string, string | string[] | undefined>;

interface Reference {
  settings: Signature;
  secret: string;
  body: string;
  headers: Record<string, string>;
  /** Seconds since 1970. */
  now?: number;
}

const JEFE = { secret: 'Jefe', body: 'what do ya want for nothing?' };
const GITHUB = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
const STANDARD = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

/** Values of others: RFC 4231 and 2202, GitHub's documents, the tests of Standard Webhooks. */
const REFERENCES: Readonly<Record<string, Reference>> = {
  shopify: {
    ...JEFE,
    settings: PRESETS.shopify.settings.signature,
    headers: { 'x-shopify-hmac-sha256': 'W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=' },
  },
  woocommerce: {
    ...JEFE,
    settings: PRESETS.woocommerce.settings.signature,
    headers: { 'x-wc-webhook-signature': 'W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=' },
  },
  'SHA-1 in hex': {
    ...JEFE,
    settings: { scheme: 'hmac', header: 'x-sig', algorithm: 'sha1', encoding: 'hex' },
    headers: { 'x-sig': 'EFFCDF6AE5EB2FA2D27416D5F184DF9C259A7C79' },
  },
  'SHA-256 in hex with a prefix': {
    settings: { scheme: 'hmac', header: 'x-hub', algorithm: 'sha256', encoding: 'hex', prefix: 'sha256=' },
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: { 'x-hub': GITHUB },
  },
  'a token': {
    settings: { scheme: 'token', header: 'authorization', prefix: 'Bearer ' },
    secret: 'correct-horse',
    body: '{}',
    headers: { authorization: 'Bearer correct-horse' },
  },
  salla: {
    ...JEFE,
    settings: PRESETS.salla.settings.signature,
    headers: { 'x-salla-signature': '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843' },
  },
  // https://www.rfc-editor.org/rfc/rfc7617#section-2
  'HTTP Basic': {
    settings: { scheme: 'basic' },
    secret: 'open sesame',
    body: '{}',
    headers: { authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
  },
  'Standard Webhooks': {
    settings: { scheme: 'standard-webhooks' },
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': STANDARD,
    },
    now: 1_614_265_330,
  },
};

/** The detail of the refusal with its code; null if it is authentic. */
function refusal({ settings, secret, body, headers, now = 0 }: Reference, change: Partial<Change> = {}): string | null {
  const delivery = { headers: { ...headers, ...change.headers }, body: Buffer.from(change.body ?? body) };
  try {
    authenticateDelivery({ ...delivery, now: (change.now ?? now) * 1000 }, settings, change.secrets ?? [secret]);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `${error.code}: ${error.detail}`;
  }
}

interface Change {
  headers: Headers;
  body: string;
  secrets: string[];
  now: number;
}

describe.each(Object.entries(REFERENCES))('%s', (_, reference) => {
  const [header, value] = Object.entries(reference.headers).at(-1) as [string, string];

  test('the reference value is authentic, also with the second of two secrets', () => {
    expect(refusal(reference)).toBeNull();
    expect(refusal(reference, { secrets: ['whsec_QUJDREVGR0hJSktMTU5PUA==', reference.secret] })).toBeNull();
  });

  test('other secrets and bodies are not', () => {
    expect(refusal(reference, { secrets: ['whsec_QUJDREVGR0hJSktMTU5PUA=='] })).toMatch(/^invalid_signature/);
    expect(refusal(reference, { secrets: [] })).toMatch(/^invalid_signature/);
    if (!['token', 'basic'].includes(reference.settings.scheme))
      expect(refusal(reference, { body: `${reference.body} ` })).toMatch(/^invalid_signature/);
  });

  test('a header that is missing, empty or a list is named', () => {
    for (const missing of [undefined, '', [value]])
      expect(refusal(reference, { headers: { [header]: missing } })).toBe(
        `missing_signature: The header ${header} is missing. This source needs it.`,
      );
  });

  test.each([
    ['a character more', (text: string) => `${text}A`],
    ['something behind it', (text: string) => `${text}!!`],
    ['something before it', (text: string) => `x${text}`],
    ['the value twice', (text: string) => `${text},${text}`],
    ['a character less', (text: string) => text.slice(0, -1).replace(/=$/, '').slice(0, -1)],
    ['no ASCII', () => 'é'.repeat(64)],
    ['only the prefix', () => 'sha256='],
    ['v1 without a signature', () => 'v1,'],
  ])('a signature with %s is refused', (_what, damage) => {
    expect(refusal(reference, { headers: { [header]: damage(value) } })).toMatch(/^invalid_signature/);
  });

  test('arbitrary values are refused and never throw anything else', () => {
    const text = fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(text, fc.array(text), (claimed, secrets) => {
        expect(refusal(reference, { headers: { [header]: claimed } })).toMatch(/^(missing|invalid)_signature/);
        expect(refusal(reference, { secrets })).toMatch(/^invalid_signature/);
      }),
      { numRuns: 300 },
    );
  });
});

const { 'Standard Webhooks': standard, 'a token': token, shopify } = REFERENCES as Record<string, Reference>;

/** The signatures are right: they were computed with an empty key. */
test.each<[string, Reference | undefined, Partial<Change>]>([
  [
    'an HMAC',
    shopify,
    {
      secrets: [''],
      body: '{}',
      headers: { 'x-shopify-hmac-sha256': 'IvjuqQlACvmK3zaBqfMZI+9rf8ukq7VT2Sgjo+nVwl4=' },
    },
  ],
  ['a token', token, { secrets: [''], headers: { authorization: 'Bearer ' } }],
  ['a password', REFERENCES['HTTP Basic'], { secrets: [''], headers: { authorization: 'Basic QWxhZGRpbjo=' } }],
  ['a token without its prefix', token, { secrets: [''], headers: { authorization: 'x' } }],
  ...['', 'whsec_', 'whsec_!!!!', 'whsec_=', 'é'].map((secret): [string, Reference | undefined, Partial<Change>] => [
    `Standard Webhooks, ${secret}`,
    standard,
    {
      secrets: [secret],
      headers: { 'webhook-signature': 'v1,woH/1mJtZGSMCmpFTxRYbStS24eLLD/oXIYr4PYyZ7g=' },
    },
  ]),
])('a signature with an empty secret is refused: %s', (_, reference, change) => {
  expect(refusal(reference as Reference, change)).toMatch(/^invalid_signature/);
});

test.each([
  ['another user name', 'Basic enlpZDpvcGVuIHNlc2FtZQ==', true],
  ['small letters', 'basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', true],
  ['only the password', 'Basic b3BlbiBzZXNhbWU=', false],
  ['the password as the user name', 'Basic b3BlbiBzZXNhbWU6', false],
  ['another scheme', 'Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==', false],
])('HTTP Basic with %s', (_, authorization, isAuthentic) => {
  const refused = refusal(REFERENCES['HTTP Basic'] as Reference, { headers: { authorization } });
  expect(refused === null).toBe(isAuthentic);
});

test('Standard Webhooks: one of several signatures is enough, of version 1', () => {
  const signed = (value: string) => refusal(standard as Reference, { headers: { 'webhook-signature': value } });
  expect(signed(`v1a,AAAA v1,AAAA ${STANDARD}`)).toBeNull();
  expect(signed(STANDARD.replace('v1', 'v2'))).toMatch(/^invalid_signature/);
  expect(signed(STANDARD.replace('v1,', ''))).toMatch(/^invalid_signature/);
});

test('Standard Webhooks: the clocks may differ by five minutes, and a refusal says by how much they do', () => {
  const at = (seconds: number) => refusal(standard as Reference, { now: 1_614_265_330 + seconds });
  expect([at(300), at(-300)]).toEqual([null, null]);
  expect(at(301)).toContain('webhook-timestamp is 301 seconds before');
  expect(at(-301)).toContain('webhook-timestamp is 301 seconds after');
  for (const timestamp of ['1614265330.0', '-1', '١٦١٤٢٦٥٣٣٠', '1e9', ' 1614265330', '9'.repeat(13)])
    expect(refusal(standard as Reference, { headers: { 'webhook-timestamp': timestamp } })).toMatch(
      /^invalid_signature: The value of webhook-timestamp/,
    );
});

test('a secret with other letters than ASCII signs by its UTF-8 bytes', () => {
  // printf '{}' | openssl dgst -sha256 -hmac 'سر'
  const header = 'rOn0B6utQIMEQQbiOQNSccNMlNo3HYKOiOtFBkewrhs=';
  expect(
    refusal(shopify as Reference, { secrets: ['سر'], body: '{}', headers: { 'x-shopify-hmac-sha256': header } }),
  ).toBeNull();
});

test.each<[Signature, string, string | RegExp]>([
  [
    { scheme: 'standard-webhooks' },
    ' whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  ],
  [{ scheme: 'standard-webhooks' }, 'whsec_!!!!', /base64/],
  [{ scheme: 'standard-webhooks' }, 'whsec_AAAA', /at least 24 bytes/],
  [{ scheme: 'token', header: 'x' }, 'with a space', /ASCII/],
  [{ scheme: 'token', header: 'x' }, 'كلمة-السر', /ASCII/],
  [{ scheme: 'token', header: 'x' }, 'correct-horse', 'correct-horse'],
  [PRESETS.shopify.settings.signature, 'كلمة السر هنا', 'كلمة السر هنا'],
  [PRESETS.shopify.settings.signature, '', /at least 8/],
  [PRESETS.shopify.settings.signature, '  short  ', /at least 8/],
  [PRESETS.shopify.settings.signature, 'first line\nsecond line', /one line/],
  [PRESETS.shopify.settings.signature, 'x'.repeat(1_001), /more than 1000/],
])('a secret for %j: %j', (signature, input, expected) => {
  if (typeof expected === 'string') expect(readSourceSecret(signature, input)).toBe(expected);
  else expect(() => readSourceSecret(signature, input)).toThrow(expected);
});
