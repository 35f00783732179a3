export { type Bounds, createBoundedServer } from './create-bounded-server.ts';
export { createOpenReplies, type OpenReplies } from './open-replies.ts';
export { requestContext } from './request-context.ts';
export { requestIdOf } from './request-id.ts';
export { writeProblem } from './write-problem.ts';
