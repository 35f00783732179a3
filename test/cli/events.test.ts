import { userInfo } from 'node:os';
import { beforeEach, expect, test } from '@jest/globals';
import { useCli } from './run.ts';

const cli = useCli();
let account: string;
let accounts = 0;
const EMPTY = { first_sequence: null, last_sequence: null, unpublished: 0 };

beforeEach(async () => {
  account = String((await cli.json('accounts', 'create', `Event Reader ${++accounts}`)).account_id);
});

test('events are enabled and disabled, and each change is recorded once', async () => {
  const state = (is_enabled: boolean) => ({ account_id: Number(account), is_enabled, ...EMPTY });
  expect(await cli.json('events', 'show', account)).toEqual(state(false));
  expect(await cli.json('events', 'disable', account)).toEqual(state(false));
  for (let time = 0; time < 2; time++) expect(await cli.json('events', 'enable', account)).toEqual(state(true));
  expect(await cli.json('events', 'show', account)).toEqual(state(true));
  for (let time = 0; time < 2; time++) expect(await cli.json('events', 'disable', account)).toEqual(state(false));
  const [, ...audit] = await cli.audit(account);
  expect(audit).toMatchObject(
    ['events_enabled', 'events_disabled'].map((action) => ({
      action,
      actor: `operator:${userInfo().username}`,
      subject: `account:${account}`,
      details: null,
    })),
  );
});

test.each(['en', 'ar'])('the activity log of the portal names both changes in %s', async (language) => {
  const { default: texts } = await import(`../../apps/portal/page/src/locales/${language}/audit.json`, {
    with: { type: 'json' },
  });
  for (const action of ['events_enabled', 'events_disabled']) expect(texts.action[action]).toMatch(/\S/);
});

test('show says which events are stored, and how many are not published yet', async () => {
  await cli.run('events', 'enable', account);
  await cli.knex.raw(
    `insert into events select ?, n, gen_random_uuid(), 'receipt.written', now(), gen_random_uuid(), 'o', n, '{}'
     from generate_series(3, 1234) as n`,
    [account],
  );
  await cli.knex('event_logs').where({ account_id: account }).update({ last_sequence: 1234, removed_to: 2 });
  await cli.knex('unpublished_events').insert({
    account_id: account,
    type: 'order.confirmed',
    receipt_id: cli.knex.raw('gen_random_uuid()'),
    source_order_id: 'o',
  });
  const stored = { is_enabled: true, first_sequence: 3, last_sequence: 1234, unpublished: 1 };
  expect(await cli.json('events', 'show', account)).toEqual({ account_id: Number(account), ...stored });
  const { stdout } = await cli.run('events', 'show', `Event Reader ${accounts}`);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['account', account],
    ['events', 'enabled'],
    ['stored', '3 to 1234'],
    ['unpublished', '1'],
    [''],
  ]);
});

test('an account that does not exist is one line', async () => {
  for (const verb of ['enable', 'disable', 'show'])
    expect(await cli.refused(1, 'events', verb, 'Nobody')).toContain('No account has the name "Nobody"');
});
