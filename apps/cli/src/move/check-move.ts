import { isSealedWithCurrentKey, type SecretsKeys } from '@orders/database/accounts/seal.ts';
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

/** The sealed secrets of some accounts. */
const SEALED = (condition: string) => `
select account_id, sealed from signing_secrets where ${condition}
union all select account_id, unnest(array[sealed, previous_sealed]) from sources where sealed is not null and ${condition}
union all select account_id, sealed from endpoints where ${condition}`;

async function findSealed(
  connection: Connection,
  condition: string,
): Promise<{ account_id: number; sealed: Buffer }[]> {
  const found = await run<{ account_id: number; sealed: Buffer | null }>(connection, SEALED(condition));
  return found.flatMap(({ account_id, sealed }) => (sealed ? [{ account_id, sealed }] : []));
}

/** @throws {Failure} if the current key does not open all secrets of these accounts, or is not shown to be that of the other installation. */
async function checkSecrets(source: Connection, target: Connection, keys: SecretsKeys, accountIds: readonly number[]) {
  const [here, there] = [await findSealed(source, ofAccounts(accountIds)), await findSealed(target, 'true')];
  const canOpen = ({ account_id, sealed }: { account_id: number; sealed: Buffer }) =>
    isSealedWithCurrentKey(keys, account_id, sealed);
  if (!here.every(canOpen))
    throw new Failure(
      'SECRETS_KEY does not open the secrets of this account: set that of this installation, or finish its exchange.',
    );
  if (here.length > 0 && there.length === 0)
    throw new Failure(
      'Nothing shows whether the other installation has the same SECRETS_KEY: run orders signing enable for an account there first.',
    );
  if (!there.every(canOpen))
    throw new Failure('SECRETS_KEY does not open the secrets of the other installation: both need the same.');
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
  await checkSecrets(source, target, keys, accountIds);
  if (here.wal_level !== 'logical')
    throw new Failure('Set wal_level = logical in the Postgres of DATABASE_URL, and restart it.');
  if (!here.may_replicate) throw new Failure('The role of DATABASE_URL needs the attribute REPLICATION.');
  if (!there.may_subscribe)
    throw new Failure('The role of TARGET_DATABASE_URL must be a superuser or have pg_create_subscription.');
  await checkUsers(source, target, accountIds);
}
