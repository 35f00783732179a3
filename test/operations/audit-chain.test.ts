import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { runCli } from '@orders/cli/run-cli.ts';
import { recordAudit } from '@orders/database/audit.ts';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { chainAuditEvents } from '@orders/worker/chain-audit.ts';
import type { Knex } from 'knex';
import { run } from '../cli/run.ts';
import { whoWait } from '../harness/barriers.ts';
import { MAIN, NOWHERE, spawnCommand } from '../harness/run-command.ts';
import { useDatabase } from '../harness/use-stack.ts';

const { db, database: pool } = useDatabase({ direct: true, poolSize: 2 });
let knex: Knex;

beforeAll(async () => {
  knex = db.knex;
});
beforeEach(async () => {
  await knex.raw('truncate audit_events, audit_chain, unchained_audit_events');
});

const entry = (subject: string, details: object | null = null) => ({
  accountId: 1,
  actor: 'omar@example.test',
  action: 'order_edited',
  subject,
  details: details as Record<string, unknown> | null,
});
const record = (...subjects: string[]) => recordAudit(connectionOf(knex), ...subjects.map((subject) => entry(subject)));
const subjects = (count: number) => Array.from({ length: count }, (_, index) => `order:${index + 1}`);

/** As a worker does it. */
async function chainAll(maxRows = 500): Promise<void> {
  while ((await chainAuditEvents(pool, maxRows)) > 0);
}

const audit = (...argv: string[]) => run(['audit', ...argv], { DATABASE_URL: db.url });

/** @returns position and hash of the last entry. */
async function verified(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await audit('verify', ...argv);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trimEnd().split(' ').at(-1) as string;
}

async function faultOf(...argv: string[]): Promise<string> {
  const { code, stderr } = await audit('verify', ...argv);
  expect(code).toBe(1);
  return stderr.trimEnd().replace('The audit trail does not hold: ', '');
}

async function exported(...argv: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await audit('export', ...argv);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('the chain', () => {
  test('an empty one holds', async () => {
    expect(await verified()).toBe(`0:${'0'.repeat(64)}`);
    // Without work, a round writes nothing.
    const round = await knex.transaction();
    await round.raw('select chain_audit_events(500)');
    const { rows } = await round.raw('select pg_current_xact_id_if_assigned() as xid');
    await round.commit();
    expect(rows).toEqual([{ xid: null }]);
  });

  test('entries of concurrent writers and chainers each get one place, without a gap', async () => {
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      for (let round = 0; round < 5; round += 1) await record(`order:${writer}`, `order:${writer + 100}`);
    });
    const chainers = Array.from({ length: 4 }, async () => {
      for (let round = 0; round < 20; round += 1) await chainAuditEvents(pool, 7);
    });
    await Promise.all([...writers, ...chainers]);
    await chainAll();
    const chain = await knex('audit_chain').orderBy('position');
    expect(chain.map(({ position }) => Number(position))).toEqual(chain.map((_, index) => index + 1));
    expect(chain).toHaveLength(200);
    expect(await verified()).toMatch(/^200:/);
  });

  test('an entry whose transaction commits late gets a later place, and delays none', async () => {
    const late = await knex.transaction();
    await recordAudit(connectionOf(late), entry('order:1'));
    await record('order:2');
    await chainAll();
    expect(await verified()).toMatch(/^1:/);
    await late.commit();
    await chainAll();
    expect(await verified()).toMatch(/^2:/);
    expect((await exported()).map(({ subject }) => subject)).toEqual(['order:2', 'order:1']);
  });

  test('ids that a stranger chose, lower ones and huge ones, do not stop it', async () => {
    await record(...subjects(3));
    const [first] = (await knex('audit_events').orderBy('event_id').pluck('event_id')) as [number];
    expect(await chainAuditEvents(pool, 1)).toBe(1);
    for (const id of [first - 1, first + 50, '9223372036854775807', '-9223372036854775807'])
      await knex.raw(
        `insert into audit_events (event_id, actor, action, subject) overriding system value values (?, 'x', 'y', 'z')`,
        [id],
      );
    await chainAll();
    expect(await verified()).toMatch(/^7:/);
  });

  test('a round ends after 16 MB of details', async () => {
    const details = { text: 'x'.repeat(6_000_000) };
    for (const subject of subjects(4)) await recordAudit(connectionOf(knex), entry(subject, details));
    expect(await chainAuditEvents(pool, 500)).toBe(3);
    await chainAll();
    expect(await verified()).toMatch(/^4:/);
  });

  test.each([['"text"'], ['[1]'], ['{"changes":5,"reason":null}'], ['{"changes":[5,{"pointer":"/a"}]}'], ['null']])(
    'details %s, which only a stranger writes, do not stop it',
    async (details) => {
      await knex('audit_events').insert({ ...row('order:1'), details });
      await chainAll();
      expect(await verified()).toMatch(/^1:/);
    },
  );
});

