/** A text in which of whatever has the form of one of our keys and signing secrets only the prefix is left. */
export function hideKeys(text: string): string {
  return text.replace(/\b(o[is][ks]_)\w+/g, '$1…');
}
