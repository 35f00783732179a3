import { expect, test } from '@jest/globals';
import { Problem } from '@orders/domain/problems.ts';
import { createPasswordHasher } from '../src/sign-in/password-hasher.ts';

/** Requests that stay under way until the end of the test. */
function holdRequests() {
  const hasher = createPasswordHasher();
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const requests: Promise<unknown>[] = [];
  const admit = (key: string, isTrusted: boolean): boolean => {
    let isAdmitted = false;
    const request = hasher.admit({ key, isTrusted }, () => {
      isAdmitted = true;
      return end;
    });
    requests.push(
      request.catch((error) => {
        expect(error).toBeInstanceOf(Problem);
        expect(error).toMatchObject({ code: 'too_many_sign_ins', status: 429, headers: { 'Retry-After': '2' } });
      }),
    );
    return isAdmitted;
  };
  const fill = (keyOf: (at: number) => string, isTrusted: boolean) =>
    Array.from({ length: 500 }, (_, at) => admit(keyOf(at), isTrusted)).filter(Boolean).length;
  return {
    fill,
    async finish() {
      resolve();
      await Promise.all(requests);
    },
  };
}

test('one network gets at most half of what unknown devices may have under way, and all networks together no more than that', async () => {
  const { fill, finish } = holdRequests();
  expect(fill(() => 'one', false)).toBe(10);
  expect(fill((at) => `network ${at}`, false)).toBe(10);
  await finish();
});

test('unknown and known devices have separate limits, and one user gets at most half', async () => {
  const { fill, finish } = holdRequests();
  expect(fill((at) => `network ${at}`, false)).toBe(20);
  expect(fill(() => 'one', true)).toBe(10);
  expect(fill((at) => `user ${at}`, true)).toBe(10);
  await finish();
});

test('a request that has ended, or failed, makes room for another one', async () => {
  const hasher = createPasswordHasher();
  const requester = { key: 'one', isTrusted: false };
  for (let at = 0; at < 50; at += 1) await hasher.admit(requester, async () => {});
  await expect(hasher.admit(requester, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await hasher.admit(requester, async () => 'admitted')).toBe('admitted');
});