describe('an erasure', () => {
  const changes = [
    { pointer: '/customer/phone', before: '+971501234567', after: null },
    { pointer: '/items', before: null, after: [] },
  ];
  const erase = (trx: Knex) =>
    trx.raw(
      `update audit_events set details = details - 'reason' || '{"changes":[{"pointer":"/customer/phone","before":null,"after":null},
         {"pointer":"/items","before":null,"after":null}]}' where subject = 'order:1'`,
    );
  const recordErasure = (trx: Knex) =>
    recordAudit(connectionOf(trx), { ...entry('order:1'), actor: 'operator:eve', action: 'order_erased' });
  beforeEach(async () => {
    await record('order:0');
    await recordAudit(connectionOf(knex), entry('order:1', { reason: 'Aisha called', changes }));
    await record('order:2');
  });

  test('of chained entries is marked with time and actor, and the chain holds with the same hashes', async () => {
    await chainAll();
    const noted = await verified();
    await knex.transaction(async (trx) => {
      await erase(trx);
      // While details are erased, no event is chained.
      await record('order:3');
      expect(await chainAuditEvents(pool, 500)).toBe(0);
      await recordErasure(trx);
    });
    await chainAll();
    expect(await verified('--expect', noted)).toMatch(/^5:/);
    const [first, erased] = await exported();
    expect(first).toMatchObject({ erased: null });
    expect(erased).toMatchObject({
      details: { changes: changes.map(({ pointer }) => ({ pointer, before: null, after: null })) },
      erased: { at: expect.stringMatching(/^\d{4}-/), by: 'operator:eve' },
    });
    // Nothing is left by which somebody could guess what was erased.
    expect(await knex('audit_chain').where({ position: 2 })).toMatchObject([{ salt: null }]);
    // An entry that is marked may have no values, past the trigger either.
    const forge = await knex.transaction();
    await forge.raw('set local session_replication_role = replica');
    await forge.raw(
      `update audit_events set details = details || '{"reason":"forged"}' where jsonb_exists(details, 'changes')`,
    );
    await forge.commit();
    expect(await faultOf()).toMatch(/^entry \d+ at position 2 was changed: its details/);
    await knex('audit_events').where({ subject: 'order:1', action: 'order_edited' }).update({ details: '{}' });
    expect(await faultOf()).toMatch(/^entry \d+ at position 2 was changed/);
  });

  test('without a record of it is a fault', async () => {
    await chainAll();
    await erase(knex);
    expect(await faultOf()).toMatch(/^entry \d+ at position 2 was changed: its details/);
  });

  test('of entries without a place does not show', async () => {
    await knex.transaction(async (trx) => {
      await erase(trx);
      await recordErasure(trx);
    });
    await chainAll();
    expect(await verified()).toMatch(/^4:/);
    expect((await exported()).map(({ erased }) => erased)).toEqual([null, null, null, null]);
  });

  test('that begins while the entries are chained waits for their place', async () => {
    const chaining = await knex.transaction();
    await chaining.raw('select chain_audit_events(500)');
    const erasing = knex.transaction(async (trx) => {
      await erase(trx);
      await recordErasure(trx);
    });
    await whoWait(knex, 1, 'transactionid');
    await chaining.commit();
    await erasing;
    await chainAll();
    expect(await verified()).toMatch(/^4:/);
    expect((await exported())[1]).toMatchObject({ erased: { by: 'operator:eve' } });
  });
});

const row = (subject: string) => ({ account_id: 1, actor: 'x', action: 'order_edited', subject });
const ids = async () => (await knex('audit_chain').orderBy('position').pluck('event_id')) as number[];

