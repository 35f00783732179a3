import { expect, test } from '@jest/globals';
import { PRESETS } from '../../src/sources/presets.ts';
import { unreadMembers } from '../../src/sources/unread-members.ts';

const unread = (document: unknown, mapping: object) =>
  unreadMembers(Buffer.from(JSON.stringify(document)), {
    mapping: { source_order_id: '/id', ...mapping },
    settings: PRESETS.shopify.settings,
  });

test('members that no pointer leads to are unread; empty ones are not named', () => {
  const document = {
    id: 1,
    gift: { text: 'x', empty: '', none: null, no: false, zero: 0, yes: true },
    tags: ['a', ''],
  };
  expect(unread(document, {})).toEqual(['/gift/text', '/gift/yes', '/tags/0']);
  expect(unread(document, { address: { join: ['/gift/text', '/tags'] } })).toEqual(['/gift/yes']);
});

test('what lists of items, details and conditions name is read in each entry', () => {
  const lines = [
    { name: 'Lamp', kind: 'good', color: 'red' },
    { name: 'Tip', kind: 'tip' },
  ];
  const notes = [{ name: 'Gift', value: 'x', id: 7 }];
  const items = { list: '/lines', name: '/name', except: { '/kind': ['tip'] } };
  const details = [{ each: '/notes', label: '/name', value: '/value' }];
  expect(unread({ id: 1, lines, notes }, { items, details })).toEqual(['/lines/0/color', '/notes/0/id']);
});

test('what the settings of the source name is read', () => {
  expect(unread({ id: 1, test: true, updated_at: '2026-11-29T10:00:00Z', tags: 'a' }, {})).toEqual(['/tags']);
});

test('an entry that is found is read', () => {
  const notes = [{ name: 'Date', value: 'today' }];
  const delivery_time = { find: '/notes', where: { '/name': ['Date'] }, value: '/value' };
  expect(unread({ id: 1, notes }, { delivery_time })).toEqual([]);
});

test('what a listed part of a text names is read in each entry', () => {
  const lines = [{ name: 'Ring', options: [{ name: 'Size', value: 'L', id: 7 }] }];
  const name = { join: ['/name', { each: '/options', label: '/name', value: '/value' }] };
  expect(unread({ id: 1, lines }, { items: { list: '/lines', name } })).toEqual(['/lines/0/options/0/id']);
});

test('of a large delivery 300 members are named, and of one that is not JSON none', () => {
  expect(unread({ id: 1, list: Array(5_000).fill('x') }, {})).toHaveLength(300);
  expect(unreadMembers(Buffer.from('no JSON'), PRESETS.shopify)).toEqual([]);
});

test('nesting as deep as a body may have it is read', () => {
  const deep = `${'{"a":'.repeat(60)}"x"${'}'.repeat(60)}`;
  expect(unread(JSON.parse(deep), {})).toEqual(['/a'.repeat(60)]);
});

test('a member whose pointer is too long for a mapping is not named, so that a long name is not repeated for each entry', () => {
  const named = (length: number) => unread({ id: 1, ['/'.repeat(length)]: Array(2).fill('x') }, {});
  expect(named(126)).toEqual([`/${'~1'.repeat(126)}/0`, `/${'~1'.repeat(126)}/1`]);
  expect(named(127)).toEqual([]);
  expect(named(100_000)).toEqual([]);
});
