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
