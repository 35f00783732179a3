export { readIdempotencyKey } from '@orders/http';
