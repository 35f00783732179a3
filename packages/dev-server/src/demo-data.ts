import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount, findAccountsByName } from '@orders/database/accounts/accounts.ts';
import { createKey, listKeys } from '@orders/database/accounts/api-keys.ts';
import { enableSigning } from '@orders/database/accounts/signing-secrets.ts';
import { withDatabase } from '@orders/database/connect.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { type Connection, execute, run } from '@orders/database/run.ts';
import { acceptInvitation, createInvitation } from '@orders/database/users/invitations.ts';
import { hashPassword } from '@orders/database/users/passwords.ts';
import { findUser, type Role } from '@orders/database/users/users.ts';

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

const SAMPLES = join(import.meta.dirname, 'sample-orders.ndjson');

/** Sends the sample orders to intake as one batch. Repeated calls return the original receipts. */
export async function sendSampleOrders(intakeUrl: string, apiKey: string): Promise<void> {
  const reply = await fetch(`${intakeUrl}/ingest/orders/batch`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${apiKey}`,
      'Content-Type': 'application/x-ndjson',
      'Idempotency-Key': 'samples',
    },
    body: await readFile(SAMPLES),
  });
  const { refused } = reply.ok ? ((await reply.json()) as { refused: number }) : { refused: null };
  if (refused !== 0) throw new Error(`The sample orders were rejected with status ${reply.status}.`);
}

const CANCELLED = {
  source_order_id: 'demo-cancelled',
  customer: { name: 'Mariam Al Ali', phone: '+971502468013' },
  address: 'Villa 4, Street 11',
  emirate: 'Dubai',
  items: [{ name: 'Date box', quantity: 2 }],
  total: '120.00',
};
const DISPATCHED = { ...CANCELLED, source_order_id: 'demo-dispatched', customer: { name: 'Yousef Karim' } };

interface Demo {
  intakeUrl: string;
  databaseUrl: string;
  accounts: readonly DemoAccount[];
}

/**
 * Cancels orders as their senders: one of the first account, and one of the second that was dispatched, which leaves a request to deal with.
 * The first account has none, as its pages are those of the pictures.
 */
export async function makeDemoCancellations({ intakeUrl, databaseUrl, accounts }: Demo): Promise<void> {
  const [first, second] = accounts;
  if (!first || !second) throw new Error('The demo accounts are missing.');
  await send(intakeUrl, first, CANCELLED);
  await cancel(intakeUrl, first, CANCELLED.source_order_id, 'The customer ordered twice');
  const orderId = await send(intakeUrl, second, DISPATCHED);
  await withDatabase({ url: databaseUrl, applicationName: 'orders demo cancellations' }, async (database) => {
    await reviewOrders(database, {
      accountId: second.id,
      orderIds: [orderId],
      to: 'confirmed',
      by: 'operator@example.com',
    });
    await dispatch(database, orderId);
  });
  await cancel(intakeUrl, second, DISPATCHED.source_order_id, 'The customer is not at home this week');
}

const DISPATCH_TIMEOUT_MS = 20_000;

/** Ends the time in which a confirmation can be taken back, and waits until a worker has dispatched the order. */
async function dispatch(database: Connection, orderId: number): Promise<void> {
  await execute(database, 'update undispatched_orders set due_at = now() where order_id = $1', [orderId]);
  for (const deadline = Date.now() + DISPATCH_TIMEOUT_MS; Date.now() < deadline; await sleep(50)) {
    if ((await run(database, 'select from dispatch_log where order_id = $1', [orderId])).length > 0) return;
  }
  throw new Error('A demo order was not dispatched in time.');
}

/** Sends an order and waits until it is written. @returns its id. */
async function send(intakeUrl: string, account: DemoAccount, order: object): Promise<number> {
  const { order_id } = await post<{ order_id: number | null }>(`${intakeUrl}/ingest/orders`, account, order);
  if (order_id === null) throw new Error('A demo order was not written in time.');
  return order_id;
}

async function cancel(intakeUrl: string, account: DemoAccount, source_order_id: string, reason: string): Promise<void> {
  await post(`${intakeUrl}/ingest/orders/cancel`, account, { source_order_id, reason });
}

async function post<T>(url: string, { apiKey }: DemoAccount, body: object): Promise<T> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', Prefer: 'wait=20' },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`A demo request was rejected with status ${reply.status}.`);
  return (await reply.json()) as T;
}
