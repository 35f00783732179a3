import { normalizeOrder, Problem, parseBody, validateOrder } from '@orders/domain';
import { count } from './report.ts';
import type { SourceOrder } from './source-order.ts';

/** What would become of an input, told without sending it. */
export interface DryRun {
  read: number;
  /** Cannot be accepted; with strict handling also what would have to be mended. */
  refused: number;
  refused_by_code: Record<string, Finding>;
  /** Would be accepted, and mended or guessed at. */
  with_warnings: number;
  warnings_by_code: Record<string, Finding>;
}

interface Finding {
  orders: number;
  /** Where it was met first. */
  first_line: number;
  pointer: string | null;
  detail: string;
}

/** Reads the orders as the service would, by the same rules. */
export async function dryRun(orders: AsyncIterable<SourceOrder>, { strict }: { strict: boolean }): Promise<DryRun> {
  const result: DryRun = { read: 0, refused: 0, refused_by_code: {}, with_warnings: 0, warnings_by_code: {} };
  for await (const order of orders) {
    result.read += 1;
    const { refusal, warnings } = judge(order);
    if (refusal) note(result.refused_by_code, order, [refusal]);
    if (warnings.length > 0) note(result.warnings_by_code, order, warnings);
    if (refusal || (strict && warnings.length > 0)) result.refused += 1;
    else if (warnings.length > 0) result.with_warnings += 1;
  }
  return result;
}

interface Remark {
  code: string;
  pointer?: string;
  detail: string;
}

function judge({ text, refusal }: SourceOrder): { refusal: Remark | null; warnings: readonly Remark[] } {
  if (refusal) return { refusal, warnings: [] };
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

function note(findings: Record<string, Finding>, { line }: SourceOrder, remarks: readonly Remark[]): void {
  for (const code of new Set(remarks.map((remark) => remark.code))) {
    const { pointer = null, detail } = remarks.find((remark) => remark.code === code) as Remark;
    findings[code] ??= { orders: 0, first_line: line, pointer, detail };
    findings[code].orders += 1;
  }
}

/** The result for people. */
export function renderDryRun({ read, refused, refused_by_code, with_warnings, warnings_by_code }: DryRun): string {
  const fine = read - refused - with_warnings;
  return [
    `${count(read)} ${read === 1 ? 'order' : 'orders'} read; nothing was sent`,
    `  ${count(fine)} as they are, ${count(with_warnings)} with warnings, ${count(refused)} would be refused`,
    ...renderFindings('Refused', refused_by_code),
    ...renderFindings('Warnings', warnings_by_code),
  ].join('\n');
}

function renderFindings(title: string, findings: Record<string, Finding>): string[] {
  const sorted = Object.entries(findings).toSorted(([, a], [, b]) => b.orders - a.orders);
  if (sorted.length === 0) return [];
  return [
    '',
    `${title}:`,
    ...sorted.map(
      ([code, { orders, first_line, pointer, detail }]) =>
        `  ${count(orders)} × ${code}, first on line ${first_line}${pointer ? ` at ${pointer}` : ''}: ${detail}`,
    ),
  ];
}
