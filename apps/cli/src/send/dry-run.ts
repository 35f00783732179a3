import {
  DEFAULT_MAX_BODY_BYTES,
  type FieldError,
  normalizeOrder,
  Problem,
  parseBody,
  validateOrder,
} from '@orders/domain';
import { escapeControlsInLine } from '../sanitize.ts';
import { count } from './report.ts';
import type { SourceOrder } from './source-order.ts';

/** The expected outcome of an input, without sending it. */
type DryRun = Awaited<ReturnType<typeof dryRun>>;

interface Duplicate {
  place: number;
  line: number;
  source_order_id: string | null;
  /** Position of the first order with this id. */
  repeats: number;
}

interface Finding {
  orders: number;
  /** Position of its first occurrence. */
  first_place: number;
  first_line: number;
  pointer: string | null;
  detail: string;
}

/** Checks the orders by the rules of the service. */
export async function dryRun(orders: AsyncIterable<SourceOrder>, { strict }: { strict: boolean }) {
  const [refusals, corrections]: [Findings, Findings] = [new Map(), new Map()];
  const repeats: Duplicate[] = [];
  let [read, refused, corrected] = [0, 0, 0];
  for await (const order of orders) {
    read += 1;
    const { position: place, line, sourceOrderId, firstPosition } = order;
    if (firstPosition !== null) repeats.push({ place, line, source_order_id: sourceOrderId, repeats: firstPosition });
    const { refusal, warnings } = check(order);
    addFindings(refusals, order, refusal ? [refusal] : []);
    addFindings(corrections, order, warnings);
    if (refusal || (strict && warnings.length > 0)) refused += 1;
    else if (warnings.length > 0) corrected += 1;
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
  };
}

type Findings = Map<string, Finding>;
type Issue = Pick<FieldError, 'code' | 'detail'> & Partial<FieldError>;

const TOO_LARGE = {
  code: 'payload_too_large',
  detail: `The order is larger than ${count(DEFAULT_MAX_BODY_BYTES)} bytes, the most that the service takes by default.`,
};

function check({ text, refusal }: SourceOrder): { refusal: Issue | null; warnings: readonly Issue[] } {
  if (refusal) return { refusal, warnings: [] };
  if (Buffer.byteLength(text) > DEFAULT_MAX_BODY_BYTES) return { refusal: TOO_LARGE, warnings: [] };
  try {
    const payload = parseBody(Buffer.from(text));
    validateOrder(payload);
    return { refusal: null, warnings: normalizeOrder(payload).warnings };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, detail, errors } = error;
    return { refusal: { code, detail, ...errors?.[0], ...(errors?.[0] && { code }) }, warnings: [] };
  }
}

function addFindings(findings: Findings, { position, line }: SourceOrder, issues: readonly Issue[]): void {
  for (const code of new Set(issues.map((issue) => issue.code))) {
    const { pointer = null, detail } = issues.find((issue) => issue.code === code) as Issue;
    const finding = findings.get(code) ?? { orders: 0, first_place: position, first_line: line, pointer, detail };
    findings.set(code, { ...finding, orders: finding.orders + 1 });
  }
}

/** The result as text. */
export function renderDryRun(result: DryRun): string {
  const { read, repeated, refused, with_warnings: corrected } = result;
  return [
    `${count(read)} ${read === 1 ? 'order' : 'orders'} read; nothing was sent`,
    `  ${count(read - refused - corrected)} as they are, ${count(corrected)} with warnings, ${count(refused)} would be refused`,
    ...(repeated > 0 ? [`  ${count(repeated)} with the id of an order before it: would end as duplicate`] : []),
    ...renderFindings('Refused', result.refused_by_code),
    ...renderFindings('Warnings', result.warnings_by_code),
    ...renderDuplicates(result.repeats),
  ].join('\n');
}

/** Max lines of text; `--json` has all of them. */
const MAX_LINES = 100;

function renderDuplicates(repeats: readonly Duplicate[]): string[] {
  if (repeats.length === 0) return [];
  const more = repeats.length > MAX_LINES ? [`  and ${count(repeats.length - MAX_LINES)} more; --json lists all`] : [];
  const lines = repeats.slice(0, MAX_LINES).map(({ place, line, source_order_id: id, repeats: first }) => {
    const text = `order ${place}, line ${line} (${id}) has the id of order ${first}`;
    return `  ${escapeControlsInLine(text)}`;
  });
  return ['', 'Repeated ids:', ...lines, ...more];
}

function renderFindings(title: string, findings: Record<string, Finding>): string[] {
  const sorted = Object.entries(findings).toSorted(([, a], [, b]) => b.orders - a.orders);
  if (sorted.length === 0) return [];
  const lines = sorted.map(([code, { orders, first_place, first_line, pointer, detail }]) => {
    const where = `first order ${first_place}, line ${first_line}${pointer ? ` at ${pointer}` : ''}`;
    return `  ${escapeControlsInLine(`${count(orders)} × ${code}, ${where}: ${detail}`)}`;
  });
  return ['', `${title}:`, ...lines];
}
