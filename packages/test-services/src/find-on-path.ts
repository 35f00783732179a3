import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of an executable on the PATH, or null. */
export function findOnPath(program: string): string | null {
  const paths = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, program));
  return paths.find(canRun) ?? null;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
