import { createHmac } from 'node:crypto';

/** The signature of a webhook with this body, without `sha256=`. */
export function sign(secret: string | null, body: string | Buffer): string {
  return createHmac('sha256', secret ?? '')
    .update(body)
    .digest('hex');
}
