export {
  AuthenticationError,
  ConnectionError,
  CursorExpiredError,
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
  VerificationError,
  WrongInstallationError,
} from './errors.ts';
export type {
  CallOptions,
  CancelOptions,
  ClientOptions,
  EventPageOptions,
  EventsOptions,
  SubmitOptions,
} from './options.ts';
export { OrdersClient } from './orders-client.ts';
export { requestIdOf } from './reply.ts';
export { signBody, verifySignature } from './signature.ts';
export type { SubmitError, SubmitManyOptions, Submitted } from './submit-many.ts';
export type {
  Accepted,
  BatchReply,
  BatchResult,
  Cancellation,
  CancelOutcome,
  CancelReply,
  CancelResult,
  DeliveredEvent,
  EventPage,
  EventType,
  FieldError,
  Order,
  OrdersEvent,
  Payload,
  Preview,
  Problem,
  ProblemCode,
  Receipt,
  ReceiptStatus,
  ReconcileReply,
  TestEvent,
  Warning,
} from './types.ts';
export { type EventHeaders, signEvent, verifyEvent } from './verify-event.ts';
