import { hkdfSync } from 'node:crypto';
import type { Database } from '@orders/database';
import { betterAuth } from 'better-auth';

/**
 * In UTF-16 units, and any characters: NIST SP 800-63B-4, section 3.1.1.2, asks for 15 where a password is all there is. What is longer
 * than 128 would only make us work.
 */
export const PASSWORD_LENGTH = { minPasswordLength: 15, maxPasswordLength: 128 };

/** What the portal asks of the authentication library: passwords, sessions and their cookie. It serves none of its routes. */
export type Auth = ReturnType<typeof createAuth>;

/**
 * The authentication library on our own tables (migration 004).
 *
 * @param options.secretsKey 32 bytes; the key that signs cookies is derived from it.
 * @param options.portalUrl where it is https, cookies are sent over nothing else.
 * @param options.lifetimeMs of a session after it was last used.
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
    // Ours counts by e-mail address too (limit-guessing.ts).
    rateLimit: { enabled: false },
    emailAndPassword: { enabled: true, disableSignUp: true, ...PASSWORD_LENGTH },
    advanced: {
      // Browsers take a cookie of this prefix from nobody but this very host, over https; the library knows only the weaker __Secure-.
      cookiePrefix: isHttps ? '__Host-orders' : 'orders',
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', secure: isHttps, path: '/' },
      // Nobody reads it.
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
