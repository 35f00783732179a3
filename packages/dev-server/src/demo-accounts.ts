import { createAccount, findAccountsByName } from '@orders/database/accounts/accounts.ts';
import { createKey, listKeys } from '@orders/database/accounts/api-keys.ts';
import { enableSigning } from '@orders/database/accounts/signing-secrets.ts';
import { withDatabase } from '@orders/database/connect.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';

/** An account for trying out the service; `signingSecret` is null without signing. */
export interface DemoAccount {
  id: number;
  name: string;
  apiKey: string;
  signingSecret: string | null;
}

const DEMO_ACCOUNTS = [
  { name: 'Demo Kitchen', signing: true, events: true },
  { name: 'Demo Market', signing: false, events: false },
];

/**
 * Creates missing demo accounts. A key is readable only when created, so an account without a usable key in `known` gets a new one.
 *
 * @param secretsKey 32 bytes.
 */
export async function ensureDemoAccounts(
  databaseUrl: string,
  secretsKey: Buffer,
  known: readonly DemoAccount[],
): Promise<DemoAccount[]> {
  return withDatabase({ url: databaseUrl, applicationName: 'orders demo accounts' }, async (database) => {
    const accounts: DemoAccount[] = [];
    for (const { name, signing, events } of DEMO_ACCOUNTS) {
      const account = (await findAccountsByName(database, name))[0] ?? (await createAccount(database, name));
      const id = account.account_id;
      if (events) await setEvents(database, id, true);
      const knownAccount = known.find((candidate) => candidate.id === id && candidate.name === name);
      const isUsable =
        knownAccount !== undefined &&
        (await listKeys(database, id)).some(
          (key) => key.state === 'active' && knownAccount.apiKey.endsWith(key.last_four),
        );
      accounts.push({
        id,
        name,
        apiKey: isUsable ? knownAccount.apiKey : (await createKey(database, id, 'demo')).key,
        signingSecret: signing ? (await enableSigning(database, secretsKey, id)).secret : null,
      });
    }
    return accounts;
  });
}
