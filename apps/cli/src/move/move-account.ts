import { isMoving, lockAccount } from '@orders/database/accounts/accounts.ts';
import type { SecretsKeys } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import { ACCOUNT_MOVE_LOCK, type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import { withTimeout } from '@orders/runtime/concurrency/timers.ts';
import { recordAccountAction } from '../audit.ts';
import { Failure } from '../errors.ts';
import { checkMove } from './check-move.ts';
import { closeAccounts, drainAccounts, openAccounts, setGuarded } from './close-account.ts';
import { compareRows, type Digest } from './compare-rows.ts';
import { copyAccounts, copyPeople, copyRows, ofAccounts, removeCopied } from './copy-rows.ts';
import { COPIED, SEARCH_TERMS } from './moved-tables.ts';
import {
  ensureOrderPartitions,
  isSubscribed,
  subscribe,
  unpublish,
  unsubscribe,
  untilCaughtUp,
  untilCopied,
} from './replication.ts';

type Step = 'copying' | 'closed' | 'compared' | 'switched' | 'done' | 'undoing';

interface Move {
  account_id: number;
  account_ids: number[];
  to_url: string;
  step: Step;
  user_ids: string[];
}

/** The two installations of a move. */
export interface Installations {
  source: Database;
  target: Database;
  /** The address of the source as the Postgres of the target reaches it. */
  sourceUrl: string;
  /** With which both run. */
  keys: SecretsKeys;
  /** Receives a line about each step. */
  report(line: string): void;
}

/**
 * Moves an account with its test account to another installation. Each step can be repeated, and is recorded once it is done, so a call after
 * an interruption goes on. The account never works on both sides: it is closed here, for good, before it is opened there.
 *
 * @param toUrl the base URL of intake there.
 * @returns what was compared; null if that was before an interruption.
 * @throws {Failure} if something is to be done first, or the two sides differ; {pg.DatabaseError} and connection errors.
 */
export async function moveAccount(
  installations: Installations,
  accountId: number,
  toUrl: string,
): Promise<Digest[] | null> {
  const { source, target, report } = installations;
  return alone(source, accountId, async () => {
    let move = (await findMove(source, accountId)) ?? (await beginMove(installations, accountId, toUrl));
    if (move.step === 'undoing') throw new Failure('This move is being undone: finish that with --undo.');
    if (move.to_url !== toUrl) move = await changeUrl(source, move, toUrl);
    let compared: Digest[] | null = null;
    const steps: Partial<Record<Step, () => Promise<Step>>> = {
      copying: () => copyOpen(installations, move),
      closed: async () => {
        compared = await copyClosed(installations, move);
        return setStep(source, move, 'compared');
      },
      compared: () => closeForGood(source, move),
      switched: () => openThere(source, target, move),
    };
    for (let step = steps[move.step]; step; step = steps[move.step]) {
      report(`step: ${move.step}`);
      move = { ...move, step: await step() };
    }
    return compared;
  });
}

/**
 * Undoes a move that has not switched: the account works here again, and what was copied is removed.
 *
 * @throws {Failure} if there is no move, or it is too late.
 */
export async function undoMove({ source, target, report }: Installations, accountId: number): Promise<void> {
  await alone(source, accountId, async () => {
    const move = await findMove(source, accountId);
    if (!move) throw new Failure('This account is not being moved.');
    if (move.step === 'switched' || move.step === 'done')
      throw new Failure('This account belongs to the other installation already, so its move cannot be undone.');
    const { account_ids } = move;
    await setGuarded(source, accountId, false);
    await inTransaction(source, async (transaction) => {
      await setStep(transaction, move, 'undoing');
      const opened = await openAccounts(transaction, account_ids);
      if (opened.includes(accountId)) await recordAccountAction(transaction, accountId, 'account_resumed');
    });
    report('the account works here as before; removing what was copied');
    await unsubscribe(source, target, accountId);
    await unpublish(source, accountId);
    await removeCopied(target, move);
    await execute(source, 'delete from account_moves where account_id = $1', [accountId]);
  });
}

/** A lost connection may not answer. */
const UNLOCK_TIMEOUT_MS = 1000;

/** Runs work while no other session moves this account. */
async function alone<T>(source: Database, accountId: number, work: () => Promise<T>): Promise<T> {
  const client = await source.pool.connect();
  // The work notices a lost connection.
  const ignore = () => {};
  client.on('error', ignore);
  try {
    const { rows } = await client.query('select pg_try_advisory_lock($1, $2) as locked', [
      ACCOUNT_MOVE_LOCK,
      accountId,
    ]);
    if (!rows[0]?.locked) throw new Failure('Another session is moving this account.');
    return await work();
  } finally {
    // The end of the session ends the lock too, but only when Postgres notices it: the next command could come before.
    await withTimeout(client.query('select pg_advisory_unlock_all()'), UNLOCK_TIMEOUT_MS);
    client.release(true);
  }
}

async function setStep<S extends Step>(source: Connection, { account_id }: Move, step: S): Promise<S> {
  await execute(source, 'update account_moves set step = $2 where account_id = $1', [account_id, step]);
  return step;
}

async function findMove(source: Connection, accountId: number): Promise<Move | null> {
  const select = 'select account_id, account_ids, to_url, step, user_ids from account_moves where account_id = $1';
  return (await run<Move>(source, select, [accountId]))[0] ?? null;
}

const FIND_ACCOUNTS = 'select account_id from accounts where $1 in (account_id, test_of) order by account_id';

async function findAccountIds(connection: Connection, accountId: number): Promise<number[]> {
  const accounts = await run<{ account_id: number }>(connection, FIND_ACCOUNTS, [accountId]);
  return accounts.map(({ account_id }) => account_id);
}

async function beginMove({ source, target, keys }: Installations, accountId: number, toUrl: string): Promise<Move> {
  const accountIds = await findAccountIds(source, accountId);
  await checkMove(source, target, accountIds, keys);
  return inTransaction(source, async (transaction) => {
    const account = await lockAccount(transaction, accountId);
    if (account?.test_of != null)
      throw new Failure(`This is the test account of account ${account.test_of}: move that, and both move.`);
    await execute(
      transaction,
      "insert into account_moves (account_id, account_ids, to_url, step) values ($1, $2, $3, 'copying')",
      [accountId, accountIds, toUrl],
    );
    return (await findMove(transaction, accountId)) as Move;
  });
}

/** The address of the other installation can change, or be corrected, at any time. */
async function changeUrl(source: Database, move: Move, toUrl: string): Promise<Move> {
  const { account_id, account_ids } = move;
  await inTransaction(source, async (transaction) => {
    await execute(transaction, 'update account_moves set to_url = $2 where account_id = $1', [account_id, toUrl]);
    const moved = `update accounts set moved_to = $1 where ${ofAccounts(account_ids)} and moved_to is not null`;
    if ((await execute(transaction, moved, [toUrl])) > 0)
      await recordAccountAction(transaction, account_id, 'account_moved', { to: toUrl });
  });
  return { ...move, to_url: toUrl };
}

/** Copies rows while the account works, and closes it then. */
async function copyOpen({ source, target, sourceUrl, report }: Installations, move: Move): Promise<Step> {
  if (!(await isSubscribed(target, move.account_id))) {
    await removeCopied(target, move);
    await copyAccounts(source, target, move.account_ids);
    await ensureOrderPartitions(source, target, move.account_ids);
    await subscribe(source, target, move, sourceUrl);
  }
  await untilCopied(source, target, move, report);
  return inTransaction(source, async (transaction) => {
    await lockAccount(transaction, move.account_id);
    await expectAccounts(transaction, move);
    const closed = await closeAccounts(transaction, move.account_ids);
    if (closed.includes(move.account_id)) await recordAccountAction(transaction, move.account_id, 'account_suspended');
    return setStep(transaction, move, 'closed');
  });
}

/** @throws {Failure} if there is a test account that was made after the beginning. */
async function expectAccounts(connection: Connection, { account_id, account_ids }: Move): Promise<void> {
  if ((await findAccountIds(connection, account_id)).join() !== account_ids.join())
    throw new Failure('A test account was made since the move began: undo the move with --undo, and start it again.');
}

/** Processes what was accepted, copies the rest, and compares. */
async function copyClosed({ source, target, report }: Installations, move: Move): Promise<Digest[]> {
  const { account_id, account_ids } = move;
  await drainAccounts(source, move, report);
  await expectAccounts(source, move);
  // It is disabled or gone if it was interrupted after it had compared.
  if (await isSubscribed(target, account_id)) {
    await untilCopied(source, target, move, report);
    await untilCaughtUp(source, account_id);
  }
  report('copying the rest');
  await copyAccounts(source, target, account_ids);
  for (const table of COPIED) await copyRows(source, target, table, ofAccounts(account_ids));
  await copyPeople(source, target, account_ids, async (userIds) => {
    const add = `update account_moves set user_ids = array(select distinct unnest(user_ids || $2::text[])) where account_id = $1`;
    await execute(source, add, [account_id, userIds]);
  });
  report('comparing');
  const compared = await compareRows({ source, target, report }, account_ids);
  await unsubscribe(source, target, account_id);
  await unpublish(source, account_id);
  return compared;
}

/** From here on the account belongs to the other installation, and is closed here for good. */
async function closeForGood(source: Database, move: Move): Promise<Step> {
  const { account_id, account_ids, to_url } = move;
  return inTransaction(source, async (transaction) => {
    await lockAccount(transaction, account_id);
    await expectAccounts(transaction, move);
    await execute(transaction, `update accounts set moved_to = $1 where ${ofAccounts(account_ids)}`, [to_url]);
    await recordAccountAction(transaction, account_id, 'account_moved', { to: to_url });
    return setStep(transaction, move, 'switched');
  });
}

/** Opens the account in the other installation, and adds its audit entries to the chain there. */
async function openThere(source: Database, target: Database, move: Move): Promise<Step> {
  const { account_id, account_ids } = move;
  const [here] = await run<{ number: number; next_id: number; at: Date }>(
    source,
    'select number, (select max(first_id) + order_range_width() from order_ranges) as next_id, clock_timestamp() as at from installation',
  );
  await inTransaction(target, async (transaction) => {
    await lockAccount(transaction, account_id);
    // Opened before an interruption.
    if (!(await isMoving(transaction, account_id))) return;
    await openAccounts(transaction, account_ids);
    // Made again, as orders that were copied may have changed since.
    for (const table of SEARCH_TERMS)
      await execute(transaction, `delete from ${table} where ${ofAccounts(account_ids)}`);
    const entries = await execute(
      transaction,
      `insert into unchained_audit_events (event_id)
       select e.event_id from audit_events e where e.${ofAccounts(account_ids)} order by e.event_id on conflict do nothing`,
    );
    // The last month of orders ends now, for the age at which months are archived.
    await execute(transaction, 'insert into order_ranges (first_id, began_at) values ($1, $2) on conflict do nothing', [
      here?.next_id,
      here?.at,
    ]);
    await recordAccountAction(transaction, account_id, 'account_moved', {
      from_installation: here?.number,
      audit_entries: entries,
    });
  });
  return setStep(source, move, 'done');
}
