import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hostileBody } from '../harness/arbitrary-request.ts';
import { useStack } from '../harness/use-stack.ts';

/** `npm run test:full` sends 600. */
const COUNT = Number(process.env.RANDOM_BATCHES ?? 30);
if (!Number.isSafeInteger(COUNT) || COUNT <= 0) throw new Error('RANDOM_BATCHES takes a whole number above 0.');
/** Set RANDOM_SEED to repeat a failed run. */
const SEED = Number(process.env.RANDOM_SEED ?? Date.now() % 2 ** 31);

const { knex, api, account } = useStack({ intake: true, account: true });

/** Bytes as one line, without line breaks and surrounding white space. */
const asLine = (bytes: Buffer) =>
  Buffer.from(
    bytes
      .toString('latin1')
      .replaceAll('\n', ' ')
      .replace(/^[ \t\r]+|(?<![ \t\r])[ \t\r]+$/g, ''),
    'latin1',
  );

type Result = { receipt_id?: string; error?: { status: number; code: string; detail: string; errors?: unknown[] } };

test(
  `${COUNT} random batches (RANDOM_SEED=${SEED}): each order gets the result that it would get alone, and accepted bodies are stored unchanged`,
  async () => {
    const send = async (bodies: Buffer[]) => {
      const lines = bodies.map(asLine).filter((line) => line.length > 0);
      // A byte order mark alone on the first line leaves an empty line.
      const sent = lines.filter((line, index) => index > 0 || line.toString('hex') !== 'efbbbf');
      const reply = await api.batch(account, Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\r\n')])));
      if (sent.length === 0) return expect(reply.body.code).toBe('malformed_body');
      const results: Result[] = reply.body.results;
      expect([reply.status, results.length]).toEqual([202, sent.length]);
      for (const [index, line] of sent.entries()) {
        // A preview validates like an order and stores nothing.
        const alone = await api.preview(account, line);
        const { error } = results[index] as Result;
        const verdict = error && [error.status, error.code, error.errors];
        expect(verdict).toEqual(alone.status === 200 ? undefined : [alone.status, alone.body.code, alone.body.errors]);
      }
      const stored = sent.filter((_, index) => results[index]?.receipt_id);
      const { rows } = await knex.raw(
        `select substring(p.bodies from r.body_start for r.body_length) as body
         from receipts r join receipt_payloads p using (batch_id, account_id) where receipt_id = any(?) order by receipt_id`,
        [results.flatMap(({ receipt_id }) => receipt_id ?? [])],
      );
      expect(rows.map(({ body }: { body: Buffer }) => body.toString('hex'))).toEqual(
        stored.map((line) => line.toString('hex').replace(/^efbbbf(?=.)/, (mark) => (line === lines[0] ? '' : mark))),
      );
    };
    const bodies = fc.array(hostileBody, { maxLength: 12 });
    await fc.assert(fc.asyncProperty(bodies, send), { numRuns: COUNT, seed: SEED, endOnFailure: true });
  },
  // As long as any other test may take, and more if there are more of them.
  240_000 + COUNT * 5000,
);
