import { execFile, type SpawnOptions } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Child, signalAll, startChild } from './child.ts';

const run = promisify(execFile);

/** A machine of its own: a network namespace with an address, and the processes in it. */
export interface Machine {
  name: string;
  address: string;
  /** Starts a program on it. @throws {Error} if it cannot be started. */
  start(command: string, args: string[], options?: SpawnOptions): Promise<Child>;
  /** Kills all its processes at once, as a power cut would. */
  kill(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Nothing reaches it, and it reaches nothing; nobody is told. */
  cutOff(): Promise<void>;
  reconnect(): Promise<void>;
}

/** Machines in one network, which this process reaches too. */
export interface Machines {
  all: Machine[];
  close(): Promise<void>;
}

/** For tests of networks, RFC 2544. */
const NETWORK = '198.18';
const GATEWAY = 254;

/** Why there can be no machines here; null if there can. */
export async function whyNoMachines(): Promise<string | null> {
  const name = `orders-probe-${process.pid}`;
  try {
    await run('ip', ['netns', 'add', name]);
    await run('ip', ['netns', 'delete', name]);
    return null;
  } catch {
    return 'network namespaces require root on Linux and iproute2';
  }
}

/** @throws {Error} unless this process may create network namespaces; see `whyNoMachines`. */
export async function startMachines(count: number): Promise<Machines> {
  // Names of interfaces have at most 15 characters.
  const id = process.pid.toString(36);
  const subnet = `${NETWORK}.${process.pid % 256}`;
  const uplink = `orders-${id}`;
  // The switch has a namespace too, because the packet filter of this machine may drop what a bridge forwards, as Docker's does.
  const network = `orders-${id}-switch`;
  const names = Array.from({ length: count }, (_, index) => `orders-${id}-${index + 1}`);

  async function close(): Promise<void> {
    for (const name of names) await end(name).catch(() => {});
    for (const name of [...names, network]) await run('ip', ['netns', 'delete', name]).catch(() => {});
  }

  try {
    await run('ip', ['netns', 'add', network]);
    await run('ip', ['-netns', network, 'link', 'add', 'switch', 'type', 'bridge']);
    await run('ip', ['-netns', network, 'link', 'set', 'switch', 'up']);
    await run('ip', ['link', 'add', uplink, 'type', 'veth', 'peer', 'name', 'uplink', 'netns', network]);
    await run('ip', ['-netns', network, 'link', 'set', 'uplink', 'master', 'switch', 'up']);
    await run('ip', ['address', 'add', `${subnet}.${GATEWAY}/24`, 'dev', uplink]);
    await run('ip', ['link', 'set', uplink, 'up']);
    const all: Machine[] = [];
    for (const [index, name] of names.entries()) {
      all.push(await createMachine({ name, network, cable: `cable${index + 1}`, address: `${subnet}.${index + 1}` }));
    }
    return { all, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function createMachine(options: {
  name: string;
  network: string;
  cable: string;
  address: string;
}): Promise<Machine> {
  const { name, network, cable, address } = options;
  await run('ip', ['netns', 'add', name]);
  await run('ip', ['-netns', network, 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]);
  await run('ip', ['-netns', network, 'link', 'set', cable, 'master', 'switch', 'up']);
  await run('ip', ['-netns', name, 'address', 'add', `${address}/24`, 'dev', 'eth0']);
  for (const device of ['lo', 'eth0']) await run('ip', ['-netns', name, 'link', 'set', device, 'up']);
  const setCable = async (state: 'up' | 'down') => {
    await run('ip', ['-netns', network, 'link', 'set', cable, state]);
  };
  return {
    name,
    address,
    start: (command, args, options) => startChild('ip', ['netns', 'exec', name, command, ...args], options),
    kill: () => end(name),
    freeze: () => freeze(name),
    thaw: async () => signalAll(await processesOf(name), 'SIGCONT'),
    cutOff: () => setCable('down'),
    reconnect: () => setCable('up'),
  };
}

async function processesOf(name: string): Promise<number[]> {
  const { stdout } = await run('ip', ['netns', 'pids', name]);
  return stdout.split('\n').filter(Boolean).map(Number);
}

/** Until none is left that started meanwhile. */
async function freeze(name: string): Promise<void> {
  for (let known = 0; ; ) {
    const all = await processesOf(name);
    signalAll(all, 'SIGSTOP');
    if (all.length === known) return;
    known = all.length;
  }
}

async function end(name: string): Promise<void> {
  await freeze(name);
  for (let left = await processesOf(name); left.length > 0; left = await processesOf(name)) {
    signalAll(left, 'SIGKILL');
    await sleep(10);
  }
}
