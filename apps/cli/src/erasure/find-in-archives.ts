import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import type { CustomerSearch } from '@orders/domain/customer-search.ts';
import { readArchive } from '../archive/archive-file.ts';
import { Failure } from '../errors.ts';
import type { StoredOrder } from './find-customer.ts';

/** A file of `orders archive` that contains the customer. */
export interface FoundArchive {
  file: string;
  orders: number;
}

/** A line of an archive. */
interface ArchivedOrder {
  order: StoredOrder;
  notes: { text: string }[];
  cancellation_request: { reason: string | null } | null;
}

/**
 * Finds the archives that contain a customer of one of these accounts, by reading all `.ndjson.gz` files of a directory. They are not changed.
 *
 * @throws {Failure} if a file is damaged or is no archive.
 */
export async function findInArchives(
  directory: string,
  accountIds: (number | null)[],
  search: CustomerSearch,
): Promise<FoundArchive[]> {
  const found: FoundArchive[] = [];
  for (const file of (await readdir(directory)).filter((name) => name.endsWith('.ndjson.gz')).toSorted()) {
    let orders = 0;
    try {
      for await (const line of readArchive(join(directory, file))) {
        const archived: ArchivedOrder = JSON.parse(line);
        if (accountIds.includes(archived.order.account_id) && isAbout(archived, search)) orders += 1;
      }
    } catch {
      throw new Failure(`${file} is damaged or is no archive of orders; nothing was erased.`);
    }
    if (orders > 0) found.push({ file, orders });
  }
  return found;
}

function isAbout({ order: row, notes, cancellation_request }: ArchivedOrder, search: CustomerSearch): boolean {
  const order = toOrder(toJson(row));
  const texts = [row.review_reason, cancellation_request?.reason, ...notes.map(({ text }) => text)];
  return search.whereIn(order, order).length > 0 || texts.some((text) => search.isMentioned(text));
}
