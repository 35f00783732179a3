import type { Database } from '@orders/database/connect.ts';
import { inTransaction } from '@orders/database/run.ts';
import { setMapping } from '@orders/database/sources/change-sources.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { Problem } from '@orders/domain/problems.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { parseDelivery } from '@orders/domain/sources/read-delivery.ts';
import { printMapping } from '@orders/domain/sources/read-mapping.ts';
import type { SourcePreset } from '@orders/domain/sources/settings.ts';
import { validateOrder } from '@orders/domain/validate-order.ts';
import { whoami } from '../arguments.ts';
import type { Output } from '../command.ts';
import type { Context } from '../context.ts';
import { orderEntries, warningLines } from '../describe-order.ts';
import { Failure, UsageError } from '../errors.ts';
import { explained, readJsonFile, readMappingOf, readOptionFile } from '../read-json-file.ts';
import { requireSource } from '../require.ts';
import { details } from '../table.ts';
import { recordSourceAction, required } from './change-source.ts';

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
