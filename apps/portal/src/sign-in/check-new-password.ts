import { Problem } from '@orders/domain/problems.ts';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** The user who sets the password. */
export interface PasswordOwner {
  email: string;
  name: string;
  /** The names of the user's accounts. */
  accountNames: readonly string[];
}

/** Rejects passwords that take fewer guesses. At the rate of `Throttle`, this many take thousands of years; common patterns take far fewer. */
const MIN_GUESSES = 1e10;
/** Max characters that are estimated. It bounds the time: 50 ms for the worst password. */
const MAX_ESTIMATED = 64;
/** Words shorter than this are parts of too many others. */
const MIN_CONTEXT_WORD = 3;
/** Letters and digits that a password must have besides the words of its context. */
const MIN_BESIDES_CONTEXT = 8;
const SERVICE_WORDS = ['orders', 'order', 'portal'];

const REASONS = {
  password_context:
    'Apart from your name, e-mail address, account or this service, too little is left. Add other words.',
  password_pattern:
    'It repeats characters or words, or follows a sequence or the keyboard. Choose several unrelated words.',
  password_common: 'It consists of common passwords, which are guessed first. Choose several unrelated words.',
};

const estimator = new ZxcvbnFactory({
  dictionary: { passwords: dictionary['passwords-common'] },
  graphs: adjacencyGraphs,
  // With the default, one password takes more than a second.
  l33tMaxSubstitutions: 16,
});

/**
 * Rejects passwords that are easy to guess (NIST SP 800-63B-4, section 3.1.1.2): of common passwords, repetitions, sequences, rows of the
 * keyboard, and words of their context, in any case and with the usual substitutions.
 *
 * @param pointer of the member that holds the password.
 * @throws {Problem} `invalid_request` with the field error `password_common`, `password_pattern` or `password_context`.
 */
export function checkNewPassword(password: string, owner: PasswordOwner, pointer = '/password'): void {
  const code = reasonAgainst(password.normalize('NFKC').toLowerCase(), contextWords(owner));
  if (code) throw new Problem('invalid_request', { errors: [{ pointer, code, detail: REASONS[code] }] });
}

function reasonAgainst(password: string, words: string[]): keyof typeof REASONS | null {
  const besides = words.reduce((text, word) => text.replaceAll(word, ' '), password);
  const isShortened = besides !== password;
  if (isShortened && besides.replace(/[^\p{L}\p{N}]/gu, '').length < MIN_BESIDES_CONTEXT) return 'password_context';
  const { guesses, sequence } = estimator.check(password.slice(0, MAX_ESTIMATED), words);
  if (guesses >= MIN_GUESSES) return null;
  if (sequence.some(({ dictionaryName }) => dictionaryName === 'userInputs')) return 'password_context';
  const isPattern = sequence.some(({ pattern }) => ['repeat', 'sequence', 'spatial'].includes(pattern));
  return isPattern ? 'password_pattern' : 'password_common';
}

/** Longest first, so that no part of one is taken for a shorter one. */
function contextWords({ email, name, accountNames }: PasswordOwner): string[] {
  const texts = [email, name, ...accountNames].map((text) => text.normalize('NFKC').toLowerCase());
  const words = texts.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]);
  return [...new Set([...words, ...SERVICE_WORDS])]
    .filter((word) => word.length >= MIN_CONTEXT_WORD)
    .sort((one, other) => other.length - one.length);
}
