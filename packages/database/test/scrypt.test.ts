import { createHook } from 'node:async_hooks';
import { scryptSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { hashPassword, needsRehash, verifyPassword } from '../src/users/passwords.ts';

test('a hash states the parameters of OWASP, and fits only its password, however its characters are encoded', async () => {
  const hash = await hashPassword('crème brûlée for two');
  expect(hash).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(needsRehash(hash)).toBe(false);
  expect(await verifyPassword(hash, 'crème brûlée for two'.normalize('NFD'))).toBe(true);
  expect(await verifyPassword(hash, 'Crème brûlée for two')).toBe(false);
  expect(await hashPassword('crème brûlée for two')).not.toBe(hash);
});

test('a hash is replaced only by one that is more expensive to guess', async () => {
  const hash = await hashPassword('long enough to be good', 11);
  expect([10, 11, 12].map((ln) => needsRehash(hash, ln))).toEqual([false, false, true]);
});

test('a wrong password is hashed at the new cost too when the cost was raised, as for an unknown address', async () => {
  const hash = await hashPassword('long enough to be good', 10);
  let hashes = 0;
  const counting = createHook({
    init(_id, type) {
      if (type === 'SCRYPTREQUEST') hashes += 1;
    },
  }).enable();
  const hashesFor = async (password: string, ln: number) => {
    hashes = 0;
    await verifyPassword(hash, password, ln);
    return hashes;
  };
  try {
    expect(await hashesFor('long enough to be bad', 11)).toBe(2);
    expect(await hashesFor('long enough to be bad', 10)).toBe(1);
    expect(await hashesFor('long enough to be good', 11)).toBe(1);
  } finally {
    counting.disable();
  }
});

test('a hash of other parameters is verified by its own, and is outdated', async () => {
  const [salt, key] = [Buffer.alloc(16, 1), scryptSync('other parameters', Buffer.alloc(16, 1), 32, { N: 1024, r: 4 })];
  const [saltText, keyText] = [salt, key].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  const hash = `$scrypt$ln=10,r=4,p=1$${saltText}$${keyText}`;
  expect(needsRehash(hash)).toBe(true);
  expect(await verifyPassword(hash, 'other parameters')).toBe(true);
  expect(await verifyPassword(hash, 'other parameter')).toBe(false);
});

test.each(['', 'x', 'a:b', '$scrypt$ln=17,r=8,p=1$salt$key', '$argon2id$v=19$m=65536'])(
  '%j is no hash',
  async (hash) => {
    await expect(verifyPassword(hash, 'x')).rejects.toThrow('unknown form');
  },
);
