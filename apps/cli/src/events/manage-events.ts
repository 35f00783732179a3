import { lockAccount } from '@orders/database/accounts/accounts.ts';
import { type EventLogState, readEventLog, setEvents } from '@orders/database/events/event-logs.ts';
import { recordAccountAction } from '../audit.ts';
import type { Output } from '../command.ts';
import type { Context } from '../context.ts';
import { requireAccount } from '../require.ts';
import { count, details } from '../table.ts';

/** Enables or disables an account's events, and shows their state. Without a change there is no audit entry. */
export async function changeEvents(context: Context, reference: string, isEnabled: boolean): Promise<Output> {
  const state = await context.inTransaction(async (transaction) => {
    const { account_id } = await requireAccount(transaction, reference);
    await lockAccount(transaction, account_id);
    const hasChanged = await setEvents(transaction, account_id, isEnabled);
    if (hasChanged)
      await recordAccountAction(transaction, account_id, isEnabled ? 'events_enabled' : 'events_disabled');
    return { account_id, ...(await readEventLog(transaction, account_id)) };
  });
  return [state, describe(state)];
}

/** Shows the state of an account's events. */
export async function showEvents(context: Context, reference: string): Promise<Output> {
  const state = await context.withDatabase(async (database) => {
    const { account_id } = await requireAccount(database, reference);
    return { account_id, ...(await readEventLog(database, account_id)) };
  });
  return [state, describe(state)];
}

function describe(state: EventLogState & { account_id: number }): string {
  const { account_id, is_enabled, first_sequence, last_sequence, unpublished } = state;
  return details([
    ['account', account_id],
    ['events', is_enabled ? 'enabled' : 'not enabled'],
    ['stored', last_sequence === null ? null : `${first_sequence} to ${last_sequence}`],
    ['unpublished', count(unpublished)],
  ]);
}
