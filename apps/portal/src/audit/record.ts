import { type AuditEntry, recordAudit } from '@orders/database';
import type { Request } from 'express';
import type { Knex } from 'knex';
import { personOf } from '../context.ts';

/** Keeps in the audit trail what the person who asks did; in the transaction that does it. */
export function recordBy(trx: Knex, request: Request, entry: Omit<AuditEntry, 'actor'>): Promise<void> {
  return recordAudit(trx, { ...entry, actor: personOf(request).email });
}
