/** The accounts whose receipts an outbox row names, or more; empty where the version before wrote the row; decision 001. */
export const name = '014-outbox-accounts';

export const up = "alter table outbox add column if not exists account_ids integer[] not null default '{}'";
