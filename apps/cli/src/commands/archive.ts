import { stat } from 'node:fs/promises';
import type { Database } from '@orders/database/connect.ts';
import { ARCHIVE_LOCK, inTransaction, run } from '@orders/database/run.ts';
import {
  allowChanges,
  dropMonth,
  fileOf,
  findOldMonths,
  findOpenWork,
  type Month,
  storeMonth,
} from '../archive/archive-month.ts';
import { span } from '../arguments.ts';
import { type CommandSpec, option } from '../command.ts';
import { Failure, UsageError } from '../errors.ts';
import { every } from '../report-every.ts';
import { plural, table } from '../table.ts';

/** Orders between two progress lines; smaller months finish in seconds. */
const REPORT_INTERVAL = 100_000;

interface ArchiveOptions {
  to: string;
  olderThan?: number;
  keep?: boolean;
  dryRun?: boolean;
}

/** What became of a month. */
interface Archived {
  month: string;
  first_order_id: number;
  file: string;
  /** Null with `--dry-run`, and if it was kept. */
  orders: number | null;
  sha256: string | null;
  /** `due`: it would be archived. `kept`: something is still to be done about an order. */
  state: 'due' | 'kept' | 'stored' | 'dropped';
  reason: string | null;
}

export const archive: CommandSpec = {
  about: 'store old months of orders in files, and drop them from Postgres',
  options: [
    option('--to <directory>', 'where the files go; it must exist').makeOptionMandatory(),
    option(
      '--older-than <span>',
      'months that ended this long ago, such as 730d (default: ORDER_RETENTION)',
      span('--older-than', '36500d'),
    ),
    option('--keep', 'store them, and drop nothing'),
    option('--dry-run', 'list what would be stored and dropped, and change nothing'),
  ],
  help: `\
A month is dropped once its file is on the disk and was read back. Its orders can no longer be seen or cancelled; their keys stay, so
that none is written a second time. While a month is stored, its orders cannot be changed. After an interruption, run it again.
The files contain personal data; each line is one order in JSON.`,
  examples: ['orders archive --to /backup/orders --older-than 730d'],
  async run({ config, report, withDatabase }, options: ArchiveOptions) {
    const olderThan = options.olderThan ?? (await config()).ORDER_RETENTION;
    if (olderThan === undefined) throw new UsageError('Give --older-than, or set ORDER_RETENTION.');
    if (!(await isDirectory(options.to))) throw new UsageError('--to takes a directory that exists.');
    const months = await withDatabase((database) =>
      alone(database, () => archiveMonths(database, { ...options, olderThan, report })),
    );
    const kept = months.filter(({ state }) => state === 'kept');
    if (kept.length > 0 && !options.dryRun)
      throw new Failure(
        `${plural(months.length - kept.length, 'month was', 'months were')} archived, and ` +
          `${kept.map(({ month, reason }) => `${month} was kept: of its orders, ${reason}`).join('; ')}.`,
      );
    return [months, describe(months)];
  },
};

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Runs work while no other process archives. */
async function alone<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  return inTransaction(
    database,
    async (guard) => {
      const [lock] = await run<{ taken: boolean }>(guard, `select pg_try_advisory_xact_lock(${ARCHIVE_LOCK}) as taken`);
      if (!lock?.taken) throw new Failure('Another orders archive is running.');
      return work();
    },
    // The transaction is idle meanwhile.
    { idle_in_transaction_session_timeout: 0 },
  );
}

async function archiveMonths(
  database: Database,
  { to, olderThan, keep, dryRun, report }: ArchiveOptions & { olderThan: number; report: (line: string) => void },
): Promise<Archived[]> {
  const archived: Archived[] = [];
  for (const month of await findOldMonths(database, olderThan)) {
    const described = {
      month: month.beganAt.toISOString().slice(0, 7),
      first_order_id: month.firstId,
      file: fileOf(month),
      orders: null,
      sha256: null,
    };
    const reason = await findOpenWork(database, month);
    if (reason !== null || dryRun) archived.push({ ...described, state: reason === null ? 'due' : 'kept', reason });
    else archived.push({ ...described, ...(await archiveMonth(database, month, { to, keep, report })), reason });
  }
  return archived;
}

async function archiveMonth(
  database: Database,
  month: Month,
  { to, keep = false, report }: { to: string; keep: boolean | undefined; report: (line: string) => void },
): Promise<Pick<Archived, 'orders' | 'sha256' | 'state'>> {
  const onProgress = every(REPORT_INTERVAL, (orders) => report(`${fileOf(month)}: ${plural(orders, 'order')}.`));
  const stored = await storeMonth(database, month, to, onProgress);
  await (keep ? allowChanges : dropMonth)(database, month, stored);
  return { ...stored, state: keep ? 'stored' : 'dropped' };
}

function describe(months: readonly Archived[]): string {
  if (months.length === 0) return 'No month is that old.';
  return table(months, [
    { head: 'MONTH', cell: ({ month }) => month },
    { head: 'ORDERS', cell: ({ orders }) => orders, right: true },
    { head: 'STATE', cell: ({ state }) => state },
    { head: 'FILE', cell: ({ file }) => file },
    { head: 'KEPT BECAUSE', cell: ({ reason }) => reason, shrinks: true },
  ]);
}
