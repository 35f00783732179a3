import type { Knex } from 'knex';

export interface AuditEntry {
  /** Null when it concerns no account. */
  accountId: number | null;
  /** A user's e-mail address, or the actor given to the CLI. */
  actor: string;
  /** Object and past participle, such as `key_created`. */
  action: string;
  /** Kind and id, such as `order:17`. */
  subject: string;
  /** Never a secret. */
  details?: Record<string, unknown> | null;
}

export interface AuditEvent {
  event_id: number;
  account_id: number | null;
  at: Date;
  actor: string;
  action: string;
  subject: string;
  details: Record<string, unknown> | null;
}

/** Must be called in the transaction of the audited change, so that both commit or neither does. */
export async function recordAudit(db: Knex, ...entries: AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await db('audit_events').insert(
    entries.map(({ accountId, actor, action, subject, details }) => ({
      account_id: accountId,
      actor,
      action,
      subject,
      details: details ? JSON.stringify(details) : null,
      // Not now(), as the transaction may have waited for locks; lists of updates ask for the last seconds.
      at: db.raw('clock_timestamp()'),
    })),
  );
}

/** Max length of the changes of one event in a list, in characters of JSON; changes of all items can be a hundred times longer. */
const MAX_CHANGES = 65_536;

/** SQL: whether the changes in `details` are too long for a list. Details whose stored size is above the limit are not read. */
export const HAS_LONG_CHANGES = `
(case when pg_column_size(details) > ${MAX_CHANGES} then true else length(details ->> 'changes') > ${MAX_CHANGES} end is true)`;

const DETAILS = `
case when not ${HAS_LONG_CHANGES} then details
     when pg_column_size(details) > ${MAX_CHANGES} then '{"changes_omitted": true}'
     else details - 'changes' || '{"changes_omitted": true}' end as details`;

/**
 * Audit events, newest first, by the given filters. Changes longer than 64 KiB are replaced by `changes_omitted`.
 */
export async function listAudit(
  db: Knex,
  filter: {
    accountId?: number | undefined;
    actor?: string | undefined;
    subject?: string | undefined;
    before?: number | undefined;
    limit: number;
  },
): Promise<AuditEvent[]> {
  const query: Knex.QueryBuilder<AuditEvent, AuditEvent[]> = db('audit_events')
    .select('event_id', 'account_id', 'at', 'actor', 'action', 'subject', db.raw(DETAILS))
    .limit(filter.limit);
  if (filter.accountId !== undefined) {
    // Row comparisons, for the reason of `eventsOfAccount`.
    const ends = { account: filter.accountId, last: Number.MAX_SAFE_INTEGER };
    query
      .whereRaw('(account_id, event_id) between (:account::int, 0) and (:account::int, :last)', ends)
      .orderBy('account_id', 'desc');
  }
  query.orderBy('event_id', 'desc');
  if (filter.actor !== undefined) query.where({ actor: filter.actor });
  if (filter.subject !== undefined) query.where({ subject: filter.subject });
  if (filter.before !== undefined) query.where('event_id', '<', filter.before);
  return query;
}
