import { runCli } from './index.ts';

// `orders … | head` closes the pipe early; that is no error, and there is nobody left to write to.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});
let interrupt: (() => void) | null = null;
/** From now on the first signal only tells; another one ends the process as it always would. */
const untilInterrupted = () =>
  new Promise<void>((resolve) => {
    interrupt = () => {
      interrupt = null;
      resolve();
    };
  });
// As the first process of a container Node would not end by itself.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.on(signal, () => (interrupt ? interrupt() : process.exit(code)));
process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  untilInterrupted,
});
