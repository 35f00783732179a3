export {
  AuthenticationError,
  ConnectionError,
  IdempotencyMismatchError,
  InvalidRequestError,
  NotFoundError,
  OrdersError,
  PermissionError,
  ProblemError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnavailableError,
  ValidationError,
} from './errors.ts';
export type { CallOptions, ClientOptions, SubmitOptions } from './options.ts';
export { OrdersClient, type Payload } from './orders-client.ts';
export { signBody, verifySignature } from './signature.ts';
export type { SubmitError, SubmitManyOptions, Submitted } from './submit-many.ts';
export type {
  Accepted,
  BatchReply,
  BatchResult,
  FieldError,
  Order,
  Preview,
  Problem,
  ProblemCode,
  Receipt,
  ReceiptStatus,
  ReconcileReply,
  Warning,
} from './types.ts';
