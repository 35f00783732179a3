import { randomBytes } from 'node:crypto';
import { acceptInvitation, createInvitation } from '@orders/database/users/invitations.ts';
import type { MemberRole } from '@orders/database/users/memberships.ts';
import { hashPassword } from '@orders/database/users/passwords.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import supertest from 'supertest';
import type { Reply } from './api.ts';
import { type RunningPortal, type Stack, TEST_HASH_COST, type TestAccount } from './stack.ts';

/** A user of the portal. */
export interface TestPerson {
  email: string;
  name: string;
  password: string;
  /** Null for an operator. */
  accountId: number | null;
}

const PASSWORD = randomBytes(12).toString('hex');
let hashing: Promise<string> | undefined;

/** Creates a member of this account, by default of a new one; with null, an operator. */
export async function createPerson(
  stack: Stack,
  ofAccount?: number | null,
  memberRole: MemberRole = 'owner',
): Promise<TestPerson> {
  const { knex } = stack.database;
  const accountId = ofAccount === undefined ? (await stack.account()).id : ofAccount;
  const role = accountId === null ? 'operator' : 'account_holder';
  const email = `${role}-${randomBytes(4).toString('hex')}@example.test`;
  const name = 'Test Person';
  const token = await createInvitation(connectionOf(knex), { email, role, accountId, memberRole }, 'test', 60_000);
  hashing ??= hashPassword(PASSWORD, Number(TEST_HASH_COST));
  await acceptInvitation(connectionOf(knex), token, name, await hashing);
  return { email, name, password: PASSWORD, accountId };
}

/** A client of the portal's HTTP API that keeps cookies and sends the same headers as the portal's page. */
export interface PortalClient {
  /** `path` is below `/api`. */
  get(path: string): Promise<Reply>;
  post(path: string, body?: object, idempotencyKey?: string): Promise<Reply>;
  put(path: string, body: object): Promise<Reply>;
  patch(path: string, body: object): Promise<Reply>;
  delete(path: string): Promise<Reply>;
}

export function openPortalClient(portal: RunningPortal): PortalClient {
  const agent = supertest.agent(portal.url);
  const send = async (
    method: 'get' | 'post' | 'put' | 'patch' | 'delete',
    path: string,
    body?: object,
    idempotencyKey?: string,
  ): Promise<Reply> => {
    const request = agent[method](`/api${path}`);
    if (idempotencyKey !== undefined) request.set('Idempotency-Key', idempotencyKey);
    if (method !== 'get') request.set('Origin', portal.url);
    const { status, headers, body: reply, text } = await (body === undefined ? request : request.send(body));
    const isJson = /json/.test(headers['content-type'] ?? '') && text;
    return { status, headers, body: isJson && Object.keys(reply).length === 0 ? JSON.parse(text) : reply };
  };
  return {
    get: (path) => send('get', path),
    post: (path, body, idempotencyKey) => send('post', path, body, idempotencyKey),
    put: (path, body) => send('put', path, body),
    patch: (path, body) => send('patch', path, body),
    delete: (path) => send('delete', path),
  };
}

/** Signs in. */
export async function signIn(portal: RunningPortal, person: TestPerson): Promise<PortalClient> {
  const client = openPortalClient(portal);
  const { email, password } = person;
  const { status } = await client.post('/session', { email, password });
  if (status !== 204) throw new Error(`sign-in failed with status ${status}`);
  return client;
}

/** The routes below an account in the portal's API. */
export type ShopClient = Pick<PortalClient, 'get' | 'post'> & {
  patch(path: string, body: object): ReturnType<PortalClient['patch']>;
};

/** An account whose holder is signed in. */
export interface Shop extends ShopClient {
  account: TestAccount;
  person: TestPerson;
  client: PortalClient;
  /** The path of the account. */
  base: string;
}

export async function openShop(stack: Stack, portal: RunningPortal, { signing = true } = {}): Promise<Shop> {
  const account = await stack.account({ signing });
  const person = await createPerson(stack, account.id);
  const client = await signIn(portal, person);
  return { account, person, client, base: `/accounts/${account.id}`, ...below(client, account.id) };
}

/** Another user of an account, who is signed in. */
export type Colleague = ShopClient & { person: TestPerson };

export async function openColleague(stack: Stack, portal: RunningPortal, { account }: Shop): Promise<Colleague> {
  const person = await createPerson(stack, account.id);
  return { person, ...below(await signIn(portal, person), account.id) };
}

/** The routes below an account, requested by another user. */
export function below(client: PortalClient, accountId: number): ShopClient {
  const base = `/accounts/${accountId}`;
  return {
    get: (path) => client.get(`${base}${path}`),
    post: (path, body) => client.post(`${base}${path}`, body),
    patch: (path, body) => client.patch(`${base}${path}`, body),
  };
}
