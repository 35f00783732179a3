import {
  type ApiKey,
  createKey,
  describeAccess,
  findKey,
  isReplaced,
  type KeyAccess,
  listKeys,
  type NewApiKey,
  replaceKey,
  revokeKey,
  updateKey,
} from '@orders/database/accounts/api-keys.ts';
import type { Connection } from '@orders/database/run.ts';
import { KEY_SCOPES } from '@orders/domain/api-key.ts';
import { ACCOUNT, keyAddresses, keyId, keyLifetime, keyScopes, name, span } from '../arguments.ts';
import { recordAction } from '../audit.ts';
import { argument, type Group, option, rows } from '../command.ts';
import { Failure, UsageError } from '../errors.ts';
import { requireAccount } from '../require.ts';
import { details, table } from '../table.ts';

const KEY_ID = argument('<key-id>', 'as keys list shows it', keyId);

const ACCESS = [
  option('--scopes <list>', `what it may do: some of ${KEY_SCOPES.join(',')}; all by default`, keyScopes),
  option('--addresses <list>', 'from which addresses and ranges (CIDR) it works, or any', keyAddresses),
  option('--expires <time>', 'how long it works, such as 90d, or never', keyLifetime),
];

interface AccessOptions {
  scopes?: KeyAccess['scopes'];
  addresses?: string[];
  expires?: number;
}

export const keys: Group = {
  about: 'the API keys of accounts',
  commands: {
    create: {
      about: 'make a key and print it, this once',
      arguments: [ACCOUNT],
      options: [option('--name <name>', 'what the key is for', name('The name of a key'), 'default'), ...ACCESS],
      examples: [
        'orders keys create "Corner Bakery" --name "shop back end"',
        'orders keys create 12 --scopes send,read --expires 90d --addresses 203.0.113.0/24,2001:db8::/32',
      ],
      async run({ inTransaction }, reference: string, options: AccessOptions & { name: string }) {
        const key = await inTransaction(async (transaction) => {
          const { account_id } = await requireAccount(transaction, reference);
          const created = await createKey(transaction, account_id, options.name, accessOf(options));
          await recordKeyAction(transaction, 'key_created', created, describeAccess(created));
          return created;
        });
        return [key, describeNew(key)];
      },
    },
    list: {
      about: "an account's keys, without their text",
      arguments: [ACCOUNT],
      async run({ withDatabase }, reference: string) {
        const all = await withDatabase(async (database) =>
          listKeys(database, (await requireAccount(database, reference)).account_id),
        );
        return rows(all, tabulate, 'The account has no keys.');
      },
    },
    update: {
      about: 'change what a key may do, from where, or for how long from now',
      arguments: [KEY_ID],
      options: ACCESS,
      examples: ['orders keys update 12 --scopes read --addresses any --expires never'],
      async run({ inTransaction }, id: number, options: AccessOptions) {
        const access = accessOf(options);
        if (Object.keys(access).length === 0)
          throw new UsageError('Say what to change: --scopes, --addresses or --expires.');
        const key = await inTransaction((transaction) => update(transaction, id, access));
        return [key, `${describe(key)}\nIntake applies it within 5 seconds.`];
      },
    },
    replace: {
      about: 'make a new key of the same name and end the old one',
      arguments: [KEY_ID],
      options: [option('--grace <time>', 'how long the old key still works, such as 24h', span('--grace'), 0)],
      examples: ['orders keys replace 12 --grace 24h'],
      async run({ inTransaction }, id: number, { grace }: { grace: number }) {
        const { old, key } = await inTransaction((transaction) => replace(transaction, id, grace));
        const end = grace > 0 ? `works until ${old.expires_at?.toISOString()}` : 'stops working within 5 seconds';
        return [key, `${describeNew(key)}\nThe old key ${id} ${end}.`];
      },
    },
    revoke: {
      about: 'end a key for good',
      arguments: [KEY_ID],
      async run({ inTransaction }, id: number) {
        const key = await inTransaction((transaction) => revoke(transaction, id));
        return [key, `Key ${id} is revoked; it stops working everywhere within 5 seconds.`];
      },
    },
  },
};

