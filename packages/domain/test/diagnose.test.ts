import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { createApiKey, createSigningSecret } from '../src/api-key.ts';
import { diagnoseBody, diagnoseMediaType, hasOtherSignatureHeader } from '../src/rejections/diagnose-request.ts';
import { diagnoseSignature, findSignedValues, timestampedTexts } from '../src/rejections/diagnose-signature.ts';
import { reserializations } from '../src/rejections/reserialize.ts';
import { REJECTIONS } from '../src/rejections.ts';

const [SECRET, OLD, OTHER, API_KEY] = [
  createSigningSecret(),
  createSigningSecret(),
  createSigningSecret(),
  createApiKey(),
];
const SECRETS = [
  { secret: SECRET, isLive: true },
  { secret: OLD, isLive: false },
];
const ORDER = {
  source_order_id: 'shop/7<1>',
  customer: { name: 'Zoë علي', phone: '050 123 4567' },
  items: [{ name: 'Soup & bread', quantity: 2 }, {}],
  total: 149.5,
  area: null,
  paid: true,
  tags: [],
};
const COMPACT = JSON.stringify(ORDER);
const ascii = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
/** As Python's json.dumps writes it. */
const SPACED =
  '{"source_order_id": "shop/7<1>", "customer": {"name": "Zoë علي", "phone": "050 123 4567"}, "items": [{"name": "Soup & bread", "quantity": 2}, {}], "total": 149.5, "area": null, "paid": true, "tags": []}';
const SORTED =
  '{"area":null,"customer":{"name":"Zoë علي","phone":"050 123 4567"},"items":[{"name":"Soup & bread","quantity":2},{}],"paid":true,"source_order_id":"shop/7<1>","tags":[],"total":149.5}';
/** As Python's json.dumps writes it with sort_keys. */
const SORTED_SPACED =
  '{"area": null, "customer": {"name": "Zoë علي", "phone": "050 123 4567"}, "items": [{"name": "Soup & bread", "quantity": 2}, {}], "paid": true, "source_order_id": "shop/7<1>", "tags": [], "total": 149.5}';
/** As PHP's ksort leaves it: the members of the items keep their order. */
const PHP_ORDER = { z: 1, items: [{ quantity: 2, name: 'Tea/شاي' }], a: 'x' };
const SORTED_OUTSIDE = '{"a":"x","items":[{"quantity":2,"name":"Tea/شاي"}],"z":1}';

