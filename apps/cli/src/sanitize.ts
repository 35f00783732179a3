// Control characters, bidirectional controls, line separators and lone surrogates, but not newline and tab.
const UNSAFE = /[^\P{Cc}\n\t]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u2028\u2029]|\p{Cs}/gu;

/** Escapes characters of untrusted text that could move a terminal's cursor or reverse a line. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Like `escapeControls`, but also escapes newlines and tabs. */
export function escapeControlsInLine(text: string): string {
  return escapeControls(text.replaceAll('\n', '\\n').replaceAll('\t', '\\t'));
}

/** Truncates everything that looks like an API key or a secret to its prefix. */
export function hideKeys(text: string): string {
  return text.replace(/\b(o[is][ks]_)\w+|\b(whsec_)[\w+/=]+/g, '$1$2…');
}
