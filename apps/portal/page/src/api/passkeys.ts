import { call } from './client.ts';

/** What a user can take as second step of a sign-in. */
export type SecondStep = 'passkey' | 'code' | 'recovery_code';

/** Browsers make no passkeys for a page that is reached by an IP address. */
export function canUsePasskeys(): boolean {
  return 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(window.location.hostname);
}

/** The browser made or used no passkey, such as when its user cancelled. */
export class PasskeyError extends Error {
  /** Whether this device has a passkey of the user already. */
  readonly exists: boolean;

  constructor(cause: unknown) {
    super('no passkey', { cause });
    this.exists = cause instanceof Error && cause.name === 'InvalidStateError';
  }
}

/** Makes a passkey. @returns recovery codes, unless the user has some. @throws {PasskeyError | ApiProblem} */
export async function addPasskey(name: string): Promise<string[] | null> {
  const optionsJSON = await call<never>('POST', '/second-factors/passkeys/options');
  const { startRegistration } = await import('@simplewebauthn/browser');
  const passkey = await startRegistration({ optionsJSON }).catch(rethrow);
  const { recovery_codes } = await call<{ recovery_codes: string[] | null }>('POST', '/second-factors/passkeys', {
    body: { name, passkey },
  });
  return recovery_codes;
}

/** Signs in by a passkey. @throws {PasskeyError | ApiProblem} */
export async function signInByPasskey(): Promise<void> {
  await call('POST', '/session/passkey', { body: { passkey: await askForPasskey() } });
}

/** Proves by a passkey who the user of the session is. @throws {PasskeyError | ApiProblem} */
export async function confirmByPasskey(): Promise<void> {
  await call('POST', '/session/confirm', { body: { passkey: await askForPasskey() } });
}

async function askForPasskey(): Promise<unknown> {
  const optionsJSON = await call<never>('POST', '/session/passkey/options');
  const { startAuthentication } = await import('@simplewebauthn/browser');
  return startAuthentication({ optionsJSON }).catch(rethrow);
}

function rethrow(error: unknown): never {
  throw new PasskeyError(error);
}
