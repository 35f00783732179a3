import type { CliContext } from './context.ts';

/** Runs a command line as this process, with its arguments, streams and signals. */
export async function runProcess(
  run: (argv: readonly string[], context: CliContext) => Promise<number>,
  env: NodeJS.ProcessEnv,
): Promise<void> {
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
  const { stdout, stderr } = process;
  process.exitCode = await run(process.argv.slice(2), {
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
}
