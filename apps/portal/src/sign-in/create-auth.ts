import { hkdfSync } from 'node:crypto';
import { betterAuth } from 'better-auth';
import type pg from 'pg';

/** What the portal asks of the authentication library: passwords, sessions and their cookie. It serves none of its routes. */
export type Auth = ReturnType<typeof createAuth>;

/**
 * The authentication library on our own tables (migration 004).
 *
 * @param options.secretsKey 32 bytes; the key that signs cookies is derived from it.
 * @param options.portalUrl where it is https, cookies are sent over nothing else.
 * @param options.lifetimeMs of a session after it was last used.
 */
export function createAuth(options: { pool: pg.Pool; secretsKey: Buffer; portalUrl: string; lifetimeMs: number }) {
  const lifetime = Math.ceil(options.lifetimeMs / 1000);
  return betterAuth({
    appName: 'orders',
    baseURL: options.portalUrl,
    secret: Buffer.from(hkdfSync('sha256', options.secretsKey, '', 'portal sessions', 32)).toString('base64'),
    database: options.pool,
    telemetry: { enabled: false },
    logger: { disabled: true },
    // Ours counts by e-mail address too (limit-guessing.ts).
    rateLimit: { enabled: false },
    emailAndPassword: { enabled: true, disableSignUp: true, minPasswordLength: 12, maxPasswordLength: 128 },
    advanced: {
      cookiePrefix: 'orders',
      useSecureCookies: options.portalUrl.startsWith('https:'),
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax' },
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
