import type { SecretsKeys } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import type { Connection } from '@orders/database/run.ts';
import { ConfigurationError } from '@orders/runtime/config/environment.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { type CliConfig, readConfig } from './config.ts';

/** What a call of the command line reads from and writes to. */
export interface CliContext {
  /** `writableNeedDrain`: whether its reader is slower than what is written. */
  stdout: { write(text: string): unknown; isTTY?: boolean; writableNeedDrain?: boolean };
  /** `columns`: the width of a terminal. */
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  stdin?: AsyncIterable<Buffer>;
  env: NodeJS.ProcessEnv;
  /** The data directory of `npm start`; defaults to `.local` of this clone. */
  localDirectory?: string;
  /** Sets the message that stderr gets if the command is interrupted; the last one applies. */
  onInterrupt?(message: () => string): void;
  /** Resolves on the next interrupt (Ctrl-C), which then no longer ends the process by itself. */
  untilInterrupted?: () => Promise<void>;
}

/** What a command works with. */
export interface Context {
  cliContext: CliContext;
  /** Prints the value as JSON with `--json`, otherwise the text. */
  print(options: { json?: boolean }, value: unknown, text: string): void;
  /** Like `print` for a list that is read in chunks. Only one chunk is in memory. */
  printList<Row>(
    options: { json?: boolean },
    chunks: AsyncIterable<readonly Row[]>,
    text: { table: (rows: readonly Row[]) => string; none: string },
  ): Promise<undefined>;
  /** Writes a line about the progress of long work to stderr. */
  report(line: string): void;
  config(): Promise<CliConfig>;
  withDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result>;
  /** Like `withDatabase`, in a transaction. */
  inTransaction<Result>(work: (transaction: Connection) => Promise<Result>): Promise<Result>;
  /** Like `withDatabase`, for work with signing secrets. */
  withSecrets<Result>(work: (database: Database, keys: SecretsKeys) => Promise<Result>): Promise<Result>;
}

/** Creates the context. Reads the environment only when a command needs it, so that `--help` works without settings. */
export function createContext(cliContext: CliContext): Context {
  const { stdout, stderr, env, localDirectory } = cliContext;
  const config = () => readConfig(env, localDirectory);
  // Loaded on demand, as not all commands need a database.
  const load = () => import('./with-database.ts');
  const withDatabase: Context['withDatabase'] = async (work) => (await load()).withDatabase(await config(), work);
  return {
    cliContext,
    print(options, value, text) {
      stdout.write(`${options.json ? JSON.stringify(value, null, 2) : text}\n`);
    },
    async printList(options, chunks, { table, none }) {
      let printed = 0;
      for await (const rows of chunks) {
        if (options.json) for (const row of rows) stdout.write(`${printed++ === 0 ? '[' : ','}\n${indented(row)}`);
        else {
          stdout.write(`${table(rows)}\n`);
          printed += rows.length;
        }
      }
      if (options.json) stdout.write(printed === 0 ? '[]\n' : '\n]\n');
      else if (printed === 0) stdout.write(`${none}\n`);
      return undefined;
    },
    report: (line) => void stderr.write(`${line}\n`),
    config,
    withDatabase,
    async inTransaction(work) {
      const { inTransaction } = await import('@orders/database/run.ts');
      return withDatabase((database) => inTransaction(database, work));
    },
    async withSecrets(work) {
      const settings = await config();
      const { SECRETS_KEY, SECRETS_KEY_PREVIOUS } = settings;
      if (!SECRETS_KEY)
        throw new ConfigurationError('Configuration: set SECRETS_KEY to the key that intake runs with.');
      const keys = secretsKeysOf({ SECRETS_KEY, ...(SECRETS_KEY_PREVIOUS && { SECRETS_KEY_PREVIOUS }) });
      return (await load()).withDatabase(settings, (database) => work(database, keys));
    },
  };
}

/** JSON of a list item, indented as `JSON.stringify` would. */
function indented(row: unknown): string {
  return JSON.stringify(row, null, 2).replace(/^/gm, '  ');
}
