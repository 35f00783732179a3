import { execFile } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { VERSION } from '@orders/runtime/version.ts';
import {
  type Arrived,
  accepted,
  answer,
  breakOff,
  hangUp,
  KEPT_AS,
  KEY,
  keepSilent,
  RECEIPT_ID,
  refuse,
  SECRET,
  type Step,
  startScript,
} from '../../packages/client/test/scripted-server.ts';
import { CLIENTS, type ClientCall, callClient, type Outcome } from '../harness/client-drivers/client-drivers.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const ORDER = { source_order_id: 's-1', customer: { name: 'عائشة خان' }, total: '49.00' };
const SUBMIT: ClientCall = { method: 'submit_order', args: [ORDER] };
const ONCE = { max_retries: 0 };
const ACCEPTED = { ok: { receipt_id: RECEIPT_ID } };
const DATE = 'Tue, 24 Nov 2026 08:30:00 GMT';

const html =
  (status: number, headers: Record<string, string> = {}): Step =>
  (response) =>
    response.writeHead(status, { 'Content-Type': 'text/html', ...headers }).end('<h1>Oh no</h1>');
/** Ends the connection within a body whose length is not stated. */
const breakChunks: Step = (response) => {
  response.writeHead(202, { 'Content-Type': 'application/json' }).write('{"receipt_id":');
  setImmediate(() => response.socket?.destroy());
};
/** Each byte comes soon after the one before, and there is no end. */
const drip: Step = (response) => {
  response.writeHead(202, { 'Content-Type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 100);
  response.on('close', () => clearInterval(timer));
};
const dripAfter =
  (head: string): Step =>
  (response) => {
    response.socket?.write(head);
    const timer = setInterval(() => response.socket?.write('a'), 100);
    response.on('close', () => clearInterval(timer));
  };
const dripHead = dripAfter('HTTP/1.1 202 Accepted\r\nX-Long: ');
const dripAndClose = dripAfter('HTTP/1.1 202 Accepted\r\nConnection: close\r\n\r\n');
/** A chunked reply whose sizes have leading zeros, as some proxies write them. */
const zeros: Step = (response) => {
  const body = JSON.stringify({ receipt_id: RECEIPT_ID });
  const head = 'HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked';
  response.socket?.end(`${head}\r\n\r\n${body.length.toString(16).padStart(10, '0')}\r\n${body}\r\n0\r\n\r\n`);
};
const endless: Step = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const more = () => {
    while (!response.destroyed && response.write(' '.repeat(65_536)));
  };
  response.on('drain', more).on('error', () => {});
  more();
};
const receipt = (status: string) => ({ receipt_id: RECEIPT_ID, status, order_id: null });
const event = (sequence: number, type = 'receipt.written') => ({
  id: `evt_${sequence}`,
  type,
  timestamp: '2026-11-24T08:30:10.000Z',
  data: { sequence, source_order_id: `s-${sequence}` },
});
const page = (events: object[], next: string) => answer(200, { events, next, more: false });

interface Scenario {
  name: string;
  steps: [Step, ...Step[]];
  call: ClientCall;
  outcome: Outcome;
  /** How many requests arrive; at least one. */
  arrivals?: number;
  /** What is expected of the last request. */
  sent?: (request: Arrived) => void;
}

const json = ({ body }: Arrived) => JSON.parse(body.toString());
const problem = (kind: string, status: number, code: string, more: object = {}): Outcome => ({
  error: { kind, status, code, request_id: 'of-the-service', ...more },
});
const unexpected = { error: { kind: 'Orders', code: 'unexpected_reply', is_retryable: false } };
const timedOut = { error: { kind: 'Timeout', code: 'timed_out', is_retryable: true } };

const FIELD_ERRORS = [
  { pointer: '/emirate', code: 'emirate_corrected', detail: 'Dubai?' },
  { pointer: '/total', code: 'total_invalid', detail: 'No number.' },
];

/** Each client must pass all of them. */
const SCENARIOS: Scenario[] = [
  {
    name: 'an order is sent once, with the key, its type and the exact bytes',
    steps: [accepted],
    call: { ...SUBMIT, options: { idempotency_key: 'own', strict: true, wait: 2.5 } },
    outcome: ACCEPTED,
    sent: (request) => {
      expect([request.method, request.path]).toEqual(['POST', '/ingest/orders']);
      expect(request.headers).toMatchObject({
        accept: 'application/json, application/problem+json',
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(JSON.stringify(ORDER))),
        'idempotency-key': 'own',
        prefer: 'handling=strict, wait=3',
      });
      expect(request.body.toString()).toBe(JSON.stringify(ORDER));
    },
  },
  {
    name: 'text is sent unchanged',
    steps: [accepted],
    call: { method: 'submit_order', args: ['{ "source_order_id":\n "s-1" }'] },
    outcome: ACCEPTED,
    sent: ({ body }) => expect(body.toString()).toBe('{ "source_order_id":\n "s-1" }'),
  },
  {
    name: 'a number is sent as it is',
    steps: [accepted],
    call: { method: 'submit_order', args: [{ source_order_id: 's-1', total: 49.9 }] },
    outcome: ACCEPTED,
    sent: ({ body }) => expect(body.toString()).toBe('{"source_order_id":"s-1","total":49.9}'),
  },
  {
    name: 'a webhook is signed',
    steps: [accepted],
    call: { method: 'send_webhook', args: [ORDER] },
    outcome: ACCEPTED,
    sent: ({ path, headers, body }) => {
      const signature = createHmac('sha256', SECRET).update(body).digest('hex');
      expect([path, headers['x-service-signature']]).toEqual(['/ingest/webhook', `sha256=${signature}`]);
    },
  },
  ...[200, 202].map((status) => ({
    name: `${status} for a duplicate is a success, with members that are not known`,
    steps: [answer(status, { receipt_id: RECEIPT_ID, duplicate: true, later: { added: 1 } })] as [Step],
    call: SUBMIT,
    outcome: { ok: { receipt_id: RECEIPT_ID, duplicate: true, later: { added: 1 } } },
  })),
  {
    name: 'a key that was used for other content is an error that names the kept receipt',
    steps: [answer(202, { receipt_id: RECEIPT_ID, duplicate: true, payload_mismatch: true, kept_as: KEPT_AS })],
    call: SUBMIT,
    outcome: {
      error: { kind: 'IdempotencyMismatch', code: 'payload_mismatch', kept_as: KEPT_AS, is_retryable: false },
    },
  },
  {
    name: 'temporary errors of service and proxies are retried',
    steps: [
      refuse(503, 'overloaded', { 'Retry-After': '1' }),
      refuse(429, 'rate_limited', { 'Retry-After': '0' }),
      html(502),
      refuse(408, 'request_timeout'),
      refuse(500, 'internal_error'),
      accepted,
    ],
    call: { ...SUBMIT, options: { timeout: 100 } },
    outcome: ACCEPTED,
    arrivals: 6,
  },
  ...['3600', `${'0'.repeat(20)}3600`].map((seconds) => ({
    name: `a Retry-After beyond the timeout ends the call, and is told (${seconds})`,
    steps: [refuse(503, 'overloaded', { 'Retry-After': seconds })] as [Step],
    call: SUBMIT,
    outcome: problem('Unavailable', 503, 'overloaded', { retry_after: 3600, is_retryable: true }),
  })),
  ...['9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'].map((far, index) => ({
    name: `a Retry-After in the far future counts as a day, and ends the call (${index})`,
    steps: [refuse(503, 'overloaded', { 'Retry-After': far })] as [Step],
    call: SUBMIT,
    outcome: problem('Unavailable', 503, 'overloaded', { retry_after: 86_400 }),
  })),
  ...['soon', 'Mon, 01 Jan 99999999999 00:00:00 GMT'].map((nonsense) => ({
    name: `a Retry-After that says nothing is ignored (${nonsense})`,
    steps: [refuse(503, 'overloaded', { 'Retry-After': nonsense }), accepted] as [Step, Step],
    call: { ...SUBMIT, options: { timeout: 100 } },
    outcome: ACCEPTED,
    arrivals: 2,
  })),
  {
    name: 'a dated Retry-After is relative to the date of the reply',
    steps: [refuse(503, 'overloaded', { Date: DATE, 'Retry-After': DATE.replace('08:30', '08:45') })],
    call: SUBMIT,
    outcome: problem('Unavailable', 503, 'overloaded', { retry_after: 900 }),
  },
  {
    name: 'a Retry-After that is neither seconds nor a date is ignored',
    steps: [refuse(503, 'overloaded', { 'Retry-After': 'tomorrow' }), accepted],
    call: SUBMIT,
    outcome: ACCEPTED,
    arrivals: 2,
  },
  { name: 'sizes of chunks may have leading zeros', steps: [zeros], call: SUBMIT, outcome: ACCEPTED },
  {
    name: 'broken connections and truncated replies are retried',
    steps: [hangUp, breakOff, breakChunks, hangUp, accepted],
    call: { ...SUBMIT, options: { timeout: 100 } },
    outcome: ACCEPTED,
    arrivals: 5,
  },
  ...[hangUp, breakOff, breakChunks].map((step, index) => ({
    name: `a broken connection without a retry is an error (${index})`,
    steps: [step] as [Step],
    call: { ...SUBMIT, options: ONCE },
    outcome: { error: { kind: 'Connection', code: 'connection_failed', is_retryable: true } },
  })),
  {
    name: 'a silent server gets a third of the time, and then another attempt',
    steps: [keepSilent, accepted],
    call: { ...SUBMIT, options: { timeout: 20 } },
    outcome: ACCEPTED,
    arrivals: 2,
  },
  ...[keepSilent, drip, dripHead, dripAndClose].map((step, index) => ({
    name: `a reply that does not come in time is an error (${index})`,
    steps: [step] as [Step],
    call: { ...SUBMIT, options: { ...ONCE, timeout: 2 } },
    outcome: timedOut,
  })),
  { name: 'a reply without an end is bounded', steps: [endless], call: SUBMIT, outcome: unexpected },
  { name: 'a page in place of the reply is an error', steps: [html(200)], call: SUBMIT, outcome: unexpected },
  {
    name: 'a page with an error status has the status',
    steps: [html(404)],
    call: SUBMIT,
    outcome: { error: { kind: 'NotFound', status: 404, code: 'unexpected_reply' } },
  },
  {
    name: 'a JSON list in place of the reply is an error',
    steps: [answer(202, [])],
    call: SUBMIT,
    outcome: unexpected,
  },
  {
    name: 'a reply without the receipt is an error',
    steps: [answer(202, { ok: true })],
    call: SUBMIT,
    outcome: unexpected,
  },
  ...[301, 302, 303, 307, 308].map((status) => ({
    name: `${status} is not followed`,
    steps: [html(status, { Location: '/elsewhere' }), accepted] as [Step, Step],
    call: SUBMIT,
    outcome: unexpected,
  })),
  {
    name: '422 lists the broken rules by field',
    steps: [
      answer(422, { code: 'validation_failed', detail: 'Broken.', errors: [...FIELD_ERRORS, { pointer: 7 }] }),
    ] as [Step],
    call: SUBMIT,
    outcome: { error: { kind: 'Validation', status: 422, code: 'validation_failed', errors: FIELD_ERRORS } },
  },
  ...(
    [
      [400, 'malformed_body', 'InvalidRequest'],
      [401, 'invalid_signature', 'Authentication'],
      [403, 'signing_unavailable', 'Permission'],
      [404, 'receipt_not_found', 'NotFound'],
      [409, 'from_the_future', 'InvalidRequest'],
      [410, 'cursor_expired', 'CursorExpired'],
      [413, 'payload_too_large', 'InvalidRequest'],
    ] as const
  ).map(([status, code, kind]) => ({
    name: `${status} ${code} is not retried`,
    steps: [refuse(status, code)] as [Step],
    call: SUBMIT,
    outcome: problem(kind, status, code, { is_retryable: false, message: 'Said no.' }),
  })),
  {
    name: '421 wrong_installation is not retried, and names the address of the right one',
    steps: [refuse(421, 'wrong_installation', {}, { installation_url: 'https://orders-2.example.com' })],
    call: SUBMIT,
    outcome: problem('WrongInstallation', 421, 'wrong_installation', {
      is_retryable: false,
      installation_url: 'https://orders-2.example.com',
    }),
    // fetch of Node itself repeats a request with a 421 once, over another connection, as its standard says.
    arrivals: Number.NaN,
    sent: ({ headers }) => expect(headers.host).toMatch(/^127\.0\.0\.1:/),
  },
  {
    name: '421 of a proxy names no installation',
    steps: [html(421)],
    call: SUBMIT,
    outcome: { error: { kind: 'InvalidRequest', code: 'unexpected_reply', installation_url: null } },
    arrivals: Number.NaN,
  },
  {
    name: 'a batch is sent line by line, and has a result for each order',
    steps: [
      answer(202, {
        accepted: 1,
        refused: 1,
        mismatched: 0,
        results: [{ receipt_id: RECEIPT_ID }, { error: { status: 422, code: 'later_code', detail: 'No.' } }],
      }),
    ],
    call: { method: 'submit_batch', args: [[ORDER, '{\n"source_order_id":7}']] },
    outcome: { ok: { accepted: 1, results: [{ receipt_id: RECEIPT_ID }, { error: { code: 'later_code' } }] } },
    sent: ({ path, headers, body }) => {
      expect([path, headers['content-type']]).toEqual(['/ingest/orders/batch', 'application/x-ndjson']);
      expect(body.toString()).toBe(`${JSON.stringify(ORDER)}\n{\t"source_order_id":7}\n`);
    },
  },
  {
    name: 'a batch reply without a result for each order is an error',
    steps: [answer(202, { accepted: 1, refused: 0, results: [{ receipt_id: RECEIPT_ID }] })],
    call: { method: 'submit_batch', args: [[ORDER, ORDER]] },
    outcome: unexpected,
  },
  {
    name: 'a receipt may have a status that is not known',
    steps: [answer(200, receipt('resting'))],
    call: { method: 'get_receipt', args: [RECEIPT_ID], options: { wait: 2 } },
    outcome: { ok: receipt('resting') },
    sent: ({ method, path, headers }) =>
      expect([method, path, headers.prefer]).toEqual(['GET', `/ingest/status/${RECEIPT_ID}`, 'wait=2']),
  },
  {
    name: 'a receipt is awaited, also through an outage',
    steps: [
      answer(200, receipt('resting')),
      hangUp,
      refuse(503, 'overloaded', { 'Retry-After': '0' }),
      answer(200, receipt('dead')),
    ],
    call: { method: 'wait_for_receipt', args: [RECEIPT_ID], options: { timeout: 100 } },
    outcome: { ok: receipt('dead') },
    arrivals: 4,
  },
  {
    name: 'a receipt that is not final in time is told',
    steps: [answer(200, receipt('received'))],
    // As long as another row waits for a reply, so that the first one arrives on a busy machine too.
    call: { method: 'wait_for_receipt', args: [RECEIPT_ID], options: { timeout: 20 } },
    outcome: { error: { ...timedOut.error, receipt: receipt('received') } },
    arrivals: Number.NaN,
  },
  {
    name: 'an order is cancelled, with an outcome that is not known',
    steps: [answer(200, { outcome: 'later', source_order_id: 's-1', order_id: null })],
    call: { method: 'cancel_order', args: ['s-1'], options: { reason: 'They called' } },
    outcome: { ok: { outcome: 'later' } },
    sent: (request) => {
      expect(request.path).toBe('/ingest/orders/cancel');
      expect(json(request)).toEqual({ source_order_id: 's-1', reason: 'They called' });
    },
  },
  {
    name: 'orders are cancelled, with a signature',
    steps: [answer(200, { results: ['a', 'b'].map((id) => ({ outcome: 'held', source_order_id: id })) })],
    call: {
      method: 'cancel_orders',
      args: [['a', { source_order_id: 'b', reason: 'r' }]],
      options: { via: 'webhook' },
    },
    outcome: { ok: { results: [{ source_order_id: 'a' }, { source_order_id: 'b' }] } },
    sent: (request) => {
      expect(request.path).toBe('/ingest/webhook/cancel');
      expect(json(request)).toEqual({
        cancellations: [{ source_order_id: 'a' }, { source_order_id: 'b', reason: 'r' }],
      });
      const signature = createHmac('sha256', SECRET).update(request.body).digest('hex');
      expect(request.headers['x-service-signature']).toBe(`sha256=${signature}`);
    },
  },
  {
    name: 'orders are reconciled',
    steps: [answer(200, { results: [{ source_order_id: 'a', status: 'never_seen' }] })],
    call: { method: 'reconcile', args: [['a']] },
    outcome: { ok: { results: [{ source_order_id: 'a', status: 'never_seen' }] } },
    sent: (request) => expect(json(request)).toEqual({ source_order_ids: ['a'] }),
  },
  {
    name: 'a page of events may have types that are not known',
    steps: [page([event(7, 'order.teleported')], '7')],
    call: { method: 'get_events', options: { after: '6', limit: 5, wait: 1 } },
    outcome: { ok: { events: [event(7, 'order.teleported')], next: '7' } },
    sent: ({ path, headers }) => expect([path, headers.prefer]).toEqual(['/ingest/events?after=6&limit=5', 'wait=1']),
  },
  {
    name: 'stored events can be skipped',
    steps: [page([], '7')],
    call: { method: 'get_events', options: { after: 'newest' } },
    outcome: { ok: { events: [], next: '7' } },
    sent: ({ path }) => expect(path).toBe('/ingest/events?after=newest'),
  },
  {
    name: 'events are followed over pages and through an outage',
    steps: [
      page([event(1), event(2, 'order.teleported')], '2'),
      page([], '2'),
      hangUp,
      html(502),
      page([event(5)], '5'),
    ],
    call: { method: 'events', options: { take: 3 } },
    outcome: { ok: [event(1), event(2, 'order.teleported'), event(5)] },
    arrivals: 5,
    sent: ({ path }) => expect(new URL(path, 'http://x').searchParams.get('after')).toBe('2'),
  },
];

