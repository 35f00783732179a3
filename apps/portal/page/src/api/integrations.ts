import type { Account } from '@orders/database/accounts/accounts.ts';
import type { ApiKey, NewApiKey } from '@orders/database/accounts/api-keys.ts';
import type { SigningSecret, SigningSecretRow } from '@orders/database/accounts/signing-secrets.ts';
import type { RejectedDelivery } from '@orders/database/rejected-deliveries.ts';
import type { KeyScope } from '@orders/domain/api-key.ts';
import type { AccountSetup } from '@orders/portal/integrations/account-setup.ts';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call, type Json } from './client.ts';

export type Key = Json<ApiKey>;
export type NewKey = Json<NewApiKey>;
export type SecretRow = Json<SigningSecretRow>;
export type Secret = Json<SigningSecret>;
export type Rejected = Json<RejectedDelivery>;

/** The account's setting for an order in review that is sent again with other content. */
export type ChangedDeliveriesChoice = Account['resends'];

/** Within how many minutes of its receipt an order is to be decided. */
export type ReviewTargetChoice = 'none' | `${number}`;

/** How long a replaced key or secret still works, in the order shown. */
export const GRACE_PERIODS = ['none', '1h', '24h', '7d'] as const;
export type Grace = (typeof GRACE_PERIODS)[number];

/** In the order shown; the same as `KEY_SCOPES` of `packages/domain`. */
export const SCOPES = ['send', 'cancel', 'read'] as const satisfies KeyScope[];
export type Scope = (typeof SCOPES)[number];

/** The lifetimes of a new key, in the order shown. */
export const LIFETIMES = ['never', '30d', '90d', '365d'] as const;
export type Lifetime = (typeof LIFETIMES)[number];

export interface KeyRequest {
  name: string;
  scopes: Scope[];
  expires: Lifetime;
  addresses: string[];
}

export interface Signing {
  secrets: SecretRow[];
  /** Whether the account accepts signed deliveries only. */
  signed_only: boolean;
}

const POLL_INTERVAL_MS = 2000;

const at = (accountId: number) => `/accounts/${accountId}`;

export function useKeys(accountId: number): UseQueryResult<Key[]> {
  return useQuery({
    queryKey: ['keys', accountId],
    queryFn: async ({ signal }) => (await call<{ keys: Key[] }>('GET', `${at(accountId)}/keys`, { signal })).keys,
  });
}

/** The signing secrets without their texts, and whether deliveries must be signed. */
export function useSigning(accountId: number): UseQueryResult<Signing> {
  return useQuery({
    queryKey: ['signing', accountId],
    queryFn: ({ signal }) => call<Signing>('GET', `${at(accountId)}/signing`, { signal }),
    refetchInterval: 10 * POLL_INTERVAL_MS,
  });
}

export function useRejected(accountId: number): UseQueryResult<Rejected[]> {
  return useQuery({
    queryKey: ['rejected', accountId],
    queryFn: async ({ signal }) => {
      const path = `${at(accountId)}/rejected-deliveries`;
      return (await call<{ rejected_deliveries: Rejected[] }>('GET', path, { signal })).rejected_deliveries;
    },
    refetchInterval: POLL_INTERVAL_MS,
  });
}

export function useChangedDeliveriesChoice(accountId: number): UseQueryResult<ChangedDeliveriesChoice> {
  return useQuery({
    queryKey: ['resends', accountId],
    queryFn: async ({ signal }) =>
      (await call<{ resends: ChangedDeliveriesChoice }>('GET', `${at(accountId)}/resends`, { signal })).resends,
  });
}

/** The account's review target in minutes, as text. */
export function useReviewTarget(accountId: number): UseQueryResult<ReviewTargetChoice> {
  return useQuery({
    queryKey: ['review target', accountId],
    queryFn: async ({ signal }) => {
      const { minutes } = await call<{ minutes: number | null }>('GET', `${at(accountId)}/review-target`, { signal });
      return minutes === null ? 'none' : `${minutes}`;
    },
  });
}

/** The first steps that the account has done; polled, as a test order is processed in the background. */
export function useSetup(accountId: number, isEnabled: boolean): UseQueryResult<AccountSetup> {
  return useQuery({
    queryKey: ['setup', accountId],
    queryFn: ({ signal }) => call<AccountSetup>('GET', `${at(accountId)}/setup`, { signal }),
    refetchInterval: POLL_INTERVAL_MS,
    enabled: isEnabled,
  });
}

// Requests that return a secret go through `useAction`. The cache of a query or mutation would keep the secret.

export function createKey(accountId: number, key: KeyRequest): Promise<NewKey> {
  return call('POST', `${at(accountId)}/keys`, { body: key });
}

export function updateKey(accountId: number, keyId: number, limits: Partial<Omit<KeyRequest, 'name'>>): Promise<Key> {
  return call('PATCH', `${at(accountId)}/keys/${keyId}`, { body: limits });
}

export function replaceKey(accountId: number, keyId: number, grace: Grace): Promise<NewKey> {
  return call('POST', `${at(accountId)}/keys/${keyId}/replace`, { body: { grace } });
}
