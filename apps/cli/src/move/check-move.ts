import { type SecretsKeys, tryToUnseal } from '@orders/database/accounts/seal.ts';
import { type Connection, run } from '@orders/database/run.ts';
import { Failure } from '../errors.ts';
import { checkUsers, ofAccounts } from './copy-rows.ts';

interface Side {
  number: number;
  migrations: string;
  wal_level: string;
  may_replicate: boolean;
  may_subscribe: boolean;
}

const SIDE = `
select (select number from installation) as number,
       (select string_agg(name || ' ' || checksum, ', ' order by name) from schema_migrations_checksums) as migrations,
       current_setting('wal_level') as wal_level,
       (select rolsuper or rolreplication from pg_roles where rolname = current_user) as may_replicate,
       (select rolsuper from pg_roles where rolname = current_user)
         or exists (select from pg_roles where rolname = 'pg_create_subscription' and pg_has_role(oid, 'usage')) as may_subscribe`;

/** The newest sealed secrets of some accounts. */
const SEALED = (condition: string) => `
(select account_id, sealed from signing_secrets where ${condition} order by secret_id desc limit 20)
union all (select account_id, sealed from sources where sealed is not null and ${condition} order by source_number desc limit 20)
union all (select account_id, sealed from endpoints where ${condition} order by endpoint_number desc limit 20)`;

async function canOpen(connection: Connection, keys: SecretsKeys, condition: string): Promise<boolean> {
  const secrets = await run<{ account_id: number; sealed: Buffer }>(connection, SEALED(condition));
  return secrets.every(({ account_id, sealed }) => tryToUnseal(keys, account_id, sealed) !== null);
}

/**
 * Checks all that a move needs before it changes anything.
 *
 * @param keys with which the other installation runs.
 * @throws {Failure} with what to do.
 */
export async function checkMove(
  source: Connection,
  target: Connection,
  accountIds: readonly number[],
  keys: SecretsKeys,
): Promise<void> {
  const [[here], [there]] = (await Promise.all([run<Side>(source, SIDE), run<Side>(target, SIDE)])) as [[Side], [Side]];
  if (here.migrations !== there.migrations)
    throw new Failure('The two installations have different schemas: run the same version of orders migrate on both.');
  if (here.number >= there.number)
    throw new Failure(
      `This is installation ${here.number}, and the other one ${there.number}: ids rise with time, so an account moves only to one with a higher INSTALLATION_NUMBER.`,
    );
  const taken = `select account_id from accounts where ${ofAccounts(accountIds)}`;
  const [account] = await run<{ account_id: number }>(target, taken);
  if (account) throw new Failure(`The other installation has an account ${account.account_id} already.`);
  if (!(await canOpen(source, keys, ofAccounts(accountIds))))
    throw new Failure('SECRETS_KEY does not open the secrets of this account: set that of this installation.');
  if (!(await canOpen(target, keys, 'true')))
    throw new Failure('SECRETS_KEY does not open the secrets of the other installation: both need the same.');
  if (here.wal_level !== 'logical')
    throw new Failure('Set wal_level = logical in the Postgres of DATABASE_URL, and restart it.');
  if (!here.may_replicate) throw new Failure('The role of DATABASE_URL needs the attribute REPLICATION.');
  if (!there.may_subscribe)
    throw new Failure('The role of TARGET_DATABASE_URL must be a superuser or have pg_create_subscription.');
  await checkUsers(source, target, accountIds);
}
