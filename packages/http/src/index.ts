export { BATCH_TYPES, checkJson, checkJsonOrLines, mediaTypeOf } from './check-media-type.ts';
export { requestIdOf, setCommonHeaders } from './common-headers.ts';
export { type Bounds, createBoundedServer } from './create-bounded-server.ts';
export { createGracefulShutdown, type GracefulShutdown } from './graceful-shutdown.ts';
export { limitResponseMemory } from './limit-response-memory.ts';
export {
  type Preferences,
  readBearerKey,
  readIdempotencyKey,
  readPreferences,
  readSignature,
  SIGNATURE_HEADER,
} from './read-headers.ts';
export { readRawBody } from './read-raw-body.ts';
export { requestContext } from './request-context.ts';
export { trustedProxies } from './trusted-proxies.ts';
export { acceptedJson, writeAccepted } from './write-accepted.ts';
export { problemTypeBase, writeProblem } from './write-problem.ts';
