import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../../src/normalize-order.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import { readDelivery } from '../../src/sources/read-delivery.ts';
import { readMapping } from '../../src/sources/read-mapping.ts';
import { readSettings } from '../../src/sources/read-settings.ts';
import { memberAt } from '../read-tables.ts';

/** A line of `cases.ndjson`. `README.md` says what its members are. */
interface Case {
  kind: string;
  source: string;
  about: string;
  order?: object;
  delivery?: object;
  same?: object[];
  others?: object[];
  preset?: 'shopify' | 'woocommerce';
  mapping?: object;
  settings?: object;
  expect: Record<string, unknown>;
  warnings?: string[];
}

const NO_DELIVERY = { kind: 'order', modifiedAt: null };

const CASES: Case[] = readFileSync(new URL('cases.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const KINDS = [...Map.groupBy(CASES, ({ kind }) => kind)];

describe.each(KINDS)('%s', (_kind, cases) => {
  test.each(cases)('$about ($source)', (tried) => {
    const { kind, payload, modifiedAt } = tried.delivery ? read(tried) : { ...NO_DELIVERY, payload: tried.order };
    const { order, warnings } = normalizeOrder({ source_order_id: '1', ...payload });
    const result = { ...order, kind, modified_at: modifiedAt?.toISOString(), has_id: payload !== null };
    const found = Object.keys(tried.expect).map((path) => [path, memberAt(result, path)]);
    expect(Object.fromEntries(found)).toEqual(tried.expect);
    const codes = warnings.map(({ code }) => code);
    if (tried.warnings?.length === 0) expect(codes).toEqual([]);
    else expect(codes).toEqual(expect.arrayContaining(tried.warnings ?? []));
  });
});

const twins = CASES.filter(({ same, others }) => same || others);

test.each(twins)('$about, and other deliveries ($source)', ({ same = [], others = [], ...tried }) => {
  const idsOf = (deliveries: object[]) =>
    deliveries.map((delivery) => read({ ...tried, delivery }).payload?.source_order_id);
  const [id] = idsOf([tried.delivery ?? {}]);
  expect(idsOf(same)).toEqual(same.map(() => id));
  const different = [id, ...idsOf(others)];
  expect(new Set(different).size).toBe(different.length);
  expect(different).not.toContain(undefined);
});

test('there are at least ten cases of each kind', () => {
  expect(KINDS.filter(([, cases]) => cases.length < 10)).toEqual([]);
  expect(KINDS.map(([kind]) => kind)).toHaveLength(8);
});

/** Reads a delivery with a preset, or as a source of its own. */
function read({ delivery, preset, mapping, settings }: Case) {
  const signature = PRESETS.custom.settings.signature;
  return readDelivery(
    Buffer.from(JSON.stringify({ id: 1, ...delivery })),
    {},
    {
      settings: preset ? PRESETS[preset].settings : readSettings('custom', { signature, ...settings }),
      mapping: preset ? PRESETS[preset].mapping : readMapping({ source_order_id: '/id', ...mapping }),
      idPrefix: '',
    },
  );
}
