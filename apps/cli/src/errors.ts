import { Problem } from '@orders/domain';
import { ConfigurationError, describeError } from '@orders/runtime';
import { CommanderError } from 'commander';
import { escapeControls } from './escape-controls.ts';
import { hideKeys } from './hide-keys.ts';

/** The command could not do what it was asked to: exit code 1. The message is printed as it is. */
export class Failure extends Error {
  /** Whether the message itself tells what to do next, so that no general advice fits behind it. */
  readonly includesNextStep: boolean;

  constructor(message: string, { includesNextStep = false } = {}) {
    super(message);
    this.includesNextStep = includesNextStep;
  }
}

/** The command was called wrongly: exit code 2. The message never repeats a value, which might be a key in the wrong place. */
export class UsageError extends Error {}

/**
 * What an error means for whoever called: an exit code and one line for stderr, or no line where there is nothing wrong (`--help`).
 *
 * @param command the words of the command that was called, for the hint.
 */
export function outcomeOf(error: unknown, command: string): { exitCode: number; line: string | null } {
  if (error instanceof UsageError || error instanceof ConfigurationError) return { exitCode: 2, line: oneLine(error) };
  // A problem repeats nothing of what was given.
  if (error instanceof Failure || error instanceof Problem) return { exitCode: 1, line: oneLine(error) };
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { exitCode: 0, line: null };
    if (error.code === 'commander.help') return { exitCode: 2, line: `Say what to do; see: ${command} --help` };
    const message = oneLine(error)
      .replace(/^error: /, '')
      .replace(/\.$/, '');
    return { exitCode: 2, line: `${message}; see: ${command} --help` };
  }
  // Neither message nor stack: they can quote a query, a payload or an address with its password.
  const { name, code } = describeError(error);
  const what = code ? `${name} ${code}` : name;
  return { exitCode: 1, line: `Something unexpected went wrong (${what}); if it stays so, report it with this line.` };
}

function oneLine({ message }: Error): string {
  return escapeControls(redact(message.replace(/\s+/g, ' ').trim()));
}

/** An address, but not the one that messages give as an example. */
const ADDRESS = /(?!https:\/\/orders\.example\.com(?![^\s,.]))\b\w+:\/\/\S*[^\s']/g;

/** A key, a secret or the password of an address may be among the words of a call, which messages quote. */
function redact(text: string): string {
  return hideKeys(text).replace(ADDRESS, '<address>');
}
