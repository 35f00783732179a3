import { type Connection, inTransaction } from '@orders/database/run.ts';
import { readSourceActivity } from '@orders/database/sources/activity.ts';
import { createSource, removeSource } from '@orders/database/sources/change-sources.ts';
import { listSources, type Source } from '@orders/database/sources/sources.ts';
import { readIdPrefix } from '@orders/domain/sources/id-prefix.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { readSettings } from '@orders/domain/sources/read-settings.ts';
import { SOURCE_PRESETS, type SourcePreset } from '@orders/domain/sources/settings.ts';
import type { Option } from 'commander';
import { ACCOUNT, name, overlap, whoami } from '../arguments.ts';
import { argument, type Group, option, rows } from '../command.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { explained, readJsonFile, readMappingOf } from '../read-json-file.ts';
import { requireAccount, requireSource } from '../require.ts';
import {
  changePrefix,
  inSequence,
  mapSource,
  type RotateOptions,
  recordSourceAction,
  replaceSecret,
  replaceUrl,
  secretOf,
} from '../sources/change-source.ts';
import {
  describeNew,
  describeSource,
  type ListedSource,
  listedJson,
  sourceJson,
  tabulateSources,
} from '../sources/describe-source.ts';

const SOURCE_HELP = 'number, id or exact name';
const SOURCE = argument('<source>', SOURCE_HELP);
const idPrefix = (text: string) => explained('The prefix', () => readIdPrefix(text));

interface CreateOptions {
  preset: SourcePreset;
  name: string;
  secretFile?: string;
  map?: string;
  prefix?: string;
  settings?: string;
}

