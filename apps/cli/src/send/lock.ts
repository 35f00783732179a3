import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/**
 * Holds a file for this process, until it is released or the process ends in whatever way: a socket that listens, as Node has no locks. Where
 * it can, the socket has no file; else one that a dead process left is removed.
 *
 * @returns how to release it; null when another process of this machine holds it.
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
