export { type Answering, type AnswerOptions, answerRings } from './answer-rings.ts';
export { isRedisUrl, migrateQueue, openFailFastRedis } from './connections.ts';
export { type Bell, type BellOptions, openBell } from './open-bell.ts';
export type { Ring } from './ring.ts';
