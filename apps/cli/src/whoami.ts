import { userInfo } from 'node:os';

/** The actor for the audit trail: the user of the operating system. */
export function whoami(): string {
  try {
    return `operator:${userInfo().username}`;
  } catch {
    // A container may run as a user id without a name.
    return `operator:${process.getuid?.() ?? 'unknown'}`;
  }
}
