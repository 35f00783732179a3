import { Writable } from 'node:stream';
import { createLogger, type Logger } from '@orders/runtime/observability/logger.ts';
import winston from 'winston';

/** A logger that stores its lines. */
export function memoryLog(service: string): { logger: Logger; lines: Record<string, unknown>[]; text: () => string } {
  const lines: Record<string, unknown>[] = [];
  const texts: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      texts.push(String(chunk));
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const logger = createLogger({ service, level: 'debug', format: 'json' });
  logger.clear().add(new winston.transports.Stream({ stream }));
  return { logger, lines, text: () => texts.join('') };
}