function accessOf({ scopes, addresses, expires }: AccessOptions): KeyAccess {
  return {
    ...(scopes && { scopes }),
    ...(addresses && { addresses }),
    ...(expires !== undefined && { lifetime_seconds: expires || null }),
  };
}

async function update(transaction: Connection, id: number, access: KeyAccess): Promise<ApiKey> {
  const key = await updateKey(transaction, id, access);
  if (!key) throw await notCurrent(transaction, id);
  const { scopes, addresses, expires_at } = key;
  await recordKeyAction(transaction, 'key_updated', key, { scopes, addresses, expires_at });
  return key;
}

/** Why a key can be neither replaced nor changed. */
async function notCurrent(transaction: Connection, id: number): Promise<Failure> {
  const key = await findKey(transaction, id);
  if (!key) return noSuchKey(id);
  const state = key.state === 'active' && isReplaced(key) ? 'replaced' : key.state;
  return new Failure(`Key ${id} is ${state} already; make a new one: orders keys create ${key.account_id}`);
}

async function replace(transaction: Connection, id: number, graceMs: number): Promise<{ old: ApiKey; key: NewApiKey }> {
  const key = await replaceKey(transaction, id, graceMs);
  const old = await findKey(transaction, id);
  if (!old || !key) throw await notCurrent(transaction, id);
  await recordKeyAction(transaction, 'key_replaced', old, { grace_ms: graceMs, new_key_id: key.key_id });
  return { old, key };
}

async function revoke(transaction: Connection, id: number): Promise<ApiKey> {
  const before = await findKey(transaction, id);
  const key = await revokeKey(transaction, id);
  if (!before || !key) throw noSuchKey(id);
  if (before.state !== 'revoked') await recordKeyAction(transaction, 'key_revoked', key);
  return key;
}

function recordKeyAction(transaction: Connection, action: string, key: ApiKey, more: object = {}): Promise<void> {
  const details = { name: key.name, last_four: key.last_four, ...more };
  return recordAction(transaction, { accountId: key.account_id, action, subject: `key:${key.key_id}`, details });
}

function noSuchKey(id: number): Failure {
  return new Failure(`No key has the id ${id}; orders keys list <account> shows them.`);
}

function describeNew(key: NewApiKey): string {
  return `${describe(key, key.key)}\nKeep the key now: it cannot be shown again.`;
}

function describe(key: ApiKey, text?: string): string {
  return details([
    ['key', text],
    ['key id', key.key_id],
    ['account', key.account_id],
    ['name', key.name],
    ['scopes', key.scopes.join(', ')],
    ['addresses', key.addresses.length > 0 ? key.addresses.join(', ') : 'any'],
    ['expires', key.expires_at ?? 'never'],
  ]);
}

function tabulate(keys: readonly ApiKey[]): string {
  const rows = table(keys, [
    { head: 'ID', cell: (key) => key.key_id, right: true },
    { head: 'NAME', cell: (key) => key.name, shrinks: true },
    { head: 'KEY', cell: (key) => `…${key.last_four}` },
    { head: 'STATE', cell: (key) => key.state },
    { head: 'CREATED', cell: (key) => key.created_at },
    { head: 'EXPIRES', cell: (key) => key.expires_at },
    { head: 'LAST USED', cell: (key) => key.last_used_at },
  ]);
  return [rows, ...keys.flatMap(notesOf)].join('\n');
}

/** The limits of a key that works, one per line. */
function notesOf({ key_id, state, scopes, addresses, expires_at, expires_soon }: ApiKey): string[] {
  if (state !== 'active') return [];
  return [
    scopes.length < KEY_SCOPES.length && `Key ${key_id} has the scopes ${scopes.join(', ')} only.`,
    addresses.length > 0 && `Key ${key_id} works from ${addresses.join(', ')} only.`,
    expires_soon &&
      `Key ${key_id} expires at ${expires_at?.toISOString()}. Replace it (orders keys replace ${key_id} --grace 24h) or extend it (orders keys update ${key_id} --expires 90d).`,
  ].filter((note) => note !== false);
}
