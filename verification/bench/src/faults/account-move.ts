import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { enableSigning } from '@orders/database/accounts/signing-secrets.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { migrate } from '@orders/database/migrate.ts';
import { migrateQueue } from '@orders/queue/bullmq.ts';
import { mainOf, startProgram } from '@orders/test-services/apps.ts';
import { ensureDatabase, withClient } from '@orders/test-services/databases.ts';
import { startFaultyPostgres } from '@orders/test-services/faulty-postgres.ts';
import { type Link, startLink } from '@orders/test-services/link.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { type Deployment, restartPostgres } from './deployment.ts';
import type { Findings, ViolationName } from './findings.ts';
import type { Sender } from './ledger.ts';
import { pick, type Random } from './random.ts';
import { makeRequest, reportRefusal, sendRequest } from './request.ts';
import { patienceOf, waitUntil } from './wait-until.ts';

/** An account that sends orders while it moves to another installation. */
export interface AccountMove {
  /** Waits for the end of the move, and verifies that everything accepted is in the other installation, once. */
  finish(): Promise<void>;
}

/** What `orders accounts move` prints when it begins each step, and between. Each is interrupted once. */
const MOMENTS = [
  'step: copying',
  'copying: ',
  'step: closed',
  'copying the rest',
  'comparing',
  'step: compared',
  'step: switched',
];
const INTERRUPTIONS = ['terminal closed', 'source killed', 'target killed', 'network cut'] as const;
const CUT_MS = 1000;
/** It succeeds the eighth time at the latest, if nothing else fails. */
const MAX_RUNS = 50;
const SETTLE_SECONDS = 60;
const ORDERS_BEFORE = 20;
const PAUSE_MS = 20;

/** What clients were told: the moved account, the ids of its accepted receipts, and those of their orders. */
const TOLD = 'with told as (select $1::int as account_id, $2::uuid[] as receipt_ids, $3::text[] as source_order_ids)';

/** A query per violation. */
const RULES: Partial<Record<ViolationName, string>> = {
  'receipt-missing': `
    select id::text from told cross join unnest(receipt_ids) as id
    where not exists (select from receipts r where r.receipt_id = id and r.account_id = told.account_id)`,
  'order-missing': `
    select id from told cross join unnest(source_order_ids) as id
    where not exists (select from orders o where o.account_id = told.account_id and o.source_order_id = id collate "C")`,
  'order-doubled': `
    select source_order_id as id from orders join told using (account_id) group by source_order_id having count(*) > 1`,
  'receipt-stuck': `
    select receipt_id::text as id from receipts join told using (account_id)
    where state not in ('written', 'duplicate', 'dead')`,
  'event-gap': `
    select sequence::text as id
    from (select sequence, row_number() over (order by sequence) as place from events join told using (account_id)) as e
    where sequence <> place`,
  'receipt-event-missing': `
    select r.receipt_id::text as id from receipts r join told using (account_id)
    where not exists (
      select from events e where e.account_id = r.account_id and e.receipt_id = r.receipt_id and e.type = 'receipt.' || r.state)`,
};

