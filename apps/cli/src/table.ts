import { escapeControls } from './sanitize.ts';

/** Max width of tables and details, in columns. */
const LINE_WIDTH = 100;
const GAP = '  ';
const MIN_WIDTH = 8;

export type Cell = string | number | Date | null;

export interface Column<Row> {
  head: string;
  cell: (row: Row) => Cell;
  /** May be truncated if the line is too long. */
  shrinks?: boolean;
  right?: boolean;
}

/** Formats rows as aligned columns; shrinks the widest of the columns with `shrinks` until a line fits. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const lines = [columns.map(({ head }) => head)];
  for (const row of rows) lines.push(columns.map(({ cell }) => textOf(cell(row)).replace(/\s+/g, ' ')));
  const widths = narrow(
    columns,
    columns.map((_, at) => lines.reduce((widest, line) => Math.max(widest, widthOf(line[at] as string)), 0)),
  );
  return lines
    .map((line) =>
      columns.map(({ right }, at) => pad(line[at] as string, widths[at] as number, right === true)).join(GAP),
    )
    .map((line) => line.trimEnd())
    .join('\n');
}

/** Formats names and values, one per line; wraps long values and omits undefined ones. */
export function details(entries: readonly (readonly [string, Cell | undefined])[]): string {
  const shown = entries.filter((entry): entry is [string, Cell] => entry[1] !== undefined);
  const indent = Math.max(...shown.map(([name]) => name.length)) + GAP.length;
  return shown
    .map(([name, value]) => {
      const lines = textOf(value)
        .split('\n')
        .flatMap((line) => wrap(line, LINE_WIDTH - indent));
      return name.padEnd(indent) + lines.join(`\n${' '.repeat(indent)}`);
    })
    .join('\n');
}

function textOf(cell: Cell): string {
  if (cell === null || cell === '') return '-';
  // 2026-03-01 18:04:05Z
  if (cell instanceof Date) return cell.toISOString().replace('T', ' ').replace(/\.\d+/, '');
  return escapeControls(String(cell));
}

function narrow<Row>(columns: readonly Column<Row>[], natural: readonly number[]): number[] {
  const widths = [...natural];
  const excess = () => widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - LINE_WIDTH;
  while (excess() > 0) {
    const candidates = widths.map((width, at) => (columns[at]?.shrinks && width > MIN_WIDTH ? width : 0));
    const widest = Math.max(...candidates);
    if (widest === 0) break;
    widths[candidates.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function pad(text: string, width: number, right: boolean): string {
  const cut = widthOf(text) > width ? `${cutTo(text, width - 1)}…` : text;
  const padding = ' '.repeat(Math.max(0, width - widthOf(cut)));
  return right ? padding + cut : cut + padding;
}

function wrap(line: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const segmenter = new Intl.Segmenter();
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uFF01-\uFF60]/u;

/** Approximate width of a string in terminal columns: combining marks take none, wide characters two. */
function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

function cutTo(text: string, width: number): string {
  let kept = '';
  for (const { segment } of segmenter.segment(text)) {
    if (widthOf(kept + segment) > width) break;
    kept += segment;
  }
  return kept;
}

/** 12,345 */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** A count with its noun: `1 order`, `12,345 orders`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
