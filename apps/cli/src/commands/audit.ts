import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@orders/database/run.ts';
import { chainEnd, chainPosition } from '../arguments.ts';
import { type ChainEnd, findChainEnd, readChain, verifyChain } from '../audit/audit-chain.ts';
import { type Group, option } from '../command.ts';
import type { CliContext, Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { plural } from '../table.ts';

const POLL_INTERVAL_MS = 1000;

/** What to print, and from where. */
interface ExportOptions {
  /** The position of the last entry that is known. */
  after: number;
  follow?: boolean;
}

/**
 * Prints the entries of the chain, one JSON object a line. With `follow` until the command is interrupted.
 *
 * @throws {Failure} if the chain ends before `after`, or with the position to continue from if Postgres fails.
 */
async function exportAudit(context: Context, { after, follow }: ExportOptions): Promise<undefined> {
  const { cliContext, report, withDatabase } = context;
  const { onInterrupt, untilInterrupted } = cliContext;
  const stopping = new AbortController();
  let position = after;
  const advice = () => `Continue with --after ${position}.`;
  // Without it, an interrupt ends the process with its own code, so that an incomplete export is not taken for a complete one.
  if (follow) void untilInterrupted?.().then(() => stopping.abort());
  else onInterrupt?.(() => `${advice()}\n`);
  const output = createOutput(cliContext.stdout, stopping);

  async function printNew(database: Connection): Promise<void> {
    while (!stopping.signal.aborted) {
      const entries = await readChain(database, position);
      for (const entry of entries) {
        await output(`${JSON.stringify(entry)}\n`);
        if (stopping.signal.aborted) return;
        position = entry.position;
      }
      if (entries.length === 0) return;
    }
  }

  try {
    await withDatabase(async (database) => {
      const end = await findChainEnd(database);
      if (after > end.position)
        throw new Failure(`The chain ends at ${end.position}: was the database restored to an earlier time?`);
      await printNew(database);
      while (follow && !stopping.signal.aborted) {
        await sleep(POLL_INTERVAL_MS, null, { signal: stopping.signal }).catch(() => {});
        await printNew(database);
      }
    });
  } catch (error) {
    if (error instanceof Failure && position > after) throw new Failure(`${error.message} ${advice()}`);
    throw error;
  }
  if (follow) report(advice());
  return undefined;
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

const VERIFY_HELP = `\
Prints the number of entries, and position and hash of the last one. Note these regularly at a place that the owner of
the database cannot change, and give them as --expect: only this shows that the end of the chain was cut off, or that all
hashes were computed again.

Exit codes: 0 the chain holds; 1 it does not, and one line names the first entry that is changed, missing, there twice
or out of order; 2 usage error.

Examples:
  $ orders audit verify
  $ orders audit verify --expect 4711:<hash>
  $ orders audit verify --from 4711 --expect 4711:<hash>`;

const EXPORT_HELP = `\
Prints one JSON object a line, in the order of the chain: position, event_id, account_id, at, actor, action, subject,
details, erased and hash. An entry has its position about a second after it was recorded. To continue later, give the
position of the last entry that you have processed as --after. The output contains personal data.

Exit codes: 0 done, or with --follow ended by Ctrl-C, by SIGTERM, or as the reader of its output ended; 1 failed;
2 usage error.

Examples:
  $ orders audit export > audit.ndjson
  $ orders audit export --after 4711 --follow | your-log-shipper`;

const PROGRESS_EVERY = 100_000;

export const audit: Group = {
  about: 'the audit trail, chained by hash',
  commands: {
    verify: {
      about: 'verify that no entry was changed, removed, inserted or moved',
      options: [
        option('--from <position>', 'begin with the entry at this position', chainPosition('--from'), 1),
        option('--expect <position:hash>', 'a position and its hash that were noted before', chainEnd),
      ],
      json: false,
      help: VERIFY_HELP,
      async run({ report, withDatabase }, { from, expect: expected }: { from: number; expect?: ChainEnd }) {
        const onProgress = (position: number) => {
          if (position % PROGRESS_EVERY === 0) report(`Verified to position ${position} …`);
        };
        const outcome = await withDatabase((database) =>
          verifyChain(database, { from, onProgress, ...(expected && { expected }) }),
        );
        if ('fault' in outcome) throw new Failure(`The audit trail does not hold: ${outcome.fault}.`);
        const { entries, position, hash } = outcome;
        return [outcome, `${plural(entries, 'entry', 'entries')} verified; the last is ${position}:${hash}`];
      },
    },
    export: {
      about: 'print the entries in the order of the chain (personal data!)',
      options: [
        option('--after <position>', 'continue after this position', chainPosition('--after', 0), 0),
        option('--follow', 'go on with each new entry until interrupted'),
      ],
      json: false,
      help: EXPORT_HELP,
      run: exportAudit,
    },
  },
};
