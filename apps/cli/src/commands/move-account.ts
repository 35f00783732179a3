import { ACCOUNT, intakeUrl } from '../arguments.ts';
import { type CommandSpec, option } from '../command.ts';
import { UsageError } from '../errors.ts';
import type { Digest } from '../move/compare-rows.ts';
import { type Installations, moveAccount, undoMove } from '../move/move-account.ts';
import { requireAccount } from '../require.ts';
import { table } from '../table.ts';

interface Options {
  to?: string;
  undo?: boolean;
}

/** What `orders accounts move` did, as it is printed with `--json`. */
interface Result {
  account_id: number;
  /** Null if it stays. */
  to: string | null;
  /** What was compared; null if that was before an interruption. */
  tables: Digest[] | null;
}

export const move: CommandSpec = {
  about: 'move an account, with its test account, to another installation with a higher INSTALLATION_NUMBER',
  arguments: [ACCOUNT],
  options: [
    option('--to <url>', 'the base URL of intake there, which senders are told', intakeUrl),
    option('--undo', 'end a move that has not switched: the account stays here, and what was copied is removed'),
  ],
  help: `\
TARGET_DATABASE_URL is the Postgres of the other installation. SOURCE_DATABASE_URL is that of DATABASE_URL as the other Postgres reaches it,
if that is another address. Both installations have the same SECRETS_KEY. The account works while its rows are copied. Then intake answers
503 until the rest is processed, copied and compared. After an interruption, run it again: it goes on.`,
  examples: ['orders accounts move "Corner Bakery" --to https://orders-2.example.com'],
  async run(context, reference: string, { to, undo }: Options) {
    if ((to === undefined) === !undo) throw new UsageError('Give either --to or --undo.');
    const settings = await context.config();
    const { withDatabase } = await import('../with-database.ts');
    return context.withSecrets(async (source, keys) => {
      const { account_id: id } = await requireAccount(source, reference);
      return withDatabase(
        settings,
        (target) => {
          const sourceUrl = settings.SOURCE_DATABASE_URL ?? settings.DATABASE_URL;
          return run({ source, target, sourceUrl, keys, report: context.report }, id, to);
        },
        'TARGET_DATABASE_URL',
      );
    });
  },
};

async function run(installations: Installations, id: number, to: string | undefined): Promise<[Result, string]> {
  if (to === undefined) {
    await undoMove(installations, id);
    return [{ account_id: id, to: null, tables: null }, `Account ${id} stays here.`];
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
