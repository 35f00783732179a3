export { closeAdminServer, createAdminServer, type Readiness } from './admin-server.ts';
export { atMost } from './at-most.ts';
export { CLUSTER_SCHEME, parseClusterAddress } from './cluster-address.ts';
export { createFairBudget, type FairBudget } from './concurrency/fair-budget.ts';
export { createFairQueue, type FairQueue } from './concurrency/fair-queue.ts';
export { createTimeSlicer, type TimeSlicer } from './concurrency/time-slicer.ts';
export { describeError } from './describe-error.ts';
export {
  ConfigurationError,
  type DatabaseEnvironment,
  databaseEnvironment,
  databaseReadUrl,
  drainDelay,
  duration,
  type ProcessEnvironment,
  parseDuration,
  parseSecretsKey,
  processEnvironment,
  queueUrl,
  randomSecret,
  readEnvironment,
  type SecretsEnvironment,
  type SenderEnvironment,
  secretsEnvironment,
  secretsKeysOf,
  senderEnvironment,
  webOrigin,
  wholeNumber,
} from './environment.ts';
export { inGroups } from './in-groups.ts';
export { inParts } from './in-parts.ts';
export { listen } from './listen.ts';
export { createLogger, type Logger } from './logger.ts';
export { Counter, createRegistry, exposeBuildInfo, exposePools, Gauge, Histogram, type Registry } from './metrics.ts';
export { createOutageLog, type OutageLog } from './outage-log.ts';
export { patiently } from './patiently.ts';
export { readRarely } from './read-rarely.ts';
export { runProcess, type Service } from './run-process.ts';
export { createTracing, type Span, type SpanFacts, spanned, type Tracing, typeOf } from './tracing.ts';
export { type TracingEnvironment, tracingEnvironment } from './tracing-environment.ts';
export { VERSION } from './version.ts';
