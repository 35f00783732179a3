import type pg from 'pg';
import type { EventFollower } from './event-follower.ts';
import type { Findings } from './findings.ts';
import { type Patience, waitUntil } from './wait-until.ts';

/**
 * Waits until what is due now is published and was read, or the patience ends, and reads the feeds again.
 *
 * @param options `from` is where the feeds are read again; with `due: 'ever'`, undo times are waited for.
 * @returns the time before which everything must be published; null for any time.
 */
export async function untilEventsRead(
  client: pg.Client,
  options: {
    follower: EventFollower;
    findings: Findings;
    from: 'last call' | 'start';
    patience: Patience;
    due: 'now' | 'ever';
  },
): Promise<Date | null> {
  const { follower, findings, from, patience, due } = options;
  const publishedBefore = due === 'now' ? new Date() : null;
  const isPublished = async () => {
    const { rows } = await client.query(
      `select not exists (
         select from unpublished_events where due_at < $1::timestamptz and event_id <> all($2::uuid[])) as published`,
      [publishedBefore ?? 'infinity', findings.known('event-unpublished')],
    );
    return rows[0].published;
  };
  await waitUntil(isPublished, patience);
  await untilFollowed(client, { follower, findings, patience });
  const behind = await follower.readAgain(from, patience);
  for (const accountId of behind) findings.add({ name: 'event-unread', id: `account ${accountId}` });
  return publishedBefore;
}

/** Waits until the feeds are followed to the events that are the newest ones now, or the patience ends. */
export async function untilFollowed(
  client: pg.Client,
  { follower, findings, patience }: { follower: EventFollower; findings: Findings; patience: Patience },
): Promise<void> {
  const { rows } = await client.query('select account_id, last_sequence::float8 as sequence from event_logs');
  const sequences = new Map(rows.map(({ account_id, sequence }) => [account_id, sequence]));
  const behind = await follower.untilFollowed(sequences, patience);
  for (const accountId of behind) findings.add({ name: 'event-unread', id: `account ${accountId}` });
}
