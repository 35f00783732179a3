import type { SecretsKeys } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { replaceSourceId, replaceSourceSecret, setIdPrefix } from '@orders/database/sources/change-sources.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import { readSourceSecret } from '@orders/domain/sources/authenticate-delivery.ts';
import type { SourceSettings } from '@orders/domain/sources/settings.ts';
import { recordAction } from '../audit.ts';
import { Failure } from '../errors.ts';
import { explained, readOptionFile } from '../read-json-file.ts';
import { requireSource } from '../require.ts';

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
export function required<Found>(source: Found | null): Found {
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