export const sources: Group = {
  about: 'URLs that shop systems send their own webhooks to',
  commands: {
    create: {
      about: 'make a source; print its URL, and its secret, this once, if none is given',
      arguments: [ACCOUNT],
      options: [
        presetOption('the platform').makeOptionMandatory(),
        option('--name <name>', 'what the source is called', name('The name of a source')).makeOptionMandatory(),
        option('--secret-file <file>', 'the secret that the platform signs with; without it, one is made'),
        option('--map <file>', 'the mapping, instead of that of the preset'),
        option('--prefix <prefix>', 'what its order ids begin with, or "" for nothing; without it, the name', idPrefix),
        option(
          '--settings <file>',
          'how deliveries are signed, and which topics count, for custom and standard-webhooks',
        ),
      ],
      examples: [
        'orders sources create "Corner Bakery" --preset woocommerce --name "Web shop"',
        'orders sources create 12 --preset custom --name Till --settings till.json --map till-map.json',
      ],
      async run(context, reference: string, options: CreateOptions) {
        const { preset } = options;
        const settingsInput = options.settings && (await readJsonFile(options.settings, '--settings'));
        const settings = explained('--settings', () => readSettings(preset, settingsInput));
        const mapping = options.map
          ? readMappingOf('--map', await readJsonFile(options.map, '--map'))
          : PRESETS[preset].mapping;
        const secret = await secretOf(options.secretFile, settings);
        const source = await context.withSecrets(async (database, keys) => {
          const { account_id: accountId } = await requireAccount(database, reference);
          const added = { accountId, name: options.name, preset, settings, mapping, secret, idPrefix: options.prefix };
          return inTransaction(database, async (transaction) => {
            const created = await createSource(transaction, keys, added, whoami());
            await recordSourceAction(transaction, 'source_created', created, { preset });
            return created;
          });
        });
        return newSource(source, context);
      },
    },
    list: {
      about: "an account's sources, with their deliveries of the last seven days",
      arguments: [ACCOUNT],
      async run(context, reference: string) {
        const url = await intakeUrl(context);
        const all = await context.withDatabase(async (database) => {
          const { account_id } = await requireAccount(database, reference);
          return withActivity(database, account_id, await listSources(database, account_id));
        });
        const [, text] = rows(all, tabulateSources, 'The account has no sources.');
        return [all.map((listed) => listedJson(listed, url)), text];
      },
    },
    show: {
      about: 'one source',
      arguments: [ACCOUNT, SOURCE],
      async run(context, account: string, reference: string) {
        const url = await intakeUrl(context);
        const [found] = await context.withDatabase(async (database) => {
          const source = await requireSource(database, account, reference);
          return withActivity(database, source.account_id, [source]);
        });
        const listed = found as ListedSource;
        const json = { ...listedJson(listed, url), mapping: inSequence(listed.source.mapping) };
        return [json, describeSource(listed, url)];
      },
    },
    map: {
      about: "print a source's mapping, store a new one, or show what it makes of a delivery",
      arguments: [argument('[account]', 'id or exact name'), argument('[source]', SOURCE_HELP)],
      options: [
        option('--file <file>', 'store the mapping of this file as a new version'),
        option(
          '--check <delivery>',
          'store nothing: print the order that the mapping makes of the delivery in this file',
        ),
        presetOption('print the mapping of this preset; needs no account, source and database'),
      ],
      examples: [
        'orders sources map 12 "Web shop" > map.json',
        'orders sources map 12 "Web shop" --file map.json --check delivery.json',
        'orders sources map 12 "Web shop" --file map.json',
      ],
      run: mapSource,
    },
    prefix: {
      about: 'change what the order ids of a source begin with, while it has no orders',
      arguments: [
        ACCOUNT,
        SOURCE,
        argument('<prefix>', 'lower-case letters, digits and hyphens, or "" for none', idPrefix),
      ],
      examples: ['orders sources prefix "Corner Bakery" "Web shop" bakery'],
      async run(context, account: string, reference: string, prefix: string) {
        const url = await intakeUrl(context);
        const source = await context.withDatabase((database) => changePrefix(database, [account, reference], prefix));
        const text =
          prefix === ''
            ? `Source ${source.source_number} has no prefix now; its order ids are those of the platform.`
            : `The order ids of source ${source.source_number} begin with ${prefix}: now.`;
        return [sourceJson(source, url), text];
      },
    },
    rotate: {
      about: 'replace the URL or the secret of a source',
      arguments: [ACCOUNT, SOURCE],
      options: [
        option('--url', 'make a new URL; the old one stops working within 5 seconds'),
        option('--secret', 'make a new secret and print it, this once'),
        option('--secret-file <file>', 'take the secret of the platform from this file'),
        overlap('how long the old secret is still accepted'),
      ],
      examples: ['orders sources rotate "Corner Bakery" "Web shop" --secret --overlap 1h'],
      async run(context, account: string, reference: string, options: RotateOptions) {
        if (Boolean(options.url) === Boolean(options.secret || options.secretFile))
          throw new UsageError('Give --url, or --secret or --secret-file.');
        const source = options.url
          ? await context.withDatabase((database) => replaceUrl(database, account, reference))
          : await context.withSecrets((database, keys) => replaceSecret(database, keys, [account, reference], options));
        return newSource(source, context);
      },
    },
    remove: {
      about: 'remove a source; its URL stops working within 5 seconds, its orders stay',
      arguments: [ACCOUNT, SOURCE],
      async run({ inTransaction }, account: string, reference: string) {
        const { account_id, source_number } = await inTransaction(async (transaction) => {
          const found = await requireSource(transaction, account, reference);
          if (await removeSource(transaction, found.account_id, found.source_number))
            await recordSourceAction(transaction, 'source_removed', found);
          return found;
        });
        return [
          { account_id, source_number, removed: true },
          `Source ${source_number} is removed; its URL stops working everywhere within 5 seconds.`,
        ];
      },
    },
  },
};

function presetOption(description: string): Option {
  return option('--preset <preset>', description, SOURCE_PRESETS);
}

async function intakeUrl({ config }: Context): Promise<string | undefined> {
  return (await config()).INTAKE_URL;
}

async function newSource(source: Source & { secret?: string }, context: Context) {
  const url = await intakeUrl(context);
  return [sourceJson(source, url), describeNew(source, url)] as const;
}

async function withActivity(
  database: Connection,
  accountId: number,
  sources: readonly Source[],
): Promise<ListedSource[]> {
  const activity = await readSourceActivity(database, accountId);
  return sources.map((source) => ({
    source,
    activity: activity.find(({ source_number }) => source_number === source.source_number),
  }));
}
