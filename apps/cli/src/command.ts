import { Argument, type Command, Option } from 'commander';
import type { Context } from './context.ts';

/** What a command prints: a value with `--json`, otherwise a text. */
export type Output = readonly [json: unknown, text: string];

/** A command as data. */
export interface CommandSpec {
  about: string;
  arguments?: readonly Argument[];
  options?: readonly Option[];
  /** Whether it has `--json` (default: yes). */
  json?: false;
  /** What its help says after the options. */
  help?: string;
  /** Calls of it, without the prompt. */
  examples?: readonly string[];
  /** @param given its arguments and, last, its options. @returns what to print; nothing if it has printed by itself. */
  run(context: Context, ...given: never[]): Promise<Output | undefined>;
}

/** Commands about one subject. */
export interface Group {
  about: string;
  commands: Record<string, CommandSpec>;
}

/** Adds a command, or a group of them, to the program. */
export function addCommand(program: Command, name: string, spec: CommandSpec | Group, context: Context): void {
  const command = program.command(name).description(spec.about);
  if ('commands' in spec) {
    for (const [verb, one] of Object.entries(spec.commands)) addCommand(command, verb, one, context);
    return;
  }
  for (const argument of spec.arguments ?? []) command.addArgument(argument);
  for (const option of spec.options ?? []) command.addOption(option);
  if (spec.json !== false) command.addOption(option('--json', 'print one JSON value to stdout and nothing else'));
  const help = [spec.help, examplesText(spec.examples)].filter((part) => part !== undefined);
  if (help.length > 0) command.addHelpText('after', `\n${help.join('\n\n')}`);
  command.action(async (...given: unknown[]) => {
    // Behind its arguments and options, commander gives the command itself.
    const printed = await spec.run(context, ...(given.slice(0, -1) as never[]));
    if (printed) context.print(given.at(-2) as { json?: boolean }, ...printed);
  });
}

function examplesText(examples: readonly string[] | undefined): string | undefined {
  if (!examples) return undefined;
  return [`Example${examples.length > 1 ? 's' : ''}:`, ...examples.map((call) => `  $ ${call}`)].join('\n');
}

type Parse = (text: string) => unknown;

/** @param of its allowed values, or what reads its text. */
export function argument(flags: string, description: string, of?: readonly string[] | Parse): Argument {
  const made = new Argument(flags, description);
  return typeof of === 'function' ? made.argParser(of) : of ? made.choices(of) : made;
}

/**
 * @param of its allowed values, or what reads its text.
 * @param standard its default, and how the help shows that.
 */
export function option(
  flags: string,
  description: string,
  of?: readonly string[] | Parse,
  ...standard: [value?: unknown, shown?: string]
): Option {
  const made = new Option(flags, description);
  if (standard.length > 0) made.default(...(standard as [unknown, string?]));
  return typeof of === 'function' ? made.argParser(of) : of ? made.choices(of) : made;
}

/** Rows as JSON, or as a table. @param none what to say if there are none. */
export function rows<Row>(all: readonly Row[], tabulate: (all: readonly Row[]) => string, none: string): Output {
  return [all, all.length > 0 ? tabulate(all) : none];
}
