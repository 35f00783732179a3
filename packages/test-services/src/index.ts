export { baseEnvironment, type Child, processArguments, startChild } from './child.ts';
export { dropDatabase, ensureDatabase } from './databases.ts';
export { type FaultyPostgres, startFaultyPostgres } from './faulty-postgres.ts';
export { type FaultyRedis, startFaultyRedis } from './faulty-redis.ts';
export { findOnPath } from './find-on-path.ts';
export { freePort } from './ports.ts';
export { findLeftoverPostgres, type LocalPostgres, startPostgres } from './postgres.ts';
export { findRedisServer, type LocalRedis, startRedis } from './redis.ts';
export { runAsUnprivileged } from './run-as.ts';
