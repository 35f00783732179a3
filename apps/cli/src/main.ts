import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from './run-cli.ts';
import { runProcess } from './run-program.ts';

const { env } = process;
const directory = callerDirectory(env);
if (directory !== null) process.chdir(directory);
await runProcess(runCli, env);

/**
 * The directory that relative paths mean if `npm --prefix <clone> run orders` started this process; null to keep the current one.
 *
 * npm runs a script in the directory of its package and passes that of the caller as `INIT_CWD`. Any process below an npm script inherits
 * `INIT_CWD`, for which its own current directory is right, so all of it must match: the script `orders` of this clone, in its root.
 */
function callerDirectory(env: NodeJS.ProcessEnv): string | null {
  const { INIT_CWD, npm_lifecycle_event: script, npm_package_json: packageJson } = env;
  if (!INIT_CWD || script !== 'orders' || !packageJson) return null;
  const root = realpathSync(join(import.meta.dirname, '../../..'));
  const isOwnScript = realPathOf(packageJson) === join(root, 'package.json') && realPathOf('.') === root;
  return isOwnScript && existsSync(INIT_CWD) ? INIT_CWD : null;
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
