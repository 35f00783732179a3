export { type Answering, answerRings } from './answer-rings.ts';
export { backoff } from './backoff.ts';
export { isRedisUrl, migrateQueue, openFailFastRedis } from './connections.ts';
export { type Bell, openBell } from './open-bell.ts';
export { LANES, type Lane, type Ring } from './ring.ts';
export { type LaneState, type QueueWatch, watchQueues } from './watch-queues.ts';
