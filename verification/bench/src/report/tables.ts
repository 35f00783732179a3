/** A measured figure, with or without a target. If `goal` is above `enough`, larger is better. */
export interface Figure {
  what: string;
  value: number;
  enough?: number;
  goal?: number;
}

/** Formats figures as a Markdown table. */
export function renderFigures(figures: readonly Figure[]): string {
  return table(
    ['', 'measured', 'enough', 'goal'],
    figures.map(({ what, value, enough = '', goal = '' }) => [what, digits(value), `${enough}`, `${goal}`]),
  );
}

/** Three significant digits, or a whole number from 100. */
export function digits(value: number): string {
  if (Number.isNaN(value)) return '';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

/** Formats a Markdown table. All columns except the first are right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
