import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** How to start a program that refuses to run as root. */
export interface RunAs {
  uid?: number;
  gid?: number;
  /** What to put before the program and its arguments. */
  prefix: string[];
}

/**
 * Postgres refuses to run as root; as root it is run as `nobody`. Where that user could not even reach the files, because the clone lies
 * in root's own home, it is given the one capability that lets it pass.
 */
export function runAsUnprivileged(paths: string[]): RunAs {
  if (process.getuid?.() !== 0) return { prefix: [] };
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })));
  if (paths.every(isOpenToAll)) return { uid: uid as number, gid: gid as number, prefix: [] };
  // Without that secure bit access(2), by which Postgres looks for its own binaries, would not heed the capability.
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  return { prefix: ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...capability] };
}

function isOpenToAll(path: string): boolean {
  const mayPass = (statSync(path).mode & 0o001) !== 0;
  return mayPass && (dirname(path) === path || isOpenToAll(dirname(path)));
}
