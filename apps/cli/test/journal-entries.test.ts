import { expect, test } from '@jest/globals';
import { ENTRY, HEAD } from '../src/send/journal-entries.ts';
import { readLine } from '../src/send/own-files.ts';

const START = { batch: 0, orders: 2, key: 'k', replaces: ['r'] };
const HEAD_LINE = {
  journal: 'orders send 2',
  size: null,
  url: 'https://orders.example.com',
  way: 'batches',
  strict: false,
};
const REFUSAL = { status: 422, code: 'validation_failed', detail: '' };

const resultsOf = (...result: unknown[]) => ({ batch: 0, results: [result] });

test.each<[string, object]>([
  ['a started batch', START],
  ['a batch of a later version', { ...START, more: 1 }],
  ['an accepted order', resultsOf(1, 1, 'id', 'receipt')],
  ['an order without an id', resultsOf(1, 1, null, 'receipt')],
  ['a mismatch', resultsOf(1, 1, 'id', 'receipt', 'payload_mismatch')],
  ['a rejected order', resultsOf(1, 1, 'id', { ...REFUSAL, errors: [{ pointer: '', code: 'c', detail: 'd' }] })],
  ['a rejection without errors', resultsOf(1, 1, 'id', REFUSAL)],
])('%s is a journal entry', (_, entry) => {
  expect(readLine(JSON.stringify(entry), ENTRY)).toEqual(entry);
});

test.each<[string, unknown]>([
  ['null', null],
  ['a string as number', { ...START, batch: '0' }],
  ['an empty batch', { ...START, orders: 0 }],
  ['a batch without receipts to replace', { ...START, replaces: undefined }],
  ['a batch with invalid results', { ...START, results: null }],
  ['a result without an outcome', resultsOf(1, 1, 'id')],
  ['another mismatch', resultsOf(1, 1, 'id', 'receipt', 'other')],
  ['a result that is too long', resultsOf(1, 1, 'id', 'receipt', 'payload_mismatch', 1)],
  ['a rejection with null for its errors', resultsOf(1, 1, 'id', { ...REFUSAL, errors: null })],
])('%s is no journal entry', (_, entry) => {
  expect(readLine(JSON.stringify(entry), ENTRY)).toBeNull();
});

test('a torn line is neither', () => {
  expect(readLine(JSON.stringify(START).slice(0, -1), ENTRY)).toBeUndefined();
});

test.each<[string, object, boolean]>([
  ['of this version', HEAD_LINE, true],
  ['with members of a later version', { ...HEAD_LINE, more: 1 }, true],
  ['of another kind', { ...HEAD_LINE, journal: 'orders send 1' }, false],
  ['without a size', { ...HEAD_LINE, size: undefined }, false],
  ['with a string for strict', { ...HEAD_LINE, strict: 'true' }, false],
])('a head %s', (_, head, isHead) => {
  expect(readLine(JSON.stringify(head), HEAD) !== null).toBe(isHead);
});
