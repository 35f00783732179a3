import { expect, test } from '@jest/globals';
import { run } from './run.ts';

const VERBS = {
  '': [
    'migrate',
    'accounts',
    'keys',
    'signing',
    'sources',
    'receipts',
    'orders',
    'users',
    'erase',
    'send',
    'preview',
    'cancel',
    'listen',
    'events',
    'endpoints',
  ],
  accounts: ['create', 'list', 'show', 'suspend', 'resume', 'limit', 'signed-only'],
  keys: ['create', 'list', 'update', 'replace', 'revoke'],
  signing: ['enable', 'show', 'rotate', 'disable', 'reseal'],
  sources: ['create', 'list', 'show', 'map', 'rotate', 'remove'],
  receipts: ['list', 'show', 'redrive'],
  orders: ['list', 'show', 'confirm', 'reject', 'reopen'],
  events: ['enable', 'disable', 'show', 'follow'],
  endpoints: ['create', 'list', 'test', 'rotate', 'disable', 'enable', 'resend', 'deliveries', 'remove'],
  users: ['invite', 'list', 'remove'],
};
const COMMANDS = Object.entries(VERBS).flatMap(([noun, verbs]) => verbs.map((verb) => `${noun} ${verb}`.trim()));

test.each(['', ...COMMANDS])('"%s --help" needs no configuration', async (command) => {
  const { code, stdout } = await run([...command.split(' ').filter(Boolean), '--help'], {});
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: orders /)]);
  if (command.includes(' ')) expect(stdout).toContain('--json');
});

test('help names every command, the environment and the exit codes', async () => {
  const { stdout } = await run(['help'], {});
  for (const word of [...VERBS[''], 'DATABASE_URL', 'SECRETS_KEY', 'Exit codes', 'orders -- send'])
    expect(stdout).toContain(word);
});

test.each([
  ['nothing', '', 'Missing command; see: orders --help'],
  ['a noun alone', 'keys', 'Missing command; see: orders keys --help'],
  ['an unknown command', 'explode', "unknown command 'explode'; see: orders --help"],
  ['an unknown verb', 'accounts lst', "unknown command 'lst' (Did you mean list?); see: orders accounts --help"],
  ['an unknown option', 'accounts list --foo', "unknown option '--foo'; see: orders accounts list --help"],
  ['a missing argument', 'keys create', "missing required argument 'account'; see: orders keys create --help"],
  [
    'a missing value',
    'keys create 1 --name',
    "option '--name <name>' argument missing; see: orders keys create --help",
  ],
  ['a word too many', 'accounts list all', /^too many arguments/],
  ['a key in place of a command', 'keys oik_abc123', /^unknown command 'oik_…'/],
  ['a secret in place of a command', 'endpoints whsec_abc+/123=', /^unknown command 'whsec_…'/],
  ['an address in place of a command', 'postgres://me:secret@host/db', /^unknown command '<address>'/],
  ['and one with a quote in its password', "postgres://me:it's-secret@host/db", /^unknown command '<address>'; see/],
])('%s is a usage error', async (_, words, line) => {
  const { code, stderr } = await run(words.split(' ').filter(Boolean), {});
  expect(code).toBe(2);
  if (typeof line === 'string') expect(stderr).toBe(`${line}\n`);
  else expect(stderr).toMatch(line);
});
