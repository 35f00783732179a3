import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** How root runs a program that refuses to run as root. */
export interface RunAs {
  /** The required owner of its files; null if this process is not root. */
  owner: { uid: number; gid: number } | null;
  /** Options for `spawn`, if they suffice to switch users. */
  identity: { uid?: number; gid?: number };
  /** A command to put before the program otherwise. */
  prefix: string[];
}

/**
 * Postgres refuses to run as root, so root runs it as `nobody`. If that user cannot reach the files, for example because the clone is in
 * root's home, it gets the capability `dac_override`.
 */
export function runAsUnprivileged(paths: string[]): RunAs {
  if (process.getuid?.() !== 0) return { owner: null, identity: {}, prefix: [] };
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  const owner = { uid: idOf('-u'), gid: idOf('-g') };
  if (paths.every(isOpenToAll)) return { owner, identity: owner, prefix: [] };
  // Postgres finds its binaries with access(2), which respects the capability only with this securebit.
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  return { owner, identity: {}, prefix: ['setpriv', ...user, ...capability] };
}

function isOpenToAll(path: string): boolean {
  const mayPass = (statSync(path).mode & 0o001) !== 0;
  return mayPass && (dirname(path) === path || isOpenToAll(dirname(path)));
}
