import { expect, test } from '@jest/globals';
import { Problem } from '../../src/problems.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import { readSettings } from '../../src/sources/read-settings.ts';
import { SOURCE_PRESETS, type SourcePreset } from '../../src/sources/settings.ts';

function errorsOf(preset: SourcePreset, input: unknown): string[] {
  try {
    readSettings(preset, input);
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return (error.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`);
  }
}

test('without a choice, the settings are those of the preset, and they are valid', () => {
  for (const preset of SOURCE_PRESETS) expect(readSettings(preset, undefined)).toBe(PRESETS[preset].settings);
  expect(readSettings('custom', PRESETS.shopify.settings)).toEqual(PRESETS.shopify.settings);
  expect(readSettings('custom', PRESETS.woocommerce.settings)).toEqual(PRESETS.woocommerce.settings);
});

test('all settings of a preset can be chosen for a custom source', () => {
  for (const preset of ['salla', 'zid'] as const)
    expect(readSettings('custom', PRESETS[preset].settings)).toEqual(PRESETS[preset].settings);
});

test('names of headers become lower case, as Node has them', () => {
  const signature = { scheme: 'token', header: 'X-Token' };
  const chosen = { signature, topic: { header: 'X-Topic' }, topics: { order: ['a'] }, deliveryId: { pointer: '/id' } };
  expect(readSettings('custom', chosen)).toEqual({
    signature: { scheme: 'token', header: 'x-token' },
    topic: { header: 'x-topic' },
    topics: { order: ['a'], cancellation: [] },
    deliveryId: { pointer: '/id' },
  });
});

test('of Standard Webhooks, the topics can be chosen', () => {
  const topics = { order: ['sale'], cancellation: ['sale.void'] };
  expect(readSettings('standard-webhooks', { topics })).toEqual({ ...PRESETS['standard-webhooks'].settings, topics });
});

const token = { scheme: 'token', header: 'x-token' };

test('values may be null, or absent', () => {
  const chosen = {
    signature: token,
    ignoredIf: { pointer: '/ordered_at', values: [null] },
    finishedIf: { pointer: '/fulfilled_at' },
  };
  expect(readSettings('custom', chosen)).toEqual(chosen);
});

test.each<[SourcePreset, unknown, string[]]>([
  ['shopify', { signature: token }, ['/signature unknown_field']],
  ['woocommerce', { topics: { order: [] } }, ['/topics unknown_field']],
  ['standard-webhooks', { topic: { pointer: '/t' } }, ['/topic unknown_field']],
  ['custom', null, [' invalid']],
  ['custom', {}, ['/signature required']],
  ['custom', { signature: { scheme: 'none' } }, ['/signature/scheme invalid']],
  ['custom', { signature: { ...token, algorithm: 'sha256' } }, ['/signature/algorithm unknown_field']],
  ['custom', { signature: { ...token, header: 'x token' } }, ['/signature/header invalid']],
  [
    'custom',
    { signature: { scheme: 'hmac', header: 'x', algorithm: 'md5' } },
    ['/signature/algorithm invalid', '/signature/encoding required'],
  ],
  ['custom', { signature: token, topic: { header: 'x' } }, [' invalid']],
  ['custom', { signature: token, deliveryId: { header: 'x', pointer: '/x' } }, ['/deliveryId invalid']],
  [
    'custom',
    { signature: token, cancelledIf: { pointer: 'status', values: [] } },
    ['/cancelledIf/pointer invalid', '/cancelledIf/values invalid'],
  ],
  ['salla', { topics: { order: [] } }, ['/topics unknown_field']],
  ['zid', { signature: token }, ['/signature unknown_field']],
  ['custom', { signature: { scheme: 'basic', header: 'x' } }, ['/signature/header unknown_field']],
  [
    'custom',
    { signature: token, finishedIf: { pointer: ['/a', 'b'], values: ['c'] } },
    ['/finishedIf/pointer/1 invalid'],
  ],
  ['custom', { signature: token, ignoredIf: { pointer: [], values: ['c'] } }, ['/ignoredIf/pointer invalid']],
  ['custom', { signature: token, topic: { header: 'x' }, topics: { order: ['a\0'] } }, ['/topics/order/0 invalid']],
  [
    'custom',
    JSON.parse('{"signature":{"scheme":"token","header":"x","__proto__":{}}}'),
    ['/signature/__proto__ unknown_field'],
  ],
])('%s refuses %j', (preset, input, errors) => {
  expect(errorsOf(preset, input)).toEqual(errors);
});
