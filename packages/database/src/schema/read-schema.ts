import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the schema, one a subject, in an order in which each finds what it refers to. */
const SUBJECTS = [
  'accounts',
  'people',
  'sign-in',
  'sources',
  'receipts',
  'rejections',
  'orders',
  'search',
  'changed-deliveries',
  'review',
  'audit',
  'cancellations',
  'dispatch',
  'test-mode',
  'events',
  'endpoints',
  'erasure',
  'activity',
  'moves',
  'compression',
  'installation',
] as const;

/** The SQL that creates the whole schema in an empty database. */
export function readSchema(): string {
  return SUBJECTS.map((subject) => readFileSync(join(import.meta.dirname, `${subject}.sql`), 'utf8')).join('\n');
}