const hmac = (key: string | Buffer, text: string | Buffer, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(text).digest();
const hex = (key: string | Buffer, text: string | Buffer) => hmac(key, text).toString('hex');

function diagnose(header: string, body: string | Buffer = COMPACT, headers: IncomingHttpHeaders = {}): string {
  const values = findSignedValues(headers);
  return diagnoseSignature({ header, body: Buffer.from(body), secrets: SECRETS, apiKey: API_KEY, values });
}

describe('the form of the signature', () => {
  const right = hex(SECRET, COMPACT);
  test.each([
    ['sha256:<hex>', `sha256:${right}`, 'malformed_header'],
    ['sha256 = <hex>', `sha256 = ${right}`, 'malformed_header'],
    ['v1=<hex>', `v1=${right}`, 'malformed_header'],
    ['hmac-sha256=<hex>', `hmac-sha256=${right}`, 'malformed_header'],
    ['t=<time>,v1=<hex>', `t=1700000000,v1=${right}`, 'malformed_header'],
    ['in quotes', `"${right}"`, 'malformed_header'],
    ['in quotes with the prefix', `"sha256=${right}"`, 'malformed_header'],
    ['two, as sent twice', `sha256=${right}, sha256=${right}`, 'malformed_header'],
    ['cut', `sha256=${right.slice(0, 60)}`, 'malformed_header'],
    ['empty', '', 'malformed_header'],
    ['only the prefix', 'sha256=', 'malformed_header'],
    ['base64', `sha256=${hmac(SECRET, COMPACT).toString('base64')}`, 'base64_instead_of_hex'],
    ['bare base64', hmac(SECRET, COMPACT).toString('base64'), 'base64_instead_of_hex'],
    ['base64url', `sha256=${hmac(SECRET, COMPACT).toString('base64url')}`, 'base64_instead_of_hex'],
    ['base64 of another body', hmac(SECRET, 'x').toString('base64'), 'base64_instead_of_hex'],
    ['base64 of the hex', Buffer.from(right).toString('base64'), 'base64_instead_of_hex'],
    ['SHA-1', `sha1=${hmac(SECRET, COMPACT, 'sha1').toString('hex')}`, 'wrong_algorithm'],
    ['SHA-512', hmac(SECRET, COMPACT, 'sha512').toString('hex'), 'wrong_algorithm'],
    ['SHA-512 in base64', hmac(SECRET, COMPACT, 'sha512').toString('base64'), 'wrong_algorithm'],
  ])('%s', (_what, header, diagnosis) => {
    expect(diagnose(header)).toBe(diagnosis);
  });
});

describe('the signed content and the key', () => {
  const rest = SECRET.slice('oss_'.length);
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  test.each([
    ['another secret', hex(OTHER, COMPACT), COMPACT, 'another_secret'],
    ['another order', hex(SECRET, '{"source_order_id":"x"}'), COMPACT, 'another_secret'],
    ['the secret before', hex(OLD, COMPACT), COMPACT, 'previous_secret'],
    ['without its line feed', hex(SECRET, COMPACT), `${COMPACT}\n`, 'trailing_newline'],
    ['without its CRLF', hex(SECRET, COMPACT), `${COMPACT}\r\n`, 'trailing_newline'],
    ['with a line feed', hex(SECRET, `${COMPACT}\n`), COMPACT, 'trailing_newline'],
    ['with a CRLF', hex(SECRET, `${COMPACT}\r\n`), COMPACT, 'trailing_newline'],
    ['nothing', hex(SECRET, ''), COMPACT, 'signed_empty_body'],
    ['an empty object', hex(SECRET, '{}'), COMPACT, 'signed_empty_body'],
    ['the secret without its prefix', hex(rest, COMPACT), COMPACT, 'secret_decoded'],
    ['the secret read as base64', hex(Buffer.from(rest, 'base64'), COMPACT), COMPACT, 'secret_decoded'],
    ['the secret with its line’s end', hex(`${SECRET}\n`, COMPACT), COMPACT, 'secret_decoded'],
    ['the API key', hex(API_KEY, COMPACT), COMPACT, 'signed_with_api_key'],
    ['no HMAC', sha256(COMPACT), COMPACT, 'wrong_algorithm'],
    ['a hash of secret and body', sha256(SECRET + COMPACT), COMPACT, 'wrong_algorithm'],
    ['key and text exchanged', hex(COMPACT, SECRET), COMPACT, 'wrong_algorithm'],
    ['compact, sent with spaces', hex(SECRET, COMPACT), SPACED, 'body_reserialized'],
    ['with spaces, sent compact', hex(SECRET, SPACED), COMPACT, 'body_reserialized'],
    ['in ASCII with spaces, sent compact', hex(SECRET, ascii(SPACED)), COMPACT, 'body_reserialized'],
    ['compact, sent in ASCII', hex(SECRET, COMPACT), ascii(COMPACT), 'body_reserialized'],
    ['by PHP', hex(SECRET, ascii(COMPACT).replaceAll('/', '\\/')), COMPACT, 'body_reserialized'],
    ['with slashes escaped', hex(SECRET, COMPACT.replaceAll('/', '\\/')), COMPACT, 'body_reserialized'],
    [
      'by Go',
      hex(
        SECRET,
        SORTED.replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
      ),
      COMPACT,
      'members_sorted',
    ],
    ['sorted by Go', hex(SECRET, `${SORTED}\n`), COMPACT, 'members_sorted'],
    ['sorted, sent indented', hex(SECRET, SORTED), JSON.stringify(ORDER, null, 2), 'members_sorted'],
    ['sorted by Python', hex(SECRET, ascii(SORTED_SPACED)), SPACED, 'members_sorted'],
    [
      'sorted on the outside by PHP',
      hex(SECRET, ascii(SORTED_OUTSIDE).replaceAll('/', '\\/')),
      JSON.stringify(PHP_ORDER),
      'members_sorted',
    ],
    ['sorted, sent sorted with spaces', hex(SECRET, SORTED), SORTED_SPACED, 'body_reserialized'],
    ['indented by 2', hex(SECRET, JSON.stringify(ORDER, null, 2)), COMPACT, 'body_reserialized'],
    ['indented by 4', hex(SECRET, JSON.stringify(ORDER, null, 4)), COMPACT, 'body_reserialized'],
    ['indented by a tab', hex(SECRET, JSON.stringify(ORDER, null, '\t')), COMPACT, 'body_reserialized'],
    ['a file', hex(SECRET, `${JSON.stringify(ORDER, null, 2)}\n`), COMPACT, 'body_reserialized'],
    ['other numbers', hex(SECRET, '{"total":1.0,"n":1e2}'), '{"total": 1.0, "n": 1e2}', 'body_reserialized'],
    ['numbers by JavaScript', hex(SECRET, '{"total":1,"n":100}'), '{"total":1.0,"n":1e2}', 'body_reserialized'],
    ['a body that is no JSON', hex(SECRET, '{}x'), '{"a":', 'another_secret'],
    ['a body that is not UTF-8', hex(SECRET, 'x'), Buffer.from([0xff, 0xfe]), 'another_secret'],
    ['bytes without their line feed', hex(SECRET, Buffer.from([0xff])), Buffer.from([0xff, 0x0a]), 'trailing_newline'],
  ])('%s', (_what, signature, body, diagnosis) => {
    expect(diagnose(`sha256=${signature}`, body)).toBe(diagnosis);
    expect(diagnose(signature.toUpperCase(), body)).toBe(diagnosis);
  });
});

describe('a timestamp that is signed with the body', () => {
  const SECONDS = '1700000000';
  const ISO = '2026-11-23T10:15:30.123Z';
  const of = (text: string) => `sha256=${hex(SECRET, text)}`;
  test.each<[string, string, IncomingHttpHeaders]>([
    ['t.body', of(`${SECONDS}.${COMPACT}`), { 'x-timestamp': SECONDS }],
    ['t.body, with milliseconds', of(`${SECONDS}123.${COMPACT}`), { 'x-webhook-time': `${SECONDS}123` }],
    ['t.body, with the time in ISO 8601', of(`${ISO}.${COMPACT}`), { 'x-ts': ISO }],
    [
      't.body, with the Date',
      of(`Mon, 23 Nov 2026 10:15:30 GMT.${COMPACT}`),
      { date: 'Mon, 23 Nov 2026 10:15:30 GMT' },
    ],
    ['as Slack', of(`v0:${SECONDS}:${COMPACT}`), { 'x-slack-request-timestamp': SECONDS }],
    [
      'as Standard Webhooks',
      of(`msg_1.${SECONDS}.${COMPACT}`),
      { 'content-type': 'application/json', 'webhook-id': 'msg_1', 'webhook-timestamp': SECONDS },
    ],
    ['as Stripe', `t=${SECONDS},v1=${hex(SECRET, `${SECONDS}.${COMPACT}`)}`, {}],
    ['as Stripe in its own header too', of(`${SECONDS}.${COMPACT}`), { 'stripe-signature': `t=${SECONDS},v1=x` }],
    ['t:body', of(`${SECONDS}:${COMPACT}`), { 'x-timestamp': SECONDS }],
    ['t and body', of(SECONDS + COMPACT), { 'x-timestamp': SECONDS }],
    ['t in a line of its own', of(`${SECONDS}\n${COMPACT}`), { 'x-timestamp': SECONDS }],
    ['body and t', of(COMPACT + SECONDS), { 'x-timestamp': SECONDS }],
    ['body.t', of(`${COMPACT}.${SECONDS}`), { 'x-timestamp': SECONDS }],
  ])('%s', (_what, header, headers) => {
    const own = { 'x-service-signature': header, ...headers };
    expect(diagnose(header, COMPACT, own)).toBe('timestamp_signed');
    expect(diagnose(header, `${COMPACT} `, own)).not.toBe('timestamp_signed');
  });

  test('with another secret is not diagnosed', () => {
    const header = `sha256=${hex(OTHER, `${SECONDS}.${COMPACT}`)}`;
    expect(diagnose(header, COMPACT, { 'x-timestamp': SECONDS })).toBe('another_secret');
    const stripe = `t=${SECONDS},v1=${hex(OTHER, `${SECONDS}.${COMPACT}`)}`;
    expect(diagnose(stripe, COMPACT, { 'x-service-signature': stripe })).toBe('malformed_header');
  });

  test('is searched in few short values of the headers, and in long bodies not at all', () => {
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [
        [`x-time-${n}`, String(1_700_000_000 + n)],
        [`x-${n}-id`, `id-${n}`],
      ]).flat(),
    );
    const headers = { ...many, 'x-long-id': 'x'.repeat(129), 'x-note': `${SECONDS} ${'1'.repeat(5000)}` };
    const values = findSignedValues(headers);
    expect([values.timestamps.length, values.ids.length]).toEqual([4, 4]);
    expect([...timestampedTexts(Buffer.from(COMPACT), values)].length).toBeLessThan(50);
    expect(findSignedValues({ 'x-long-id': 'x'.repeat(129), 'x-long-time': '1'.repeat(5000) })).toEqual({
      timestamps: [],
      ids: [],
    });
    const long = JSON.stringify({ note: 'x'.repeat(600_000) });
    expect(diagnose(of(`${SECONDS}.${long}`), long, { 'x-timestamp': SECONDS })).toBe('another_secret');
  });
});

