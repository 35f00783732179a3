import { hideKeys } from '../hide-keys.ts';

/** Only the scheme or prefix of these header fields is shown. */
const SECRET_HEADER = /authorization|signature|hmac|cookie|secret|token|api-?key/i;

/** Creates a function that removes these secrets, also in JSON escapes, and everything that looks like a key or secret of the service. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  return (text) => hideKeys(forms.reduce((rest, form) => rest.replaceAll(form, '…'), text));
}

/** Names and values of header fields, with secrets removed. */
export function redactedHeaders(rawHeaders: readonly string[]): [string, string][] {
  const shown: [string, string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    const prefix = /^(?:bearer +|sha256=)/i.exec(value)?.[0] ?? '';
    shown.push([name, SECRET_HEADER.test(name) ? `${prefix}…` : value]);
  }
  return shown;
}
