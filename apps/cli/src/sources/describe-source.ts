import type { SourceActivitySummary } from '@orders/database/sources/activity.ts';
import type { Source } from '@orders/database/sources/sources.ts';
import type { SourceSettings } from '@orders/domain/sources/settings.ts';
import { details, table } from '../table.ts';

/** Intake's address for senders; undefined if it is not set. */
export type IntakeUrl = string | undefined;

/** A source with its deliveries of the last seven days. */
export interface ListedSource {
  source: Source;
  activity: SourceActivitySummary | undefined;
}

/** A source as `--json` prints it, without its mapping. */
export function sourceJson({ mapping: _mapping, ...source }: Source, intakeUrl: IntakeUrl): object {
  const path = pathOf(source);
  return { ...source, url: intakeUrl === undefined ? null : intakeUrl + path, path };
}

export function listedJson({ source, activity }: ListedSource, intakeUrl: IntakeUrl): object {
  return {
    ...sourceJson(source, intakeUrl),
    last_delivery_at: activity?.last_at ?? null,
    deliveries: activity?.counts ?? {},
  };
}

export function describeSource({ source, activity }: ListedSource, intakeUrl: IntakeUrl): string {
  return details([
    ...entriesOf(source, intakeUrl),
    ['signature', signatureOf(source.settings)],
    ['mapping', `version ${source.mapping_version}; orders sources map shows it`],
    ['created', source.created_at],
    ['old secret', source.previous_until ? `accepted until ${source.previous_until.toISOString()}` : undefined],
    ['last delivery', activity?.last_at ?? null],
    ['last 7 days', countsOf(activity)],
  ]);
}

/** A source whose URL or secret is new. */
export function describeNew(source: Source & { secret?: string }, intakeUrl: IntakeUrl): string {
  const lines = [details([...entriesOf(source, intakeUrl), ['secret', source.secret]])];
  const { account_id, source_number, preset, secret } = source;
  if (intakeUrl === undefined)
    lines.push("Put intake's address for senders before the path, or set INTAKE_URL and use sources show.");
  if (secret !== undefined && preset === 'shopify')
    lines.push(
      `Shopify signs with a secret of its own. Copy it into a file, then: orders sources rotate ${account_id} ${source_number} --secret-file <file> --overlap 0`,
    );
  else if (secret !== undefined) lines.push('Enter the secret on the platform now: it cannot be shown again.');
  return lines.join('\n');
}

export function tabulateSources(sources: readonly ListedSource[]): string {
  return table(sources, [
    { head: 'SOURCE', cell: ({ source }) => source.source_number, right: true },
    { head: 'NAME', cell: ({ source }) => source.name, shrinks: true },
    { head: 'PRESET', cell: ({ source }) => source.preset },
    { head: 'MAPPING', cell: ({ source }) => source.mapping_version, right: true },
    { head: 'LAST DELIVERY', cell: ({ activity }) => activity?.last_at ?? null },
    { head: 'LAST 7 DAYS', cell: ({ activity }) => countsOf(activity), shrinks: true },
  ]);
}

function entriesOf(source: Source, intakeUrl: IntakeUrl): [string, string | number][] {
  const path = pathOf(source);
  return [
    ['source', source.source_number],
    ['account', source.account_id],
    ['name', source.name],
    ['preset', source.preset],
    ['order ids', source.id_prefix === '' ? 'as on the platform' : `${source.id_prefix}: and the id on the platform`],
    intakeUrl === undefined ? ['path', path] : ['url', intakeUrl + path],
  ];
}

function pathOf({ source_id }: Pick<Source, 'source_id'>): string {
  return `/ingest/sources/${source_id}`;
}

function countsOf(activity: SourceActivitySummary | undefined): string | null {
  const counts = Object.entries(activity?.counts ?? {}).map(([outcome, count]) => `${count} ${outcome}`);
  return counts.length > 0 ? counts.join(', ') : null;
}

function signatureOf({ signature }: SourceSettings): string {
  if (signature.scheme === 'standard-webhooks') return 'Standard Webhooks';
  if (signature.scheme === 'basic') return 'the secret as the password of HTTP Basic authentication';
  const { header, prefix = '' } = signature;
  if (signature.scheme === 'token') return `the secret in ${header}${prefix && ` after "${prefix}"`}`;
  return `HMAC with ${signature.algorithm} in ${header}, ${signature.encoding}${prefix && ` after "${prefix}"`}`;
}
