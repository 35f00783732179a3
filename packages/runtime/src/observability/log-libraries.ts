import { format } from 'node:util';
import { describeError } from './describe-error.ts';
import type { Logger } from './logger.ts';

const LEVELS = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error' } as const;
/** Max characters of a text. */
const MAX_LENGTH = 500;
/** Max different texts; each is logged once, as BullMQ repeats what it says for every connection. */
const MAX_TEXTS = 100;

/**
 * Logs what libraries write to the console and what Node warns of, so that all output of a process has one form. Of an error only a
 * description is logged, and nothing of an object, as either can contain outside data.
 */
export function logLibraries(logger: Logger): void {
  const seen = new Set<string>();
  const log = (level: (typeof LEVELS)[keyof typeof LEVELS], text: string, error?: unknown) => {
    const key = `${text} ${JSON.stringify(error)}`;
    if (seen.has(key) || seen.size > MAX_TEXTS) return;
    seen.add(key);
    if (seen.size > MAX_TEXTS) return void logger.warn('a library says more, which is left out');
    logger[level]('a library says', { text: text.slice(0, MAX_LENGTH), ...(error !== undefined && { error }) });
  };
  for (const [name, level] of Object.entries(LEVELS)) {
    console[name as keyof typeof LEVELS] = (...args: unknown[]) => {
      const error = args.find(Error.isError);
      const text = format(...args.filter((arg) => typeof arg === 'string')).replace(/\s+/g, ' ');
      log(level, text, error && describeError(error));
    };
  }
  // Without this, Node prints them too.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => log('warn', `${name}: ${message}`));
}
