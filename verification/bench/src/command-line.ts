import { writeFile } from 'node:fs/promises';
import { type Command, CommanderError, InvalidArgumentError } from 'commander';

export const printProgress = (text: string) => process.stderr.write(`${text}\n`);

/** Parses the value of a commander option. */
export const parseWholeNumber = (text: string): number => {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It must be a whole number above zero.');
  return Number(text);
};

/**
 * Parses a commander option with a comma-separated list of names.
 *
 * @param known the valid choices.
 */
export const parseNames =
  <T extends { name: string }>(known: readonly T[]) =>
  (text: string): T[] =>
    text.split(',').map((name) => {
      const found = known.find((one) => one.name === name);
      if (!found) throw new InvalidArgumentError(`"${name}" is not one of ${known.map((one) => one.name).join(', ')}.`);
      return found;
    });

export async function writeJson(file: string, value: object): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
  printProgress(`The results are in ${file}.`);
}

/** Runs work with services and always stops them, also after a signal. A second signal is ignored. */
export async function withServices<Services extends { stop(): Promise<void> }, Result>(
  start: () => Promise<Services>,
  work: (services: Services) => Promise<Result>,
): Promise<Result> {
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  const end = () => ended.reject(new Error('ended by a signal'));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, end);
  try {
    const services = await start();
    try {
      return await Promise.race([ended.promise, work(services)]);
    } finally {
      await services.stop();
    }
  } finally {
    for (const signal of signals) process.off(signal, end);
  }
}

/** Runs the command. Exit code 2 for wrong usage, 1 for an error, otherwise the one that the command sets. */
export async function runProgram(program: Command, name: string): Promise<void> {
  for (const command of [program, ...program.commands]) command.exitOverride();
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      printProgress(`${name}: ${Error.isError(error) ? error.message.split('\n')[0] : error}`);
      process.exitCode = 1;
    }
  }
}
