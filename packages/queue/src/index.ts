export { type Answering, answerRings } from './answer-rings.ts';
export { backoff } from './backoff.ts';
export { migrateQueue } from './connections.ts';
export { type Bell, openBell } from './open-bell.ts';
export { isRedisUrl, openFailFastRedis, type RedisClient } from './open-redis.ts';
export { LANES, type Lane, type Ring } from './ring.ts';
export { type LaneState, type QueueWatch, watchQueues } from './watch-queues.ts';
