/** The loggable parts of an error. Its message is not one of them, as it can quote a query, a payload or a key. */
export interface ErrorDescription {
  name: string;
  code?: string | number;
  constraint?: string;
  at?: string[];
}

/**
 * Describes an error for the log without any text that can contain outside data: its class, its code (SQLSTATE, `ECONNREFUSED`, HTTP
 * status), a violated constraint and, with `stack`, its stack frames.
 */
export function describeError(error: unknown, options: { stack?: boolean } = {}): ErrorDescription {
  if (!Error.isError(error)) return { name: typeof error };
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  const description: ErrorDescription = { name: error.name };
  if (typeof code === 'string' || typeof code === 'number') description.code = code;
  if (typeof constraint === 'string') description.constraint = constraint;
  if (options.stack) description.at = framesOf(error);
  return description;
}

/** Skips the message, as its lines can look like frames. */
function framesOf({ stack = '', message }: Error): string[] {
  const start = stack.indexOf(message);
  if (start < 0) return [];
  const lines = stack.slice(start + message.length).split('\n');
  return lines.filter((line) => /^\s+at /.test(line)).map((line) => line.trim());
}
