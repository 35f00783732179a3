import { expect, test } from '@jest/globals';
import { Problem } from '@orders/domain/problems.ts';
import { checkNewPassword } from '../src/sign-in/check-new-password.ts';

const OWNER = { email: 'ahmed.hassan@example.test', name: 'Ahmed Al Hassan', accountNames: ['Karak House'] };

function codeOf(password: string): string | null {
  try {
    checkNewPassword(password, OWNER, '/new_password');
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    expect([error.code, error.errors?.[0]?.pointer]).toEqual(['invalid_request', '/new_password']);
    return error.errors?.[0]?.code ?? null;
  }
}

test.each([
  ['password_pattern', 'aaaaaaaaaaaaaaa'],
  ['password_pattern', '123456789012345'],
  ['password_pattern', 'abcdefghijklmnop'],
  ['password_pattern', 'summersummersummer'],
  ['password_pattern', 'SummerSummerSummer1'],
  ['password_pattern', 'aaaaabbbbbccccc'],
  ['password_pattern', 'poiuytrewqlkjhg'],
  ['password_common', 'qwertyuiopasdfgh'],
  ['password_common', 'PASSWORD12345678'],
  ['password_common', 'P@ssw0rdqwerty12'],
  ['password_common', '1q2w3e4r5t6y7u8i9o'],
  ['password_common', 'q1w2e3r4t5y6u7i8'],
  ['password_context', 'ahmed.hassan@example.test'],
  ['password_context', 'Ahmed.Hassan1990'],
  ['password_context', 'KarakHouse-2026!'],
  ['password_context', 'orders2026orders'],
  // Characters that look alike: full-width digits are hashed as digits.
  ['password_pattern', '１２３４５６７８９０１２３４５'],
])('%s: %s', (code, password) => {
  expect(codeOf(password)).toBe(code);
});

test.each([
  'correct horse battery staple',
  'long enough to be good',
  'my orders leave by camel',
  'ahmed waters the lemon trees',
  'ثلاثة جمال في الطريق',
  'd41d8cd98f00b204e9',
  'Kx7!pQ2#vR9$mW4',
])('accepted: %s', (password) => {
  expect(codeOf(password)).toBeNull();
});

test('a name that is in every word rejects no password of other words', () => {
  const owner = { email: 'a@b.test', name: 'A', accountNames: [] };
  expect(() => checkNewPassword('a banana and a sofa', owner)).not.toThrow();
});
