/**
 * A row of a table about normalization.
 *
 * The columns "sent as `path`" give the members of the sent order, a column "`path`" the stored value, and the column
 * "warnings" all warnings. A cell is a plain string, or JSON in backticks. An empty cell means: not sent, null, or no
 * warning. In the first column " · " separates alternatives with the same result. The pointer of a warning is the first
 * sent member unless the cell says "at /elsewhere".
 */
export type Row = { about: string; sent: Record<string, unknown>; stored: Record<string, unknown>; warnings: string[] };

/** Every row of all such tables in a Markdown document, except the table of the fields, which sends nothing. */
export function readTables(markdown: string): Row[] {
  const rows: Row[] = [];
  let heading = '';
  let header: string[] = [];
  for (const line of markdown.split('\n')) {
    const [, title] = /^#+ (.*)$/.exec(line) ?? [];
    if (title) heading = title;
    if (!line.startsWith('|')) header = [];
    else if (heading === OVERVIEW) continue;
    else if (header.length === 0) header = checkHeader(cellsOf(line));
    else if (!/^\|[\s|:-]+$/.test(line)) rows.push(...readRow(heading, header, cellsOf(line)));
  }
  return rows;
}

function cellsOf(line: string): string[] {
  const cells = line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/);
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const OVERVIEW = 'Fields';

function checkHeader(titles: string[]): string[] {
  const unknown = titles.filter((title) => !/^(?:sent as )?`[a-z_.0-9]+`$|^warnings$/.test(title));
  if (unknown.length > 0) throw new Error(`Unknown column "${unknown[0]}".`);
  return titles;
}

const isSent = (title: string) => title.startsWith('sent as ');
const pathOf = (title: string) => title.replace('sent as ', '').replaceAll('`', '');

function readRow(heading: string, header: string[], cells: string[]): Row[] {
  const columns = header.map((title, index) => ({ title, cell: cells[index] ?? '' }));
  const sentColumns = columns.filter(({ title }) => isSent(title));
  const expected = columns.filter(({ title }) => /^`.+`$/.test(title));
  const stored = Object.fromEntries(expected.map(({ title, cell }) => [pathOf(title), readCell(cell) ?? null]));
  const noted = columns.find(({ title }) => title === 'warnings')?.cell ?? '';
  const [first, ...others] = sentColumns;
  if (!first || cells.length !== header.length) throw new Error(`A row has the wrong cells: ${cells.join(' | ')}`);
  if (others.some(({ cell }) => cell.includes(' · '))) throw new Error('Alternatives are for the first column only.');
  const pointer = pointerOf(pathOf(first.title));
  const warnings = noted === '' ? [] : noted.split(', ').map((warning) => withPointer(warning, pointer));
  return first.cell.split(' · ').map((alternative) => {
    const values = [alternative, ...others.map(({ cell }) => cell)];
    const sent = Object.fromEntries(
      sentColumns.map(({ title }, index) => [pathOf(title), readCell(values[index] ?? '')]),
    );
    return { about: `${heading}: ${values.join(' | ')}`, sent, stored, warnings };
  });
}

function readCell(cell: string): unknown {
  if (cell === '') return undefined;
  return /^`.*`$/.test(cell) ? JSON.parse(cell.slice(1, -1)) : cell;
}

function withPointer(warning: string, pointer: string): string {
  const [code, at] = warning.replaceAll('`', '').split(' at ');
  return `${at ?? pointer} ${code}`;
}

function pointerOf(path: string): string {
  return `/${path.replaceAll('.', '/')}`;
}

/** The payload with these members: "customer.phone" and "items.0.sku" are inside objects and lists. */
export function toPayload(members: Record<string, unknown>): Record<string, unknown> {
  const payload: Record<string, unknown> = { source_order_id: 'row-1' };
  for (const [path, value] of Object.entries(members)) {
    if (value === undefined) continue;
    const names = path.split('.');
    let at: Record<string, unknown> = payload;
    for (const [index, name] of names.slice(0, -1).entries()) {
      at[name] ??= /^\d+$/.test(names[index + 1] ?? '') ? [] : {};
      at = at[name] as Record<string, unknown>;
    }
    at[names.at(-1) ?? ''] = value;
  }
  return payload;
}

/** The member at a path such as "items.0.quantity". */
export function memberAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], value);
}
