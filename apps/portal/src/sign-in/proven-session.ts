import type { BetterAuthPlugin } from 'better-auth';
import { createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';

/** A session of a user who proved who they are by other means than the password. */
interface ProvenSession {
  userId: string;
  hasProvedSecondFactor: boolean;
  /** Null if that is not known. */
  authenticatedAt: Date | null;
}

/** Adds `auth.api.openProvenSession`, which checks nothing and is no HTTP route. */
export const provenSession = {
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
