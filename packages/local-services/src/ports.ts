import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port of the loopback that nobody listens on now: `wanted` if that is free, else any. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer();
  try {
    server.listen(wanted, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (wanted === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return freePort();
  }
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * A free port for a server that is to come and go: of those below the ones that systems give to outgoing connections, one of which could
 * otherwise take it while the server is down.
 */
export async function freePortBelowEphemeral(): Promise<number> {
  for (;;) {
    const wanted = 20_000 + Math.floor(Math.random() * 10_000);
    if ((await freePort(wanted)) === wanted) return wanted;
  }
}
