import { setTimeout as sleep } from 'node:timers/promises';
import { findChainEnd, readChain } from './audit-chain.ts';
import type { CliContext, Context } from '../context.ts';
import { Failure } from '../errors.ts';
import type { Knex } from '../with-database.ts';

const POLL_INTERVAL_MS = 1000;

/** What to print, and from where. */
export interface ExportOptions {
  /** The position of the last entry that is known. */
  after: number;
  follow?: boolean;
}

/**
 * Prints the entries of the chain, one JSON object a line. With `follow` until the command is interrupted.
 *
 * @throws {Failure} if the chain ends before `after`, or with the position to continue from if Postgres fails.
 */
export async function exportAudit({ after, follow }: ExportOptions, context: Context): Promise<void> {
  const { cliContext, report, withDatabase } = context;
  const { onInterrupt, untilInterrupted } = cliContext;
  const stopping = new AbortController();
  let position = after;
  const advice = () => `Continue with --after ${position}.`;
  // Without it, an interrupt ends the process with its own code, so that an incomplete export is not taken for a complete one.
  if (follow) void untilInterrupted?.().then(() => stopping.abort());
  else onInterrupt?.(() => `${advice()}\n`);
  const output = createOutput(cliContext.stdout, stopping);

  async function printNew(knex: Knex): Promise<void> {
    while (!stopping.signal.aborted) {
      const entries = await readChain(knex, position);
      for (const entry of entries) {
        await output(`${JSON.stringify(entry)}\n`);
        if (stopping.signal.aborted) return;
        position = entry.position;
      }
      if (entries.length === 0) return;
    }
  }

  try {
    await withDatabase(async (knex) => {
      const end = await findChainEnd(knex);
      if (after > end.position)
        throw new Failure(`The chain ends at ${end.position}: was the database restored to an earlier time?`);
      await printNew(knex);
      while (follow && !stopping.signal.aborted) {
        await sleep(POLL_INTERVAL_MS, null, { signal: stopping.signal }).catch(() => {});
        await printNew(knex);
      }
    });
  } catch (error) {
    if (error instanceof Failure && position > after) throw new Failure(`${error.message} ${advice()}`);
    throw error;
  }
  if (follow) report(advice());
}

/** Writes at the pace of the reader; aborts when the reader is gone. */
function createOutput(stdout: CliContext['stdout'], stopping: AbortController): (text: string) => Promise<void> {
  const stream = 'once' in stdout ? (stdout as NodeJS.WriteStream) : null;
  stream?.once('error', () => stopping.abort());
  return async (text) => {
    if (stdout.write(text) !== false || !stream) return;
    await new Promise<void>((resolve) => {
      stream.once('drain', resolve);
      stopping.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  };
}
