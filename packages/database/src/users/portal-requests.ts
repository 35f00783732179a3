import type { Knex } from 'knex';

/** How long a response is kept for a repetition, in minutes. */
const REPLY_MINUTES = 10;
/** How long a request is known, so that a late repetition is not carried out, in hours. */
const KNOWN_HOURS = 24;

/** A changing request of a user, by its idempotency key. */
export interface PortalRequest {
  userId: string;
  /** A UUID. */
  requestId: string;
}

/** A request that came before under the same key. */
export interface EarlierRequest {
  content: Buffer;
  /** Milliseconds since it came. */
  age: number;
  /** The status of its response; null while it is carried out, or if its process crashed. */
  status: number | null;
  /** The sealed body; null without one, and once it is too old. */
  reply: Buffer | null;
}

/**
 * Claims the key for this request.
 *
 * @param content a keyed hash of what is requested.
 * @returns null if this request is the first under its key, which must then be settled or released; otherwise the one before.
 */
export async function claimRequest(
  db: Knex,
  { userId, requestId }: PortalRequest,
  content: Buffer,
): Promise<EarlierRequest | null> {
  for (;;) {
    const claimed = await db.raw(
      'insert into portal_requests (user_id, request_id, content) values (?, ?, ?) on conflict do nothing',
      [userId, requestId, content],
    );
    if (claimed.rowCount === 1) return null;
    // A statement of its own, as the first one does not see a row that was committed while it ran.
    const { rows } = await db.raw(
      `select content, status, extract(epoch from clock_timestamp() - at)::float8 * 1000 as age,
              case when at > clock_timestamp() - ? * interval '1 minute' then reply end as reply
       from portal_requests where user_id = ? and request_id = ?`,
      [REPLY_MINUTES, userId, requestId],
    );
    // Without a row it was released meanwhile.
    if (rows[0]) return rows[0];
  }
}

/** Stores the response of a claimed request. @param reply sealed, or null. */
export async function settleRequest(
  db: Knex,
  { userId, requestId }: PortalRequest,
  { status, reply }: { status: number; reply: Buffer | null },
): Promise<void> {
  await db('portal_requests').where({ user_id: userId, request_id: requestId }).update({ status, reply });
}

/** Forgets a claimed request that changed nothing, so that it can be sent again. */
export async function releaseRequest(db: Knex, { userId, requestId }: PortalRequest): Promise<void> {
  await db('portal_requests').where({ user_id: userId, request_id: requestId }).delete();
}

/** Removes responses after ten minutes and requests after a day. */
export async function removeOldRequests(db: Knex): Promise<void> {
  await db('portal_requests').whereRaw(`at < now() - ${KNOWN_HOURS} * interval '1 hour'`).delete();
  await db('portal_requests')
    .whereNotNull('reply')
    .whereRaw(`at < now() - ${REPLY_MINUTES} * interval '1 minute'`)
    .update({ reply: null });
}
