import { type Connection, execute, run } from '../run.ts';

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
  connection: Connection,
  { userId, requestId }: PortalRequest,
  content: Buffer,
): Promise<EarlierRequest | null> {
  for (;;) {
    const claimed = await execute(
      connection,
      'insert into portal_requests (user_id, request_id, content) values ($1, $2, $3) on conflict do nothing',
      [userId, requestId, content],
    );
    if (claimed === 1) return null;
    // A statement of its own, as the first one does not see a row that was committed while it ran.
    const [earlier] = await run<EarlierRequest>(
      connection,
      `select content, status, extract(epoch from clock_timestamp() - at)::float8 * 1000 as age,
              case when at > clock_timestamp() - ${REPLY_MINUTES} * interval '1 minute' then reply end as reply
       from portal_requests where user_id = $1 and request_id = $2`,
      [userId, requestId],
    );
    // Without a row it was released meanwhile.
    if (earlier) return earlier;
  }
}

/** Stores the response of a claimed request. @param reply sealed, or null. */
export async function settleRequest(
  connection: Connection,
  { userId, requestId }: PortalRequest,
  { status, reply }: { status: number; reply: Buffer | null },
): Promise<void> {
  const settle = 'update portal_requests set status = $3, reply = $4 where user_id = $1 and request_id = $2';
  await execute(connection, settle, [userId, requestId, status, reply]);
}

/** Forgets a claimed request that changed nothing, so that it can be sent again. */
export async function releaseRequest(connection: Connection, { userId, requestId }: PortalRequest): Promise<void> {
  await execute(connection, 'delete from portal_requests where user_id = $1 and request_id = $2', [userId, requestId]);
}

/** Removes responses after ten minutes and requests after a day. */
export async function removeOldRequests(connection: Connection): Promise<void> {
  await execute(connection, `delete from portal_requests where at < now() - ${KNOWN_HOURS} * interval '1 hour'`);
  await execute(
    connection,
    `update portal_requests set reply = null where reply is not null and at < now() - ${REPLY_MINUTES} * interval '1 minute'`,
  );
}
