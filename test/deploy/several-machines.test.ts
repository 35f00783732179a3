import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, jest, test } from '@jest/globals';
import { isFinal } from '@orders/domain/receipt-states.ts';
import { until } from '@orders/test-services/until.ts';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { blocksUnder } from '../harness/markdown-blocks.ts';
import { describeWith, skipped } from '../harness/programs.ts';
import { type StandInMachine, startStandInMachines } from '../harness/stand-in-machines.ts';
import { startSteadyLoad } from '../harness/steady-load.ts';

const OPERATING = join(import.meta.dirname, '../../docs/operating');
const read = (name: string) => readFileSync(join(OPERATING, name), 'utf8');
const SENDERS = 4;
const SOME = 40;
/** What a sender may get while it must send again. */
const SEND_AGAIN = [0, 429, 502, 503, 504];

// Each process needs seconds to start on a busy machine.
jest.setTimeout(1_200_000);

const byText = (a: string, b: string) => a.localeCompare(b);

/** Where Debian has a Postgres with `pg_basebackup`, which the embedded one lacks; null without. */
function findPostgres(): string | null {
  const directory = '/usr/lib/postgresql';
  try {
    const [newest] = readdirSync(directory).sort((a, b) => Number(b) - Number(a));
    return join(directory, newest as string, 'bin');
  } catch {
    return null;
  }
}

/** The blocks of a section, each with the machine that the text above it names. */
function stepsOf(page: string, heading: string): { machine: string; block: string }[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const steps: { machine: string; block: string }[] = [];
  let machine = '';
  for (const [, name, block] of section.matchAll(/\b[Oo]n `(app1|app2|stores)`[^.:]*:$|^```\n([\s\S]*?)^```$/gm)) {
    if (name) machine = name;
    else steps.push({ machine, block: block as string });
  }
  return steps;
}

const programs = findPostgres();
const describeHere = (
  programs || process.env.TEST_ALL !== 'on'
    ? describeWith('docker', 'haproxy', 'redis-server', 'openssl')
    : skipped(describe, ["Debian's Postgres"])
) as typeof describe;

describeHere('the page from one machine to several, pasted', () => {
  test('no accepted order is lost or doubled', async () => {
    const page = read('several-machines.md');
    const named = Object.fromEntries(
      [...page.matchAll(/^\| `(\w+)`[^|]*\| (10\.[\d.]+) \|/gm)].map(([, name, address]) => [name, address as string]),
    );
    const [definitions = ''] = blocksUnder(read('README.md'), 'Commands on these pages', '');
    const { machines, port } = await startStandInMachines(named, {
      definitions,
      programs: programs as string,
      env: { DRAIN_DELAY: '200ms', SWEEP_INTERVAL: '200ms', SWEEP_AFTER: '1s', LOG_LEVEL: 'warn' },
    });
    const { app1, stores } = machines as Record<'app1' | 'stores', StandInMachine>;
    /** @returns what the last block printed. */
    async function paste(heading: string, first = 0, end?: number): Promise<string> {
      let printed = '';
      for (const { machine, block } of stepsOf(page, heading).slice(first, end))
        printed = await (machines[machine] as StandInMachine).paste(block.replace('MEMORY=16g', 'MEMORY=1g'));
      return printed;
    }

    const [install = ''] = blocksUnder(read('deployment.md'), 'With Compose, on one machine', '');
    await app1.paste(install);
    await app1.paste("orders accounts create 'Corner Bakery'");
    const { key } = JSON.parse(await app1.paste("orders keys create 'Corner Bakery' --name till --json"));

    let url = `http://${app1.loopback}:${port('8080')}/ingest/orders`;
    let isOver = false;
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    /** Sends an order until it is accepted, as the clients do. */
    const send = async (source_order_id: string) => {
      for (;;) {
        const reply = await fetch(url, {
          method: 'POST',
          headers: { ...headers, 'Idempotency-Key': source_order_id },
          body: JSON.stringify({ source_order_id, customer: { name: 'Aisha' } }),
        }).catch(() => null);
        const body = await reply?.json().catch(() => null);
        const status = reply?.status ?? 0;
        if (isOver || !SEND_AGAIN.includes(status)) return { status, body };
        await sleep(100);
      }
    };
    const load = startSteadyLoad(Array(SENDERS).fill(send), { restMs: 100 });
    closeAtEnd({
      close() {
        isOver = true;
        return load.stop();
      },
    });
    await load.untilAccepted(SOME);

    await paste('1. Publish Postgres');
    await load.untilAccepted(SOME);
    for (const isLast of [false, true]) {
      await paste('2. Copy', 0, 2);
      await until('the copy follows', async () => (await paste('2. Copy', 2, 3)).includes('streaming'));
      await load.untilAccepted(SOME);
      // The way back.
      if (!isLast) await paste('2. Copy', 3);
    }

    // Receipts that only the old Redis knows of wait for a worker.
    await app1.paste('docker compose stop worker');
    await load.untilAccepted(SOME);
    const promote = await paste('3. Switch', 0, 1);
    expect(promote).toMatch(/^psql -Atc .*pg_promote/);
    expect(await stores.paste(promote)).toBe('t\n');
    await paste('3. Switch', 1);
    expect(['postgres', 'redis'].map((name) => app1.isRunning(name))).toEqual([false, false]);
    await load.untilAccepted(SOME);

    await paste('4. The second machine');
    await paste('5. Both intakes');
    url = url.replace(port('8080'), port('8090'));
    await load.untilAccepted(SOME);
    // Each machine is enough: before it was the first, now it is the second.
    await app1.paste('docker compose stop intake worker');
    await load.untilAccepted(SOME);
    await load.stop();

    const { accepted, failed } = load.ledger;
    expect([...failed]).toEqual([]);
    const query = async (sql: string) =>
      JSON.parse(await stores.paste(`psql -AtXc "select coalesce(json_agg(t), '[]') from (${sql}) as t"`));
    const receipts = await until('each receipt is final', async () => {
      const rows: { receipt_id: string; state: string }[] = await query('select receipt_id, state from receipts');
      return rows.every(({ state }) => isFinal(state as never)) && rows;
    });
    expect(new Set(receipts.map(({ state }) => state))).toEqual(new Set(['written']));
    expect(receipts.map(({ receipt_id }) => receipt_id).toSorted(byText)).toEqual(
      [...accepted.values()].toSorted(byText),
    );
    const orders: { source_order_id: string }[] = await query('select source_order_id from orders');
    expect(orders.map(({ source_order_id }) => source_order_id).toSorted(byText)).toEqual(
      [...accepted.keys()].toSorted(byText),
    );
    expect(await stores.paste("psql -Atc 'show shared_buffers'")).toBe('256MB\n');
  });
});
