import { createApiKey } from '@orders/domain/api-key.ts';
import fc from 'fast-check';
import { anything } from '../../packages/domain/test/arbitrary-payload.ts';
import { sign } from './hashes.ts';
import { head } from './raw-http.ts';
import type { TestAccount } from './stack.ts';

/** The bytes of a request and the parts that it was built from. */
export interface HostileRequest {
  method: 'GET' | 'POST';
  target: string;
  body: Buffer;
  /** Whether its key or its signature is not the account's. */
  isForged: boolean;
  bytes: Buffer;
}

const oneOfBytes = (...[min, max]: [number, number]) =>
  fc.integer({ min, max }).map((code) => String.fromCharCode(code));
/** Characters that RFC 9110 allows in a header, including those beyond ASCII. */
const headerText = fc.string({ unit: fc.oneof(oneOfBytes(0x20, 0x7e), oneOfBytes(0x80, 0xff)), maxLength: 300 });
const anyBytes = fc.string({ unit: oneOfBytes(0, 0xff), maxLength: 50 });
const INJECTIONS = [
  '\r\nX-Injected: 1',
  '\nX-Injected: 1',
  '\rX-Injected: 1',
  '\0',
  '\r\n folded',
  '\r\n\r\nGET / HTTP/1.1',
];
const longText = fc
  .tuple(oneOfBytes(0x21, 0xff), fc.integer({ min: 1000, max: 20_000 }))
  .map(([one, n]) => one.repeat(n));
const hostileText = fc.oneof(
  { weight: 4, arbitrary: headerText },
  anyBytes,
  fc.tuple(headerText, fc.constantFrom(...INJECTIONS)).map(([text, injection]) => text + injection),
  longText,
);

/** A valid value with one character changed, its end cut off, or repeated. */
const changed = (right: string) =>
  fc
    .tuple(
      fc.nat(right.length),
      fc.oneof(oneOfBytes(0x21, 0xff), fc.constant('')),
      fc.constantFrom('put', 'cut', 'twice'),
    )
    .map(([at, one, how]) => {
      if (how === 'cut') return right.slice(0, at);
      return how === 'put' ? right.slice(0, at) + one + right.slice(at + 1) : `${right}, ${right}`;
    });
const forged = (right: string, ...alike: string[]) =>
  fc.oneof(changed(right), hostileText, fc.constantFrom('', ...alike));

const usually = <T>(arbitrary: fc.Arbitrary<T>, weight: number, ...others: fc.Arbitrary<T>[]) =>
  fc.oneof({ weight, arbitrary }, ...others);
const nothing = fc.constant<string | null>(null);

const wellFormed = anything.map((payload) => JSON.stringify(payload));
const JSON_FRAGMENTS = [
  ...'{}[]":,\\\ufeff\0\n -',
  ...['\\u0000', '\\ud800', '\\x', '1e400', '01', 'null', 'true', '"a"', '"source_order_id"', '"source_order_id":"s"'],
  ...['"__proto__":{}', '"total":', '9'.repeat(400)],
];
const jsonFragments = fc.array(fc.constantFrom(...JSON_FRAGMENTS), { maxLength: 20 }).map((parts) => parts.join(''));
const nested = fc
  .tuple(fc.integer({ min: 60, max: 70 }), fc.constantFrom('[', '{"a":'))
  .map(
    ([levels, open]) =>
      `{"source_order_id":"n","x":${open.repeat(levels)}1${(open === '[' ? ']' : '}').repeat(levels)}}`,
  );

/** An order with one member of a few repeated characters, up to and beyond the limit of a body: this reveals slow code. */
const UNITS = [
  ..."05٥ -().,'/+@$x\u0301\u200f\0\u00a0\t\n😀",
  ...['E8', 'AED ', '+971', 'Dubai ', 'al ', 'Rs', '\ud83d', 'دبي '],
];
const MEMBERS: ((value: unknown) => Record<string, unknown>)[] = [
  (value) => ({ customer: value }),
  (value) => ({ customer: { name: value, phone: value, email: value, id: value } }),
  (value) => ({ address: value, emirate: value, area: value }),
  (value) => ({ address: { line1: value, city: value } }),
  (value) => ({ items: value }),
  (value) => ({ items: [{ name: value, quantity: value, sku: value }] }),
  (value) => ({ total: value, currency: value }),
  (value) => ({ order_number: value, delivery_instructions: value }),
  (value) => ({ [String(value)]: value }),
];
const filled = fc
  .tuple(
    fc.constantFrom(...MEMBERS),
    fc.array(fc.constantFrom(...UNITS), { minLength: 1, maxLength: 3 }),
    fc.integer({ min: 1000, max: 300_000 }),
    fc.boolean(),
  )
  .map(([member, units, size, isList]) => {
    const unit = units.join('');
    const times = Math.ceil(size / (isList ? JSON.stringify(unit).length + 1 : Buffer.byteLength(unit)));
    return JSON.stringify({ source_order_id: 'f', ...member(isList ? Array(times).fill(unit) : unit.repeat(times)) });
  });

