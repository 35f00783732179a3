const MAX_LENGTH = 254;
// What the authentication library takes at a sign-in; somebody invited by any other spelling could never come in.
const FORM = /^(?!\.)(?!.*\.\.)[a-z0-9_'+\-.]*[a-z0-9_+-]@([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

/** An e-mail address as users are known by it: trimmed, in lower case, of at most 254 characters; null for what is none. */
export function parseEmailAddress(text: string): string | null {
  const address = text.trim().toLowerCase();
  return address.length <= MAX_LENGTH && FORM.test(address) ? address : null;
}