describe('verify notices', () => {
  beforeEach(async () => {
    await recordAudit(
      connectionOf(knex),
      ...subjects(5).map((subject) => entry(subject, { was: 'confirmed', reason: 'why' })),
    );
    await chainAll();
  });

  test.each([
    [
      'a changed actor',
      "update audit_events set actor = 'eve' where event_id = :id",
      /^entry \d+ at position 3 was changed/,
    ],
    [
      'a changed time',
      'update audit_events set at = now() where event_id = :id',
      /^entry \d+ at position 3 was changed/,
    ],
    ['another account', 'update audit_events set account_id = 2 where event_id = :id', /^entry \d+ at position 3 was/],
    [
      'changed details',
      `update audit_events set details = details || '{"reason":"another"}' where event_id = :id`,
      /^entry \d+ at position 3 was changed: its details/,
    ],
    [
      'details that seem to be erased, without an erasure',
      "update audit_events set details = details - 'reason' where event_id = :id",
      /^entry \d+ at position 3 was changed: its details/,
    ],
    [
      'more than an erasure removes',
      'update audit_events set details = null where event_id = :id',
      /^entry \d+ at position 3 was changed/,
    ],
    [
      'details changed without the trigger',
      `set local session_replication_role = replica; update audit_events set details = details - 'reason' where event_id = :id`,
      /^entry \d+ at position 3 was changed: its details/,
    ],
    ['a removed entry', 'delete from audit_events where event_id = :id', /^entry \d+ at position 3 is missing/],
    [
      'an entry removed with its place',
      'delete from audit_events where event_id = :id; delete from audit_chain where event_id = :id',
      /^position 3 is missing/,
    ],
    [
      'a removed place that the next ones fill',
      `delete from audit_events where event_id = :id; delete from audit_chain where event_id = :id;
       update audit_chain set position = position - 1 where position = 4; update audit_chain set position = 4 where position = 5`,
      /^entry \d+ at position 3 was changed, or is out of order/,
    ],
    ['a removed first place', 'delete from audit_chain where position = 1', /^position 1 is missing/],
    [
      'two swapped entries',
      `update audit_chain set event_id = -event_id where position in (3, 4);
       update audit_chain set event_id = :id + 1 where position = 3; update audit_chain set event_id = :id where position = 4`,
      /^entry \d+ at position 3 was changed, or is out of order/,
    ],
    [
      'an entry inserted past the trigger',
      `set local session_replication_role = replica;
       insert into audit_events (account_id, actor, action, subject) values (1, 'x', 'y', 'z')`,
      /^entry \d+ was inserted/,
    ],
    [
      'an entry inserted into the chain',
      `insert into audit_chain select 6, 100000 + event_id, hash, details_hash, salt from audit_chain where position = 5`,
      /^entry \d+ at position 6 is missing/,
    ],
    [
      'an entry that is there twice',
      `set local session_replication_role = replica; drop index audit_events_by_id;
       insert into audit_events (event_id, account_id, at, actor, action, subject, details) overriding system value
       select event_id, account_id, at, actor, action, subject, details from audit_events where event_id = :id`,
      /^entry \d+ at position 3 is there twice/,
    ],
    [
      'an entry removed before it had a position',
      `insert into audit_events (account_id, actor, action, subject) values (1, 'x', 'y', 'late');
       delete from audit_events where subject = 'late';
       insert into audit_events (account_id, actor, action, subject) values (1, 'x', 'y', 'next')`,
      /^entry \d+ is missing: it was removed before it had a position/,
    ],
  ])('%s', async (_, sql, fault) => {
    const id = (await ids())[2] as number;
    const trx = await knex.transaction();
    for (const statement of sql.split(';')) await trx.raw(statement, { id });
    await trx.commit();
    await chainAll();
    expect(await faultOf()).toMatch(fault);
    await knex('audit_events').delete();
    await knex.raw('create unique index if not exists audit_events_by_id on audit_events (event_id)');
  });

  test('a truncated or rewritten end, by what was noted', async () => {
    const noted = await verified();
    expect(await verified('--expect', noted)).toBe(noted);
    const at3 = `3:${(await exported())[2]?.hash}`;
    expect(await verified('--from', '3', '--expect', at3)).toBe(noted);
    const id = (await ids())[3] as number;
    await knex('audit_events').where('event_id', '>=', id).delete();
    await knex('audit_chain').where('position', '>', 3).delete();
    expect(await verified()).toBe(at3);
    expect(await faultOf('--expect', noted)).toBe('the chain ends at 3, before the expected position 5.');
    await record('order:4', 'order:5');
    await chainAll();
    expect(await verified('--expect', at3)).toMatch(/^5:/);
    expect(await faultOf('--expect', noted)).toBe('position 5 has another hash than the expected one.');
  });

  test('--from begins there, and only there', async () => {
    await knex('audit_events')
      .where({ event_id: (await ids())[1] as number })
      .update({ actor: 'eve' });
    expect(await verified('--from', '3')).toMatch(/^5:/);
    expect(await faultOf('--from', '2')).toMatch(/^entry \d+ at position 2/);
    expect(await faultOf('--from', '9')).toBe('the chain ends at 5, before position 9.');
  });

  test.each([
    ['verify', '--expect', '5'],
    ['verify', '--expect', `0:${'0'.repeat(64)}`],
    ['verify', '--from', '0'],
    ['export', '--after', '-1'],
  ])('wrong arguments: %s %s %s', async (...argv) => {
    expect((await audit(...argv)).code).toBe(2);
  });
});

