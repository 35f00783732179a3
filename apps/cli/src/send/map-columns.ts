import { UsageError } from '../errors.ts';
import { escapeControls } from '../sanitize.ts';

/**
 * The field of a column as path segments; null if the column is ignored, undefined if it has no heading and must be empty.
 */
export type Column = readonly string[] | null | undefined;

/** The file of `--map`: for each heading an RFC 6901 pointer to a field, or null to ignore the column. */
export type ColumnMap = Readonly<Record<string, string | null>>;

/** The fields of an order. An address may have parts of any name; customer and items may be plain strings. */
const FIELD =
  /^\/(source_order_id|order_number|customer(\/(name|phone|email|id))?|address(\/.+)?|emirate|area|items(\/\d{1,3}\/(name|quantity|sku))?|total|currency|delivery_instructions)$/;

/** @throws {UsageError} if the text is not such a map. */
export function parseColumnMap(text: string): ColumnMap {
  const map = parse(text);
  if (typeof map !== 'object' || map === null || Array.isArray(map))
    throw new UsageError('--map takes a file with one JSON object: {"Order no.": "/source_order_id", "Notes": null}.');
  const invalid = Object.entries(map).find(
    ([, pointer]) => pointer !== null && !(typeof pointer === 'string' && FIELD.test(pointer)),
  );
  if (invalid)
    throw new UsageError(
      `--map: what "${escapeControls(invalid[0])}" is mapped to is not a field of an order; a field is written as /source_order_id, /customer/phone or /items/0/name.`,
    );
  return map as ColumnMap;
}

/**
 * The field of each column: from the map, else from its heading, which may be a field (`total`) or a path to one (`customer.phone`,
 * `items.0.name`).
 *
 * @throws {UsageError} with the headings that match no field (unless ignored) or the same field.
 */
export function mapColumns(headings: readonly string[], map: ColumnMap, ignoreUnmapped: boolean): Column[] {
  const unmapped: string[] = [];
  const columns = headings.map((heading) => {
    const pointer = Object.hasOwn(map, heading) ? map[heading] : pointerOf(heading);
    if (pointer === undefined && heading === '' && !ignoreUnmapped) return undefined;
    if (pointer === undefined && heading !== '') unmapped.push(heading);
    return pointer ? segmentsOf(pointer) : null;
  });
  if (unmapped.length > 0 && !ignoreUnmapped) {
    const advice = 'map them with --map (to null to leave one out), or leave all of them out with --ignore-unmapped';
    throw new UsageError(`These headings lead to no field of an order: ${quoted(unmapped)}; ${advice}.`);
  }
  const missing = Object.keys(map).filter((heading) => !headings.includes(heading));
  if (missing.length > 0) throw new UsageError(`--map names headings that are not there: ${quoted(missing)}.`);
  rejectConflicts(headings, columns);
  if (!columns.some((column) => column?.[0] === 'source_order_id'))
    throw new UsageError('No column leads to source_order_id, which each order needs; name it with --map.');
  return columns;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return null;
  }
}

function pointerOf(heading: string): string | undefined {
  const pointer = `/${heading
    .split('.')
    .map((segment) => segment.replaceAll('~', '~0').replaceAll('/', '~1'))
    .join('/')}`;
  return FIELD.test(pointer) ? pointer : undefined;
}

function segmentsOf(pointer: string): string[] {
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Two columns must not have the same field, nor one a part of the other's. */
function rejectConflicts(headings: readonly string[], columns: readonly Column[]): void {
  const paths = columns.map((column) => (column ? `/${column.join('/')}/` : null));
  for (const [first, path] of paths.entries()) {
    const second = paths.findIndex((other, at) => at !== first && path !== null && other?.startsWith(path));
    if (second >= 0)
      throw new UsageError(
        `The columns ${quoted([headings[first] ?? '', headings[second] ?? ''])} lead to the same field.`,
      );
  }
}

function quoted(headings: readonly string[]): string {
  return headings.map((heading) => `"${escapeControls(heading)}"`).join(', ');
}
