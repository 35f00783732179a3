import { hkdfSync } from 'node:crypto';
import type { Database } from '@orders/database';
import { betterAuth } from 'better-auth';

/**
 * In UTF-16 units; any characters. NIST SP 800-63B-4, section 3.1.1.2, requires 15 when the password is the only factor. The maximum bounds
 * the cost of hashing.
 */
export const PASSWORD_LENGTH = { minPasswordLength: 15, maxPasswordLength: 128 };

/** The authentication library, used for passwords, sessions and their cookie. Its HTTP routes are not served. */
export type Auth = ReturnType<typeof createAuth>;

/**
 * Configures the authentication library for the tables of migration 004.
 *
 * @param options.secretsKey 32 bytes; the key that signs cookies is derived from it.
 * @param options.portalUrl with https, cookies are `Secure`.
 * @param options.lifetimeMs idle time after which a session ends.
 */
export function createAuth(options: {
  pool: Database['pool'];
  secretsKey: Buffer;
  portalUrl: string;
  lifetimeMs: number;
}) {
  const lifetime = Math.ceil(options.lifetimeMs / 1000);
  const isHttps = options.portalUrl.startsWith('https:');
  return betterAuth({
    appName: 'orders',
    baseURL: options.portalUrl,
    secret: Buffer.from(hkdfSync('sha256', options.secretsKey, '', 'portal sessions', 32)).toString('base64'),
    database: options.pool,
    telemetry: { enabled: false },
    logger: { disabled: true },
    // throttle-sign-in.ts counts by e-mail address too.
    rateLimit: { enabled: false },
    emailAndPassword: { enabled: true, disableSignUp: true, ...PASSWORD_LENGTH },
    advanced: {
      // Browsers accept a __Host- cookie from this very host over https only; the library itself offers only the weaker __Secure-.
      cookiePrefix: isHttps ? '__Host-orders' : 'orders',
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', secure: isHttps, path: '/' },
      // Nothing reads it.
      ipAddress: { disableIpTracking: true },
    },
    user: {
      modelName: 'users',
      fields: {
        emailVerified: 'email_verified',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      additionalFields: {
        role: { type: 'string', required: true, input: false },
        accountId: { type: 'number', required: false, input: false, fieldName: 'account_id' },
      },
    },
    session: {
      modelName: 'user_sessions',
      expiresIn: lifetime,
      updateAge: Math.ceil(lifetime / 12),
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
      },
    },
    account: {
      modelName: 'user_credentials',
      fields: {
        userId: 'user_id',
        accountId: 'provider_account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    verification: {
      modelName: 'user_verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
  });
}
