import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigurationError } from '../config/environment.ts';

/**
 * Listens on `host:port` and returns the port; 0 means any free port.
 *
 * @throws {ConfigurationError} with one line that says why it cannot listen.
 */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EADDRINUSE' ? 'it is taken' : error.code;
    throw new ConfigurationError(`Configuration: cannot listen on ${host}:${port}, ${reason}.`);
  });
  return (server.address() as AddressInfo).port;
}
