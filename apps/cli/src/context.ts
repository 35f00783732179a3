import type { SecretsKeys } from '@orders/database';
import { ConfigurationError, secretsKeysOf } from '@orders/runtime';
import { type CliConfig, readConfig, readSenderSecrets, type SenderSecrets } from './config.ts';
import { type Knex, withDatabase } from './with-database.ts';

/** Where a call of the command line reads from and writes to. */
export interface Surroundings {
  stdout: { write(text: string): unknown; isTTY?: boolean };
  stderr: { write(text: string): unknown };
  env: NodeJS.ProcessEnv;
  /** Where to look for what `npm start` left; `.local` of this clone unless given. */
  localDirectory?: string;
  /** Resolves when somebody wants to end what goes on (Ctrl-C); from the first call on, that alone no longer ends the process. */
  untilInterrupted?: () => Promise<void>;
}

/** What a command is given to work with. */
export interface Context {
  /** With `--json` the value as JSON and nothing else; otherwise the text for people. */
  print(options: { json?: boolean }, value: unknown, text: () => string): void;
  /** A piece of what goes on and on, as soon as there is one. */
  write(text: string): void;
  /** Whether that may have colours: on a terminal, unless NO_COLOR says no. */
  readonly hasColors: boolean;
  /** Resolves when the command is to end. */
  untilInterrupted(): Promise<void>;
  /** A line for whoever waits for long work, apart from what the command prints. */
  report(line: string): void;
  config(): Promise<CliConfig>;
  /** What a sender signs in and signs with, where that is set. */
  senderSecrets(): SenderSecrets;
  withDatabase<Result>(work: (knex: Knex) => Promise<Result>): Promise<Result>;
  /** As `withDatabase`, for what reads or makes signing secrets. */
  withSecrets<Result>(work: (knex: Knex, keys: SecretsKeys) => Promise<Result>): Promise<Result>;
}

/** The environment is read when a command first needs it, so that `--help` works without any. */
export function createContext(surroundings: Surroundings): Context {
  const { stdout, stderr, env, localDirectory } = surroundings;
  const config = () => readConfig(env, localDirectory);
  return {
    print(options, value, text) {
      stdout.write(`${options.json ? JSON.stringify(value, null, 2) : text()}\n`);
    },
    write: (text) => void stdout.write(text),
    hasColors: stdout.isTTY === true && !env.NO_COLOR,
    untilInterrupted: surroundings.untilInterrupted ?? (() => new Promise(() => {})),
    report: (line) => void stderr.write(`${line}\n`),
    config,
    senderSecrets: () => readSenderSecrets(env),
    async withDatabase(work) {
      return withDatabase(await config(), work);
    },
    async withSecrets(work) {
      const settings = await config();
      const { SECRETS_KEY, SECRETS_KEY_PREVIOUS } = settings;
      if (!SECRETS_KEY)
        throw new ConfigurationError('Configuration: set SECRETS_KEY to the key that intake runs with.');
      const keys = secretsKeysOf({ SECRETS_KEY, ...(SECRETS_KEY_PREVIOUS && { SECRETS_KEY_PREVIOUS }) });
      return withDatabase(settings, (knex) => work(knex, keys));
    },
  };
}
