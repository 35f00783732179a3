import type { ApiKey, NewApiKey } from '@orders/database/accounts/api-keys.ts';
import type { SigningSecret, SigningSecretRow } from '@orders/database/accounts/signing-secrets.ts';
import type { KeyScope } from '@orders/domain/api-key.ts';
import type { AccountSetup } from '@orders/portal/integrations/account-setup.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Json } from './client.ts';
import { useGet } from './queries.ts';

export type Key = Json<ApiKey>;
export type NewKey = Json<NewApiKey>;
export type SecretRow = Json<SigningSecretRow>;
export type Secret = Json<SigningSecret>;

/** How long a replaced key or secret still works, in the order shown. */
export const GRACE_PERIODS = ['none', '1h', '24h', '7d'] as const;
export type Grace = (typeof GRACE_PERIODS)[number];

/** In the order shown; the same as `KEY_SCOPES` of `packages/domain`. */
export const SCOPES = ['send', 'cancel', 'read'] as const satisfies KeyScope[];
export type Scope = (typeof SCOPES)[number];

/** The lifetimes of a new key, in the order shown. */
export const LIFETIMES = ['never', '30d', '90d', '365d'] as const;
export type Lifetime = (typeof LIFETIMES)[number];

const POLL_INTERVAL_MS = 2000;

/** The first steps that the account has done; polled, as a test order is processed in the background. */
export function useSetup(accountId: number, isEnabled: boolean): UseQueryResult<AccountSetup> {
  return useGet(['setup', accountId], `/accounts/${accountId}/setup`, {
    refetchInterval: POLL_INTERVAL_MS,
    enabled: isEnabled,
  });
}
