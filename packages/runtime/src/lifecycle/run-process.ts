import { setFlagsFromString } from 'node:v8';
import { ConfigurationError } from '../config/environment.ts';
import { describeError } from '../observability/describe-error.ts';
import type { Logger } from '../observability/logger.ts';

/** What a factory of an app returns: `start` resolves once it serves, `close` once everything it began is done. */
export interface Service {
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * V8 makes what a place of the code allocates old from birth once the first hundred of it were found alive. With a hundred requests under
 * way they always are, and then a few arrays that were born old keep each request alive until the next full collection.
 */
const NOT_OLD_FROM_BIRTH = '--no-allocation-site-pretenuring';

/**
 * Runs a service until SIGTERM or SIGINT, then drains it; a second signal, or `drainTimeout` milliseconds, ends it at once. So does an
 * error that nobody caught, and of that too only a description is logged: Node would print all that it knows.
 * Exit codes: 0 drained, 1 failed or cut short, 2 wrong configuration.
 */
export async function runProcess(
  create: () => { service: Service; logger: Logger; drainTimeout: number },
): Promise<void> {
  setFlagsFromString(NOT_OLD_FROM_BIRTH);
  let created: ReturnType<typeof create>;
  try {
    created = create();
  } catch (error) {
    endIfMisconfigured(error);
    process.stderr.write(`start failed: ${JSON.stringify(describeError(error, { stack: true }))}\n`);
    process.exit(1);
  }
  const { service, logger, drainTimeout } = created;
  process.on('uncaughtException', (error) => {
    logger.error('nobody caught an error: ending', { error: describeError(error, { stack: true }) });
    process.exit(1);
  });
  let draining = false;
  const drain = (signal: string) => {
    if (draining) {
      logger.warn('second signal: ending at once', { signal });
      process.exit(1);
    }
    draining = true;
    logger.info('draining', { signal });
    setTimeout(() => {
      logger.error('drain took too long: ending', { drain_timeout_ms: drainTimeout });
      process.exit(1);
    }, drainTimeout).unref();
    service.close().then(
      () => {
        logger.info('drained');
        process.exit(0);
      },
      (error) => {
        logger.error('drain failed', { error: describeError(error, { stack: true }) });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', drain);
  process.on('SIGINT', drain);
  try {
    await service.start();
  } catch (error) {
    endIfMisconfigured(error);
    logger.error('start failed', { error: describeError(error, { stack: true }) });
    process.exit(1);
  }
}

function endIfMisconfigured(error: unknown): void {
  if (!(error instanceof ConfigurationError)) return;
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}
