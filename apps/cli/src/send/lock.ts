import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath, unlink } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
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
  if (process.platform === 'linux') return listen(`\0${name}`);
  const address = join(tmpdir(), `${name}.sock`);
  const release = await listen(address);
  if (release || (await isListening(address))) return release;
  await unlink(address).catch(() => {});
  return listen(address);
}

async function listen(address: string): Promise<(() => Promise<void>) | null> {
  const server = createServer((socket) => socket.destroy()).unref();
  try {
    await once(server.listen(address), 'listening');
    return async () => void (await once(server.close(), 'close'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
}

async function isListening(address: string): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
