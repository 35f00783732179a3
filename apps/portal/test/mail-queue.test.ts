import { expect, test } from '@jest/globals';
import { createLogger } from '@orders/runtime/observability/logger.ts';
import { createMailQueue } from '../src/mail/mail-queue.ts';
import type { MailKind } from '../src/mail/mail-texts.ts';
import type { MailOutcome } from '../src/metrics.ts';

const MAIL = { to: 'a@example.test', subject: '', text: '', html: '' };

test('links take at most half of the room, and notices may take all of it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const outcomes: MailOutcome[] = [];
  const queue = createMailQueue(() => promise, {
    logger: createLogger({ service: 'test', level: 'error', format: 'json' }),
    count: (outcome) => outcomes.push(outcome),
  });
  const droppedOf = (kind: MailKind, times: number) => {
    const before = outcomes.length;
    for (let time = 0; time < times; time += 1) queue.send(kind, () => MAIL);
    return outcomes.length - before;
  };
  expect(droppedOf('password_reset', 55)).toBe(5);
  expect(droppedOf('new_sign_in', 50)).toBe(0);
  expect(droppedOf('new_sign_in', 1)).toBe(1);
  resolve();
  await queue.close(10_000);
  expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(100);
  expect(outcomes.filter((outcome) => outcome === 'dropped')).toHaveLength(6);
});
