export { closeAdminServer, createAdminServer, type Readiness } from './admin-server.ts';
export { describeError } from './describe-error.ts';
export {
  ConfigurationError,
  type DatabaseEnvironment,
  databaseEnvironment,
  drainDelay,
  duration,
  type ProcessEnvironment,
  parseDuration,
  parseSecretsKey,
  processEnvironment,
  queueUrl,
  readEnvironment,
  secretsKey,
  webOrigin,
  wholeNumber,
} from './environment.ts';
export { inGroups } from './in-groups.ts';
export { listen } from './listen.ts';
export { createLogger, type Logger } from './logger.ts';
export { Counter, createRegistry, Gauge, Histogram, type Registry } from './metrics.ts';
export { createOutageLog } from './outage-log.ts';
export { runProcess, type Service } from './run-process.ts';
