import type { IncomingHttpHeaders } from 'node:http';

/** Values of a request's headers that other services sign together with the body. */
export interface SignedValues {
  timestamps: readonly string[];
  ids: readonly string[];
}

/** Max timestamps and max ids; each is tried in several forms. */
const MAX_VALUES = 4;

/** Unix time in seconds (also with a fraction), ms, µs or ns; ISO 8601; or an HTTP date. */
const TIMESTAMP =
  /^(?:\d{10}(?:\.\d{1,9}|(?:\d{3}){1,3})?|\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:?\d\d)|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT)$/;
/** As in `t=1700000000,v1=…`. */
const TIMESTAMP_OF_SIGNATURE = /(?:^|[,;\s])ts?=(\d{10,19})(?=[,;\s]|$)/;
const ID = /^[\x21-\x7e]{1,128}$/;

/** The timestamps and ids in the headers of a request: at most four each, and short. */
export function findSignedValues(headers: IncomingHttpHeaders): SignedValues {
  const timestamps = new Set<string>();
  const ids = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') continue;
    const timestamp = TIMESTAMP.test(value) ? value : isSignature(name) && TIMESTAMP_OF_SIGNATURE.exec(value)?.[1];
    if (timestamp) timestamps.add(timestamp);
    else if (name.endsWith('id') && ID.test(value)) ids.add(value);
  }
  return { timestamps: [...timestamps].slice(0, MAX_VALUES), ids: [...ids].slice(0, MAX_VALUES) };
}

/** Whether a header is named like a signature, as other services name theirs. */
export function isSignature(name: string): boolean {
  return /signature|hmac/.test(name);
}

/** Yields body and timestamp as other services sign them, likeliest first, in parts to be joined. */
export function* timestampedTexts(
  body: Buffer,
  { timestamps, ids }: SignedValues,
): Generator<{ parts: (string | Buffer)[] }> {
  for (const time of timestamps) {
    // Stripe and Slack; and Standard Webhooks, which also signs an id.
    const prefixes = [`${time}.`, `v0:${time}:`, ...ids.map((id) => `${id}.${time}.`)];
    for (const prefix of [...prefixes, `${time}:`, time, `${time}\n`, `v1:${time}:`]) yield { parts: [prefix, body] };
    for (const suffix of [time, `.${time}`]) yield { parts: [body, suffix] };
  }
}
