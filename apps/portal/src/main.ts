import { runProcess } from '@orders/runtime/lifecycle/run-process.ts';
import { createLogger } from '@orders/runtime/observability/logger.ts';
import { readConfig } from './config.ts';
import { createPortal } from './create-portal.ts';

await runProcess(() => {
  const config = readConfig(process.env);
  const logger = createLogger({ service: 'portal', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  return { service: createPortal(config, { logger }), logger, drainTimeout: config.DRAIN_DELAY + config.DRAIN_TIMEOUT };
});
