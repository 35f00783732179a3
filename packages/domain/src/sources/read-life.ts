import { normalizeOrder } from '../normalize-order.ts';
import type { DeliveryKind } from './delivery-kind.ts';
import { PLATFORM_STATES } from './platform-states.ts';
import { readDelivery } from './read-delivery.ts';
import type { PresetDefinition, SourcePreset } from './settings.ts';

/** What becomes of an order in some states of its platform. */
export interface LifeRow {
  /** In the platform's own words; `*` for any other. */
  says: string[];
  kind: DeliveryKind;
  /** Null if it is unknown, differs between the orders of the row, or nothing comes of it. */
  payment_state: string | null;
}

/** Kinds whose states say how the order is paid. A test has any payment. */
const PAYABLE: ReadonlySet<DeliveryKind> = new Set(['order', 'unpaid', 'finished']);

/**
 * What each topic and status of a platform becomes, as the settings and the mapping of a source read them: states with the same outcome are
 * one row. Empty for presets that belong to no platform.
 */
export function readLife(preset: SourcePreset, { settings, mapping }: PresetDefinition): LifeRow[] {
  const { topic: usual, states } = PLATFORM_STATES[preset] ?? { states: [] };
  const topicHeader = settings.topic && 'header' in settings.topic ? settings.topic.header : undefined;
  const rows = new Map<string, LifeRow>();
  for (const { says, document, topic = usual } of states) {
    const headers = topicHeader === undefined ? {} : { [topicHeader]: topic };
    const body = Buffer.from(JSON.stringify(document));
    const { kind, payload } = readDelivery(body, headers, { settings, mapping, idPrefix: '' });
    const payment_state = PAYABLE.has(kind) ? normalizeOrder({ ...payload }).order.payment_state : null;
    const outcome = `${kind} ${payment_state}`;
    const row = rows.get(outcome) ?? { says: [], kind, payment_state };
    row.says.push(says);
    rows.set(outcome, row);
  }
  return [...rows.values()];
}
