import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../../src/normalize-order.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import { readDelivery } from '../../src/sources/read-delivery.ts';
import { readMapping } from '../../src/sources/read-mapping.ts';
import { readSettings } from '../../src/sources/read-settings.ts';
import { memberAt } from '../read-tables.ts';

/** A line of a file here. `README.md` says what its members are. */
interface Case {
  source: string;
  about: string;
  order?: object;
  delivery?: object;
  preset?: 'shopify' | 'woocommerce';
  mapping?: object;
  settings?: object;
  expect: Record<string, unknown>;
  warnings?: string[];
}

const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.ndjson'))
  .map((name) => ({
    name,
    cases: readFileSync(new URL(name, import.meta.url), 'utf8')
      .trim()
      .split('\n'),
  }));

describe.each(files)('$name', ({ cases }) => {
  test.each(cases.map((line): Case => JSON.parse(line)))('$about ($source)', (tried) => {
    const { kind, payload } = tried.delivery ? read(tried) : { kind: 'order', payload: tried.order };
    const { order, warnings } = normalizeOrder({ source_order_id: '1', ...payload });
    const result = { ...order, kind };
    const found = Object.keys(tried.expect).map((path) => [path, memberAt(result, path)]);
    expect(Object.fromEntries(found)).toEqual(tried.expect);
    const codes = warnings.map(({ code }) => code);
    if (tried.warnings?.length === 0) expect(codes).toEqual([]);
    else expect(codes).toEqual(expect.arrayContaining(tried.warnings ?? []));
  });
});

test('there are at least ten cases of each kind', () => {
  expect(files.filter(({ cases }) => cases.length < 10)).toEqual([]);
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
