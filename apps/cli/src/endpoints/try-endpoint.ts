import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@orders/database/connect.ts';
import { listAttempts, requestTest } from '@orders/database/endpoints/endpoints.ts';
import { inTransaction } from '@orders/database/run.ts';
import { Failure } from '../errors.ts';
import { requireEndpoint } from '../require.ts';
import { count } from '../table.ts';
import { recordEndpointAction } from './change-endpoint.ts';
import { type AttemptJson, attemptJson } from './describe-endpoint.ts';

/** Longer than an attempt, which takes at most 15 seconds. */
const TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 200;
/** Attempts of other events that may have been made since, at most. */
const MAX_ATTEMPTS = 1000;

/**
 * Has a test event delivered, and waits for the outcome.
 *
 * @throws {Failure} if there is none in time.
 */
export async function tryEndpoint(database: Database, endpointId: string): Promise<AttemptJson> {
  const endpoint = await requireEndpoint(database, endpointId);
  const { eventId } = await inTransaction(database, async (transaction) => {
    const requested = await requestTest(transaction, endpoint);
    if (!requested) throw new Failure('The endpoint was removed.');
    if (requested.isNew) await recordEndpointAction(transaction, 'endpoint_tested', endpoint);
    return requested;
  });
  for (const startedAt = performance.now(); performance.now() - startedAt < TIMEOUT_MS; ) {
    const attempts = await listAttempts(database, endpoint, { limit: MAX_ATTEMPTS });
    const attempt = attempts.find(({ event_id }) => event_id === eventId);
    if (attempt) return attemptJson(attempt);
    await sleep(POLL_INTERVAL_MS);
  }
  throw new Failure(
    `The test event has no outcome after ${TIMEOUT_MS / 1000} seconds: check that the notifier runs; orders endpoints deliveries shows it once it is delivered.`,
  );
}

/** The outcome of a test as a line. */
export function describeTried({ status, duration_ms, error, detail }: AttemptJson): string {
  const facts = `${status === null ? 'no status' : `status ${status}`}, ${count(duration_ms)} ms`;
  return error === null ? `The test event was delivered (${facts}).` : `The test failed (${facts}): ${detail}`;
}
