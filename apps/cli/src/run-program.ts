import { VERSION } from '@orders/runtime/version.ts';
import { Command } from 'commander';
import { addCommand, type CommandSpec, type Group } from './command.ts';
import { readRevision } from './config.ts';
import { type CliContext, type Context, createContext } from './context.ts';
import { outcomeOf } from './errors.ts';

/** A command line: its commands are loaded on demand, so a sender's command starts without the database and queue drivers. */
export interface Program {
  about: string;
  commands: Record<string, () => Promise<CommandSpec | Group>>;
  /** The end of its help. */
  epilogue: string;
}

/**
 * Creates the program with the command that is called, or with all commands if there is no such command, for help. It never exits or
 * writes to stderr: errors are thrown and printed in one place.
 */
async function createProgram(
  { about, commands, epilogue }: Program,
  context: Context,
  writeHelp: (text: string) => void,
  commandName: string | undefined,
): Promise<Command> {
  const program = new Command('orders')
    .description(about)
    .version(
      `${VERSION} (revision ${readRevision(context.cliContext.env)})`,
      '--version',
      'print the version of the service and its revision',
    )
    .exitOverride()
    .configureOutput({
      writeOut: writeHelp,
      writeErr: () => {},
      getOutHelpWidth: () => 100,
      getOutHasColors: () => false,
    })
    .addHelpText('after', epilogue);
  const isKnown = commandName !== undefined && Object.hasOwn(commands, commandName);
  for (const [name, load] of Object.entries(commands))
    if (!isKnown || name === commandName) addCommand(program, name, await load(), context);
  return program;
}

/**
 * Runs one command of a program.
 *
 * @param argv the arguments after the program's name.
 * @returns the exit code: 0 done, 1 failed, 2 usage error.
 */
export async function runProgram(offered: Program, argv: readonly string[], cliContext: CliContext): Promise<number> {
  const writeHelp = (text: string) => cliContext.stdout.write(text);
  const program = await createProgram(offered, createContext(cliContext), writeHelp, argv[0]);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    const { exitCode, line } = outcomeOf(error, commandOf(program, argv));
    if (line) cliContext.stderr.write(`${line}\n`);
    return exitCode;
  }
}

/** The full name of the called command, as far as it exists: `orders keys create`. */
function commandOf(program: Command, argv: readonly string[]): string {
  const words = [program.name()];
  let command: Command | undefined = program;
  for (const word of argv) {
    command = command.commands.find((subcommand) => subcommand.name() === word);
    if (!command) break;
    words.push(word);
  }
  return words.join(' ');
}

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