describe('export', () => {
  const start = (...argv: string[]) =>
    spawnCommand(['audit', 'export', ...argv], { NODE_ENV: 'production', DATABASE_URL: db.url });

  /** Records entries that do not fit into the buffers of a pipe. */
  const recordLong = async (count: number) => {
    const entries = subjects(count).map((subject) => entry(subject, { text: 'x'.repeat(5000) }));
    await recordAudit(connectionOf(knex), ...entries);
    await chainAll();
  };

  test('prints each entry once, in the order of the chain, and continues after a position', async () => {
    await recordAudit(connectionOf(knex), ...subjects(120).map((subject) => entry(subject, { was: 'confirmed' })));
    await chainAll();
    const all = await exported();
    expect(all.map(({ position }) => position)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
    expect(all[0]).toEqual({
      position: 1,
      event_id: expect.any(Number),
      account_id: 1,
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      actor: 'omar@example.test',
      action: 'order_edited',
      subject: 'order:1',
      details: { was: 'confirmed' },
      erased: null,
      hash: expect.stringMatching(/^[\da-f]{64}$/),
    });
    expect(await exported('--after', '118')).toEqual(all.slice(118));
    expect((await audit('export', '--after', '121')).stderr).toMatch(
      /^The chain ends at 120: was the database restored/,
    );
  });

  test('--follow goes on with new entries, and ends with 0 when it is interrupted', async () => {
    await record('order:1');
    await chainAll();
    const { child, lines, ended } = start('--follow');
    expect(await lines(1)).toHaveLength(1);
    await record('order:2', 'order:3');
    await chainAll();
    expect(await lines(3)).toHaveLength(3);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0, stderr: 'Continue with --after 3.\n' });
  });

  test.each([[['--follow']], [[]]])('ends with 0 when its reader ends, %j', async (argv) => {
    await recordLong(200);
    const { child, ended } = start(...argv);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await ended).toMatchObject({ code: 0 });
  });

  test('waits for a slow reader', async () => {
    await recordLong(120);
    let lines = 0;
    let buffered = 0;
    const stdout = new Writable({
      highWaterMark: 1,
      write(_chunk, _encoding, done) {
        lines += 1;
        buffered = Math.max(buffered, this.writableLength);
        setImmediate(done);
      },
    });
    const stderr = { write: () => {} };
    const env = { DATABASE_URL: db.url };
    expect(await runCli(['audit', 'export'], { stdout, stderr, env, localDirectory: NOWHERE })).toBe(0);
    expect(lines).toBe(120);
    // One line waits, and not all of them.
    expect(buffered).toBeLessThan(10_000);
  });

  test('is not complete when it is interrupted', async () => {
    await recordLong(200);
    const child = spawn(process.execPath, [MAIN, 'audit', 'export'], {
      env: { ...baseEnvironment(), NODE_ENV: 'production', DATABASE_URL: db.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stderr, closed] = [text(child.stderr), once(child, 'close')];
    await once(child.stdout, 'readable');
    child.kill('SIGINT');
    child.stdout.resume();
    expect(await closed).toEqual([130, null]);
    expect(await stderr).toMatch(/^Continue with --after \d+\.\n$/);
  });
});
