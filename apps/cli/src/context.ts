import type { SecretsKeys } from '@orders/database';
import { ConfigurationError, secretsKeysOf } from '@orders/runtime';
import { type CliConfig, readConfig } from './config.ts';
import type { Knex } from './with-database.ts';

/** Where a call of the command line reads from and writes to. */
export interface CliContext {
  stdout: { write(text: string): unknown; isTTY?: boolean };
  /** With its width in columns, where it is a terminal. */
  stderr: { write(text: string): unknown; isTTY?: boolean; columns?: number };
  stdin?: AsyncIterable<Buffer>;
  env: NodeJS.ProcessEnv;
  /** Where to look for what `npm start` left; `.local` of this clone unless given. */
  localDirectory?: string;
  /** Takes what to say on stderr when somebody ends the command in the middle; the latest holds. */
  onInterrupt?(message: () => string): void;
  /** Resolves when somebody wants to end what goes on (Ctrl-C); from the first call on, that alone no longer ends the process. */
  untilInterrupted?: () => Promise<void>;
}

/** What a command is given to work with. */
export interface Context {
  cliContext: CliContext;
  /** With `--json` the value as JSON and nothing else; otherwise the text for people. */
  print(options: { json?: boolean }, value: unknown, text: () => string): void;
  /** The same for a list that is read in portions: each is printed, and forgotten, before the next is read. */
  printList<Row>(
    options: { json?: boolean },
    chunks: AsyncIterable<readonly Row[]>,
    text: { table: (rows: readonly Row[]) => string; none: string },
  ): Promise<void>;
  /** A line for whoever waits for long work, apart from what the command prints. */
  report(line: string): void;
  config(): Promise<CliConfig>;
  withDatabase<Result>(work: (knex: Knex) => Promise<Result>): Promise<Result>;
  /** As `withDatabase`, for what reads or makes signing secrets. */
  withSecrets<Result>(work: (knex: Knex, keys: SecretsKeys) => Promise<Result>): Promise<Result>;
}

/** The environment is read when a command first needs it, so that `--help` works without any. */
export function createContext(cliContext: CliContext): Context {
  const { stdout, stderr, env, localDirectory } = cliContext;
  const config = () => readConfig(env, localDirectory);
  // Loaded when it is needed, as not all commands need a database.
  const load = () => import('./with-database.ts');
  return {
    cliContext,
    print(options, value, text) {
      stdout.write(`${options.json ? JSON.stringify(value, null, 2) : text()}\n`);
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
    },
    report: (line) => void stderr.write(`${line}\n`),
    config,
    async withDatabase(work) {
      return (await load()).withDatabase(await config(), work);
    },
    async withSecrets(work) {
      const settings = await config();
      const { SECRETS_KEY, SECRETS_KEY_PREVIOUS } = settings;
      if (!SECRETS_KEY)
        throw new ConfigurationError('Configuration: set SECRETS_KEY to the key that intake runs with.');
      const keys = secretsKeysOf({ SECRETS_KEY, ...(SECRETS_KEY_PREVIOUS && { SECRETS_KEY_PREVIOUS }) });
      return (await load()).withDatabase(settings, (knex) => work(knex, keys));
    },
  };
}

/** As `JSON.stringify` indents it in a list. */
function indented(row: unknown): string {
  return JSON.stringify(row, null, 2).replace(/^/gm, '  ');
}
