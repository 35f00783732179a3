export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Longer texts are no list of items or customer, and parsing takes time. */
const MAX_JSON_LENGTH = 1_000_000;

/** The object or list in a string of JSON, as programs send it that encode twice; undefined for any other text. */
export function parseJsonText(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > MAX_JSON_LENGTH) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

/** The entries of a list, also of JSON in a string, or of an object with numbers or ids as names, as PHP sends lists. Undefined if it is none. */
export function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return listIn(parseJsonText(value));
  if (!isJsonObject(value)) return undefined;
  const numbered = Object.entries(value).filter(([name]) => /^\d+$/.test(name));
  if (numbered.length > 0) return numbered.map(([, entry]) => entry);
  const members = Object.values(value);
  return members.length > 0 && members.every(isJsonObject) ? members : undefined;
}
