import { runProcess } from '@orders/runtime/lifecycle/run-process.ts';
import { createLogger } from '@orders/runtime/observability/logger.ts';
import { readConfig } from './config.ts';
import { createNotifier } from './create-notifier.ts';

await runProcess(() => {
  const config = readConfig(process.env);
  const logger = createLogger({ service: 'notifier', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  return { service: createNotifier(config, { logger }), logger, drainTimeout: config.DRAIN_TIMEOUT };
});
