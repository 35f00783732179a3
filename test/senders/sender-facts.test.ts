import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { anchorOf } from '@orders/doc-pages/render-page.ts';
import { EVENT_TYPES } from '@orders/domain/events.ts';
import {
  LIMITS,
  MAX_BATCH_ORDERS,
  MAX_CANCEL_BYTES,
  MAX_CANCELLATIONS,
  MAX_EVENTS,
  MAX_REASON,
  MAX_SOURCE_ORDER_IDS,
} from '@orders/domain/interface-limits.ts';
import { WARNINGS } from '@orders/domain/normalize/warnings.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import { PROBLEMS } from '@orders/domain/problems.ts';
import { ATTEMPT_ERRORS } from '@orders/domain/receipt-json.ts';
import { FINAL_STATES, RECEIPT_STATES, REVIEW_STATES } from '@orders/domain/receipt-states.ts';
import { readLife } from '@orders/domain/sources/platform-states.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { TEXT_FIELD_NAMES, TEXT_FIELDS } from '@orders/domain/text-fields.ts';
import { SOURCE_ORDER_ID_ERRORS, SOURCE_ORDER_IDS_ERROR } from '@orders/domain/validate-order.ts';
import { readConfig } from '@orders/intake/config.ts';
import { openApiDocument } from '@orders/intake/docs/openapi/document.ts';
import { readSenderPages } from '@orders/intake/docs/sender-pages/sender-pages.ts';
import { readConfig as readWorkerConfig } from '@orders/worker/config.ts';
import REVIEW from '../../apps/portal/page/src/locales/en/review.json' with { type: 'json' };
import TEXTS from '../../apps/portal/page/src/locales/en/sources.json' with { type: 'json' };

const grouped = (value: number) => value.toLocaleString('en-US');
const PAGES = new Map(readSenderPages().map(({ name, markdown }) => [name, markdown]));
const page = (name: string) => PAGES.get(name) ?? '';
/** A page on one line, to find a sentence wherever its lines are broken. */
const prose = (name: string) => page(name).replaceAll(/\s+/g, ' ');
const headings = (markdown: string, depth: number) =>
  [...markdown.matchAll(new RegExp(`^#{${depth}} (.+)$`, 'gm'))].map(([, heading]) => heading as string);

/** The content of a heading up to the next heading of any depth. */
const part = (markdown: string, heading: string) =>
  new RegExp(`^#+ ${heading}\\n([\\s\\S]*?)(?=^#|$(?![\\s\\S]))`, 'm').exec(markdown)?.[1] ?? '';

