/** What may be logged of an error: never its message, which can quote a query, a payload or a key. */
export interface ErrorDescription {
  name: string;
  code?: string | number;
  constraint?: string;
  at?: string[];
}

/**
 * Names an error for the log without any text that outside data could have reached: its class, its code (SQLSTATE, `ECONNREFUSED`, the status of a reply, …),
 * a violated constraint and, where `stack` is asked for, the frames of its stack.
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

/** The frames come behind the message, lines of which can look like frames. */
function framesOf({ stack = '', message }: Error): string[] {
  const start = stack.indexOf(message);
  if (start < 0) return [];
  const lines = stack.slice(start + message.length).split('\n');
  return lines.filter((line) => /^\s+at /.test(line)).map((line) => line.trim());
}
