import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** How to start a program that refuses to run as root. */
export interface RunAs {
  /** Whose its files must be; null where this process is not root. */
  owner: { uid: number; gid: number } | null;
  /** For `spawn`, where it can switch users by itself. */
  identity: { uid?: number; gid?: number };
  /** What to put before the program and its arguments, where it cannot. */
  prefix: string[];
}

/**
 * Postgres refuses to run as root; as root it is run as `nobody`. Where that user could not even reach the files, because the clone lies
 * in root's own home, it is given the one capability that lets it pass.
 */
export function runAsUnprivileged(paths: string[]): RunAs {
  if (process.getuid?.() !== 0) return { owner: null, identity: {}, prefix: [] };
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  const owner = { uid: idOf('-u'), gid: idOf('-g') };
  if (paths.every(isOpenToAll)) return { owner, identity: owner, prefix: [] };
  // Without that secure bit access(2), by which Postgres looks for its own binaries, would not heed the capability.
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  return { owner, identity: {}, prefix: ['setpriv', ...user, ...capability] };
}

function isOpenToAll(path: string): boolean {
  const mayPass = (statSync(path).mode & 0o001) !== 0;
  return mayPass && (dirname(path) === path || isOpenToAll(dirname(path)));
}
