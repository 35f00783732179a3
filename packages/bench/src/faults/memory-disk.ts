import { execFile } from 'node:child_process';
import { mkdir, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A disk of its own, in memory, that can be full. */
export interface MemoryDisk {
  readonly isFull: boolean;
  /** Leaves nothing free, by making the disk as small as what lies on it. */
  fill(): Promise<void>;
  /** Gives it its size back. */
  free(): Promise<void>;
  unmount(): Promise<void>;
}

/** @returns null where this process may not mount. */
export async function mountMemoryDisk(directory: string, bytes: number): Promise<MemoryDisk | null> {
  await mkdir(directory);
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0755`, 'tmpfs', directory]);
  } catch {
    return null;
  }
  const resize = (size: number) => run('mount', ['-o', `remount,size=${size}`, directory]);

  let isFull = false;

  async function fill(): Promise<void> {
    isFull = true;
    await shrink(0);
  }

  // Refused where more has been written meanwhile; each time it leaves a little more for that.
  async function shrink(spareBytes: number): Promise<void> {
    const { bsize, blocks, bfree } = await statfs(directory);
    await resize((blocks - bfree) * bsize + spareBytes).catch(() => shrink(spareBytes + 2 ** 18));
  }

  return {
    get isFull() {
      return isFull;
    },
    fill,
    async free() {
      await resize(bytes);
      isFull = false;
    },
    async unmount() {
      // Lazily: it is gone at once, and its memory with the last file that somebody has open.
      await run('umount', ['--lazy', directory]);
    },
  };
}
