import { expect, test } from '@jest/globals';
import { createApiKey, createSourceId, installationOf, isApiKey, isSourceId } from '../src/api-key.ts';

test.each([0, 1, 7, 62, 8999])('keys and ids of sources name installation %i', (installation) => {
  for (const isTest of [false, true]) {
    const key = createApiKey({ isTest, installation });
    expect(key).toMatch(`oik_${isTest ? 'test_' : ''}${installation === 0 ? '' : `${installation}_`}`);
    expect([isApiKey(key), installationOf(key)]).toEqual([true, installation]);
    // The checksum covers the number.
    expect(isApiKey(key.replace(/^(oik_(?:test_)?)(?:\d+_)?/, '$13_'))).toBe(false);
  }
  const sourceId = createSourceId(installation);
  expect([isSourceId(sourceId), installationOf(sourceId)]).toEqual([true, installation]);
});

test.each(['0_', '07_', '70000_', '7', 'x_', '-7_', '7__'])('%s is no number of an installation', (text) => {
  expect(isSourceId(createSourceId().replace('src_', `src_${text}`))).toBe(false);
});
