import { beforeAll, beforeEach } from '@jest/globals';
import { installBarriers } from './barriers.ts';
import { QUEUE_KIND } from './queue.ts';
import { envOf, type Outcome, runCommand, type Sender, spawnCommand } from './run-command.ts';
import type { TestAccount } from './stack.ts';
import { standIn, useStack } from './use-stack.ts';

/** Runs `orders send` in this process. `input` is read in these chunks; `terminal` are properties of stderr, such as `isTTY`. */
export async function send(
  sender: Sender,
  args: string[],
  input: string | readonly Buffer[] = '',
  terminal = {},
): Promise<Outcome> {
  const chunks = typeof input === 'string' ? [Buffer.from(input)] : input;
  return runCommand(['send', ...args], envOf(sender), { input: chunks, terminal });
}

/** Starts a service for one test file, with the barriers, all open, and makes a new sender before each test. */
export function useSenderService() {
  const { stack, api } = useStack({ queue: QUEUE_KIND, intake: true });
  beforeAll(async () => {
    await installBarriers(stack.database.knex);
    await stack.worker();
  });
  let sender: (Sender & TestAccount) | undefined;
  beforeEach(async () => {
    sender = { ...(await stack.account({ signing: true })), url: api.url };
  });
  const rowsOf = (table: string, { id }: TestAccount) => stack.database.knex(table).where({ account_id: id });
  return {
    stack,
    sender: standIn('sender', () => sender),
    receiptsOf: (account: TestAccount) => rowsOf('receipts', account),
    ordersOf: (account: TestAccount) => rowsOf('orders', account).orderBy('source_order_id'),
    keysOf: (account: TestAccount) => rowsOf('order_keys', account),
    idsOf: (account: TestAccount): Promise<string[]> =>
      rowsOf('orders', account).orderBy('source_order_id').pluck('source_order_id'),
  };
}

/** Checks a file with `--dry-run --json`, without a service. */
export async function dryRun(file: string, ...args: string[]) {
  const { code, stdout, stderr } = await send({ url: '', key: '' }, [file, '--dry-run', '--json', ...args]);
  return { code, stderr, ...JSON.parse(stdout || '{}') };
}

/** One order a line, with these ids and nothing else. */
export function ordersOf(ids: readonly unknown[]): string {
  return ids.map((id) => `${JSON.stringify({ source_order_id: id })}\n`).join('');
}

/** Removes the progress lines from stderr; they are only printed if a run takes long. */
export function withoutProgress(stderr: string): string {
  return stderr.replace(/^.*( orders?, | outcomes? known).*\n/gm, '');
}

/** Starts `orders send` as a separate process. */
export const startSend = (sender: Sender, args: string[], input = '', flags: string[] = [], env = {}) =>
  spawnCommand(['send', ...args], { ...envOf(sender), ...env }, input, flags);
