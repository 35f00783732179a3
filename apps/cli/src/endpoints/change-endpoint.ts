import type { SecretsKeys } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import {
  createEndpoint,
  type Endpoint,
  enableEndpoint,
  pauseEndpoint,
  removeEndpoint,
  resendEvents,
  rotateEndpointSecret,
} from '@orders/database/endpoints/endpoints.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { withoutQuery } from '@orders/domain/endpoints.ts';
import type { EventType } from '@orders/domain/events.ts';
import { Problem } from '@orders/domain/problems.ts';
import { recordAction } from '../audit.ts';
import { Failure } from '../errors.ts';
import { requireAccount, requireEndpoint } from '../require.ts';

/** An endpoint whose secret is new. */
export type EndpointWithSecret = Endpoint & { secret: string };

/** @throws {Failure} that says which command enables events, if they are not enabled; {Problem} with 10 endpoints. */
export async function addEndpoint(
  database: Database,
  keys: SecretsKeys,
  account: string,
  options: { url: string; types: readonly EventType[] | null },
): Promise<EndpointWithSecret> {
  const { account_id } = await requireAccount(database, account);
  return inTransaction(database, async (transaction) => {
    const created = await createEndpoint(transaction, keys, { accountId: account_id, ...options }).catch(
      (error: unknown) => {
        if (!(error instanceof Problem && error.code === 'events_disabled')) throw error;
        throw new Failure(`Events are not enabled for this account: run orders events enable ${account_id} first.`);
      },
    );
    await recordEndpointAction(transaction, 'endpoint_created', created, options.types && { types: options.types });
    return created;
  });
}

/** Replaces the secret; deliveries are signed with both for `overlapMs` milliseconds. */
export async function replaceEndpointSecret(
  database: Database,
  keys: SecretsKeys,
  endpointId: string,
  overlapMs: number,
): Promise<EndpointWithSecret> {
  return inTransaction(database, async (transaction) => {
    const secret = await rotateEndpointSecret(
      transaction,
      keys,
      await requireEndpoint(transaction, endpointId),
      overlapMs,
    );
    // Again, because another session may have removed it meanwhile; the row is locked now.
    const endpoint = await requireEndpoint(transaction, endpointId);
    await recordEndpointAction(transaction, 'endpoint_rotated', endpoint, { overlap_ms: overlapMs });
    return { ...endpoint, secret };
  });
}

/** Enables or pauses an endpoint. Without a change there is no audit entry. */
export async function switchEndpoint(database: Database, endpointId: string, isEnabled: boolean): Promise<Endpoint> {
  const endpoint = await requireEndpoint(database, endpointId);
  return inTransaction(database, async (transaction) => {
    const hasChanged = await (isEnabled ? enableEndpoint : pauseEndpoint)(transaction, endpoint);
    if (hasChanged)
      await recordEndpointAction(transaction, isEnabled ? 'endpoint_enabled' : 'endpoint_paused', endpoint);
    return requireEndpoint(transaction, endpointId);
  });
}

export async function deleteEndpoint(database: Database, endpointId: string): Promise<Endpoint> {
  const endpoint = await requireEndpoint(database, endpointId);
  await inTransaction(database, async (transaction) => {
    if (await removeEndpoint(transaction, endpoint))
      await recordEndpointAction(transaction, 'endpoint_removed', endpoint);
  });
  return endpoint;
}

/** Has the events of a range of sequences delivered again, without `to` all from the first. @returns the endpoint, and how many events there are. */
export async function resendRange(
  database: Database,
  endpointId: string,
  { from, to }: { from: number; to?: number | undefined },
): Promise<{ endpoint: Endpoint; resent: number }> {
  const endpoint = await requireEndpoint(database, endpointId);
  const resent = await inTransaction(database, async (transaction) => {
    const events = await resendEvents(transaction, endpoint, from, to ?? Number.MAX_SAFE_INTEGER);
    if (events > 0)
      await recordEndpointAction(transaction, 'events_resent', endpoint, { from, to: to ?? null, events });
    return events;
  });
  return { endpoint, resent };
}

/** Records an action on an endpoint in the audit trail. */
export function recordEndpointAction(
  transaction: Connection,
  action: string,
  { account_id, endpoint_number, url }: Endpoint,
  more: object | null = null,
): Promise<void> {
  const subject = `endpoint:${endpoint_number}`;
  return recordAction(transaction, {
    accountId: account_id,
    action,
    subject,
    details: { url: withoutQuery(url), ...more },
  });
}
