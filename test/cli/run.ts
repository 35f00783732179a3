import { beforeAll, expect } from '@jest/globals';
import { type AuditEvent, listAudit } from '@orders/database/audit.ts';
import type { Knex } from 'knex';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { NOWHERE, type Outcome, runCommand } from '../harness/run-command.ts';

export const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');

export const PORTAL_URL = 'https://orders.example.com';

/** Runs a command in this process, and checks the rules for the output of every command. */
export async function run(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  localDirectory: string = NOWHERE,
): Promise<Outcome> {
  const outcome = await runCommand(argv, env, { localDirectory });
  expectDecent(outcome);
  return outcome;
}

/** Success writes nothing to stderr. Failure writes one line there, without stack, address or secret, and nothing to stdout. */
export function expectDecent({ code, stdout, stderr }: Outcome): void {
  if (code === 0) {
    expect(stderr).toBe('');
    expect(stdout).toMatch(/[^\n]\n$/);
    return;
  }
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).not.toMatch(/\bat .+:\d+:\d+|postgres:\/\/|oik_\w|oss_\w|whsec_\w|select |insert |update /);
}

/** The commands on a migrated database of this test file. */
export interface Cli {
  readonly knex: Knex;
  readonly db: TestDatabase['db'];
  readonly url: string;
  /** The same database without a pooler. */
  readonly directUrl: string;
  run(...argv: string[]): Promise<Outcome>;
  /** Expects success and exactly one JSON value. */
  // biome-ignore lint/suspicious/noExplicitAny: output of every shape.
  json(...argv: string[]): Promise<any>;
  /** The audit events of an account, oldest first. */
  audit(accountId: number | string): Promise<AuditEvent[]>;
  /** Expects this exit code and returns the error line. */
  refused(code: 1 | 2, ...argv: string[]): Promise<string>;
}

/** Opens a database for the tests of a file. */
export function useCli(): Cli {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  const cli: Cli = {
    get knex() {
      return database.knex;
    },
    get db() {
      return database.db;
    },
    get url() {
      return database.url;
    },
    get directUrl() {
      return database.directUrl;
    },
    run: (...argv) => run(argv, { DATABASE_URL: database.url, SECRETS_KEY, PORTAL_URL }),
    async json(...argv) {
      const { code, stdout, stderr } = await cli.run(...argv, '--json');
      expect([code, stderr]).toEqual([0, '']);
      return JSON.parse(stdout);
    },
    async audit(accountId) {
      return (await listAudit(database.db, { accountId: Number(accountId), limit: 100 })).reverse();
    },
    async refused(code, ...argv) {
      const outcome = await cli.run(...argv);
      expect(outcome).toMatchObject({ code });
      return outcome.stderr.trimEnd();
    },
  };
  return cli;
}
