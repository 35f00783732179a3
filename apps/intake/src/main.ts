import { runProcess } from '@orders/runtime/lifecycle/run-process.ts';
import { createLogger } from '@orders/runtime/observability/logger.ts';
import { readConfig } from './config.ts';
import { createIntake } from './create-intake.ts';

await runProcess(() => {
  const config = readConfig(process.env);
  const logger = createLogger({ service: 'intake', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  return { service: createIntake(config, { logger }), logger, drainTimeout: config.DRAIN_DELAY + config.DRAIN_TIMEOUT };
});