/** The rows of the first table whose first cell is code, with that cell without its backticks. */
const rows = (text: string) => [...text.matchAll(/^\| \[?`([^`]+)`[^|]*\| (.+) \|$/gm)].map(([, ...cells]) => cells);
/** The entries of a list whose first word is code, likewise. */
const entries = (text: string) =>
  [...text.replaceAll(/\n +/g, ' ').matchAll(/^- `([^`]+)`: (.+)$/gm)].map(([, ...parts]) => parts);

describe('errors', () => {
  test('each code has a section with its status and advice, and there are no others', () => {
    const codes = headings(page('errors'), 3);
    expect(codes).toHaveLength(Object.keys(PROBLEMS).length);
    expect(new Set(codes)).toEqual(new Set(Object.keys(PROBLEMS)));
    for (const [code, { status }] of Object.entries(PROBLEMS)) {
      const [cause = '', advice = ''] = part(page('errors'), code).trim().split('\n\n');
      expect([code, cause.slice(0, 8)]).toEqual([code, `**${status}.**`]);
      expect(advice.length).toBeGreaterThan(20);
    }
  });

  test('the temporary errors are those that can be retried unchanged', () => {
    const [, temporary = ''] = /^## Temporary errors\n([\s\S]*?)^## /m.exec(page('errors')) ?? [];
    const retryable = Object.entries(PROBLEMS).filter(([, { status }]) => status === 429 || status >= 500);
    expect(headings(temporary, 3)).toEqual(retryable.map(([code]) => code));
  });

  test('the codes about source_order_id are complete', () => {
    const codes = new Set(Object.values(SOURCE_ORDER_ID_ERRORS).map(({ code }) => code));
    expect(entries(part(page('errors'), 'validation_failed')).map(([code]) => code)).toEqual([...codes]);
    const { code, detail } = SOURCE_ORDER_IDS_ERROR;
    expect(prose('errors')).toContain(`\`${code}\` comes from`);
    const [bounds = ''] = /1 to [\d,]+ ids/.exec(prose('errors')) ?? [];
    expect(detail.replace(',', '')).toContain(bounds.replace(',', ''));
  });
});

test('the sizes of a cancellation are those of the service', () => {
  expect(prose('reference')).toContain(
    `Cancellations: ${grouped(MAX_CANCELLATIONS)} of them, and ${grouped(MAX_CANCEL_BYTES)} bytes`,
  );
  const guide = prose('corrections');
  expect(guide).toContain(`up to ${MAX_REASON} characters`);
  expect(guide).toContain(`1 to ${grouped(MAX_CANCELLATIONS)} cancellations`);
});

test('the types of events are complete, and so are the sizes and times of the event log', () => {
  const types = entries(part(page('events'), 'What each type means')).map(([type]) => type);
  expect(types).toEqual([...EVENT_TYPES]);
  const max = grouped(MAX_EVENTS);
  expect(prose('reference')).toContain(`A page of [events](events.md): ${max} events, and about 1 MiB`);
  expect(prose('events')).toContain(`up to ${max} with \`limit=${MAX_EVENTS}\``);
  expect(page('reference')).toContain(`\`limit\`, 1 to ${max}`);
});

describe('statuses', () => {
  test('each status is in the table in the order of the states, and says if it is final', () => {
    const table = rows(page('statuses')).slice(0, RECEIPT_STATES.length);
    expect(table.map(([state]) => state)).toEqual([...RECEIPT_STATES]);
    const finalStates = table.filter(([, rest]) => !rest?.startsWith('no ')).map(([state]) => state);
    expect(finalStates).toEqual([...FINAL_STATES]);
  });

  test('each state of an order is listed', () => {
    const states = entries(part(page('statuses'), 'order_state')).map(([state]) => state);
    expect(states).toEqual([...REVIEW_STATES, 'null']);
  });

  test('the attempt errors are named, and the warnings listed with their descriptions', () => {
    const named = [...part(page('statuses'), 'dead').matchAll(/`([a-z]+_[a-z_]+)`/g)].map(([, code]) => code);
    expect(new Set(named)).toEqual(new Set(Object.keys(ATTEMPT_ERRORS)));
    const warnings = Object.entries(WARNINGS).map(([code, [problem, remedy]]) => [code, `${problem}; ${remedy}`]);
    expect(entries(page('warnings'))).toEqual(warnings);
  });
});

/** The path of each limited field in the payload. */
const PLACES: Record<keyof typeof LIMITS, string> = {
  orderNumber: 'order_number',
  customerName: 'customer.name',
  phone: 'customer.phone',
  email: 'customer.email',
  customerId: 'customer.id',
  address: 'address',
  emirate: 'emirate',
  area: 'area',
  itemName: 'items[].name',
  sku: 'items[].sku',
  currency: 'currency',
};

describe('limits', () => {
  test('the lengths of fields match the code', () => {
    const fields = Object.entries(LIMITS).map(([field, limit]) => [
      PLACES[field as keyof typeof LIMITS],
      grouped(limit),
    ]);
    const lengths = rows(part(page('order-fields'), 'Fields'))
      .map(([field, rest]) => [field, rest?.split('|')[0]?.trim()])
      .filter(([, length]) => length !== '');
    const [id, ...others] = lengths;
    expect(id).toEqual(['source_order_id', '255']);
    expect(JSON.stringify(SOURCE_ORDER_ID_ERRORS)).toContain('at most 255 characters');
    const texts = TEXT_FIELD_NAMES.map((name) => [name, grouped(TEXT_FIELDS[name].maxLength)]);
    expect(others).toEqual([...fields, ...texts]);
  });

  test('the limits that no setting changes match the code', () => {
    const nested = (depth: number) => Buffer.from(`${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`);
    const [, depth] = /Nesting of the JSON: (\d+) levels/.exec(prose('reference')) ?? [];
    expect(() => parseBody(nested(Number(depth)))).not.toThrow();
    expect(() => parseBody(nested(Number(depth) + 1))).toThrow(`deeper than ${depth}`);
    expect(prose('errors')).toContain(`nested deeper than ${depth} levels`);

    const unknown = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`u${index}`, 1]));
    const { warnings } = normalizeOrder({ source_order_id: 'many', ...unknown });
    expect(prose('reference')).toContain(`Warnings listed for one order: ${grouped(warnings.length - 1)};`);

    const totalOf = (total: string) => normalizeOrder({ source_order_id: 'total', total }).order.total;
    expect(page('order-fields')).toContain('at most 15 digits before the decimal point and 6 after it');
    expect([totalOf('1'.repeat(15)), totalOf('1'.repeat(16))]).toEqual(['1'.repeat(15), null]);
    expect(totalOf('0.1234567')).toBe('0.123457');

    expect(prose('reference')).toContain(`A batch: ${grouped(MAX_BATCH_ORDERS)} orders,`);
    expect(prose('bulk')).toContain(`up to ${grouped(MAX_BATCH_ORDERS)} orders`);
    expect(prose('reference')).toContain(`Reconcile: ${grouped(MAX_SOURCE_ORDER_IDS)} ids, and`);
  });

  test('default sizes, times and attempts match the configuration', () => {
    const required = { DATABASE_URL: 'postgres://x', QUEUE_URL: 'redis://x', SECRETS_KEY: '0'.repeat(64) };
    const [intake, worker] = [readConfig(required), readWorkerConfig(required)];
    const limits = prose('reference');
    const days = (milliseconds: number) => milliseconds / 86_400_000;
    expect(limits).toContain(`One order: ${grouped(intake.MAX_BODY_BYTES)} bytes by default`);
    expect(limits).toContain(`A batch: 1,000 orders, and ${grouped(intake.MAX_BATCH_BYTES)} bytes by default`);
    const seconds = intake.REQUEST_TIMEOUT / 1000;
    const whenNeeded = `; within ${seconds / 6} when other accounts need the memory`;
    expect(limits).toContain(`arrive completely within: ${seconds} seconds by default${whenNeeded}`);
    expect(limits).toContain(`kept open for: ${intake.IDLE_TIMEOUT / 1000} seconds by default`);
    expect(limits).toContain(`replays for at least: ${days(worker.IDEMPOTENCY_TTL)} days by default`);
    expect(prose('retries')).toContain(`replays for at least ${days(worker.IDEMPOTENCY_TTL)} days`);
    expect(JSON.stringify(openApiDocument(''))).toContain(`for at least ${days(worker.IDEMPOTENCY_TTL)} days unless`);
    expect(limits).toContain(`asked for during: ${days(worker.RECEIPT_RETENTION)} days by default`);
    const retention = `${days(worker.EVENT_RETENTION)} days by default`;
    expect(limits).toContain(`An [event](events.md) is stored for: ${retention}`);
    expect(prose('events')).toContain(`stored for [${retention}]`);
    const { RETRY_ATTEMPTS: attempts, RETRY_BASE: base } = worker;
    expect((base / 1000) * (2 ** (attempts - 1) - 1)).toBe(127);
    expect(prose('statuses')).toContain(`there are ${attempts} attempts, one to two minutes in all`);
  });
});

