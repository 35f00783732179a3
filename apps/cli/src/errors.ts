import { Problem } from '@orders/domain/problems.ts';
import { ConfigurationError } from '@orders/runtime/config/environment.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import { CommanderError } from 'commander';
import { escapeControls, hideKeys } from './sanitize.ts';

/** The command failed: exit code 1. The message is printed as it is. */
export class Failure extends Error {}

/** Wrong arguments: exit code 2. The message never repeats a value, which might be a key in the wrong position. */
export class UsageError extends Error {}

/**
 * Maps an error to an exit code and one line for stderr; the line is null if nothing is wrong (`--help`).
 *
 * @param command the full name of the command, for the hint.
 */
export function outcomeOf(error: unknown, command: string): { exitCode: number; line: string | null } {
  if (error instanceof UsageError || error instanceof ConfigurationError) return { exitCode: 2, line: oneLine(error) };
  // The message of a Problem contains no argument.
  if (error instanceof Failure || error instanceof Problem) return { exitCode: 1, line: oneLine(error) };
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { exitCode: 0, line: null };
    if (error.code === 'commander.help') return { exitCode: 2, line: `Missing command; see: ${command} --help` };
    const message = oneLine(error)
      .replace(/^error: /, '')
      .replace(/\.$/, '');
    return { exitCode: 2, line: `${message}; see: ${command} --help` };
  }
  // Neither message nor stack: they may contain a query, a payload or an address with a password.
  const { name, code } = describeError(error);
  const what = code ? `${name} ${code}` : name;
  return { exitCode: 1, line: `Unexpected error (${what}); if it persists, report it with this line.` };
}

function oneLine({ message }: Error): string {
  return escapeControls(redact(message.replace(/\s+/g, ' ').trim()));
}

/** Any address except the one that messages use as an example; a scheme before a full stop is none. */
const ADDRESS = /(?!https:\/\/orders\.example\.com(?![^\s,.]))\b\w+:\/\/(?!\.(?:\s|$))\S*[^\s']/g;

/** Removes keys, secrets and addresses with passwords: messages may quote arguments. */
function redact(text: string): string {
  return hideKeys(text).replace(ADDRESS, '<address>');
}

/** The message about an account that cannot be changed here. */
export const MOVING = 'This account is being moved to another installation, or was: it cannot be changed here.';
