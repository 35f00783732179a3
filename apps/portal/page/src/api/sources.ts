import type { DeliveryOutcome, StoredDelivery } from '@orders/database/sources/activity.ts';
import type { MappingVersion } from '@orders/database/sources/sources.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import type { LifeRow } from '@orders/domain/sources/platform-states.ts';
import type { SourcePreset, SourceSettings } from '@orders/domain/sources/settings.ts';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { MappingPreview } from '../../../src/integrations/preview-mapping.ts';
import type { SourceJson } from '../../../src/integrations/source-json.ts';
import { call, isProblem, type Json } from './client.ts';
import type { Grace } from './integrations.ts';

export type { LifeRow, OrderMapping, SourcePreset, SourceSettings };

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

export interface NewSource {
  name: string;
  preset: SourcePreset;
  settings?: Partial<SourceSettings>;
}

const POLL_INTERVAL_MS = 2000;
const MAX_RETRIES = 5;

const at = (accountId: number) => `/accounts/${accountId}/sources`;

/** @param everyMs how often it is asked for again. */
export function useSources(accountId: number, everyMs = 5 * POLL_INTERVAL_MS): UseQueryResult<Source[]> {
  return useQuery({
    queryKey: ['sources', accountId],
    queryFn: async ({ signal }) => (await call<{ sources: Source[] }>('GET', at(accountId), { signal })).sources,
    refetchInterval: everyMs,
  });
}

/** The key of the versions in the cache. */
export const mappingsKey = (accountId: number, sourceNumber: number) => [
  'sources',
  accountId,
  sourceNumber,
  'mappings',
];

/** The versions of a source's mapping, newest first; the first is in use. */
export function useMappings(accountId: number, sourceNumber: number): UseQueryResult<Version[]> {
  return useQuery({
    queryKey: mappingsKey(accountId, sourceNumber),
    queryFn: async ({ signal }) =>
      (await call<{ mappings: Version[] }>('GET', `${at(accountId)}/${sourceNumber}/mappings`, { signal })).mappings,
  });
}

/** What each topic and status of the source's platform becomes; empty for a source that belongs to no platform. */
export function useLife(accountId: number, sourceNumber: number): UseQueryResult<LifeRow[]> {
  return useQuery({
    queryKey: ['sources', accountId, sourceNumber, 'life'],
    queryFn: async ({ signal }) =>
      (await call<{ life: LifeRow[] }>('GET', `${at(accountId)}/${sourceNumber}/life`, { signal })).life,
  });
}

/** The newest deliveries that have a receipt, and the receipt of the newest that could not be mapped. */
export interface Deliveries {
  deliveries: Delivery[];
  newest_failed: string | null;
}

/** Polled, less often once there is one, because they can be long. */
export function useDeliveries(accountId: number, sourceNumber: number): UseQueryResult<Deliveries> {
  return useQuery({
    queryKey: ['sources', accountId, sourceNumber, 'deliveries'],
    queryFn: ({ signal }) => call<Deliveries>('GET', `${at(accountId)}/${sourceNumber}/deliveries`, { signal }),
    refetchInterval: ({ state }) => (state.data?.deliveries.length ? 5 : 1) * POLL_INTERVAL_MS,
  });
}

/** One delivery, for one that is not among the newest; null asks for none. */
export function useDelivery(accountId: number, sourceNumber: number, receiptId: string | null) {
  return useQuery({
    queryKey: ['sources', accountId, sourceNumber, 'deliveries', receiptId],
    queryFn: ({ signal }) =>
      call<Delivery>('GET', `${at(accountId)}/${sourceNumber}/deliveries/${receiptId}`, { signal }),
    enabled: receiptId !== null,
    refetchInterval: 5 * POLL_INTERVAL_MS,
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

/** Saves a mapping that was made from this version. The reply has no version if it was cut off. */
export function saveMapping(
  accountId: number,
  sourceNumber: number,
  body: { mapping: unknown; version: number },
): Promise<Partial<Json<SourceJson>>> {
  return call('PUT', `${at(accountId)}/${sourceNumber}/mapping`, { body });
}

// Requests that return a secret go through `useAction`. The cache of a query or mutation would keep the secret.

export function createSource(accountId: number, source: NewSource): Promise<SourceWithSecret> {
  return call('POST', at(accountId), { body: source });
}

/** @param secret without one, it is created. */
export function replaceSecret(
  accountId: number,
  sourceNumber: number,
  body: { secret?: string; overlap: Grace },
): Promise<SourceWithSecret> {
  return call('POST', `${at(accountId)}/${sourceNumber}/secret`, { body });
}
