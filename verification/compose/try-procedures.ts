import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@orders/test-services/until.ts';
import { checkOut } from '../upgrade/check-out.ts';
import { type Clone, makeClone, NEXT_POSTGRES_IMAGE, readBlocks, requireFreeMachine } from './clone.ts';
import { compareSchemas, expectAll, expectArchiving, expectTls, hasImages, nowOf } from './expect.ts';
import { makeOrder, startLoad } from './load.ts';
import { line, type Report, type RunContext, run, say } from './run.ts';
import { createSender, type Sender } from './sender.ts';
import { untilSettled } from './verify.ts';

const INTAKE_URL = 'http://127.0.0.1:8080';
/** Receipts that must be named before, and again after, each procedure. */
const BETWEEN = 50;
const SOME = 20;

/** Pastes the blocks of docs/operating as they stand there, under load, and counts the orders before and after. */
export async function tryProcedures(context: RunContext): Promise<Report> {
  await requireFreeMachine(context.signal);
  const clone = await makeClone(`orders-pages-${randomBytes(3).toString('hex')}`, context.signal);
  const report: Report = { lines: [], violations: [] };
  try {
    await operate(clone, context, report);
    await clone.down();
    await upgrade(clone, context, report);
    await clone.down();
    await fillDisk(clone, context, report);
  } finally {
    say('removes everything');
    await clone.remove();
  }
  return report;
}

/** An account with a key and a signing secret, and clients that send under them. */
async function makeSender(clone: Clone, name: string, signal: AbortSignal): Promise<() => Sender> {
  await clone.orders('accounts', 'create', name);
  const { key } = await clone.orders('keys', 'create', name);
  const [{ secret }] = (await clone.orders('signing', 'enable', name)).secrets;
  return () => createSender({ url: INTAKE_URL, apiKey: key, signingSecret: secret, signal });
}

const deliverSome = (sender: Sender, first: number) =>
  Promise.all(Array.from({ length: SOME }, (_, number) => sender.deliver(makeOrder(first + number * 10))));

async function operate(clone: Clone, { rate, signal }: RunContext, report: Report): Promise<void> {
  const { lines, violations } = report;
  const heading = 'With Compose, on one machine';
  say(`pastes: ${heading}`);
  await clone.paste(heading, 0);
  const first = await clone.paste(heading, 1);
  if (!first.includes('"status":"written"')) violations.push(`the first order was not written: ${first.slice(-300)}`);
  await clone.untilHealthy();

  const newClient = await makeSender(clone, 'Procedures', signal);
  const sender = newClient();
  let load = startLoad(sender, rate, signal);
  const pasteUnderLoad = async (
    what: string,
    block?: number,
    act: () => Promise<unknown> = () => clone.paste(what, block),
  ) => {
    await load.untilAccepted(BETWEEN);
    say(`pastes: ${what}`);
    const [before, startedAt] = [sender.ledger.repeated, Date.now()];
    await act();
    await clone.untilHealthy();
    await load.untilAccepted(BETWEEN);
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
    lines.push(line(what, `done after ${seconds} s; ${sender.ledger.repeated - before} attempts were repeated`));
  };

  for (const secret of ['Passwords of Postgres', 'An API key', 'A signing secret', 'SECRETS_KEY'])
    await pasteUnderLoad(secret);
  const { unreadable_signing_secrets: unreadable } = JSON.parse(await clone.bash('admin intake /health/ready'));
  if (unreadable !== 0) violations.push(`${unreadable} signing secrets do not open after the exchange of SECRETS_KEY`);
  await pasteUnderLoad('Take a backup');
  await clone.bash('echo WORKERS=4 >> .env');
  await pasteUnderLoad(heading, 3);
  const workers = (await clone.containers('worker')).length;
  if (workers !== 4) violations.push(`${workers} workers instead of 4`);
  if (await hasImages(clone, '--profile monitoring')) {
    await pasteUnderLoad('monitoring', undefined, () =>
      clone.bash('docker compose --profile monitoring up --detach --wait'),
    );
    await expectArchiving(clone, violations);
  } else lines.push(line('monitoring', 'NOT RUN: its images are not on this machine'));
  if (await hasImages(clone, '--file docker-compose.yml --file deploy/compose/tls.yml')) {
    await clone.bash(`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 2 \\
      -subj /CN=orders.example.com -addext subjectAltName=DNS:orders.example.com,DNS:portal.example.com \\
      -keyout privkey.pem -out fullchain.pem`);
    await pasteUnderLoad(heading, 2);
    await expectTls(clone, violations);
  } else lines.push(line('TLS', 'NOT RUN: its image is not on this machine'));
  await pasteUnderLoad('Redis lost', undefined, async () => {
    await clone.bash('docker compose kill redis && docker compose rm --force redis');
    await load.untilAccepted(BETWEEN);
    await clone.bash('docker compose up --detach --wait --no-deps redis && redis-cli flushall');
  });

  say('kills Postgres under load');
  await load.untilAccepted(BETWEEN);
  await clone.compose('kill', '--signal', 'KILL', 'postgres');
  const stopping = load.stop();
  say('pastes: Restore to the end');
  await clone.paste('Restore to the end');
  const offered = await stopping;
  await untilSettled(clone, signal);
  await expectAll(clone, sender, 'restored to the end', report);

  const restoreTime = await nowOf(clone);
  await sleep(2000, undefined, { signal });
  const lost = newClient();
  await deliverSome(lost, 500_000);
  await untilSettled(clone, signal);
  const [highest] = await clone.query<{ id: number }>('select max(order_id) as id from orders');
  say('pastes: Restore to a time');
  const [block = ''] = await readBlocks('Restore to a time');
  await clone.bash(block.replace(/RESTORE_TIME=.*/, `RESTORE_TIME='${restoreTime}'`));
  await clone.paste('After a restore to a time');
  await untilSettled(clone, signal);
  await expectAll(clone, sender, 'restored to a time', report);
  const [{ count: stillThere } = { count: -1 }] = await clone.query<{ count: number }>(
    `select count(*)::int from receipts where receipt_id in (${[...lost.ledger.accepted.keys()].map((id) => `'${id}'`)})`,
  );
  if (stillThere !== 0) violations.push(`${stillThere} receipts from after the restore point are still there`);
  const again = newClient();
  await deliverSome(again, 500_000);
  await untilSettled(clone, signal);
  await expectAll(clone, again, 'sent again', report);
  const [reused] = await clone.query<{ count: number }>(
    `select count(*)::int from orders where order_id <= ${highest?.id}
     and source_order_id in (${[...again.ledger.accepted.values()].map((id) => `'${id}'`)})`,
  );
  if (reused?.count !== 0) violations.push(`${reused?.count} order ids were given twice`);

  say('a base backup, more orders, and a second restore to the end');
  await clone.paste('Take a backup');
  await deliverSome(again, 600_000);
  await clone.compose('kill', '--signal', 'KILL', 'postgres');
  await clone.paste('Restore to the end');
  await untilSettled(clone, signal);
  await expectAll(clone, again, 'second restore', report);
  load = startLoad(sender, rate, signal, offered);
  await load.untilAccepted(BETWEEN);
  await load.stop();
  await untilSettled(clone, signal);
  await expectAll(clone, sender, 'at the end', report);
  await expectArchiving(clone, violations);
  await upgradePostgres(clone, violations);
  await deliverSome(sender, 700_000);
  await untilSettled(clone, signal);
  await expectAll(clone, sender, 'new major version of Postgres', report);
}

