import { type AuditEntry, recordAudit } from '@orders/database';
import type { Request } from 'express';
import type { Knex } from 'knex';
import { personOf } from '../context.ts';

/** Writes an audit entry with the signed-in person as actor, in the transaction that makes the change. */
export function recordBy(trx: Knex, request: Request, entry: Omit<AuditEntry, 'actor'>): Promise<void> {
  return recordAudit(trx, { ...entry, actor: personOf(request).email });
}
