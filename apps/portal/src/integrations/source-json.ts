import type { Connection } from '@orders/database/run.ts';
import { findSource, type Source } from '@orders/database/sources/sources.ts';
import { Problem } from '@orders/domain/problems.ts';
import { readSourceSecret } from '@orders/domain/sources/authenticate-delivery.ts';
import type { SourceSettings } from '@orders/domain/sources/settings.ts';
import type { Request } from 'express';
import { recordBy } from '../audit/record.ts';
import { accountIdOf } from '../context.ts';
import { idOf, MAX_SMALL_ID } from '../read-request.ts';

/** A source as the portal shows it. Its mapping can be long and has a route of its own. */
export interface SourceJson
  extends Pick<
    Source,
    | 'source_number'
    | 'name'
    | 'preset'
    | 'settings'
    | 'mapping_version'
    | 'created_at'
    | 'id_prefix'
    | 'secret_replaced'
    | 'previous_until'
  > {
  /** Whether it took an order or a cancellation; its prefix stays from then on. */
  is_used: boolean;
  /** The address to paste into the platform; null for those who may not develop, as anybody who knows it can send to it. */
  url: string | null;
}

export function sourceJson(source: Source, intakeUrl: string): SourceJson {
  const { source_number, name, preset, settings, mapping_version, created_at, id_prefix } = source;
  const { secret_replaced, previous_until, used_at } = source;
  const url = `${intakeUrl}/ingest/sources/${source.source_id}`;
  const about = { source_number, name, preset, url, settings, mapping_version, created_at };
  return { ...about, id_prefix, is_used: used_at !== null, secret_replaced, previous_until };
}

/** The number of the source in the path. @throws {Problem} `source_not_found` if it is not a valid one. */
export function sourceNumberOf(request: Request): number {
  const number = idOf(request.params.number, MAX_SMALL_ID);
  if (number === null) throw new Problem('source_not_found');
  return number;
}

/** The source in the path. @throws {Problem} `source_not_found`. */
export async function sourceOf(connection: Connection, request: Request): Promise<Source> {
  const source = await findSource(connection, accountIdOf(request), sourceNumberOf(request));
  if (!source) throw new Problem('source_not_found');
  return source;
}

/** A secret that was pasted, if there is one. @throws {Problem} `invalid_request`. */
export function secretOf({ signature }: SourceSettings, secret: string | undefined): string | undefined {
  if (secret === undefined) return undefined;
  try {
    return readSourceSecret(signature, secret);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { detail } = error;
    throw new Problem('invalid_request', { detail, errors: [{ pointer: '/secret', code: 'invalid', detail }] });
  }
}

/** Writes an audit entry about a source. */
export function recordSource(
  transaction: Connection,
  request: Request,
  action: string,
  { account_id, source_number, name }: Source,
  more: object = {},
): Promise<void> {
  const details = { name, ...more };
  return recordBy(transaction, request, { accountId: account_id, action, subject: `source:${source_number}`, details });
}
