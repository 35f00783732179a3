import { base32 } from '@better-auth/utils/base32';
import { createOTP } from '@better-auth/utils/otp';
import type { Reply } from './api.ts';
import type { createAuthenticator } from './authenticator.ts';
import { openPortalClient, type PortalClient, type TestPerson } from './people.ts';
import type { RunningPortal, Stack } from './stack.ts';

/** An authenticator app. */
export interface TestApp {
  /** The code of now; 1 is the next one, -1 the previous one. */
  code(offset?: number): Promise<string>;
}

/** The app that has scanned this QR code. */
export function appOf(uri: string): TestApp {
  const secret = new TextDecoder().decode(base32.decode(new URL(uri).searchParams.get('secret') ?? ''));
  const otp = createOTP(secret);
  return { code: (offset = 0) => otp.hotp(Math.floor(Date.now() / 30_000) + offset) };
}

/** Sets up an authenticator app. Its present code can be used again afterwards. */
export async function addTotp(stack: Stack, client: PortalClient): Promise<{ app: TestApp; recoveryCodes: string[] }> {
  const app = appOf((await client.post('/second-factors/totp')).body.uri);
  const { status, body } = await client.post('/second-factors/totp/verify', { code: await app.code() });
  if (status !== 200) throw new Error(`the app was refused: ${body.code}`);
  await forgetTimeSteps(stack);
  return { app, recoveryCodes: body.recovery_codes };
}

/** Lets codes be used again, so that a test need not wait for the next one. */
export async function forgetTimeSteps({ database: { knex } }: Stack): Promise<void> {
  await knex('user_second_factors').update({ last_time_step: null });
}

type Authenticator = ReturnType<typeof createAuthenticator>;

/** Registers the passkey of an authenticator. @returns the reply. */
export async function addPasskey(client: PortalClient, authenticator: Authenticator): Promise<Reply> {
  const options = await client.post('/second-factors/passkeys/options');
  return client.post('/second-factors/passkeys', { name: 'Test', passkey: authenticator.register(options.body) });
}

/** Takes the first step of a sign-in, by password. @returns the client, and the possible second steps. */
export async function startSignIn(
  portal: RunningPortal,
  { email, password }: TestPerson,
): Promise<{ client: PortalClient; steps: string[] | undefined }> {
  const client = openPortalClient(portal);
  const { body } = await client.post('/session', { email, password });
  return { client, steps: body.second_step };
}

/** Signs in by password and code. */
export async function signInWithCode(portal: RunningPortal, person: TestPerson, app: TestApp): Promise<PortalClient> {
  const { client } = await startSignIn(portal, person);
  const { status, body } = await client.post('/session/second-factor', { code: await app.code() });
  if (status !== 204) throw new Error(`the code was refused: ${body.code}`);
  return client;
}

/** Makes the last proof of identity of all sessions older than what counts as recent. */
export async function ageSessions({ database: { knex } }: Stack): Promise<void> {
  await knex('user_sessions').update({ authenticated_at: knex.raw("now() - interval '10 minutes'") });
}