const text = fc.oneof({ weight: 6, arbitrary: wellFormed }, { weight: 2, arbitrary: jsonFragments }, nested, filled);
/** A body with some of its bytes replaced by others. */
const damaged = fc
  .tuple(wellFormed, fc.array(fc.tuple(fc.nat(2000), fc.uint8Array({ maxLength: 4 })), { minLength: 1, maxLength: 3 }))
  .map(([json, damages]) =>
    damages.reduce((body, [at, bytes]) => {
      const place = at % (body.length + 1);
      return Buffer.concat([body.subarray(0, place), bytes, body.subarray(place + 1)]);
    }, Buffer.from(json)),
  );
/** Bodies that are sent in place of an order. */
export const hostileBody = fc.oneof(
  { weight: 6, arbitrary: text.map((json) => Buffer.from(json)) },
  { weight: 2, arbitrary: damaged },
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);

const RECEIPT_ID = '01a1f9bd-9a17-7354-8023-e51a3a7d2f89';
const idUnit = fc.oneof(
  oneOfBytes(0x21, 0x7e),
  oneOfBytes(0x80, 0xff),
  fc.constantFrom('%00', '%0d%0a', '%ff', '%2f', '%', '..'),
);
const receiptId = fc
  .oneof(changed(RECEIPT_ID), fc.string({ unit: idUnit, minLength: 1 }), fc.constant(RECEIPT_ID), longText)
  .map((id) => id.replaceAll(/[/?#]/g, '_') || '_');
const target = fc.oneof(
  { weight: 4, arbitrary: fc.constant('/ingest/orders') },
  { weight: 4, arbitrary: fc.constant('/ingest/webhook') },
  { weight: 2, arbitrary: fc.constant('/ingest/preview') },
  { weight: 1, arbitrary: fc.constant('/ingest/reconcile') },
  { weight: 2, arbitrary: receiptId.map((id) => `/ingest/status/${id}`) },
  changed('/ingest/orders'),
);

const CONTENT_TYPES = ['application/json; charset=utf-8', 'application/json;charset=utf-16', 'text/json'];

/** Requests in which any part can be invalid. Many are valid enough to be stored. */
export function hostileRequest({ key, secret }: TestAccount): fc.Arbitrary<HostileRequest> {
  return target.chain((to) =>
    hostileBody.chain((sent) => {
      const signature = sign(secret, sent);
      return fc
        .record({
          key: usually(fc.constant(key), 20, forged(key, createApiKey())),
          signature: usually(fc.constant(signature), 5, forged(signature, sign('oss_other', sent), '0'.repeat(64))),
          contentType: usually(fc.constant('application/json'), 20, fc.constantFrom(...CONTENT_TYPES), hostileText),
          idempotencyKey: usually(nothing, 6, fc.constantFrom('one', 'two'), fc.uuid(), hostileText),
          prefer: usually(nothing, 10, fc.constantFrom('handling=strict', 'wait=0'), hostileText),
          requestId: usually(nothing, 10, hostileText),
          encoding: usually(nothing, 40, fc.constantFrom('identity', 'gzip'), hostileText),
          chunk: usually(fc.constant(0), 3, fc.integer({ min: 1, max: 300_000 })),
        })
        .map((made) => {
          const method = to.startsWith('/ingest/status') ? 'GET' : 'POST';
          const named: [string, string | null][] = [
            ['Host', 'x'],
            ['Authorization', `Bearer ${made.key}`],
            ['x-service-signature', to === '/ingest/webhook' ? `sha256=${made.signature}` : null],
            ['Content-Type', made.contentType],
            ['Idempotency-Key', made.idempotencyKey],
            ['Prefer', made.prefer],
            ['X-Request-Id', made.requestId],
            ['Content-Encoding', made.encoding],
            made.chunk > 0 ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(sent.length)],
          ];
          const headers = named.filter((one): one is [string, string] => one[1] !== null);
          const isWrongKey = made.key.trim() !== key;
          const isWrongSignature = to === '/ingest/webhook' && made.signature.trim().toLowerCase() !== signature;
          const bytes = Buffer.concat([
            head(`${method} ${to} HTTP/1.1`, headers),
            made.chunk > 0 ? inChunks(sent, Math.max(made.chunk, Math.ceil(sent.length / 1000))) : sent,
          ]);
          return {
            method,
            target: to,
            body: sent,
            isForged: isWrongKey || isWrongSignature,
            bytes,
            [fc.toStringMethod]: () => JSON.stringify(bytes.toString('latin1')).slice(0, 5000),
          } as const;
        });
    }),
  );
}

/** A body in chunks of `size` bytes (RFC 9112, section 7.1). */
export function inChunks(sent: Buffer, size: number): Buffer {
  const chunks: (Buffer | string)[] = [];
  for (let at = 0; at < sent.length; at += size) {
    const chunk = sent.subarray(at, at + size);
    chunks.push(`${chunk.length.toString(16)}\r\n`, chunk, '\r\n');
  }
  return Buffer.concat([...chunks, '0\r\n\r\n'].map((part) => Buffer.from(part)));
}
