import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { WARNINGS } from '../src/normalize/warnings.ts';
import { normalizeOrder } from '../src/normalize-order.ts';
import { memberAt, readTables, toPayload } from './read-tables.ts';

const readPage = (name: string) => readFileSync(new URL(`../../../docs/senders/${name}.md`, import.meta.url), 'utf8');
const TABLES = new URL('tables/', import.meta.url);

const sources = [
  { name: 'docs/senders/order-fields.md', markdown: readPage('order-fields') },
  ...readdirSync(TABLES).map((name) => ({ name, markdown: readFileSync(new URL(name, TABLES), 'utf8') })),
].map(({ name, markdown }) => ({ name, rows: readTables(markdown) }));

describe.each(sources)('the rows of $name', ({ rows }) => {
  test.each(rows)('$about', ({ sent, stored, warnings }) => {
    const normalized = normalizeOrder(toPayload(sent));
    const warned = normalized.warnings.map(({ pointer, code }) => `${pointer} ${code}`);
    const found = Object.fromEntries(Object.keys(stored).map((path) => [path, memberAt(normalized.order, path)]));
    expect({ ...found, warned }).toEqual({ ...stored, warned: warnings });
  });
});

test('every file has at least 50 rows', () => {
  expect(sources.filter(({ rows }) => rows.length < 50).map(({ name }) => name)).toEqual([]);
});

test('every warning code has a row', () => {
  const tried = sources.flatMap(({ rows }) => rows.flatMap(({ warnings }) => warnings));
  const codes = new Set(tried.map((warning) => warning.split(' ')[1]));
  expect(Object.keys(WARNINGS).filter((code) => !codes.has(code))).toEqual(['too_many_items', 'more_warnings']);
});
