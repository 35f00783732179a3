// Control characters, bidirectional controls, line separators and lone surrogates, but not newline and tab.
const UNSAFE = /[^\P{Cc}\n\t]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u2028\u2029]|\p{Cs}/gu;

/** Text of others made safe to print on a terminal: what could move the cursor or turn the line round is shown as its code. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same for a text within a line: its line breaks are shown as such, too. */
export function escapeControlsInLine(text: string): string {
  return escapeControls(text.replaceAll('\n', '\\n').replaceAll('\t', '\\t'));
}