test('every cause that the portal explains has a case above', () => {
  // A literal, so that a new cause must be tested.
  expect(REJECTIONS.invalid_signature).toHaveLength(12);
});

test.each([
  ['a long body', `{"source_order_id":"x","note":"${'/é'.repeat(10_000)}"}`],
  ['the longest body', JSON.stringify({ note: 'x'.repeat(262_000) })],
  ['deep nesting', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ['many members', JSON.stringify(Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [n, n / 3])))],
])('%s is diagnosed without an error', (_what, body) => {
  expect(diagnose(hex(OTHER, body), body)).toBe('another_secret');
});

test('the search for the original bytes of a body is limited to fewer than 200 forms', () => {
  const forms = [...reserializations(Buffer.from(COMPACT))].map(({ text }) => text);
  expect(new Set(forms).size).toBe(forms.length);
  expect(forms.length).toBeGreaterThan(30);
  expect(forms.length).toBeLessThan(200);
  expect([...reserializations(Buffer.from(JSON.stringify({ note: 'x'.repeat(40_000) })))]).toEqual([]);
});

test.each([
  ['', 'empty'],
  ['\uFEFF \n', 'empty'],
  ['{"a":1,}', 'trailing_comma'],
  ['{"a":[1,2,],}', 'trailing_comma'],
  ["{'a':'b'}", 'single_quotes'],
  ['"{\\"a\\":1}"', 'encoded_twice'],
  ['[{"a":1}]', 'not_an_object'],
  ['"a"', 'not_an_object'],
  ['null', 'not_an_object'],
  ['a=1&b=2', 'form_encoded'],
  ['order%5Ba%5D=1', 'form_encoded'],
  ['{"a":1', 'cut_short'],
  ['{"a":"b', 'cut_short'],
  ['{"a" 1}', null],
  ['<a/>', null],
  [`{"a":1,${' '.repeat(70_000)}}`, null],
])('a body %j is diagnosed as %s', (body, diagnosis) => {
  expect(diagnoseBody(Buffer.from(body))).toBe(diagnosis);
});