const nowhere = { base_url: 'http://127.0.0.1:9', api_key: KEY, signing_secret: SECRET };

const WEBHOOK_KEY = Buffer.alloc(32, 7);
const WEBHOOK_SECRET = `whsec_${WEBHOOK_KEY.toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const VERIFIED = 'verification_failed';

/** A delivered event, signed by Standard Webhooks, and the headers that a row changes. */
function delivered(body: string, skew = 0, headers: Record<string, string> = {}) {
  const timestamp = String(Math.floor(Date.now() / 1000) + skew);
  const signature = createHmac('sha256', WEBHOOK_KEY).update(`evt_1.${timestamp}.${body}`).digest('base64');
  const signed = { 'Webhook-Id': 'evt_1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  return { ...signed, ...headers };
}

const EVENT = JSON.stringify(event(1, 'order.teleported'));
const SIGNED_BY_OTHERS = `v1,${'A'.repeat(43)}=`;

/** Deliveries to verify: what is delivered, its headers, the secrets, and the code of the error. */
const DELIVERIES: [string, string, () => Record<string, string>, string | string[], string | null][] = [
  ['an event of a type that is not known', EVENT, () => delivered(EVENT), WEBHOOK_SECRET, null],
  ['by one of two secrets', EVENT, () => delivered(EVENT), [OTHER_SECRET, WEBHOOK_SECRET], null],
  ['a clock four minutes behind', EVENT, () => delivered(EVENT, -200), WEBHOOK_SECRET, null],
  ['a clock four minutes ahead', EVENT, () => delivered(EVENT, 200), WEBHOOK_SECRET, null],
  ['a clock far behind', EVENT, () => delivered(EVENT, -600), WEBHOOK_SECRET, VERIFIED],
  ['a clock far ahead', EVENT, () => delivered(EVENT, 900), WEBHOOK_SECRET, VERIFIED],
  ['a time that is none', EVENT, () => delivered(EVENT, 0, { 'webhook-timestamp': 'now' }), WEBHOOK_SECRET, VERIFIED],
  ['another secret', EVENT, () => delivered(EVENT), OTHER_SECRET, VERIFIED],
  ['another body', `${EVENT} `, () => delivered(EVENT), WEBHOOK_SECRET, VERIFIED],
  ['another id', EVENT, () => delivered(EVENT, 0, { 'Webhook-Id': 'evt_2' }), WEBHOOK_SECRET, VERIFIED],
  ['no id', EVENT, () => delivered(EVENT, 0, { 'Webhook-Id': '' }), WEBHOOK_SECRET, VERIFIED],
  [
    'a wrong signature',
    EVENT,
    () => delivered(EVENT, 0, { 'webhook-signature': SIGNED_BY_OTHERS }),
    WEBHOOK_SECRET,
    VERIFIED,
  ],
  ['something else than an event', '{"id":"evt_1"}', () => delivered('{"id":"evt_1"}'), WEBHOOK_SECRET, VERIFIED],
];

/** Calls that no client makes. */
const MISUSES: [string, ClientCall][] = [
  ['a key with a line break', { ...SUBMIT, client: { api_key: 'oik_x\n' } }],
  ['an address with a route', { ...SUBMIT, client: { base_url: 'https://orders.example.com/ingest/orders' } }],
  ['an address that is none', { ...SUBMIT, client: { base_url: 'orders.example.com' } }],
  ['an address with a password', { ...SUBMIT, client: { base_url: 'https://me:secret@orders.example.com' } }],
  ['a timeout of 0', { ...SUBMIT, options: { timeout: 0 } }],
  ['an idempotency key with a space', { ...SUBMIT, options: { idempotency_key: 'a b' } }],
  ['a wait above the maximum', { ...SUBMIT, options: { wait: 31 } }],
  ['a receipt id with a slash', { method: 'get_receipt', args: ['../orders'] }],
  ['a cursor that is none', { method: 'get_events', options: { after: 'x' } }],
  ['a limit above the maximum', { method: 'get_events', options: { limit: 1001 } }],
  ['a way that does not exist', { method: 'cancel_order', args: ['a'], options: { via: 'mail' } }],
  ['a webhook without a secret', { method: 'send_webhook', args: [ORDER], client: { signing_secret: '' } }],
  ['a secret of another kind', { method: 'verify_event', args: [EVENT, delivered(EVENT), 'oss_x'] }],
];

test.each(CLIENTS.filter(({ program }) => program))(
  'the $language client has the version of the service',
  ({ command }) => {
    const directory = String(command.at(-1));
    const source = readFileSync(join(directory, directory.endsWith('php') ? 'orders.php' : 'orders.py'), 'utf8');
    expect(/^(?:const )?VERSION = ['"](.*)['"];?$/m.exec(source)?.[1]).toBe(VERSION);
    expect(source).not.toMatch(/\t/);
    expect(resolve(directory)).toContain('packages/client');
  },
);

describeWith('php')('errors and dumps of the PHP client', () => {
  test('show no secret and no order, with the arguments in traces', async () => {
    // As a debugging proxy does: a page that quotes the request.
    await using script = await startScript((response, { body }) => response.end(`<p>${body}`));
    const file = resolve(import.meta.dirname, '../harness/client-drivers/traces.php');
    const client = resolve(import.meta.dirname, '../../packages/client/php/orders.php');
    const args = ['-d', 'zend.exception_ignore_args=0', file, client, script.url];
    const { stdout } = await promisify(execFile)('php', args, { maxBuffer: 2 ** 26 });
    const shown = Object.entries(JSON.parse(stdout) as Record<string, string[]>);
    // "hidden", and how the base64 of it begins.
    expect(shown.flatMap(([name, texts]) => (/hidden|aGlkZGVu/.test(texts.join()) ? name : []))).toEqual([]);
    expect(stdout).toContain('SensitiveParameterValue');
  });
});

describe('each client', () => {
  const { stack, db, api } = useStack({ intake: { BASE_PATH: '/delivery/api' }, worker: true });

  describe.each(CLIENTS)('$language', (client) => {
    const block = client.program ? describeWith(client.program) : describe;
    const agent = { TypeScript: 'js', Python: 'python', PHP: 'php' }[client.language];

    block('passes the scenarios', () => {
      test.each(SCENARIOS)('$name', async ({ steps, call, outcome, arrivals = 1, sent }) => {
        await using script = await startScript(...steps);
        const connection = { base_url: `${script.url}/`, api_key: KEY, signing_secret: SECRET };
        const [actual] = await callClient(client, connection, [call]);
        expect(actual).toMatchObject(outcome as object);
        if (!Number.isNaN(arrivals)) expect(script.arrived).toHaveLength(arrivals);
        const last = script.arrived.at(-1) as Arrived;
        sent?.(last);
        // Retries repeat the request unchanged.
        for (const { headers, body, path } of script.arrived.filter(({ method }) => method === 'POST'))
          expect([headers, body, path]).toEqual([last.headers, last.body, last.path]);
        expect(last.headers['user-agent']).toBe(`orders-${agent}/${VERSION}`);
        const key = last.headers['idempotency-key'];
        const digest = createHash('sha256').update(last.body).digest('hex');
        if (key !== undefined && key !== 'own') expect(key).toBe(digest);
        const shown = JSON.stringify(actual?.error ?? {});
        for (const secret of [KEY, SECRET, 'عائشة']) expect(shown).not.toContain(secret);
      });

      test('a connection that is refused is an error', async () => {
        const script = await startScript(accepted);
        await script[Symbol.asyncDispose]();
        const connection = { base_url: script.url, api_key: KEY };
        expect(await callClient(client, connection, [{ ...SUBMIT, options: ONCE }])).toMatchObject([
          { error: { kind: 'Connection', message: expect.stringMatching(/refused/i) } },
        ]);
      });

      test('deliveries are verified', async () => {
        const calls = DELIVERIES.map(([, body, headers, secret]) => ({
          method: 'verify_event',
          args: [body, headers(), secret],
        }));
        const outcomes = await callClient(client, nowhere, calls);
        for (const [index, [name, body, , , code]] of DELIVERIES.entries()) {
          const expected = code ? { error: { kind: 'Verification', code } } : { ok: JSON.parse(body) };
          expect([name, outcomes[index]]).toMatchObject([name, expected]);
        }
      });

      test('what cannot be sent is rejected', async () => {
        const calls = MISUSES.map(([, call]) => call);
        calls.push({ ...SUBMIT, options: { idempotencykey: 'x' } });
        const outcomes = await callClient(client, nowhere, calls);
        expect(outcomes).toEqual(calls.map(() => ({ misuse: expect.any(String) })));
        expect(outcomes.at(-1)?.misuse).toContain('idempotencykey');
      });

      test('a body is signed', async () => {
        const signature = createHmac('sha256', SECRET).update('سعر').digest('hex');
        const call = { method: 'sign_body', args: ['سعر', SECRET] };
        expect(await callClient(client, nowhere, [call])).toEqual([{ ok: `sha256=${signature}` }]);
      });

      test('works with intake and the worker', async () => {
        const account = await stack.account({ signing: true });
        await setEvents(db, account.id, true);
        const connection = { base_url: api.url, api_key: account.key, signing_secret: account.secret ?? undefined };
        const ok = async (method: string, args: unknown[] = [], options = {}) => {
          const [outcome] = await callClient(client, connection, [{ method, args, options }]);
          expect(outcome).toEqual({ ok: expect.anything() });
          // biome-ignore lint/suspicious/noExplicitAny: replies of any call
          return outcome?.ok as any;
        };
        const { receipt_id } = await ok('submit_order', [ORDER], { idempotency_key: 'first' });
        expect(await ok('wait_for_receipt', [receipt_id])).toMatchObject({ status: 'written' });
        expect(await ok('get_receipt', [receipt_id], { wait: 1 })).toMatchObject({ receipt_id, channel: 'rest' });
        const again = await ok('submit_order', [ORDER], { idempotency_key: 'first', wait: 30 });
        expect(again).toMatchObject({ receipt_id, duplicate: true, status: 'written' });
        const strict = { args: [{ source_order_id: 's-5', emirate: 'Sharjha' }], options: { strict: true } };
        const failed = await callClient(client, connection, [
          { ...SUBMIT, args: [{ ...ORDER, total: '50.00' }], options: { idempotency_key: 'first' } },
          { ...SUBMIT, ...strict },
          { ...SUBMIT, client: { api_key: KEY } },
        ]);
        expect(failed).toMatchObject([
          { error: { kind: 'IdempotencyMismatch', kept_as: expect.any(String) } },
          { error: { kind: 'Validation', errors: [{ pointer: '/emirate', code: 'emirate_corrected' }] } },
          { error: { kind: 'Authentication' } },
        ]);
        expect(await ok('send_webhook', [{ source_order_id: 's-2' }], { wait: 30 })).toMatchObject({
          status: 'written',
        });
        expect(await ok('preview', [{ source_order_id: 's-3', emirate: 'dxb' }])).toMatchObject({
          normalized: { emirate_code: 'AE-DU' },
        });
        const batch = await ok('submit_batch', [[{ source_order_id: 's-4' }, { emirate: 'Dubai' }]]);
        expect(batch).toMatchObject({ accepted: 1, refused: 1, results: [{}, { error: { status: 422 } }] });
        await ok('wait_for_receipt', [batch.results[0].receipt_id]);
        expect(await ok('cancel_order', ['s-1'], { reason: 'They called' })).toMatchObject({ outcome: 'cancelled' });
        expect(await ok('cancel_orders', [['s-2', 's-9']], { via: 'webhook' })).toMatchObject({
          results: [{ outcome: 'cancelled' }, { outcome: 'held' }],
        });
        expect(await ok('reconcile', [['s-4', 's-8']])).toMatchObject({
          results: [{ status: 'written' }, { status: 'never_seen' }],
        });
        const { events, next } = await ok('get_events', [], { limit: 1 });
        expect(events).toMatchObject([{ type: 'receipt.written', data: { source_order_id: 's-1' } }]);
        const following = await ok('events', [], { after: next, take: 2 });
        expect(following).toHaveLength(2);
        expect(following[0].data.sequence).toBeGreaterThan(Number(next));
      });
    });
  });
});
