const MAX_LENGTH = 254;
// The same rule as the authentication library's sign-in; a user with any other address could not sign in.
const PATTERN = /^(?!\.)(?!.*\.\.)[a-z0-9_'+\-.]*[a-z0-9_+-]@([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

/** Normalizes a user's e-mail address: trimmed, lower case, at most 254 characters. Null if it is invalid. */
export function parseEmailAddress(text: string): string | null {
  const address = text.trim().toLowerCase();
  return address.length <= MAX_LENGTH && PATTERN.test(address) ? address : null;
}