/** Starts another installation, and moves a new account to it under load, with an interruption at each step. */
export async function startAccountMove(
  deployment: Deployment & { findings: Findings; random: Random },
): Promise<AccountMove> {
  const { databaseUrl, findings, random } = deployment;
  const ends: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const other = await startInstallation(deployment, ends);
    const sender = await openAccount(databaseUrl);
    const link = await startLink(databaseUrl);
    ends.push(link.close);
    const sending = startSending(sender, deployment.urls, findings, random);
    ends.push(sending.stop);
    await waitUntil(() => sending.accepted.size >= ORDERS_BEFORE, patienceOf(SETTLE_SECONDS));
    const moving = moveInterrupted(deployment, other, sender.accountId, link);
    // It is awaited later.
    moving.catch(() => {});
    return {
      async finish() {
        try {
          if (!(await moving)) findings.add({ name: 'move-unfinished', id: `account ${sender.accountId}` });
          const before = sending.accepted.size;
          await waitUntil(() => sending.accepted.size >= before + ORDERS_BEFORE, patienceOf(SETTLE_SECONDS));
          await sending.stop();
          await verify(other.url, sender.accountId, sending.accepted, findings);
        } finally {
          await close();
        }
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Installation {
  url: string;
  /** Of its intake. */
  intakeUrl: string;
  /** Kills its Postgres, and starts it again. */
  restart(): Promise<void>;
}

/** Starts a Postgres of its own, with its queue, and an intake and a worker on it. */
async function startInstallation(
  { launch, directory, secretsKey }: Deployment,
  ends: (() => Promise<unknown>)[],
): Promise<Installation> {
  const place = join(directory, randomUUID());
  await mkdir(place, { mode: 0o755 });
  ends.push(() => rm(place, { recursive: true, force: true }));
  const postgres = await startFaultyPostgres({
    directory: join(place, 'postgres'),
    password: 'faults',
    port: await freePort(),
    settings: ['wal_retrieve_retry_interval=200ms'],
  });
  ends.push(postgres.close);
  const { url } = postgres;
  await ensureDatabase(url);
  await withKnex({ url }, async (knex) => {
    await migrate(connectionOf(knex), { installation: 1 });
    // Its secret shows that the SECRETS_KEY is the same.
    const { account_id: accountId } = await createAccount(connectionOf(knex), 'A neighbour');
    await enableSigning(connectionOf(knex), secretsKey, accountId);
  });
  await migrateQueue(url);
  const [port, adminPort] = [await freePort(), await freePort()];
  const stores = { DATABASE_URL: url, QUEUE_URL: url };
  for (const [app, ports] of [
    ['intake', { PORT: String(port), ADMIN_PORT: String(adminPort) }],
    ['worker', {}],
  ] as const)
    ends.push((await launch(app, `${app}-there`, { ...stores, ...ports })).close);
  return {
    url,
    intakeUrl: `http://127.0.0.1:${port}`,
    async restart() {
      await postgres.kill();
      await postgres.start();
    },
  };
}

async function openAccount(databaseUrl: string): Promise<Sender> {
  return withKnex({ url: databaseUrl }, async (knex) => {
    const { account_id: accountId } = await createAccount(connectionOf(knex), 'Moves');
    const { key: apiKey } = await createKey(connectionOf(knex), accountId, 'faults');
    await setEvents(connectionOf(knex), accountId, true);
    return { accountId, apiKey, signingSecret: '', sourceId: '', hasEvents: true };
  });
}

/** Sends one order after another, each until it is accepted, to where the reply before said. */
function startSending(sender: Sender, urls: readonly string[], findings: Findings, random: Random) {
  /** By receipt id. */
  const accepted = new Map<string, string>();
  let movedTo: string | null = null;
  let isStopping = false;
  const send = async (number: number) => {
    const sourceOrderId = `moves-${number}`;
    const order = { sender, sourceOrderId, idempotencyKey: sourceOrderId, number, isPoison: false };
    while (!isStopping) {
      const reply = await sendRequest(movedTo ?? pick(random, urls), makeRequest(order, 'rest'));
      if (reply.status === 202) return void accepted.set(reply.body.receipt_id, sourceOrderId);
      if (reply.status === 421) movedTo = reply.body.installation_url;
      else reportRefusal(findings, reply);
      await sleep(PAUSE_MS);
    }
  };
  const sending = (async () => {
    for (let number = 0; !isStopping; number += 1) {
      await send(number);
      await sleep(PAUSE_MS);
    }
  })();
  return {
    accepted,
    async stop() {
      isStopping = true;
      await sending;
    },
  };
}

/** Runs the command until it succeeds, and interrupts it once at each of its moments. @returns whether it succeeded. */
async function moveInterrupted(
  deployment: Deployment & { random: Random },
  other: Installation,
  accountId: number,
  link: Link,
): Promise<boolean> {
  const { databaseUrl, secretsKey, postgres, random } = deployment;
  const left = new Set(MOMENTS);
  const env = {
    DATABASE_URL: databaseUrl,
    TARGET_DATABASE_URL: other.url,
    SOURCE_DATABASE_URL: link.url,
    SECRETS_KEY: secretsKey.toString('base64'),
  };
  const interruptions: Record<(typeof INTERRUPTIONS)[number], () => Promise<unknown>> = {
    'terminal closed': async () => {},
    'source killed': async () => {
      await postgres?.kill();
      await restartPostgres(deployment);
    },
    'target killed': other.restart,
    'network cut': async () => {
      link.cut();
      await sleep(CUT_MS);
      link.mend();
    },
  };
  return waitUntil(
    async () => {
      const args = ['accounts', 'move', String(accountId), '--to', other.intakeUrl];
      const child = await startProgram(mainOf('cli'), env, { args, output: 'pipe' });
      let interrupting: Promise<unknown> = Promise.resolve();
      const output = child.process.stderr as NodeJS.ReadableStream;
      createInterface({ input: output }).on('line', (line) => {
        const moment = [...left].find((begin) => line.includes(begin));
        if (!moment) return;
        left.delete(moment);
        const kind = pick(random, INTERRUPTIONS);
        if (kind === 'terminal closed') child.process.kill('SIGKILL');
        interrupting = interrupting.then(interruptions[kind]);
      });
      child.process.stdout?.resume();
      await child.exited;
      await interrupting;
      return child.process.exitCode === 0;
    },
    { polls: MAX_RUNS },
  );
}

async function verify(
  url: string,
  accountId: number,
  accepted: ReadonlyMap<string, string>,
  findings: Findings,
): Promise<void> {
  await withClient(url, async (client) => {
    const isIdle = async () => {
      const { rows } = await client.query(
        'select (select count(*) from outbox) + (select count(*) from unpublished_events) as left',
      );
      return Number(rows[0].left) === 0;
    };
    await waitUntil(isIdle, patienceOf(SETTLE_SECONDS));
    for (const [name, rule] of Object.entries(RULES) as [ViolationName, string][]) {
      const told = [accountId, [...accepted.keys()], [...accepted.values()]];
      const { rows } = await client.query<{ id: string }>(`${TOLD} ${rule}`, told);
      for (const { id } of rows) findings.add({ name, id: `moved account ${accountId} ${id}` });
    }
  });
}
