import { runProcess } from '@orders/runtime/lifecycle/run-process.ts';
import { createLogger } from '@orders/runtime/observability/logger.ts';
import { readConfig } from './config.ts';
import { createWorker } from './create-worker.ts';

await runProcess(() => {
  const config = readConfig(process.env);
  const logger = createLogger({ service: 'worker', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  return { service: createWorker(config, { logger }), logger, drainTimeout: config.DRAIN_TIMEOUT };
});
