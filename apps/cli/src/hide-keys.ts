/** Truncates everything that looks like an API key or signing secret to its prefix. */
export function hideKeys(text: string): string {
  return text.replace(/\b(o[is][ks]_)\w+/g, '$1…');
}
