import type pg from 'pg';
import { append, readFeeds, restoringAfter, retype } from './event-sabotage.ts';
import type { Finding, ViolationName } from './findings.ts';
import type { RoundsDeps } from './round.ts';
import { verifyDeliveries } from './verify-deliveries.ts';

/** Damage to events that were delivered, or to the endpoints, and the violation that must be found. */
interface DeliverySabotage {
  /** Run in one transaction, so that no notifier sees the state between two of them. The last one changes at least one row. */
  statements: string[];
  foundAs: ViolationName;
}

export const DELIVERY_SABOTAGES = {
  'delivery-skipped': {
    statements: [
      append('receipt.written', 'true'),
      `update endpoints e set delivered_to = l.last_sequence from event_logs l
       where l.account_id = e.account_id and e.delivered_to < l.last_sequence`,
    ],
    foundAs: 'delivery-missing',
  },
  'delivery-changed': { statements: [retype('order.edited', "type = 'receipt.written'")], foundAs: 'delivery-differs' },
  'delivery-invented': {
    statements: [
      `update events set event_id = gen_random_uuid() where (account_id, sequence) =
         (select account_id, sequence from events order by account_id, sequence limit 1)`,
    ],
    foundAs: 'delivery-unfounded',
  },
  'delivery-misdirected': {
    statements: [
      append('receipt.written', 'true'),
      'update endpoints e set url = o.url from endpoints o where o.account_id <> e.account_id',
    ],
    foundAs: 'delivery-signature-invalid',
  },
} as const satisfies Record<string, DeliverySabotage>;

export type DeliverySabotageKind = keyof typeof DELIVERY_SABOTAGES;

/** Long enough to deliver an event. */
const DELIVER_TIMEOUT_MS = 3000;

/**
 * Causes the damage, reads the feeds from the start as a client, verifies the deliveries, and restores events and endpoints.
 *
 * @returns the findings.
 */
export async function findDeliverySabotage(
  client: pg.Client,
  deps: RoundsDeps,
  kind: DeliverySabotageKind,
): Promise<Finding[]> {
  return restoringAfter(client, ['events', 'event_logs', 'endpoints'], async () => {
    deps.findings.takeNew();
    await client.query('begin');
    let changed: number | null = 0;
    for (const statement of DELIVERY_SABOTAGES[kind].statements) changed = (await client.query(statement)).rowCount;
    if (!changed) throw new Error(`there was no row for "${kind}"`);
    await client.query('commit');
    const { events, findings } = await readFeeds(deps);
    const found = await verifyDeliveries(client, {
      endpoints: deps.context.endpoints,
      events,
      known: [],
      deadline: Date.now() + DELIVER_TIMEOUT_MS,
      // All events that were published by now were read.
      untilRead: async () => {},
    });
    // The clients that follow the feeds have others: after a restoration, their cursors may be beyond the end.
    const received = deps.findings.takeNew().filter(({ name }) => name.startsWith('delivery-'));
    return [...findings.takeNew(), ...received, ...found];
  });
}