async function upgradePostgres(clone: Clone, violations: string[]): Promise<void> {
  // The image of the present version with another data directory, as a new major version has.
  const directory = '/var/lib/postgresql/next/docker';
  await clone.bash(
    `printf 'FROM postgres:18\\nENV PGDATA=${directory}\\n' | docker build --quiet --tag ${NEXT_POSTGRES_IMAGE} -`,
  );
  say('pastes: A new major version of Postgres');
  const [block = ''] = await readBlocks('A new major version of Postgres');
  const transactionId = async () =>
    BigInt((await clone.bash("psql -d orders -Atc 'select pg_current_xact_id()'")).trim());
  const former = await transactionId();
  await clone.bash(block.replace('postgres:19', NEXT_POSTGRES_IMAGE));
  if ((await transactionId()) <= former)
    violations.push('transaction ids started again, so the dispatch cursor is wrong');
  const found = (await clone.bash("psql -Atc 'show data_directory'")).trim();
  if (found !== directory) violations.push(`Postgres runs on ${found} after its upgrade`);
  await expectArchiving(clone, violations);
}

async function upgrade(clone: Clone, { signal }: RunContext, report: Report): Promise<void> {
  const { lines, violations } = report;
  say('builds the previous commit');
  const former = await mkdtemp(join(tmpdir(), 'orders-previous-'));
  try {
    await checkOut('HEAD~1', former);
    await run('docker', ['build', '--quiet', '--tag', 'order-ingestion', former], { signal });
  } finally {
    await rm(former, { recursive: true, force: true });
  }
  await clone.bash('docker compose up --no-build --detach --wait');
  const sender = (await makeSender(clone, 'Upgrade', signal))();
  await deliverSome(sender, 0);
  say('pastes: Upgrade with Compose');
  const output = await clone.paste('Upgrade with Compose');
  lines.push(line('upgraded to', output.trim().split('\n').at(-1) ?? ''));
  await deliverSome(sender, 10_000);
  await compareSchemas(clone, violations);
  say('pastes: Go back with Compose');
  await clone.paste('Go back with Compose');
  await deliverSome(sender, 20_000);
  await untilSettled(clone, signal);
  await expectAll(clone, sender, 'upgrade, way back', report);
}

/** On a volume of its own with little room: senders get 503, and nothing accepted is lost. */
async function fillDisk(clone: Clone, { signal }: RunContext, report: Report): Promise<void> {
  const { lines, violations } = report;
  say('fills the disk of Postgres');
  await clone.bash(`cat > docker-compose.override.yml <<'END'
volumes:
  postgres:
    driver_opts: { type: tmpfs, device: tmpfs, o: "size=600m" }
END
docker tag order-ingestion:before order-ingestion
docker compose up --no-build --detach --wait`);
  const sender = (await makeSender(clone, 'Full disk', signal))();
  await deliverSome(sender, 0);
  const at = '/var/lib/postgresql/filler';
  await clone.bash(`docker compose exec -T --user root postgres sh -c 'cat /dev/zero > ${at}' 2> /dev/null || true`);
  // Until what Postgres had reserved is used up.
  const deliveries: Promise<string>[] = [];
  await until(
    'an order is refused',
    async () => {
      deliveries.push(sender.deliver(makeOrder(1000 + deliveries.length * 10)));
      return sender.ledger.repeated > 0;
    },
    { seconds: 100, everyMs: 100, signal },
  );
  await clone.bash(`docker compose exec -T --user root postgres rm ${at} || docker compose run --rm --no-deps -T --user root --entrypoint rm postgres ${at}
    docker compose up --no-build --detach --wait`);
  await Promise.all(deliveries);
  await untilSettled(clone, signal);
  lines.push(line('full disk', `${sender.ledger.repeated} attempts were refused and repeated`));
  await expectAll(clone, sender, 'full disk', report);
  if (sender.ledger.repeated === 0) violations.push('the full disk refused nothing');
}
