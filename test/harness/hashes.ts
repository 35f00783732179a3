import { createHook } from 'node:async_hooks';
import { createHmac } from 'node:crypto';

/** Counts the passwords that this process, in which the portal runs, hashes from now on: at the same time, and in total. */
export function watchHashes(): () => { most: number; total: number } {
  const running = new Set<number>();
  let [most, total] = [0, 0];
  const hook = createHook({
    init(id, type) {
      if (type !== 'SCRYPTREQUEST') return;
      running.add(id);
      total += 1;
      most = Math.max(most, running.size);
    },
    before: (id) => running.delete(id),
  }).enable();
  return () => {
    hook.disable();
    return { most, total };
  };
}

/** The signature of a webhook with this body, without `sha256=`. */
export function sign(secret: string | null, body: string | Buffer): string {
  return createHmac('sha256', secret ?? '')
    .update(body)
    .digest('hex');
}
