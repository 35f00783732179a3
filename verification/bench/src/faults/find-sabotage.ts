import type pg from 'pg';
import { copyObserved } from './copy-observed.ts';
import { createFindings, type Finding, type Findings } from './findings.ts';
import { createEventLedger, type EventLedger } from './ledger.ts';
import { feedsOf, type RoundsDeps } from './round.ts';
import { SABOTAGES, type SabotageKind } from './sabotage.ts';
import { findStuck, verifyTables } from './verify.ts';
import { verifyDeliveries } from './verify-feeds.ts';
import { patienceOf } from './wait-until.ts';

const READ_SECONDS = 10;
/** Long enough to deliver an event. */
const DELIVER_SECONDS = 3;

/** Causes the damage, verifies, and takes it back. @returns the findings. */
export async function findSabotage(client: pg.Client, deps: RoundsDeps, kind: SabotageKind): Promise<Finding[]> {
  const { senders, endpoints } = deps.context;
  switch (SABOTAGES[kind].by) {
    case 'rules': {
      const feeds = feedsOf(deps, null);
      await client.query('begin');
      try {
        await copyObserved(client, { ...deps, feeds });
        if ((await damage(client, kind)) !== 1) throw new Error(`"${kind}" changed more than a row`);
        return [...(await findStuck(client)), ...(await verifyTables(client))];
      } finally {
        await client.query('rollback');
      }
    }
    case 'feeds':
      return restoringAfter(client, ['events', 'event_logs'], async () => {
        await damage(client, kind);
        const { events, findings } = await readFeeds(deps);
        await client.query('begin');
        await copyObserved(client, { ...deps, feeds: { senders, events, publishedBefore: null } });
        const found = await verifyTables(client);
        return [...findings.takeNew(), ...found];
      });
    case 'endpoints':
      return restoringAfter(client, ['events', 'event_logs', 'endpoints'], async () => {
        deps.findings.takeNew();
        // In one transaction, so that no notifier sees the state between two statements.
        await client.query('begin');
        await damage(client, kind);
        await client.query('commit');
        const { events, findings } = await readFeeds(deps);
        // All events that were published by now were read.
        const untilRead = async () => {};
        const found = await verifyDeliveries(client, {
          endpoints,
          events,
          known: [],
          patience: patienceOf(DELIVER_SECONDS),
          untilRead,
        });
        // The clients that follow the feeds have others: after a restoration, their cursors may be beyond the end.
        const received = deps.findings.takeNew().filter(({ name }) => name.startsWith('delivery-'));
        return [...findings.takeNew(), ...received, ...found];
      });
  }
}

/** @returns how many rows the last statement changed. */
async function damage(client: pg.Client, kind: SabotageKind): Promise<number> {
  let changed: number | null = 0;
  for (const statement of SABOTAGES[kind].statements) changed = (await client.query(statement)).rowCount;
  if (!changed) throw new Error(`there was no row for "${kind}"`);
  return changed;
}

/** SQL: restores a table from its copy. */
const RESTORE = {
  events: 'delete from events; insert into events table undamaged_events',
  event_logs: `update event_logs l set last_sequence = u.last_sequence from undamaged_event_logs u where u.account_id = l.account_id`,
  endpoints: `update endpoints e set url = u.url, delivered_to = u.delivered_to
              from undamaged_endpoints u where u.endpoint_id = e.endpoint_id`,
};

/** Runs work that damages these tables, and restores them. A transaction that it left open is rolled back. */
async function restoringAfter<Result>(
  client: pg.Client,
  tables: readonly (keyof typeof RESTORE)[],
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query(tables.map((table) => `create table undamaged_${table} as table ${table}`).join(';'));
  try {
    return await work();
  } finally {
    await client.query('rollback');
    const copies = tables.map((table) => `undamaged_${table}`).join();
    await client.query(['begin', ...tables.map((table) => RESTORE[table]), `drop table ${copies}`, 'commit'].join(';'));
  }
}

/** Reads all feeds from the start as a client. @returns what was read, and what was found in it. */
async function readFeeds(deps: RoundsDeps): Promise<{ events: EventLedger; findings: Findings }> {
  const findings = createFindings();
  const events = createEventLedger(findings);
  const reader = deps.follower.createReader(events, findings);
  for (const sender of deps.context.senders.filter(({ hasEvents }) => hasEvents)) {
    if (!(await reader.readToEnd(sender, 0, patienceOf(READ_SECONDS)))) {
      throw new Error(`the feed of account ${sender.accountId} could not be read`);
    }
  }
  return { events, findings };
}
