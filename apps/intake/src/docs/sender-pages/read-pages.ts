import { resolve } from 'node:path';
import { type DocPage, readPages } from '@orders/doc-pages/read-pages.ts';

/** The container image has them at the same relative path. */
const DIRECTORY = resolve(import.meta.dirname, '../../../../../docs/senders');

/** The pages of docs/senders: the index, then the others in the order of its links. */
export function readSenderPages(): DocPage[] {
  return readPages(DIRECTORY);
}
