import { createAccount, createKey, enableSigning, findAccountsByName, listKeys, openKnex } from '@orders/database';

/** An account to try the service with; `signingSecret` is null where signing is not enabled. */
export interface DemoAccount {
  id: number;
  name: string;
  apiKey: string;
  signingSecret: string | null;
}

const DEMO_ACCOUNTS = [
  { name: 'Demo Kitchen', signing: true },
  { name: 'Demo Market', signing: false },
];

/**
 * Makes the demo accounts that are missing. A key can only be read when it is made, so one that `known` does not hold is made anew.
 *
 * @param secretsKey 32 bytes.
 */
export async function ensureDemoAccounts(
  databaseUrl: string,
  secretsKey: Buffer,
  known: readonly DemoAccount[],
): Promise<DemoAccount[]> {
  const db = openKnex({ url: databaseUrl, applicationName: 'orders demo accounts' });
  try {
    const accounts: DemoAccount[] = [];
    for (const { name, signing } of DEMO_ACCOUNTS) {
      const account = (await findAccountsByName(db, name))[0] ?? (await createAccount(db, name));
      const id = account.account_id;
      const kept = known.find((one) => one.id === id && one.name === name);
      const works =
        kept !== undefined &&
        (await listKeys(db, id)).some((key) => key.state === 'active' && kept.apiKey.endsWith(key.last_four));
      accounts.push({
        id,
        name,
        apiKey: works ? kept.apiKey : (await createKey(db, id, 'demo')).key,
        signingSecret: signing ? (await enableSigning(db, secretsKey, id)).secret : null,
      });
    }
    return accounts;
  } finally {
    await db.destroy();
  }
}
