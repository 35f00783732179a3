import type { SecretsKeys } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import { authSecretsOf } from '@orders/database/users/auth-secrets.ts';
import { type BetterAuthPlugin, betterAuth } from 'better-auth';
import { createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import type { PasswordHasher } from './password-hasher.ts';
import { passkeyPlugin, provesSecondFactor, twoFactorPlugin } from './second-factor-plugins.ts';

/** A session of a user who proved who they are by other means than the password. */
interface ProvenSession {
  userId: string;
  hasProvedSecondFactor: boolean;
  /** Null if that is not known. */
  authenticatedAt: Date | null;
}

/** Adds `auth.api.openProvenSession`, which checks nothing and is no HTTP route. */
const provenSession = {
  id: 'proven-session',
  endpoints: {
    openProvenSession: createAuthEndpoint(
      { method: 'POST', metadata: { SERVER_ONLY: true, $Infer: { body: {} as ProvenSession } } },
      async (context) => {
        const { userId, hasProvedSecondFactor, authenticatedAt } = context.body;
        const { internalAdapter } = context.context;
        const user = await internalAdapter.findUserById(userId);
        if (!user) throw new Error('the user was removed in the meantime');
        // The last argument lets these values replace the defaults of create-auth.ts.
        const values = { secondFactor: hasProvedSecondFactor, authenticatedAt };
        const session = await internalAdapter.createSession(userId, false, values, true);
        await setSessionCookie(context, { session, user });
      },
    ),
  },
} satisfies BetterAuthPlugin;

/**
 * Any characters; the minimum in Unicode characters, the maximum in UTF-16 units. NIST SP 800-63B-4, section 3.1.1.2, requires 15 when the
 * password is the only factor. The maximum bounds the cost of hashing.
 */
export const PASSWORD_LENGTH = { minPasswordLength: 15, maxPasswordLength: 128 };

/** The authentication library, used for passwords, sessions and their cookie. Its HTTP routes are not served. */
export type Auth = ReturnType<typeof createAuth>;

/**
 * Configures the authentication library for the tables of `people.sql` and `sign-in.sql`.
 *
 * @param options.secretsKeys 32 bytes each; the key that signs cookies and encrypts secrets of authenticator apps is derived from the current
 *   one, and from the previous one a key that decrypts.
 * @param options.portalUrl with https, cookies are `Secure`.
 * @param options.lifetimeMs idle time after which a session ends.
 */
export function createAuth(options: {
  pool: Database['pool'];
  secretsKeys: SecretsKeys;
  portalUrl: string;
  lifetimeMs: number;
  hasher: Pick<PasswordHasher, 'hash' | 'verify'>;
}) {
  const { hash, verify } = options.hasher;
  const lifetime = Math.ceil(options.lifetimeMs / 1000);
  const isHttps = options.portalUrl.startsWith('https:');
  return betterAuth({
    appName: 'orders',
    baseURL: options.portalUrl,
    secrets: authSecretsOf(options.secretsKeys),
    database: options.pool,
    telemetry: { enabled: false },
    logger: { disabled: true },
    // throttle-sign-in.ts counts by e-mail address too.
    rateLimit: { enabled: false },
    emailAndPassword: { enabled: true, disableSignUp: true, ...PASSWORD_LENGTH, password: { hash, verify } },
    plugins: [passkeyPlugin(options.portalUrl), twoFactorPlugin(), provenSession],
    databaseHooks: {
      session: {
        create: {
          before: async (session, context) => ({
            data: { ...session, secondFactor: session.secondFactor === true || provesSecondFactor(context?.path) },
          }),
        },
      },
    },
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
      },
    },
    session: {
      modelName: 'user_sessions',
      expiresIn: lifetime,
      // Routes that need a recent sign-in look at `authenticatedAt`.
      freshAge: 0,
      updateAge: Math.ceil(lifetime / 12),
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
      },
      additionalFields: {
        // The default of the column sets it.
        endsAt: { type: 'date', required: false, input: false, fieldName: 'ends_at' },
        authenticatedAt: {
          type: 'date',
          required: false,
          input: false,
          fieldName: 'authenticated_at',
          defaultValue: () => new Date(),
        },
        secondFactor: { type: 'boolean', required: false, input: false, fieldName: 'second_factor' },
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
