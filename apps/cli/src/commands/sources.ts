import type { Database } from '@orders/database/connect.ts';
import { inTransaction } from '@orders/database/run.ts';
import { readSourceActivity } from '@orders/database/sources/activity.ts';
import { createSource, listSources, removeSource, type Source } from '@orders/database/sources/sources.ts';
import { readIdPrefix } from '@orders/domain/sources/id-prefix.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import { readSettings } from '@orders/domain/sources/read-settings.ts';
import { SOURCE_PRESETS, type SourcePreset } from '@orders/domain/sources/settings.ts';
import { type Command, Option } from 'commander';
import { json, name, span } from '../arguments.ts';
import { whoami } from '../audit.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../errors.ts';
import { explained, readJsonFile, readMappingOf } from '../read-json-file.ts';
import { requireAccount, requireSource } from '../require.ts';
import {
  changePrefix,
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
import { inSequence, type MapOptions, mapSource } from '../sources/map-source.ts';

const SOURCE_ARGUMENT = 'number, id or exact name';
const overlap = span('--overlap');
const idPrefix = (text: string) => explained('The prefix', () => readIdPrefix(text));

/** `orders sources create | list | show | map | prefix | rotate | remove`. */
export function addSourceCommands(program: Command, context: Context): void {
  const sources = program.command('sources').description('URLs that shop systems send their own webhooks to');
  const intakeUrl = async () => (await context.config()).INTAKE_URL;

  sources
    .command('create')
    .description('make a source; print its URL, and its secret, this once, if none is given')
    .argument('<account>', 'id or exact name')
    .addOption(presetOption('the platform').makeOptionMandatory())
    .requiredOption('--name <name>', 'what the source is called', name('The name of a source'))
    .option('--secret-file <file>', 'the secret that the platform signs with; without it, one is made')
    .option('--map <file>', 'the mapping, instead of that of the preset')
    .option('--prefix <prefix>', 'what its order ids begin with, or "" for nothing; without it, the name', idPrefix)
    .option('--settings <file>', 'how deliveries are signed, and which topics count, for custom and standard-webhooks')
    .addOption(json())
    .addHelpText(
      'after',
      '\nExamples:\n  $ orders sources create "Corner Bakery" --preset woocommerce --name "Web shop"\n  $ orders sources create 12 --preset custom --name Till --settings till.json --map till-map.json',
    )
    .action(async (reference: string, options) => {
      const { preset }: { preset: SourcePreset } = options;
      const settingsInput = options.settings && (await readJsonFile(options.settings, '--settings'));
      const settings = explained('--settings', () => readSettings(preset, settingsInput));
      const mapping = options.map
        ? readMappingOf('--map', await readJsonFile(options.map, '--map'))
        : PRESETS[preset].mapping;
      const secret = await secretOf(options.secretFile, settings);
      const source = await context.withSecrets(async (database, keys) => {
        const { account_id } = await requireAccount(database, reference);
        return inTransaction(database, async (transaction) => {
          const added = {
            accountId: account_id,
            name: options.name,
            preset,
            settings,
            mapping,
            secret,
            idPrefix: options.prefix,
          };
          const created = await createSource(transaction, keys, added, whoami());
          await recordSourceAction(transaction, 'source_created', created, { preset });
          return created;
        });
      });
      const url = await intakeUrl();
      context.print(options, sourceJson(source, url), () => describeNew(source, url));
    });

  sources
    .command('list')
    .description("an account's sources, with their deliveries of the last seven days")
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(async (reference: string, options) => {
      const url = await intakeUrl();
      const all = await context.withDatabase(async (database) => {
        const { account_id } = await requireAccount(database, reference);
        return withActivity(database, account_id, await listSources(database, account_id));
      });
      context.print(
        options,
        all.map((listed) => listedJson(listed, url)),
        () => (all.length > 0 ? tabulateSources(all) : 'The account has no sources.'),
      );
    });

  sources
    .command('show')
    .description('one source')
    .argument('<account>', 'id or exact name')
    .argument('<source>', SOURCE_ARGUMENT)
    .addOption(json())
    .action(async (account: string, reference: string, options) => {
      const url = await intakeUrl();
      const [listed] = await context.withDatabase(async (database) => {
        const source = await requireSource(database, account, reference);
        return withActivity(database, source.account_id, [source]);
      });
      const { mapping } = (listed as ListedSource).source;
      const shown = { ...listedJson(listed as ListedSource, url), mapping: inSequence(mapping) };
      context.print(options, shown, () => describeSource(listed as ListedSource, url));
    });

  sources
    .command('map')
    .description("print a source's mapping, store a new one, or show what it makes of a delivery")
    .argument('[account]', 'id or exact name')
    .argument('[source]', SOURCE_ARGUMENT)
    .option('--file <file>', 'store the mapping of this file as a new version')
    .option('--check <delivery>', 'store nothing: print the order that the mapping makes of the delivery in this file')
    .addOption(presetOption('print the mapping of this preset; needs no account, source and database'))
    .addOption(json())
    .addHelpText(
      'after',
      '\nExamples:\n  $ orders sources map 12 "Web shop" > map.json\n  $ orders sources map 12 "Web shop" --file map.json --check delivery.json\n  $ orders sources map 12 "Web shop" --file map.json',
    )
    .action((account: string | undefined, reference: string | undefined, options: MapOptions) =>
      mapSource(context, account, reference, options),
    );

  sources
    .command('prefix')
    .description('change what the order ids of a source begin with, while it has no orders')
    .argument('<account>', 'id or exact name')
    .argument('<source>', SOURCE_ARGUMENT)
    .argument('<prefix>', 'lower-case letters, digits and hyphens, or "" for none', idPrefix)
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders sources prefix "Corner Bakery" "Web shop" bakery')
    .action(async (account: string, reference: string, prefix: string, options) => {
      const url = await intakeUrl();
      const source = await context.withDatabase((database) => changePrefix(database, [account, reference], prefix));
      context.print(options, sourceJson(source, url), () =>
        prefix === ''
          ? `Source ${source.source_number} has no prefix now; its order ids are those of the platform.`
          : `The order ids of source ${source.source_number} begin with ${prefix}: now.`,
      );
    });

  sources
    .command('rotate')
    .description('replace the URL or the secret of a source')
    .argument('<account>', 'id or exact name')
    .argument('<source>', SOURCE_ARGUMENT)
    .option('--url', 'make a new URL; the old one stops working within 5 seconds')
    .option('--secret', 'make a new secret and print it, this once')
    .option('--secret-file <file>', 'take the secret of the platform from this file')
    .addOption(
      new Option('--overlap <time>', 'how long the old secret is still accepted')
        .argParser(overlap)
        .default(overlap('24h'), '24h'),
    )
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders sources rotate "Corner Bakery" "Web shop" --secret --overlap 1h')
    .action(async (account: string, reference: string, options: RotateOptions) => {
      if (Boolean(options.url) === Boolean(options.secret || options.secretFile))
        throw new UsageError('Give --url, or --secret or --secret-file.');
      const url = await intakeUrl();
      const source = options.url
        ? await context.withDatabase((database) => replaceUrl(database, account, reference))
        : await context.withSecrets((database, keys) => replaceSecret(database, keys, [account, reference], options));
      context.print(options, sourceJson(source, url), () => describeNew(source, url));
    });

  sources
    .command('remove')
    .description('remove a source; its URL stops working within 5 seconds, its orders stay')
    .argument('<account>', 'id or exact name')
    .argument('<source>', SOURCE_ARGUMENT)
    .addOption(json())
    .action(async (account: string, reference: string, options) => {
      const source = await context.withDatabase(async (database) => {
        const found = await requireSource(database, account, reference);
        await inTransaction(database, async (transaction) => {
          if (await removeSource(transaction, found.account_id, found.source_number))
            await recordSourceAction(transaction, 'source_removed', found);
        });
        return found;
      });
      const { account_id, source_number } = source;
      context.print(
        options,
        { account_id, source_number, removed: true },
        () => `Source ${source_number} is removed; its URL stops working everywhere within 5 seconds.`,
      );
    });
}

function presetOption(description: string): Option {
  return new Option('--preset <preset>', description).choices(SOURCE_PRESETS);
}

async function withActivity(
  database: Database,
  accountId: number,
  sources: readonly Source[],
): Promise<ListedSource[]> {
  const activity = await readSourceActivity(database, accountId);
  return sources.map((source) => ({
    source,
    activity: activity.find(({ source_number }) => source_number === source.source_number),
  }));
}
