import { DEFAULT_MAX_BODY_BYTES, MAX_BATCH_ERRORS } from '@orders/domain/interface-limits.ts';
import type { Warning } from '@orders/domain/normalize/warnings.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { validateOrder, validateStrictly } from '@orders/domain/validate-order.ts';
import { count } from '../table.ts';
import { type FailedOrder, type FailureFile, failureOfRefused, repeatedId } from './failures.ts';
import type { Refusal, SourceOrder } from './source-order.ts';

/** The expected outcome of an input, without sending it. */
export type DryRun = Awaited<ReturnType<typeof dryRun>>;

/** An order with the id of an earlier one. */
export interface Duplicate {
  place: number;
  line: number;
  source_order_id: string | null;
  /** Position of the first order with this id. */
  repeats: number;
}

/** The orders with one code. */
export interface Finding {
  orders: number;
  /** Position of its first occurrence. */
  first_place: number;
  first_line: number;
  pointer: string | null;
  detail: string;
}

/** Max refused orders in the result; the file has all of them. */
const MAX_SHOWN_REFUSED = 20;

/** Checks the orders by the rules of the service, and adds those that would be refused or have a repeated id to the file. */
export async function dryRun(
  orders: AsyncIterable<SourceOrder>,
  { strict, mapping }: { strict: boolean; mapping: OrderMapping | null },
  file: FailureFile,
) {
  const fields = createFieldCheck(mapping);
  const [refusals, corrections]: [Findings, Findings] = [new Map(), new Map()];
  const repeats: Duplicate[] = [];
  const failures: FailedOrder[] = [];
  let [read, refused, corrected, listed] = [0, 0, 0, 0];
  for await (const order of orders) {
    read += 1;
    fields.see(order.text);
    const { position: place, line, sourceOrderId, firstPosition } = order;
    if (firstPosition !== null) repeats.push({ place, line, source_order_id: sourceOrderId, repeats: firstPosition });
    const { refusal, warnings } = check(order, strict);
    const failure = failureOf(order, refusal);
    if (failure) {
      file.add(failure);
      listed += 1;
    }
    if (failure && refusal) {
      refused += 1;
      if (refused <= MAX_SHOWN_REFUSED) failures.push(failure);
      addFindings(refusals, order, [{ ...refusal, ...refusal.errors?.[0], code: refusal.code }]);
    } else if (warnings.length > 0) {
      corrected += 1;
      addFindings(corrections, order, warnings);
    }
  }
  return {
    read,
    /** Orders with the source_order_id of an earlier one, which would end as duplicate. */
    repeated: repeats.length,
    /** Orders that would be rejected; with strict handling also those that would need corrections. */
    refused,
    /** Orders that would be accepted with corrections or guesses. */
    with_warnings: corrected,
    refused_by_code: Object.fromEntries(refusals),
    warnings_by_code: Object.fromEntries(corrections),
    repeats,
    /** Fields of the mapping that have a value in no order. */
    empty_fields: read > 0 ? fields.empty() : [],
    /** Number of orders in the file. */
    listed,
    /** The first orders that would be rejected. */
    failures,
  };
}

type Findings = Map<string, Finding>;
type Issue = { code: string; detail: string; pointer?: string };

const TOO_LARGE: Refusal = {
  status: 413,
  code: 'payload_too_large',
  detail: `The order is larger than ${count(DEFAULT_MAX_BODY_BYTES)} bytes, the most that the service takes by default.`,
};

function check({ text, refusal }: SourceOrder, strict: boolean): { refusal?: Refusal; warnings: readonly Warning[] } {
  if (refusal) return { refusal, warnings: [] };
  if (Buffer.byteLength(text) > DEFAULT_MAX_BODY_BYTES) return { refusal: TOO_LARGE, warnings: [] };
  try {
    const payload = parseBody(Buffer.from(text));
    (strict ? validateStrictly : validateOrder)(payload);
    return { warnings: normalizeOrder(payload).warnings };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, code, detail, errors } = error;
    return { refusal: { status, code, detail, errors: errors?.slice(0, MAX_BATCH_ERRORS) }, warnings: [] };
  }
}

function failureOf(order: SourceOrder, refusal: Refusal | undefined): FailedOrder | null {
  const { position: place, line, sourceOrderId, firstPosition: repeats } = order;
  const repeated = repeats !== null && { repeats };
  if (refusal) {
    const failure = failureOfRefused([place, line, sourceOrderId, refusal]);
    return failure && { ...failure, ...repeated };
  }
  if (!repeated) return null;
  const found = { place, line, source_order_id: sourceOrderId, receipt_id: null, status: 'duplicate' } as const;
  return { ...found, ...repeatedId(repeated.repeats), ...repeated };
}

function addFindings(findings: Findings, { position, line }: SourceOrder, issues: readonly Issue[]): void {
  for (const code of new Set(issues.map((issue) => issue.code))) {
    const { pointer = null, detail } = issues.find((issue) => issue.code === code) as Issue;
    const finding = findings.get(code) ?? { orders: 0, first_place: position, first_line: line, pointer, detail };
    findings.set(code, { ...finding, orders: finding.orders + 1 });
  }
}

/** Finds the fields of a mapping that have a value in no order: a pointer is probably wrong. */
function createFieldCheck(mapping: OrderMapping | null) {
  const empty = new Set(mapping ? fieldsOf(mapping) : []);
  return {
    /** @param text the JSON of an order; empty if it cannot be sent. */
    see(text: string): void {
      if (empty.size === 0 || text === '') return;
      for (const field of fieldsOf(parse(text))) empty.delete(field);
    },
    /** For example `customer.phone`. */
    empty: () => [...empty],
  };
}

/** The names of the members, with those inside of the customer. */
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
