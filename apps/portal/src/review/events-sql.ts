/**
 * SQL: audit events of account $1 from an id, in an order that only the index by account has. With a plain condition on the account, Postgres
 * can choose the index by id and read the events of all accounts.
 */
export const eventsOfAccount = (columns: string, direction: 'asc' | 'desc', fromId = '0') => `
  select ${columns} from audit_events
  where (account_id, event_id) >= ($1::int, ${fromId}) and (account_id, event_id) <= ($1::int, ${Number.MAX_SAFE_INTEGER})
  order by account_id ${direction}, event_id ${direction}`;
