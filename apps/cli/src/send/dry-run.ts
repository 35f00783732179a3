import { DEFAULT_MAX_BODY_BYTES } from '@orders/domain/interface-limits.ts';
import type { Warning } from '@orders/domain/normalize/warnings.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { validateOrder, validateStrictly } from '@orders/domain/validate-order.ts';
import type { Rejection, SourceOrder } from '@orders/order-files/read-order.ts';
import { escapeControlsInLine } from '../sanitize.ts';
import { count, plural } from '../table.ts';
import type { FailedOrders } from './failed-orders.ts';
import type { Input } from './read-input.ts';
import { renderFacts } from './report.ts';

/** The expected outcome of an input, without sending it. */
type DryRun = Awaited<ReturnType<typeof dryRun>>;

/** The orders with one warning. */
interface Finding {
  orders: number;
  /** Of its first occurrence. */
  first_position: number;
  first_line: number;
  pointer: string;
  detail: string;
}

const TOO_LARGE: Rejection = {
  status: 413,
  code: 'payload_too_large',
  detail: `The order is larger than ${count(DEFAULT_MAX_BODY_BYTES)} bytes, the most that the service takes by default.`,
};

/** Checks the orders by the rules of the service. */
export async function dryRun(
  input: Input,
  { strict = false, mapping }: { strict?: boolean; mapping: OrderMapping | null },
  failed: FailedOrders,
) {
  // A field of the mapping without a value in any order: its pointer is probably wrong.
  const emptyFields = new Set(mapping ? fieldsOf(mapping) : []);
  const findings = new Map<string, Finding>();
  let [read, repeated, corrected] = [0, 0, 0];
  for await (const order of input.orders()) {
    read += 1;
    if (order.firstPosition !== null) repeated += 1;
    if (emptyFields.size > 0) for (const field of fieldsOf(parse(order.text))) emptyFields.delete(field);
    const { rejection, warnings } = check(order, strict);
    failed.add({ ...order, ...(rejection && { rejection }), status: 'not_asked' });
    if (warnings.length > 0) corrected += 1;
    addFindings(findings, order, warnings);
  }
  return {
    ...input.facts,
    read,
    /** Orders with the source_order_id of an earlier one, which would end as duplicate. */
    repeated,
    /** Orders that would be rejected; with strict handling also those that would need corrections. */
    rejected: failed.counts.rejected,
    /** Orders that would be accepted with corrections or guesses. */
    with_warnings: corrected,
    warnings_by_code: Object.fromEntries(findings),
    empty_fields: read > 0 ? [...emptyFields] : [],
  };
}

/** The result of a dry run as text. */
export function renderDryRun(result: DryRun): string {
  const { read, repeated, rejected, with_warnings, warnings_by_code, empty_fields } = result;
  const warnings = Object.entries(warnings_by_code)
    .toSorted(([, a], [, b]) => b.orders - a.orders)
    .map(([code, { orders, first_position, first_line, pointer, detail }]) => {
      const where = `first order ${first_position}, line ${first_line} at ${pointer}`;
      return `  ${escapeControlsInLine(`${count(orders)} × ${code}, ${where}: ${detail}`)}`;
    });
  return [
    ...renderFacts(result),
    `${plural(read, 'order')} read; nothing was sent`,
    `  ${plural(read - rejected - with_warnings, 'as it is', 'as they are')}, ${count(with_warnings)} with warnings, ${count(rejected)} would be rejected`,
    ...(repeated > 0 ? [`  ${count(repeated)} with the id of an order before it: would end as duplicate`] : []),
    ...(empty_fields.length > 0
      ? [`  No order has a value for ${empty_fields.join(', ')}: check the pointers of --map`]
      : []),
    ...(warnings.length > 0 ? ['', 'Warnings:', ...warnings] : []),
  ].join('\n');
}

function check(
  { text, rejection }: SourceOrder,
  strict: boolean,
): { rejection?: Rejection; warnings: readonly Warning[] } {
  if (rejection) return { rejection, warnings: [] };
  if (Buffer.byteLength(text) > DEFAULT_MAX_BODY_BYTES) return { rejection: TOO_LARGE, warnings: [] };
  try {
    const payload = parseBody(Buffer.from(text));
    (strict ? validateStrictly : validateOrder)(payload);
    return { warnings: normalizeOrder(payload).warnings };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, code, detail, errors } = error;
    return { rejection: { status, code, detail, errors }, warnings: [] };
  }
}

/** Counts the order once for each code. */
function addFindings(findings: Map<string, Finding>, order: SourceOrder, warnings: readonly Warning[]): void {
  const { position: first_position, line: first_line } = order;
  for (const code of new Set(warnings.map((warning) => warning.code))) {
    const { pointer, detail } = warnings.find((warning) => warning.code === code) as Warning;
    const finding = findings.get(code) ?? { orders: 0, first_position, first_line, pointer, detail };
    findings.set(code, { ...finding, orders: finding.orders + 1 });
  }
}

/** The names of the members, with those inside of the customer, such as `customer.phone`. */
function fieldsOf({ customer, ...fields }: { customer?: object }): string[] {
  return [...Object.keys(fields), ...Object.keys(customer ?? {}).map((name) => `customer.${name}`)];
}

/** Without members if it is no JSON object, which a mapping leaves as it is. */
function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
