import type { Connection } from '@orders/database/run.ts';
import { findSecondFactors, hashRecoveryCode, setRecoveryCodes } from '@orders/database/users/second-factors.ts';
import { isAPIError } from 'better-auth/api';
import { generateRandomString } from 'better-auth/crypto';
import { fromNodeHeaders } from 'better-auth/node';
import type { Request } from 'express';
import type { Auth } from './create-auth.ts';

const CODES = 10;
/** 36 characters each: 82 bits, so that a hash without salt is enough. */
const CODE_LENGTH = 16;

/** Replaces a user's recovery codes. @returns the new ones, which cannot be read again. */
export async function renewRecoveryCodes(transaction: Connection, userId: string): Promise<string[]> {
  const codes = Array.from({ length: CODES }, () => generateRandomString(CODE_LENGTH, 'a-z', '0-9'));
  await setRecoveryCodes(transaction, userId, codes);
  return codes.map((code) => (code.match(/.{4}/g) as string[]).join('-'));
}

/** Gives a user recovery codes with their first second factor. @returns the codes; null when the user has some. */
export async function ensureRecoveryCodes(transaction: Connection, userId: string): Promise<string[] | null> {
  const { recovery_codes } = await findSecondFactors(transaction, userId);
  return recovery_codes > 0 ? null : renewRecoveryCodes(transaction, userId);
}

/** Uses up a recovery code of the signed-in user. @returns false when it is wrong. */
export async function takeRecoveryCode({ auth }: { auth: Auth }, request: Request, code: string): Promise<boolean> {
  try {
    await auth.api.verifyBackupCode({
      body: { code: hashRecoveryCode(code), disableSession: true },
      headers: fromNodeHeaders(request.headers),
    });
    return true;
  } catch (error) {
    if (!isAPIError(error) || error.statusCode >= 500) throw error;
    return false;
  }
}
