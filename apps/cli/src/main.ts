import { runCli } from './index.ts';

// `orders … | head` closes the pipe early; that is no error. What is under way goes on to its end, but for what would only be shown.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return interrupt?.();
  process.stderr.write(`What was to be printed cannot be written (${code}).\n`);
  process.exit(1);
});
// Nobody can be told, and work that is under way is worth more than what is said of it.
process.stderr.on('error', () => {});
let interruptMessage = () => '';
let interrupt: (() => void) | null = null;
// As the first process of a container Node would not end by itself.
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
  // The first signal then only tells; another one ends the process as it always would.
  untilInterrupted: () =>
    new Promise<void>((resolve) => {
      interrupt = () => {
        interrupt = null;
        resolve();
      };
    }),
});
