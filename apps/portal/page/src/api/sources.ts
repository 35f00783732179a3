import type { DeliveryOutcome, StoredDelivery } from '@orders/database/sources/activity.ts';
import type { MappingVersion } from '@orders/database/sources/sources.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import type { SourcePreset, SourceSettings } from '@orders/domain/sources/settings.ts';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { MappingPreview } from '../../../src/integrations/preview-mapping.ts';
import type { SourceJson } from '../../../src/integrations/source-json.ts';
import { call, isProblem, type Json } from './client.ts';
import type { Grace } from './integrations.ts';
import { useGet } from './queries.ts';

export type { OrderMapping, SourcePreset, SourceSettings };

/** The platforms, as they are offered. */
export const PRESETS: readonly SourcePreset[] = [
  'shopify',
  'woocommerce',
  'salla',
  'zid',
  'standard-webhooks',
  'custom',
];

/** A source with its activity. Counts are of the last seven days. */
export type Source = Json<SourceJson> & {
  last_at: string | null;
  counts: Partial<Record<DeliveryOutcome, number>>;
  /** Dead receipts whose delivery could not be mapped. */
  dead: number;
};

/** A reply that may contain the secret that was created. */
export type SourceWithSecret = Json<SourceJson> & { secret?: string };

export type Version = Json<Omit<MappingVersion, 'mapping'>> & { mapping: OrderMapping };

/** `raw` is null if it is too long to show, or not text. */
export type Delivery = Json<Omit<StoredDelivery, 'raw'>> & { raw: string | null };

export type Preview = Json<MappingPreview>;

const POLL_INTERVAL_MS = 2000;
const MAX_RETRIES = 5;

const at = (accountId: number) => `/accounts/${accountId}/sources`;

/** @param everyMs how often it is asked for again. */
export function useSources(accountId: number, everyMs = 5 * POLL_INTERVAL_MS): UseQueryResult<Source[]> {
  return useGet(['sources', accountId], at(accountId), {
    select: (reply: { sources: Source[] }) => reply.sources,
    refetchInterval: everyMs,
  });
}

/** The reply with the versions in the cache. */
export interface Mappings {
  mappings: Version[];
}

/** Its key. */
export const mappingsKey = (accountId: number, sourceNumber: number) => [
  'sources',
  accountId,
  sourceNumber,
  'mappings',
];

/** The versions of a source's mapping, newest first; the first is in use. */
export function useMappings(accountId: number, sourceNumber: number): UseQueryResult<Version[]> {
  return useGet(mappingsKey(accountId, sourceNumber), `${at(accountId)}/${sourceNumber}/mappings`, {
    select: ({ mappings }: Mappings) => mappings,
  });
}

/** The newest deliveries that have a receipt, and the receipt of the newest that could not be mapped. */
export interface Deliveries {
  deliveries: Delivery[];
  newest_failed: string | null;
}

/** Polled, less often once there is one, because they can be long. */
export function useDeliveries(accountId: number, sourceNumber: number): UseQueryResult<Deliveries> {
  const path = `${at(accountId)}/${sourceNumber}/deliveries`;
  return useGet<Deliveries>(['sources', accountId, sourceNumber, 'deliveries'], path, {
    refetchInterval: ({ state }) => (state.data?.deliveries.length ? 5 : 1) * POLL_INTERVAL_MS,
  });
}

/** The order that a mapping makes of a delivery; the last one while the next is asked for. */
export function usePreview(accountId: number, mapping: unknown, delivery: string): UseQueryResult<Preview> {
  return useQuery({
    queryKey: ['preview', accountId, mapping, delivery],
    queryFn: ({ signal }) => call<Preview>('POST', `${at(accountId)}/preview`, { body: { mapping, delivery }, signal }),
    enabled: delivery !== '' && mapping !== null,
    placeholderData: keepPreviousData,
    // Each contains a delivery.
    gcTime: 0,
    retry: (count, error) => isProblem(error, 'rate_limited') && count < MAX_RETRIES,
    refetchOnWindowFocus: false,
  });
}

/** @param secret without one, it is created. */
export function replaceSecret(
  accountId: number,
  sourceNumber: number,
  body: { secret?: string; overlap: Grace },
): Promise<SourceWithSecret> {
  return call('POST', `${at(accountId)}/${sourceNumber}/secret`, { body });
}
