import { ACCOUNT, intakeUrl } from '../arguments.ts';
import { type CommandSpec, option } from '../command.ts';
import { UsageError } from '../errors.ts';
import type { Digest } from '../move/compare-rows.ts';
import { type Installations, moveAccount, undoMove } from '../move/move-account.ts';
import { removeCopy } from '../move/remove-copy.ts';
import { requireAccount } from '../require.ts';
import { table } from '../table.ts';

interface Options {
  to?: string;
  undo?: boolean;
  removeCopy?: boolean;
}

/** What `orders accounts move` did, as it is printed with `--json`. */
interface Result {
  account_id: number;
  to?: string | null;
  /** What was compared; null if that was before an interruption. */
  tables?: Digest[] | null;
  /** Rows by table. */
  removed?: Record<string, number>;
}

export const move: CommandSpec = {
  about: 'move an account, with its test account, to another installation with a higher INSTALLATION_NUMBER',
  arguments: [ACCOUNT],
  options: [
    option('--to <url>', 'the base URL of intake there, which senders are told', intakeUrl),
    option('--undo', 'end a move that has not switched: the account stays here, and what was copied is removed'),
    option(
      '--remove-copy',
      'after the move, delete what is still here; its keys, its audit entries and what was dispatched stay',
    ),
  ],
  help: `\
TARGET_DATABASE_URL is the Postgres of the other installation. SOURCE_DATABASE_URL is that of DATABASE_URL as the other Postgres reaches it,
if that is another address. Both installations have the same SECRETS_KEY. The account works while its rows are copied. Then intake answers
503 until the rest is processed, copied and compared. After an interruption, run it again: it goes on.`,
  examples: ['orders accounts move "Corner Bakery" --to https://orders-2.example.com'],
  async run(context, reference: string, options: Options) {
    if ([options.to, options.undo, options.removeCopy].filter(Boolean).length !== 1)
      throw new UsageError('Give one of --to, --undo and --remove-copy.');
    const settings = await context.config();
    const { withDatabase } = await import('../with-database.ts');
    return context.withSecrets(async (source, keys) => {
      const { account_id: id } = await requireAccount(source, reference);
      return withDatabase(
        settings,
        (target) => {
          const sourceUrl = settings.SOURCE_DATABASE_URL ?? settings.DATABASE_URL;
          return run({ source, target, sourceUrl, keys, report: context.report }, id, options);
        },
        'TARGET_DATABASE_URL',
      );
    });
  },
};

async function run(installations: Installations, id: number, { to, undo }: Options): Promise<[Result, string]> {
  if (undo) {
    await undoMove(installations, id);
    return [{ account_id: id, to: null, tables: null }, `Account ${id} stays here.`];
  }
  if (to === undefined) {
    const removed = await removeCopy(installations, id);
    return [{ account_id: id, removed }, `The copy of account ${id} is removed.`];
  }
  const tables = await moveAccount(installations, id, to);
  const text = `Account ${id} is at ${to} now.`;
  return [{ account_id: id, to, tables }, tables ? `${tabulate(tables)}\n${text}` : text];
}

/** What both sides have the same of. */
function tabulate(digests: readonly Digest[]): string {
  return table(digests, [
    { head: 'TABLE', cell: (digest) => digest.table },
    { head: 'ROWS', cell: (digest) => digest.rows, right: true },
    { head: 'HASH', cell: (digest) => digest.hash },
  ]);
}
