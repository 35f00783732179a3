import { type ApiKey, createKey, findKey, listKeys, type NewApiKey, replaceKey, revokeKey } from '@orders/database';
import type { Command } from 'commander';
import { json, keyId, name, span } from '../arguments.ts';
import { recordAction } from '../audit.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { requireAccount } from '../require-account.ts';
import { details, table } from '../table.ts';
import type { Knex } from '../with-database.ts';

/** `orders keys create | list | replace | revoke`. */
export function addKeyCommands(program: Command, context: Context): void {
  const keys = program.command('keys').description('the API keys of accounts');

  keys
    .command('create')
    .description('make a key and print it, this once')
    .argument('<account>', 'id or exact name')
    .option('--name <name>', 'what the key is for', name('The name of a key'), 'default')
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders keys create "Corner Bakery" --name "shop back end"')
    .action(async (reference: string, options) => {
      const key = await context.withDatabase(async (knex) => {
        const { account_id } = await requireAccount(knex, reference);
        return knex.transaction(async (trx) => {
          const created = await createKey(trx, account_id, options.name);
          await recordKeyAction(trx, 'key_created', created);
          return created;
        });
      });
      context.print(options, key, () => describeNew(key));
    });

  keys
    .command('list')
    .description("an account's keys, without their text")
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(async (reference: string, options) => {
      const all = await context.withDatabase(async (knex) =>
        listKeys(knex, (await requireAccount(knex, reference)).account_id),
      );
      context.print(options, all, () => (all.length > 0 ? tabulate(all) : 'The account has no keys.'));
    });

  keys
    .command('replace')
    .description('make a new key of the same name and end the old one')
    .argument('<key-id>', 'as keys list shows it', keyId)
    .option('--grace <time>', 'how long the old key still works, such as 24h', span('--grace'), 0)
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders keys replace 12 --grace 24h')
    .action(async (id: number, options) => {
      const { old, key } = await context.withDatabase((knex) =>
        knex.transaction((trx) => replace(trx, id, options.grace)),
      );
      context.print(options, key, () => {
        const end =
          options.grace > 0 ? `works until ${old.expires_at?.toISOString()}` : 'stops working within 5 seconds';
        return `${describeNew(key)}\nThe old key ${id} ${end}.`;
      });
    });

  keys
    .command('revoke')
    .description('end a key for good')
    .argument('<key-id>', 'as keys list shows it', keyId)
    .addOption(json())
    .action(async (id: number, options) => {
      const key = await context.withDatabase((knex) => knex.transaction((trx) => revoke(trx, id)));
      context.print(options, key, () => `Key ${id} is revoked; it stops working everywhere within 5 seconds.`);
    });
}

async function replace(trx: Knex, id: number, graceMs: number): Promise<{ old: ApiKey; key: NewApiKey }> {
  const key = await replaceKey(trx, id, graceMs);
  const old = await findKey(trx, id);
  if (!old) throw noSuchKey(id);
  if (!key)
    throw new Failure(`Key ${id} is ${old.state} already; make a new one: orders keys create ${old.account_id}`);
  await recordKeyAction(trx, 'key_replaced', old, { grace_ms: graceMs, new_key_id: key.key_id });
  return { old, key };
}

async function revoke(trx: Knex, id: number): Promise<ApiKey> {
  const before = await findKey(trx, id);
  const key = await revokeKey(trx, id);
  if (!before || !key) throw noSuchKey(id);
  if (before.state !== 'revoked') await recordKeyAction(trx, 'key_revoked', key);
  return key;
}

function recordKeyAction(trx: Knex, action: string, key: ApiKey, more: object = {}): Promise<void> {
  const details = { name: key.name, last_four: key.last_four, ...more };
  return recordAction(trx, { accountId: key.account_id, action, subject: `key:${key.key_id}`, details });
}

function noSuchKey(id: number): Failure {
  return new Failure(`No key has the id ${id}; orders keys list <account> shows them.`);
}

function describeNew(key: NewApiKey): string {
  const text = details([
    ['key', key.key],
    ['key id', key.key_id],
    ['account', key.account_id],
    ['name', key.name],
  ]);
  return `${text}\nKeep the key now: it cannot be shown again.`;
}

function tabulate(keys: readonly ApiKey[]): string {
  return table(keys, [
    { head: 'ID', cell: (key) => key.key_id, right: true },
    { head: 'NAME', cell: (key) => key.name, shrinks: true },
    { head: 'KEY', cell: (key) => `…${key.last_four}` },
    { head: 'STATE', cell: (key) => key.state },
    { head: 'CREATED', cell: (key) => key.created_at },
    { head: 'EXPIRES', cell: (key) => key.expires_at },
    { head: 'LAST USED', cell: (key) => key.last_used_at },
  ]);
}
