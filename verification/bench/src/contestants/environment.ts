/** @throws {Error} one line with the missing variable. */
export function readSetting(name: 'DATABASE_URL' | 'QUEUE_URL' | 'PORT'): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set.`);
  return value;
}

/** Ends the process on the first SIGTERM, after `close` has finished pending work. */
export function endOnSignal(close: () => Promise<unknown>): void {
  process.once('SIGTERM', () => {
    close().then(
      () => process.exit(0),
      (error) => {
        logError(error);
        process.exit(1);
      },
    );
  });
}

/** An order as the bench sends it. Only its id was validated. */
export interface IncomingOrder {
  source_order_id: string;
  customer?: Record<string, unknown>;
  items: Record<string, unknown>[];
  [member: string]: unknown;
}

/** Resolves when the order is stored durably. */
export type AcceptOrder = (receiptId: string, order: IncomingOrder) => Promise<unknown>;

/** Logs only the message, because other members of a Postgres error can contain data of an order. */
export function logError(error: unknown): void {
  console.error(Error.isError(error) ? error.message : error);
}
