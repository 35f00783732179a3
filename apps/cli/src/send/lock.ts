import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/**
 * Locks a file for this process until it is released or the process ends. The lock is a listening socket, as Node has no file locks. On
 * Linux the socket is abstract; elsewhere a stale socket file is removed.
 *
 * @returns a function that releases the lock; null if another process of this machine holds it.
 */
export async function lock(path: string): Promise<(() => Promise<void>) | null> {
  const real = join(await realpath(dirname(path)), basename(path));
  const name = `orders-send-${createHash('sha256').update(real).digest('hex').slice(0, 24)}`;
  const address = process.platform === 'linux' ? `\0${name}` : join(tmpdir(), `${name}.sock`);
  const server = (await listen(address)) ?? (await replaceStaleSocket(address));
  return server && (async () => void (await once(server.close(), 'close')));
}

async function replaceStaleSocket(address: string): Promise<Server | null> {
  if (address.startsWith('\0') || (await isListening(address))) return null;
  await unlink(address).catch(() => {});
  return listen(address);
}

async function listen(address: string): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  try {
    await once(server.listen(address), 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
}

async function isListening(address: string): Promise<boolean> {
  const socket = connect(address);
  const isConnected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
}
