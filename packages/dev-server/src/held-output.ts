import type { Readable } from 'node:stream';

/** The output of the apps, held while they start. */
export interface HeldOutput {
  /** Takes the output of a process. */
  add(stream: Readable | null): void;
  /** Prints all output from now on. What was held is dropped, but for warnings and errors, or printed as a whole. */
  release(what: 'warnings' | 'all'): void;
}

/** The level of a log line that a person should see. */
const WARNING = /^\S+ (warn|error) /;

/** So that the message of `npm start` comes before the log lines of its own requests. */
export function holdOutput(print: (text: string) => void): HeldOutput {
  let held: string[] | null = [];
  return {
    add(stream) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        if (held) held.push(text);
        else print(text);
      });
    },
    release(what) {
      const lines = (held?.join('') ?? '').split(/(?<=\n)/);
      held = null;
      for (const line of lines) if (what === 'all' || WARNING.test(line)) print(line);
    },
  };
}
