import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount } from '@orders/database/accounts/accounts.ts';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { mainOf, startProgram } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { withClient } from '@orders/test-services/databases.ts';
import { type Link, startLink } from '@orders/test-services/link.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import { type Deployment, restartPostgres } from './deployment.ts';
import { MOVED_ACCOUNT } from './event-rules.ts';
import type { Findings, ViolationName } from './findings.ts';
import type { Sender } from './ledger.ts';
import { pick, type Random, shuffled } from './random.ts';
import { makeRequest, reportRefusal, sendRequest } from './request.ts';
import { type Installation, startInstallation } from './second-installation.ts';
import { patienceOf, waitUntil } from './wait-until.ts';

type Context = Deployment & { findings: Findings; random: Random };

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
const CUT_MS = 1000;
/** All runs together take half a minute. */
const MOVE_SECONDS = 300;
const SETTLE_SECONDS = 60;
/** Accepted before and after the move, at least. */
const ORDERS = 20;
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
    where receipt_id = any(receipt_ids) and state not in ('written', 'duplicate', 'dead')`,
  'event-gap': `
    select sequence::text as id
    from (select sequence, row_number() over (order by sequence) as place from events join told using (account_id)) as e
    where sequence <> place`,
  'receipt-event-missing': `
    select r.receipt_id::text as id from receipts r join told using (account_id)
    where r.receipt_id = any(receipt_ids) and not exists (
      select from events e where e.account_id = r.account_id and e.receipt_id = r.receipt_id and e.type = 'receipt.' || r.state)`,
};

/** Starts another installation, and moves a new account to it under load, with an interruption at each step. */
export async function startAccountMove(deployment: Context): Promise<AccountMove> {
  const { databaseUrl, findings } = deployment;
  const ends: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  deployment.atEnd(close);
  try {
    const other = await startInstallation(deployment, ends);
    const sender = await openAccount(databaseUrl);
    const link = await startLink(databaseUrl);
    ends.push(link.close);
    const sending = startSending(sender, deployment);
    ends.push(sending.stop);
    const acceptMore = async () => {
      const before = sending.accepted.size;
      const patience = patienceOf(SETTLE_SECONDS);
      if (await waitUntil(() => sending.accepted.size >= before + ORDERS, patience)) return;
      findings.add({ name: 'move-unfinished', id: `account ${sender.accountId}, accepts nothing` });
    };
    await acceptMore();
    const moving = moveInterrupted({ deployment, other, accountId: sender.accountId, link, ends });
    // It is awaited later.
    moving.catch(() => {});
    return {
      async finish() {
        try {
          await moving;
          await acceptMore();
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

async function openAccount(databaseUrl: string): Promise<Sender> {
  return withKnex({ url: databaseUrl }, async (knex) => {
    const { account_id: accountId } = await createAccount(connectionOf(knex), MOVED_ACCOUNT);
    const { key: apiKey } = await createKey(connectionOf(knex), accountId, 'faults');
    await setEvents(connectionOf(knex), accountId, true);
    return { accountId, apiKey, signingSecret: '', sourceId: '', hasEvents: true };
  });
}

/** Sends one order after another, each until it is accepted, to where the reply before said. */
function startSending(sender: Sender, { urls, findings, random }: Context) {
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

/** Runs the command until it succeeds, and interrupts it once at each of its moments. Nothing else may make it fail. */
async function moveInterrupted({
  deployment,
  other,
  accountId,
  link,
  ends,
}: {
  deployment: Context;
  other: Installation;
  accountId: number;
  link: Link;
  ends: (() => Promise<void>)[];
}): Promise<void> {
  const { databaseUrl, secretsKey, postgres, findings, random } = deployment;
  const left = new Set(MOMENTS);
  const env = {
    DATABASE_URL: databaseUrl,
    TARGET_DATABASE_URL: other.url,
    SOURCE_DATABASE_URL: link.url,
    SECRETS_KEY: secretsKey.toString('base64'),
  };
  const args = ['accounts', 'move', String(accountId), '--to', other.intakeUrl];
  const interruptions: ((command: Child) => unknown)[] = [
    (command) => command.process.kill('SIGKILL'),
    async () => {
      await postgres?.kill();
      await restartPostgres(deployment);
    },
    other.restart,
    async () => {
      link.cut();
      await sleep(CUT_MS);
      link.mend();
    },
  ];
  // Each kind at least once.
  const next = shuffled(random, [...interruptions, ...interruptions]);
  const patience = patienceOf(MOVE_SECONDS);
  for (;;) {
    const child = await startProgram(mainOf('cli'), env, { args, output: 'pipe' });
    ends.push(() => child.stop('SIGKILL'));
    child.process.stdout?.resume();
    const lines = createInterface({ input: child.process.stderr as NodeJS.ReadableStream });
    let isRead = false;
    let lastLine = '';
    let wasInterrupted = false;
    let interrupting: Promise<unknown> = Promise.resolve();
    lines.on('close', () => {
      isRead = true;
    });
    lines.on('line', (line) => {
      lastLine = line;
      const moment = [...left].find((begin) => line.includes(begin));
      if (!moment) return;
      left.delete(moment);
      wasInterrupted = true;
      interrupting = interrupting.then(() => next.pop()?.(child));
    });
    const hasEnded = await waitUntil(() => isRead && !child.isRunning, patience);
    await child.stop('SIGKILL');
    await interrupting;
    if (hasEnded && child.process.exitCode === 0) return;
    if (hasEnded && wasInterrupted) continue;
    findings.add({ name: 'move-unfinished', id: `account ${accountId}`, detail: lastLine });
    return;
  }
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
