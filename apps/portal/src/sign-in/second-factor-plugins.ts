import { passkey } from '@better-auth/passkey';
import { APIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins/two-factor';

/** Digits and seconds of the codes, which all authenticator apps support. */
export const TOTP = { digits: 6, period: 30 } as const;

/** Routes of the library that open a session after a second factor was checked. */
const SECOND_FACTOR_PATHS: ReadonlySet<string> = new Set([
  '/two-factor/verify-totp',
  '/two-factor/verify-backup-code',
  '/passkey/verify-authentication',
]);

/** Whether a session that this route of the library opens has a second factor. */
export function provesSecondFactor(path: string | undefined): boolean {
  return path !== undefined && SECOND_FACTOR_PATHS.has(path);
}

/** A passkey counts as both factors, so a response whose authenticator has not verified its user is rejected. The library accepts it. */
function requireUserVerified(isVerified: boolean | undefined): void {
  if (!isVerified) throw new APIError('UNAUTHORIZED', { message: 'user not verified' });
}

/**
 * Passkeys for the host of the portal. Challenges end after five minutes, work once, and belong to the browser that has their cookie.
 */
export function passkeyPlugin(portalUrl: string) {
  const { hostname, origin } = new URL(portalUrl);
  return passkey({
    rpID: hostname,
    rpName: 'Orders',
    origin,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    registration: {
      afterVerification: ({ verification }) => requireUserVerified(verification.registrationInfo?.userVerified),
    },
    authentication: {
      afterVerification: ({ verification }) => requireUserVerified(verification.authenticationInfo.userVerified),
    },
    advanced: { webAuthnChallengeCookie: 'passkey_challenge' },
    schema: {
      passkey: {
        modelName: 'user_passkeys',
        fields: {
          publicKey: 'public_key',
          userId: 'user_id',
          credentialID: 'credential_id',
          deviceType: 'device_type',
          backedUp: 'backed_up',
          createdAt: 'created_at',
        },
      },
    },
  });
}

/**
 * The second step of a sign-in by password. Recovery codes are stored as hashes, so they must be hashed before the library compares them.
 * check-code.ts counts attempts, for the audit trail too.
 */
export function twoFactorPlugin() {
  return twoFactor({
    issuer: 'Orders',
    totpOptions: TOTP,
    backupCodeOptions: { storeBackupCodes: 'plain' },
    accountLockout: { enabled: false },
    schema: {
      user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
      twoFactor: {
        modelName: 'user_second_factors',
        fields: {
          backupCodes: 'backup_codes',
          userId: 'user_id',
          failedVerificationCount: 'failed_verification_count',
          lockedUntil: 'locked_until',
        },
      },
    },
  });
}
