import { createServer, request as open } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Problem } from '@orders/domain/problems.ts';
import { readRawBody } from '../src/read-raw-body.ts';

const MAX_BYTES = 50_000;
let collected: (problem: Problem | null, body?: Buffer) => void;
let room = Number.POSITIVE_INFINITY;
const server = createServer((request, response) => {
  const reserveBytes = (bytes: number) => {
    room -= bytes;
    return room >= 0;
  };
  readRawBody(request, { maxBytes: MAX_BYTES, reserveBytes }, (problem, body) => {
    collected(problem, body);
    request.resume();
    response.end();
  });
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Sends chunks and returns the result of reading them. */
async function collect(chunks: Iterable<Buffer>): Promise<{ problem: Problem | null; body?: Buffer }> {
  const result = new Promise<{ problem: Problem | null; body?: Buffer }>((resolve) => {
    collected = (problem, body) => resolve({ problem, ...(body && { body }) });
  });
  const { port } = server.address() as AddressInfo;
  const sent = open({ port, method: 'POST', agent: false }).on('error', () => {});
  for (const chunk of chunks) sent.write(chunk);
  sent.end();
  return result;
}

const numbered = Buffer.from(Array.from({ length: 40_000 }, (_, index) => index % 251));

test.each([
  ['in one chunk', [numbered]],
  ['byte by byte', Array.from(numbered, (_, index) => numbered.subarray(index, index + 1))],
  [
    'in chunks of growing length',
    [1, 2, 300, 5000, 34_697].map((length, index, all) => {
      const start = all.slice(0, index).reduce((sum, bytes) => sum + bytes, 0);
      return numbered.subarray(start, start + length);
    }),
  ],
])('a body sent %s is read byte for byte', async (_how, chunks) => {
  const { problem, body } = await collect(chunks);
  expect(problem).toBeNull();
  expect(body?.equals(numbered)).toBe(true);
});

test('an absent body is empty', async () => expect((await collect([])).body).toEqual(Buffer.alloc(0)));

test('a body one byte over the limit is rejected', async () => {
  const { problem } = await collect([numbered, numbered.subarray(0, MAX_BYTES - numbered.length + 1)]);
  expect(problem?.code).toBe('payload_too_large');
});

test('a body above the available memory is rejected', async () => {
  room = 39_999;
  expect((await collect([numbered])).problem?.code).toBe('overloaded');
  room = Number.POSITIVE_INFINITY;
});
