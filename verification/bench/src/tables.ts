/** A measured figure, with or without a target. If `goal` is above `enough`, larger is better. */
export interface Figure {
  what: string;
  value: number;
  enough?: number | undefined;
  goal?: number | undefined;
}

/** Formats figures as a Markdown table. */
export function renderFigures(figures: readonly Figure[]): string {
  return table(
    ['', 'measured', 'enough', 'goal'],
    figures.map(({ what, value, enough = '', goal = '' }) => [what, digits(value), `${enough}`, `${goal}`]),
  );
}

/** Three significant digits, or a whole number from 100, and the unit; empty for NaN. */
export function digits(value: number, unit = ''): string {
  if (Number.isNaN(value)) return '';
  const rounded = Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : Number(value.toPrecision(3));
  return `${rounded}${unit}`;
}

/** Formats a Markdown table. All columns except the first are right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]) => `| ${cells.map(pad).join(' | ')} |`;
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
