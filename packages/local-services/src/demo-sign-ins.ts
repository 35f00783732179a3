import { randomBytes } from 'node:crypto';
import { acceptInvitation, createInvitation, findUser, openKnex, type Role } from '@orders/database';
import { hashPassword } from 'better-auth/crypto';

/** Somebody to try the portal as. */
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
 * Makes the demo users that are missing, or whose password `known` does not hold.
 *
 * @param accountId whose holder the first of them is.
 */
export async function ensureDemoSignIns(
  databaseUrl: string,
  accountId: number,
  known: readonly DemoSignIn[],
): Promise<DemoSignIn[]> {
  const db = openKnex({ url: databaseUrl, applicationName: 'orders demo users' });
  try {
    const signIns: DemoSignIn[] = [];
    for (const { email, name, role } of DEMO_USERS) {
      const kept = known.find((one) => one.email === email);
      const password = kept?.password ?? `demo-${randomBytes(8).toString('hex')}`;
      if (!kept || !(await findUser(db, email))) {
        const invited = { email, role, accountId: role === 'operator' ? null : accountId };
        const token = await createInvitation(db, invited, 'npm start', 60_000);
        await acceptInvitation(db, token, name, await hashPassword(password));
      }
      signIns.push({ email, password, role });
    }
    return signIns;
  } finally {
    await db.destroy();
  }
}
