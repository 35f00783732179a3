import { format } from 'node:util';
import winston from 'winston';
import Transport from 'winston-transport';
import { describeError } from './describe-error.ts';

let pending = '';

function flush(): void {
  const text = pending;
  pending = '';
  if (text) process.stdout.write(text);
}

function append(line: string): void {
  if (pending === '') setImmediate(flush);
  pending += `${line}\n`;
}

process.on('exit', flush);

const MESSAGE = Symbol.for('message');

/**
 * Writes the lines of one event loop iteration to standard output in one write, as a write per line would cost more than the line. Pending
 * lines are still written when the process exits, unless it is killed.
 */
class StandardOutput extends Transport {
  override log(info: { [MESSAGE]?: string }, done: () => void): void {
    append(String(info[MESSAGE]));
    done();
  }
}

export type Logger = winston.Logger;

/** Fields that no caller should log; redacted as a second line of defence. */
const NEVER_LOGGED = new Set([
  'address',
  'api_key',
  'authorization',
  'body',
  'customer',
  'email',
  'idempotency_key',
  'password',
  'payload',
  'phone',
  'secret',
  'signature',
  'source_order_id',
]);

const redact = winston.format((info) => {
  for (const name of Object.keys(info)) {
    if (NEVER_LOGGED.has(name.toLowerCase())) info[name] = '[redacted]';
  }
  return info;
});

const readable = winston.format.printf(({ timestamp, level, message, service, ...rest }) => {
  const fields = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return `${String(timestamp).slice(11, 23)} ${level} ${service}: ${message}${fields.length ? `  ${fields.join(' ')}` : ''}`;
});

/** A logger that writes one line per event to standard output: JSON for machines, `text` for a terminal. */
export function createLogger(options: { service: string; level: string; format: 'json' | 'text' }): Logger {
  const { combine, timestamp, printf } = winston.format;
  // winston's json() creates a serializer per line, which costs more than the rest of the line.
  const json = printf((info) => JSON.stringify(info));
  return winston.createLogger({
    level: options.level,
    defaultMeta: { service: options.service },
    format: combine(redact(), timestamp(), options.format === 'json' ? json : readable),
    transports: [new StandardOutput()],
  });
}

/** Logs one line when a service becomes unavailable and one when it is available again. */
export interface OutageLog {
  failed(error: unknown): void;
  recovered(): void;
}

/** @param service its name, such as `queue`. */
export function createOutageLog(logger: Logger, service: string, consequence: string): OutageLog {
  let isUnavailable = false;
  return {
    failed(error) {
      if (!isUnavailable) logger.warn(`${service} unavailable; ${consequence}`, { error: describeError(error) });
      isUnavailable = true;
    },
    recovered() {
      if (isUnavailable) logger.info(`${service} available again`);
      isUnavailable = false;
    },
  };
}

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
