import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { runCli } from './run-cli.ts';

// `orders … | head` closes the pipe early, which is no error: work continues to its end, except for commands that only show something.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return interrupt?.();
  process.stderr.write(`Cannot write to standard output (${code}).\n`);
  process.exit(1);
});
// There is nowhere to report this, and running work is worth more than its messages.
process.stderr.on('error', () => {});
let interruptMessage = () => '';
let interrupt: (() => void) | null = null;
// As PID 1 of a container, Node does not exit on signals by default.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.on(signal, () => {
    if (interrupt) return interrupt();
    process.stderr.write(interruptMessage());
    process.exit(code);
  });
const { stdout, stderr, env } = process;
const directory = callerDirectory(env);
if (directory !== null) process.chdir(directory);
process.exitCode = await runCli(process.argv.slice(2), {
  get stdin() {
    return process.stdin;
  },
  stdout,
  stderr,
  env,
  onInterrupt: (message) => {
    interruptMessage = message;
  },
  // The first signal only resolves the promise; the next one ends the process as usual.
  untilInterrupted: () =>
    new Promise<void>((resolve) => {
      interrupt = () => {
        interrupt = null;
        resolve();
      };
    }),
});

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
