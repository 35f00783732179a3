import { escapeControlsInLine } from '../sanitize.ts';
import { count, plural } from '../table.ts';
import type { DryRun, Duplicate, Finding } from './dry-run.ts';
import { renderFailure } from './report.ts';

/** Max repeated ids in the text; `--json` has all of them. */
const MAX_LINES = 100;

/** The result of a dry run as text. */
export function renderDryRun(result: DryRun & { failed_file: string | null }): string {
  const { read, repeated, refused, with_warnings: corrected, failed_file: file, empty_fields: empty } = result;
  return [
    `${plural(read, 'order')} read; nothing was sent`,
    `  ${plural(read - refused - corrected, 'as it is', 'as they are')}, ${count(corrected)} with warnings, ${count(refused)} would be refused`,
    ...(repeated > 0 ? [`  ${count(repeated)} with the id of an order before it: would end as duplicate`] : []),
    ...(empty.length > 0 ? [`  No order has a value for ${empty.join(', ')}: check the pointers of --map`] : []),
    ...renderRefused(result),
    ...renderWarnings(result.warnings_by_code),
    ...renderDuplicates(result.repeats),
    ...(file ? ['', escapeControlsInLine(`${plural(result.listed, 'order')} to correct, with reasons: ${file}`)] : []),
  ].join('\n');
}

function renderRefused({ refused, refused_by_code, failures, failed_file: file }: Parameters<typeof renderDryRun>[0]) {
  if (refused === 0) return [];
  const codes = sorted(refused_by_code).map(([code, { orders }]) => `${count(orders)} × ${escapeControlsInLine(code)}`);
  const more = refused - failures.length;
  const hint = file ? '' : '; --failed names a file for all of them';
  return [
    '',
    `Refused: ${codes.join(', ')}`,
    ...failures.map((failure) => `  ${renderFailure(failure)}`),
    ...(more > 0 ? [`  and ${count(more)} more${hint}`] : []),
  ];
}

function renderWarnings(findings: Record<string, Finding>): string[] {
  const lines = sorted(findings).map(([code, { orders, first_place, first_line, pointer, detail }]) => {
    const where = `first order ${first_place}, line ${first_line}${pointer ? ` at ${pointer}` : ''}`;
    return `  ${escapeControlsInLine(`${count(orders)} × ${code}, ${where}: ${detail}`)}`;
  });
  return lines.length > 0 ? ['', 'Warnings:', ...lines] : [];
}

function renderDuplicates(repeats: readonly Duplicate[]): string[] {
  if (repeats.length === 0) return [];
  const more = repeats.length > MAX_LINES ? [`  and ${count(repeats.length - MAX_LINES)} more; --json lists all`] : [];
  const lines = repeats.slice(0, MAX_LINES).map(({ place, line, source_order_id: id, repeats: first }) => {
    const text = `order ${place}, line ${line} (${id}) has the id of order ${first}`;
    return `  ${escapeControlsInLine(text)}`;
  });
  return ['', 'Repeated ids:', ...lines, ...more];
}

function sorted(findings: Record<string, Finding>): [string, Finding][] {
  return Object.entries(findings).toSorted(([, a], [, b]) => b.orders - a.orders);
}