test('bytes that are not UTF-8, and a missing body, are diagnosed', () => {
  expect(diagnoseBody(Buffer.from('{"a":"é"}', 'latin1'))).toBe('not_utf8');
  expect(diagnoseBody(Buffer.from('{"a":1}', 'utf16le').fill(0xff, 0, 1))).toBe('not_utf8');
  expect(diagnoseBody(undefined)).toBe('cut_short');
});

test.each([
  [undefined, 'no_media_type'],
  ['', 'no_media_type'],
  ['application/x-www-form-urlencoded', 'form_encoded'],
  ['multipart/form-data; boundary=x', 'form_encoded'],
  ['Text/Plain;charset=UTF-8', 'plain_text'],
  ['application/json; charset=iso-8859-1', 'another_charset'],
  ['application/vnd.api+json', 'another_json_type'],
  ['text/json', 'another_json_type'],
  ['image/png', null],
])('the media type %s is diagnosed as %s', (header, diagnosis) => {
  expect(diagnoseMediaType(header)).toBe(diagnosis);
});

test('a signature in the header of another provider is detected', () => {
  expect(hasOtherSignatureHeader({ 'x-hub-signature-256': 'x' })).toBe(true);
  expect(hasOtherSignatureHeader({ 'x-shopify-hmac-sha256': 'x' })).toBe(true);
  expect(hasOtherSignatureHeader({ host: 'x', authorization: 'x' })).toBe(false);
});
