import { type Connection, execute, matching, run } from './run.ts';

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
export async function recordAudit(connection: Connection, ...entries: AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await execute(
    connection,
    // Not now(), as the transaction may have waited for locks; lists of updates ask for the last seconds.
    `insert into audit_events (account_id, actor, action, subject, details, at)
     select account_id, actor, action, subject, details, clock_timestamp()
     from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::jsonb[]) as entry(account_id, actor, action, subject, details)`,
    [
      entries.map(({ accountId }) => accountId),
      entries.map(({ actor }) => actor),
      entries.map(({ action }) => action),
      entries.map(({ subject }) => subject),
      entries.map(({ details }) => (details ? JSON.stringify(details) : null)),
    ],
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
  connection: Connection,
  filter: {
    accountId?: number | undefined;
    actor?: string | undefined;
    subject?: string | undefined;
    before?: number | undefined;
    limit: number;
  },
): Promise<AuditEvent[]> {
  const { accountId, actor, subject, before, limit } = filter;
  const values: unknown[] = [];
  const matches = matching(values, {
    // Row comparisons, for the reason of `eventsOfAccount`.
    [`(account_id, event_id) between (?::int, 0) and (?::int, ${Number.MAX_SAFE_INTEGER})`]: accountId,
    'actor = ?': actor,
    'subject = ?': subject,
    'event_id < ?': before,
  });
  return run<AuditEvent>(
    connection,
    `select event_id, account_id, at, actor, action, subject, ${DETAILS} from audit_events where ${matches}
     order by ${accountId === undefined ? '' : 'account_id desc, '}event_id desc limit ${limit}`,
    values,
  );
}
