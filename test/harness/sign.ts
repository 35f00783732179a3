import { createHmac } from 'node:crypto';

/** What a webhook with this body is signed with, behind `sha256=`. */
export function sign(secret: string | null, body: string | Buffer): string {
  return createHmac('sha256', secret ?? '')
    .update(body)
    .digest('hex');
}
