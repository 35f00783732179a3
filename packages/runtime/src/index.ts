export { backoff } from './concurrency/backoff.ts';
export { cachedRead } from './concurrency/cached-read.ts';
export { chunkBySize, chunkLength } from './concurrency/chunk-by-size.ts';
export { createFairBudget, type FairBudget } from './concurrency/fair-budget.ts';
export { createFairQueue, type FairQueue, limitConcurrency } from './concurrency/fair-queue.ts';
export { createMicroBatcher } from './concurrency/micro-batcher.ts';
export { type PeriodicRun, runPeriodically } from './concurrency/run-periodically.ts';
export { createTimeSlicer, type TimeSlicer } from './concurrency/time-slicer.ts';
export { withTimeout } from './concurrency/with-timeout.ts';
export { callbackHosts, LOOPBACK_HOSTS } from './config/callback-hosts.ts';
export { CLUSTER_SCHEME, parseClusterAddress } from './config/cluster-address.ts';
export {
  ConfigurationError,
  drainDelay,
  duration,
  parseDuration,
  readEnvironment,
  webOrigin,
  wholeNumber,
} from './config/environment.ts';
export {
  type DatabaseEnvironment,
  databaseEnvironment,
  databaseReadUrl,
  type ProcessEnvironment,
  parseSecretsKey,
  processEnvironment,
  queueUrl,
  randomSecret,
  type SecretsEnvironment,
  type SenderEnvironment,
  secretsEnvironment,
  secretsKeysOf,
  senderEnvironment,
} from './config/settings.ts';
export { type TracingEnvironment, tracingEnvironment } from './config/tracing-environment.ts';
export { closeAdminServer, createAdminServer, type Readiness } from './lifecycle/admin-server.ts';
export { boundPipelining } from './lifecycle/bound-pipelining.ts';
export { listen } from './lifecycle/listen.ts';
export { runProcess, type Service } from './lifecycle/run-process.ts';
export { describeError } from './observability/describe-error.ts';
export { createLogger, type Logger } from './observability/logger.ts';
export {
  Counter,
  createRegistry,
  exposeBuildInfo,
  exposePools,
  Gauge,
  Histogram,
  type Registry,
} from './observability/metrics.ts';
export { createOutageLog, type OutageLog } from './observability/outage-log.ts';
export type { Span, SpanAttributes, Tracing } from './observability/span.ts';
export { createTracing, errorTypeOf, withSpan } from './observability/tracing.ts';
export { VERSION } from './version.ts';
