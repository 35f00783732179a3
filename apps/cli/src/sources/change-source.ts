import type { SecretsKeys } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import {
  replaceSourceId,
  replaceSourceSecret,
  setIdPrefix,
  setMapping,
} from '@orders/database/sources/change-sources.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { Problem } from '@orders/domain/problems.ts';
import { readSourceSecret } from '@orders/domain/sources/authenticate-delivery.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { parseDelivery } from '@orders/domain/sources/read-delivery.ts';
import { printMapping } from '@orders/domain/sources/read-mapping.ts';
import type { SourcePreset, SourceSettings } from '@orders/domain/sources/settings.ts';
import { validateOrder } from '@orders/domain/validate-order.ts';
import { whoami } from '../arguments.ts';
import { recordAction } from '../audit.ts';
import type { Output } from '../command.ts';
import type { Context } from '../context.ts';
import { orderEntries, warningLines } from '../describe-order.ts';
import { Failure, UsageError } from '../errors.ts';
import { explained, readJsonFile, readMappingOf, readOptionFile } from '../read-json-file.ts';
import { requireSource } from '../require.ts';
import { details } from '../table.ts';

export interface RotateOptions {
  url?: boolean;
  secret?: boolean;
  secretFile?: string;
  /** Milliseconds. */
  overlap: number;
}

export async function replaceUrl(database: Database, account: string, reference: string): Promise<Source> {
  const { account_id, source_number } = await requireSource(database, account, reference);
  return inTransaction(database, async (transaction) => {
    const source = required(await replaceSourceId(transaction, account_id, source_number));
    await recordSourceAction(transaction, 'source_url_replaced', source);
    return source;
  });
}

/** @throws {Problem} `id_prefix_fixed`, `id_prefix_taken`. */
export async function changePrefix(
  database: Database,
  [account, reference]: readonly [string, string],
  idPrefix: string,
): Promise<Source> {
  const { account_id, source_number } = await requireSource(database, account, reference);
  return inTransaction(database, async (transaction) => {
    const change = { accountId: account_id, sourceNumber: source_number, idPrefix };
    const source = required(await setIdPrefix(transaction, change));
    await recordSourceAction(transaction, 'source_id_prefix_changed', source, { id_prefix: idPrefix });
    return source;
  });
}

export async function replaceSecret(
  database: Database,
  keys: SecretsKeys,
  [account, reference]: readonly [string, string],
  options: RotateOptions,
): Promise<Source & { secret?: string }> {
  const { account_id, source_number, settings } = await requireSource(database, account, reference);
  const secret = await secretOf(options.secretFile, settings);
  const change = { accountId: account_id, sourceNumber: source_number, secret, overlapMs: options.overlap };
  return inTransaction(database, async (transaction) => {
    const source = required(await replaceSourceSecret(transaction, keys, change));
    await recordSourceAction(transaction, 'source_secret_replaced', source, { overlap_ms: options.overlap });
    return source;
  });
}

/** @throws {Failure} if another session removed the source after it was found. */
function required<Found>(source: Found | null): Found {
  if (source === null) throw new Failure('The source was removed a moment ago.');
  return source;
}

/** The secret in the file of `--secret-file`; undefined without one, so that a secret is made. */
export async function secretOf(file: string | undefined, { signature }: SourceSettings): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = (await readOptionFile(file, '--secret-file')).toString('utf8');
  return explained('--secret-file', () => readSourceSecret(signature, text));
}

/** Records an action on a source in the audit trail. */
export function recordSourceAction(
  transaction: Connection,
  action: string,
  source: Source,
  more: object = {},
): Promise<void> {
  const { account_id, source_number } = source;
  const details = { name: source.name, ...more };
  return recordAction(transaction, { accountId: account_id, action, subject: `source:${source_number}`, details });
}

const CONSEQUENCE = 'is stored and ends dead, mapping_failed.';

type Checked = Awaited<ReturnType<typeof checkMapping>>;

/**
 * Maps a delivery as the service would, and reads the result as it would.
 *
 * @param path of a file with the body of a delivery.
 * @throws {Failure} if the delivery would not become an order.
 */
async function checkMapping(path: string, mapping: OrderMapping) {
  const body = await readOptionFile(path, '--check');
  const payload = mapOrder(
    explained('--check', () => parseDelivery(body)),
    mapping,
  );
  if (payload.source_order_id === undefined)
    throw new Failure(`The mapping finds no source_order_id in ${path}. Such a delivery ${CONSEQUENCE}`);
  try {
    validateOrder(payload);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const details = error.errors?.map(({ pointer, detail }) => `${pointer}: ${detail}`).join(' ');
    throw new Failure(`${details} Such a delivery ${CONSEQUENCE}`);
  }
  return { payload, ...normalizeOrder(payload) };
}

function describeChecked({ order, warnings }: Checked): string {
  return details([
    ['source order', order.source_order_id],
    ['order number', order.order_number],
    ...orderEntries(order),
    ['warnings', warningLines(warnings) ?? 'none'],
  ]);
}

interface MapOptions {
  file?: string;
  preset?: SourcePreset;
  check?: string;
}

/** Prints a mapping, checks it with a delivery, or stores that of `--file`. */
export async function mapSource(
  context: Context,
  account: string | undefined,
  reference: string | undefined,
  { file, preset, check }: MapOptions,
): Promise<Output> {
  if (preset !== undefined ? account !== undefined || file !== undefined : reference === undefined)
    throw new UsageError('Give an account and a source, or only --preset.');
  const given = file === undefined ? undefined : readMappingOf('--file', await readJsonFile(file, '--file'));
  const find = (database: Database) => requireSource(database, account as string, reference as string);
  if (given === undefined || check !== undefined) {
    const mapping = preset ? PRESETS[preset].mapping : (given ?? (await context.withDatabase(find)).mapping);
    if (check === undefined) return [inSequence(mapping), printMapping(mapping)];
    const checked = await checkMapping(check, mapping);
    return [checked, describeChecked(checked)];
  }
  const source = await context.withDatabase(async (database) => {
    const { account_id, source_number } = await find(database);
    return inTransaction(database, async (transaction) => {
      const change = { accountId: account_id, sourceNumber: source_number, mapping: given, by: whoami() };
      const changed = required(await setMapping(transaction, change));
      await recordSourceAction(transaction, 'source_mapping_changed', changed, { version: changed.mapping_version });
      return changed;
    });
  });
  const { mapping_version: version, source_number, account_id } = source;
  return [
    { account_id, source_number, mapping_version: version, mapping: inSequence(source.mapping) },
    `Source ${source_number} has version ${version} of its mapping; intake uses it within 5 seconds. Deliveries that ended dead, mapping_failed, are mapped again by orders receipts redrive.`,
  ];
}

/** The mapping with its members in the sequence of the documents. */
export function inSequence(mapping: OrderMapping): OrderMapping {
  return JSON.parse(printMapping(mapping));
}