test('links to pages of the guide lead only to existing ones and their headings', () => {
  for (const [name, markdown] of PAGES) {
    for (const [, href = ''] of markdown.matchAll(/\]\(([^)]+)\)/g)) {
      if (href.startsWith('https://')) continue;
      const [file = '', anchor] = href.split('#');
      const target = file === '' ? markdown : PAGES.get(file.replace(/\.md$/, ''));
      const anchors = [...(target ?? '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading as string));
      expect({ name, href, found: target !== undefined && (anchor === undefined || anchors.includes(anchor)) }).toEqual(
        {
          name,
          href,
          found: true,
        },
      );
    }
  }
});

test('each file of the directory is a page of the index, and headings are unique', () => {
  const files = globSync('*', { cwd: resolve(import.meta.dirname, '../../docs/senders') });
  expect(new Set(files)).toEqual(new Set([...PAGES.keys()].map((name) => `${name}.md`)));
  for (const [name, markdown] of PAGES) {
    const all = [...markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, one]) => one);
    expect([name, all.length]).toEqual([name, new Set(all).size]);
  }
});

/** The table of a guide: what the portal shows, in Markdown. */
function tableOf(preset: 'shopify' | 'woocommerce' | 'salla' | 'zid'): string {
  const { says, here, payment, other, unknown, kind: kinds } = TEXTS.life;
  const rows = readLife(preset, PRESETS[preset]).map(({ says: states, kind, payment_state }) => [
    states.map((state) => (state === '*' ? other : `\`${state}\``)).join(', '),
    kinds[kind],
    payment_state !== null
      ? REVIEW.choice.payment_state[payment_state as 'paid'].toLowerCase()
      : ['test', 'cancellation', 'ignored'].includes(kind)
        ? ''
        : unknown.toLowerCase(),
  ]);
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`.replaceAll(/ {2,}/g, ' ');
  return [line([says, here, payment]), line(['---', '---', '---']), ...rows.map(line)].join('\n');
}

test.each(['shopify', 'woocommerce', 'salla', 'zid'] as const)(
  'the guide of %s has the table of what each status becomes, and the topics',
  (preset) => {
    const page = readSenderPages().find(({ name }) => name === preset);
    const [, table] = /## What each status means\n\n((?:\|.*\n)+)/.exec(page?.markdown ?? '') ?? [];
    expect(table?.trimEnd()).toBe(tableOf(preset));
    const { order = [], cancellation = [] } = PRESETS[preset].settings.topics ?? {};
    for (const topic of [...order, ...cancellation]) expect(page?.markdown).toContain(`\`${topic}\``);
  },
);
