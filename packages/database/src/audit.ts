import type { Knex } from 'knex';

/** Something that somebody did, to be kept. */
export interface AuditEntry {
  /** Null where it concerns no account. */
  accountId: number | null;
  /** A user's e-mail address, or who the command line says it acts for. */
  actor: string;
  /** A verb in the past and its object, such as `key_created`. */
  action: string;
  /** What it was done to: a kind and an id, such as `order:17`. */
  subject: string;
  /** What else is worth knowing; never a secret. */
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

/** Keeps what was done; in the transaction that does it, so that there is never the one without the other. */
export async function recordAudit(db: Knex, ...entries: AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await db('audit_events').insert(
    entries.map(({ accountId, actor, action, subject, details }) => ({
      account_id: accountId,
      actor,
      action,
      subject,
      details: details ? JSON.stringify(details) : null,
    })),
  );
}

/** Changes of one event that a list shows, in characters of their JSON; those of all items may be a hundred times as long. */
const MAX_CHANGES = 65_536;

/**
 * SQL: whether the changes in these details are too long for a list. What is longer even compressed is not read for it.
 */
export const HAS_LONG_CHANGES = `
(case when pg_column_size(details) > ${MAX_CHANGES} then true else length(details ->> 'changes') > ${MAX_CHANGES} end is true)`;

const DETAILS = `
case when not ${HAS_LONG_CHANGES} then details
     when pg_column_size(details) > ${MAX_CHANGES} then '{"changes_omitted": true}'
     else details - 'changes' || '{"changes_omitted": true}' end as details`;

/**
 * What was done, newest first; of one account, by one actor, about one subject, and before an event, where those are given.
 * Details with changes longer than 64 KiB are left out, and say `changes_omitted`.
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
    .orderBy('event_id', 'desc')
    .limit(filter.limit);
  if (filter.accountId !== undefined) query.where({ account_id: filter.accountId });
  if (filter.actor !== undefined) query.where({ actor: filter.actor });
  if (filter.subject !== undefined) query.where({ subject: filter.subject });
  if (filter.before !== undefined) query.where('event_id', '<', filter.before);
  return query;
}
