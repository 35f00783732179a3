import { userInfo } from 'node:os';

/** Who uses the command line, as far as the system knows. */
export function whoami(): string {
  try {
    return `operator:${userInfo().username}`;
  } catch {
    // A container may run as a user id that has no name.
    return `operator:${process.getuid?.() ?? 'unknown'}`;
  }
}
