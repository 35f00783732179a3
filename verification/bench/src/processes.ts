import { readFile } from 'node:fs/promises';
import { childrenOf } from '@orders/test-services/child.ts';

/** Linux reports CPU time in ticks of this length, independent of the kernel's tick (man 5 proc, USER_HZ). */
const TICK_SECONDS = 1 / 100;

/** The resource usage of processes; NaN of one that has ended, and on a system without /proc. */
export interface Usage {
  /** User and system CPU time in seconds, including ended children. */
  cpuSeconds: number;
  /** Peak memory in MiB. For a process tree the current sum, with shared pages counted once. */
  memoryMiB: number;
}

const UNKNOWN: Usage = { cpuSeconds: Number.NaN, memoryMiB: Number.NaN };

/** The usage of one process. */
export async function usageOf(pid: number): Promise<Usage> {
  const stat = await readStat(pid);
  if (!stat) return UNKNOWN;
  return { cpuSeconds: stat.own, memoryMiB: kibibytes(await readProc(pid, 'status'), 'VmHWM') / 1024 };
}

/** The sum over several processes. */
export async function usageOfAll(children: readonly { pid: number }[]): Promise<Usage> {
  const sum = { cpuSeconds: 0, memoryMiB: 0 };
  for (const { pid } of children) {
    const usage = await usageOf(pid);
    sum.cpuSeconds += usage.cpuSeconds;
    sum.memoryMiB += usage.memoryMiB;
  }
  return sum;
}

/** The usage of a process and its children, such as Postgres with its backends. */
export async function usageOfTree(pid: number): Promise<Usage> {
  const head = await readStat(pid);
  if (!head) return UNKNOWN;
  const usage = { cpuSeconds: head.own + head.endedChildren, memoryMiB: await proportionalMiB(pid) };
  for (const child of await childrenOf(pid)) {
    usage.cpuSeconds += (await readStat(child))?.own ?? 0;
    usage.memoryMiB += await proportionalMiB(child);
  }
  return usage;
}

/**
 * The current memory of a process in MiB, with the 50 MiB or so of Node's program that all processes of a machine share.
 *
 * @returns 0 on a system without /proc.
 */
export async function residentMiB(pid: number): Promise<number> {
  return kibibytes(await readProc(pid, 'status'), 'VmRSS') / 1024;
}

/** CPU seconds from /proc/[pid]/stat (man 5 proc); null for a process that has ended. */
async function readStat(pid: number): Promise<{ own: number; endedChildren: number } | null> {
  const stat = await readProc(pid, 'stat');
  // The second field, the program name in parentheses, may contain any character.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields.length < 15) return null;
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map((ticks) => Number(ticks) * TICK_SECONDS);
  return { own: (utime ?? 0) + (stime ?? 0), endedChildren: (cutime ?? 0) + (cstime ?? 0) };
}

async function proportionalMiB(pid: number): Promise<number> {
  return kibibytes(await readProc(pid, 'smaps_rollup'), 'Pss') / 1024;
}

function kibibytes(text: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0);
}

async function readProc(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
}
