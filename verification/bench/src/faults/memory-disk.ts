import { execFile } from 'node:child_process';
import { mkdir, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A separate disk in memory that can be filled. */
export interface MemoryDisk {
  readonly isFull: boolean;
  /** Leaves no free space by shrinking the disk to the size of its content. */
  fill(): Promise<void>;
  /** Restores its size. */
  free(): Promise<void>;
  unmount(): Promise<void>;
}

/** @returns null if this process may not mount. */
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

  // The remount fails if more was written in the meantime, so each attempt leaves a little more space.
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
      // A lazy unmount detaches the disk at once and frees its memory when the last file is closed.
      await run('umount', ['--lazy', directory]);
    },
  };
}
