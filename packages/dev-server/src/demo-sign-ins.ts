import { randomBytes } from 'node:crypto';
import { withDatabase } from '@orders/database/connect.ts';
import { acceptInvitation, createInvitation } from '@orders/database/users/invitations.ts';
import { hashPassword } from '@orders/database/users/scrypt.ts';
import { findUser, type Role } from '@orders/database/users/users.ts';

/** A demo user of the portal. */
export interface DemoSignIn {
  email: string;
  password: string;
  role: Role;
}

const DEMO_USERS = [
  { email: 'demo@example.com', name: 'Demo Holder', role: 'account_holder' },
  { email: 'operator@example.com', name: 'Demo Operator', role: 'operator' },
] as const;

/**
 * Creates demo users that are missing or whose password is not in `known`.
 *
 * @param accountId the account of the first user.
 */
export async function ensureDemoSignIns(
  databaseUrl: string,
  accountId: number,
  known: readonly DemoSignIn[],
): Promise<DemoSignIn[]> {
  return withDatabase({ url: databaseUrl, applicationName: 'orders demo users' }, async (database) => {
    const signIns: DemoSignIn[] = [];
    for (const { email, name, role } of DEMO_USERS) {
      const knownSignIn = known.find((signIn) => signIn.email === email);
      const password = knownSignIn?.password ?? `demo-${randomBytes(8).toString('hex')}`;
      if (!knownSignIn || !(await findUser(database, email))) {
        const invited = { email, role, accountId: role === 'operator' ? null : accountId };
        const token = await createInvitation(database, invited, 'npm start', 60_000);
        await acceptInvitation(database, token, name, await hashPassword(password));
      }
      signIns.push({ email, password, role });
    }
    return signIns;
  });
}
