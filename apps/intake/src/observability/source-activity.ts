import type { Database } from '@orders/database/connect.ts';
import {
  addSourceActivity,
  type DeliveryCount,
  type DeliveryOutcome,
  KEPT_DELIVERIES,
} from '@orders/database/sources/activity.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { Counter } from '@orders/runtime/observability/metrics.ts';
import type { SourceOfDelivery } from '../pipeline/find-sources.ts';

/** Counts deliveries to sources, for the metrics and for the portal, where each account sees its own. */
export interface SourceActivity {
  /** Counts a delivery. Never fails. @param receiptId its receipt, if there is one. */
  note(source: SourceOfDelivery, outcome: DeliveryOutcome, receiptId?: string): void;
  /** Writes the remaining counts. Never fails. */
  close(): Promise<void>;
}

/** A count is written at most this much later. */
const WRITE_INTERVAL_MS = 2000;
/** During an outage of Postgres, counts of more sources and outcomes are dropped. */
const MAX_WAITING = 10_000;

export function createSourceActivity(
  database: Database,
  deliveries: Counter<'preset' | 'outcome'>,
  logger: Logger,
): SourceActivity {
  let waiting = new Map<string, DeliveryCount>();
  let timer: NodeJS.Timeout | undefined;

  function add(counted: DeliveryCount): void {
    const key = `${counted.sourceNumber} ${counted.outcome}`;
    const known = waiting.get(key);
    if (known) {
      known.count += counted.count;
      known.receiptIds = [...counted.receiptIds, ...known.receiptIds].slice(0, KEPT_DELIVERIES);
    } else if (waiting.size < MAX_WAITING) waiting.set(key, { ...counted });
  }

  async function write(): Promise<void> {
    const counts = waiting;
    waiting = new Map();
    try {
      if (counts.size > 0) await addSourceActivity(database, [...counts.values()]);
    } catch (error) {
      logger.warn('deliveries to sources could not be counted', {
        error: describeError(error),
        retry_in_ms: WRITE_INTERVAL_MS,
      });
      for (const counted of counts.values()) add(counted);
      schedule();
    }
  }

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void write();
    }, WRITE_INTERVAL_MS).unref();
  }

  return {
    note({ accountId, sourceNumber, preset }, outcome, receiptId) {
      deliveries.inc({ preset, outcome });
      add({ accountId, sourceNumber, outcome, count: 1, receiptIds: receiptId === undefined ? [] : [receiptId] });
      schedule();
    },
    async close() {
      await write();
      clearTimeout(timer);
    },
  };
}
