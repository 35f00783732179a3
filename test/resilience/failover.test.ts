import { beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import { STANDBY_SETTINGS, type Standby, startStandby } from '../harness/base-backup.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { expectSettled, NO_FAILED_ATTEMPT, written } from '../harness/settled.ts';
import { SOON_EXPIRED, type Stack, startStack } from '../harness/stack.ts';

describe('Postgres with a synchronous standby', () => {
  let primary: FaultyPostgres;
  let standby: Standby;
  let stack: Stack;

  beforeAll(async () => {
    // Without a pooler, because it would have to know the standby.
    primary = await startFaultyPostgres(STANDBY_SETTINGS, { direct: true });
    standby = await startStandby(primary);
    await primary.knex.raw("alter system set synchronous_standby_names = 'standby'");
    await primary.knex.raw('select pg_reload_conf()');
    await until('the standby is synchronous', async () => {
      const { rows } = await primary.knex.raw('select sync_state from pg_stat_replication');
      return rows[0]?.sync_state === 'sync';
    });
    stack = await startStack(QUEUE_KIND, { database: primary });
    Object.assign(stack.env, SOON_EXPIRED);
  });
  test('after a failover the running apps have every accepted order exactly once', async () => {
    const { api } = await stack.intake();
    await stack.worker();
    const account = await stack.account();
    const accepted = new Map<string, string>();
    const refused = new Set<string>();
    const send = async (name: string) => {
      const reply = await api.order(account, { source_order_id: name }, { 'Idempotency-Key': name });
      if (reply.status === 202) accepted.set(name, reply.body.receipt_id);
      else refused.add(`${name} ${reply.body.code}`);
    };
    for (let index = 0; index < 50; index++) await send(`before-${index}`);

    // The standby receives nothing from now on, so no order may get a 202.
    await standby.server.freeze();
    const sent = Array.from({ length: 10 }, (_, index) => send(`meanwhile-${index}`));
    await until('all are answered, or a commit waits for the standby', async () => {
      const { rows } = await primary.knex.raw("select from pg_stat_activity where wait_event = 'SyncRep'");
      return rows.length > 0 || accepted.size === 60;
    });
    await primary.kill();
    await Promise.all(sent);
    standby.server.thaw();
    await standby.takeOver();

    expect([...refused].map((one) => one.split(' ')[1])).toEqual(Array(10).fill('storage_unavailable'));
    for (const one of refused) await send(String(one.split(' ')[0]));
    expect(accepted.size).toBe(60);
    await expectSettled(stack, account, written(accepted.values()), { history: NO_FAILED_ATTEMPT });
  });
});
