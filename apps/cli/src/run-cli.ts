import type { Command } from 'commander';
import { type CliContext, createContext } from './context.ts';
import { outcomeOf } from './errors.ts';
import { createProgram } from './program.ts';

/**
 * Runs one command.
 *
 * @param argv the arguments after the program's name.
 * @returns the exit code: 0 done, 1 failed, 2 usage error.
 */
export async function runCli(argv: readonly string[], cliContext: CliContext): Promise<number> {
  const writeHelp = (text: string) => cliContext.stdout.write(text);
  const program = await createProgram(createContext(cliContext), writeHelp, argv[0]);
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
