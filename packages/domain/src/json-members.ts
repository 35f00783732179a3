import type { Difference } from './compare-orders.ts';
import type { Warning } from './normalize/warnings.ts';
import type { Item } from './order.ts';

// jsonb does not preserve the order of members; these functions restore that of the contract.

export function warningJson({ pointer, code, detail }: Warning): Warning {
  return { pointer, code, detail };
}

export function itemJson({ name, quantity, sku }: Item): Item {
  return { name, quantity, sku };
}

export function differenceJson({ pointer, from, to, cut }: Difference): Difference {
  return { pointer, from: valueJson(from), to: valueJson(to), ...(cut && { cut }) };
}

function valueJson(value: Difference['from']): Difference['from'] {
  return Array.isArray(value) ? value.map(itemJson) : value;
}
