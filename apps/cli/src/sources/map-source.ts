import { setMapping } from '@orders/database/sources/sources.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { printMapping } from '@orders/domain/sources/print-mapping.ts';
import type { SourcePreset } from '@orders/domain/sources/settings.ts';
import { whoami } from '../audit.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { readJsonFile, readMappingOf } from '../read-json-file.ts';
import { requireSource } from '../require-source.ts';
import type { Knex } from '../with-database.ts';
import { recordSourceAction, required } from './change-source.ts';
import { checkMapping, describeChecked } from './check-mapping.ts';

export interface MapOptions {
  file?: string;
  preset?: SourcePreset;
  check?: string;
  json?: boolean;
}

/** Prints a mapping, checks it with a delivery, or stores that of `--file`. */
export async function mapSource(
  context: Context,
  account: string | undefined,
  reference: string | undefined,
  options: MapOptions,
): Promise<void> {
  const { file, preset, check } = options;
  if (preset !== undefined ? account !== undefined || file !== undefined : reference === undefined)
    throw new UsageError('Give an account and a source, or only --preset.');
  const given = file === undefined ? undefined : readMappingOf('--file', await readJsonFile(file, '--file'));
  const find = (knex: Knex) => requireSource(knex, account as string, reference as string);
  if (given === undefined || check !== undefined) {
    const mapping = preset ? PRESETS[preset].mapping : (given ?? (await context.withDatabase(find)).mapping);
    if (check === undefined) return context.print(options, inSequence(mapping), () => printMapping(mapping));
    const checked = await checkMapping(check, mapping);
    return context.print(options, checked, () => describeChecked(checked));
  }
  const source = await context.withDatabase(async (knex) => {
    const { account_id, source_number } = await find(knex);
    return knex.transaction(async (trx) => {
      const change = { accountId: account_id, sourceNumber: source_number, mapping: given, by: whoami() };
      const changed = required(await setMapping(trx, change));
      await recordSourceAction(trx, 'source_mapping_changed', changed, { version: changed.mapping_version });
      return changed;
    });
  });
  const { mapping_version: version, source_number, account_id } = source;
  context.print(
    options,
    { account_id, source_number, mapping_version: version, mapping: inSequence(source.mapping) },
    () =>
      `Source ${source_number} has version ${version} of its mapping; intake uses it within 5 seconds. Deliveries that ended dead, mapping_failed, are mapped again by orders receipts redrive.`,
  );
}

/** The mapping with its members in the sequence of the documents. */
export function inSequence(mapping: OrderMapping): OrderMapping {
  return JSON.parse(printMapping(mapping));
}
