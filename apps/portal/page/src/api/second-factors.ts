import type { SecondFactors } from '@orders/database/users/second-factors.ts';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call } from './client.ts';
import type { Json } from './types.ts';

export type OwnSecondFactors = Json<SecondFactors> & { required: boolean };

export const SECOND_FACTORS_KEY = ['second-factors'];

/** The user's own second factors. */
export function useSecondFactors(): UseQueryResult<OwnSecondFactors> {
  return useQuery({
    queryKey: SECOND_FACTORS_KEY,
    queryFn: ({ signal }) => call<OwnSecondFactors>('GET', '/second-factors', { signal }),
  });
}

/** Starts the set-up of an authenticator app. @returns the address that its QR code has. */
export async function startTotp(): Promise<string> {
  return (await call<{ uri: string }>('POST', '/second-factors/totp')).uri;
}

/** Ends the set-up. @returns recovery codes, unless the user has some. */
export async function verifyTotp(code: string): Promise<string[] | null> {
  const body = { code };
  return (await call<{ recovery_codes: string[] | null }>('POST', '/second-factors/totp/verify', { body }))
    .recovery_codes;
}

export async function renewRecoveryCodes(): Promise<string[]> {
  return (await call<{ recovery_codes: string[] }>('POST', '/second-factors/recovery-codes')).recovery_codes;
}
