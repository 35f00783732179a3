export { migrateQueue } from './bullmq.ts';
export { openProducer, type Producer, QueueNotPreparedError } from './open-producer.ts';
export { isRedisUrl, openFailFastRedis, type RedisClient } from './open-redis.ts';
export { type QueueState, readQueueState, untilQueue } from './queue-state.ts';
export { type LaneState, openQueueStats, type QueueStats } from './queue-stats.ts';
export { type Consumer, startConsumer } from './start-consumer.ts';
export { LANES, type Lane, type WakeUp } from './wake-up.ts';
