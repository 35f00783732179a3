import { once } from 'node:events';
import { createServer } from 'node:net';

/** A free port of the loopback interface: `preferred` if it is free, else any. */
export async function freePort(preferred = 0): Promise<number> {
  const server = createServer();
  try {
    server.listen(preferred, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if (preferred === 0 || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return freePort();
  }
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * A free port for a server that is restarted: below the ephemeral range, so that no outgoing connection can take it while the server is
 * down.
 */
export async function freePortBelowEphemeral(): Promise<number> {
  for (;;) {
    const preferred = 20_000 + Math.floor(Math.random() * 10_000);
    if ((await freePort(preferred)) === preferred) return preferred;
  }
}
