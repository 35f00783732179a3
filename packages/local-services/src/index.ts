export { type Child, startChild } from './child.ts';
export { hasDocker, IMAGES, startPostgresContainer, startRedisContainer } from './containers.ts';
export { dropDatabase, ensureDatabase } from './databases.ts';
export { type FaultyPostgres, startFaultyPostgres } from './faulty-postgres.ts';
export { type FaultyRedis, startFaultyRedis } from './faulty-redis.ts';
export { freePort, freePortBelowEphemeral } from './ports.ts';
export { type LocalPostgres, startPostgres } from './postgres.ts';
export { findRedisServer, type LocalRedis, startRedis } from './redis.ts';
export { runAsUnprivileged } from './run-as.ts';
