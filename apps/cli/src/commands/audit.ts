import { type ChainEnd, verifyChain } from '../audit/audit-chain.ts';
import type { Command } from 'commander';
import { chainEnd, chainPosition } from '../arguments.ts';
import { type ExportOptions, exportAudit } from '../audit/export-audit.ts';
import type { Context } from '../context.ts';
import { plural } from '../count.ts';
import { Failure } from '../errors.ts';

const VERIFY_HELP = `
Prints the number of entries, and position and hash of the last one. Note these regularly at a place that the owner of
the database cannot change, and give them as --expect: only this shows that the end of the chain was cut off, or that all
hashes were computed again.

Exit codes: 0 the chain holds; 1 it does not, and one line names the first entry that is changed, missing, there twice
or out of order; 2 usage error.

Examples:
  $ orders audit verify
  $ orders audit verify --expect 4711:<hash>
  $ orders audit verify --from 4711 --expect 4711:<hash>`;

const EXPORT_HELP = `
Prints one JSON object a line, in the order of the chain: position, event_id, account_id, at, actor, action, subject,
details, erased and hash. An entry has its place about a second after it was recorded. To continue later, give the
position of the last entry that you have processed as --after. The output contains personal data.

Exit codes: 0 done, or with --follow ended by Ctrl-C, by SIGTERM, or as the reader of its output ended; 1 failed;
2 usage error.

Examples:
  $ orders audit export > audit.ndjson
  $ orders audit export --after 4711 --follow | your-log-shipper`;

const PROGRESS_EVERY = 100_000;

/** `orders audit verify | export`. */
export function addAuditCommands(program: Command, context: Context): void {
  const audit = program.command('audit').description('the audit trail, chained by hash');

  audit
    .command('verify')
    .description('verify that no entry was changed, removed, inserted or moved')
    .option('--from <position>', 'begin with the entry at this position', chainPosition('--from'), 1)
    .option('--expect <position:hash>', 'a position and its hash that were noted before', chainEnd)
    .addHelpText('after', VERIFY_HELP)
    .action(async ({ from, expect: expected }: { from: number; expect?: ChainEnd }) => {
      const onProgress = (position: number) => {
        if (position % PROGRESS_EVERY === 0) context.report(`Verified to position ${position} …`);
      };
      const outcome = await context.withDatabase((knex) =>
        verifyChain(knex, { from, onProgress, ...(expected && { expected }) }),
      );
      if ('fault' in outcome) throw new Failure(`The audit trail does not hold: ${outcome.fault}.`);
      const { entries, position, hash } = outcome;
      context.print(
        {},
        outcome,
        () => `${plural(entries, 'entry', 'entries')} verified; the last is ${position}:${hash}`,
      );
    });

  audit
    .command('export')
    .description('print the entries in the order of the chain (personal data!)')
    .option('--after <position>', 'continue after this position', chainPosition('--after', 0), 0)
    .option('--follow', 'go on with each new entry until interrupted')
    .addHelpText('after', EXPORT_HELP)
    .action((options: ExportOptions) => exportAudit(options, context));
}
