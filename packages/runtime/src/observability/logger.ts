import winston from 'winston';
import Transport from 'winston-transport';

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
