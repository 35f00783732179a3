import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral range of Linux, so that no outgoing connection takes a port before its server listens, or while it is restarted. */
const LOWEST = 20_000;
/** Each worker of Jest has ports of its own, and so has what runs without Jest: nobody else takes one while its server is restarted. */
const [SHARES, COUNT] = [5, 2_000];
const FIRST = LOWEST + (Number(process.env.JEST_WORKER_ID ?? 0) % SHARES) * COUNT;

/** Processes that look for ports at the same time begin at different ones. */
let next = Math.floor(Math.random() * COUNT);

/** A free port of the loopback interface: `preferred` if it is free, else any. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (;;) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
