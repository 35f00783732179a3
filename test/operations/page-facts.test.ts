import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { anchorOf } from '@orders/doc-pages/render-page.ts';
import { parseDuration } from '@orders/runtime/config/environment.ts';
import { drawImports } from '../../packages/doc-pages/scripts/draw-imports.ts';
import { run } from '../cli/run.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PAGES = FILES.filter((path) => /^(README|SECURITY|CONTRIBUTING|docs\/.*|deploy\/.*)\.md$/.test(path));
const PROCESSES = ['intake', 'worker', 'portal', 'notifier'];
const named = (text: string) => PROCESSES.filter((process) => new RegExp(`\\b${process}s?\\b`, 'i').test(text));
const processesIn = (cell: string) => (/\b(all|apps)\b/.test(cell) ? PROCESSES : named(cell));
const REQUIRED_SETTINGS = {
  DATABASE_URL: 'postgres://x',
  QUEUE_URL: 'redis://x',
  SECRETS_KEY: '0'.repeat(64),
  PORTAL_URL: 'https://portal.example.com',
  INTAKE_URL: 'https://intake.example.com',
};
const SETTINGS = [
  ...read('docs/operating/configuration.md').matchAll(/^\| (?<names>`[^|]+) \| (?<who>[^|]+) \| (?<values>[^|]+) \|/gm),
].map(({ groups: { names = '', who = '', values = '' } = {} }) => ({
  names: [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name),
  processes: processesIn(who),
  values,
}));

/** The sentences, table rows and lines of code of a page, each on one line. */
function sentencesOf(path: string): string[] {
  const [prose, code]: string[][] = [[], []];
  for (const [index, part] of read(path)
    .split(/^ *```\w*$/m)
    .entries())
    (index % 2 ? code : prose)?.push(part);
  const paragraphs = (prose ?? []).flatMap((text) => text.split(/\n\s*\n|\n(?=[-|] )|\n(?=\d+\. )/));
  const sentences = paragraphs.flatMap((text) => text.replaceAll(/\s+/g, ' ').split(/(?<=[.;]) /));
  return [...sentences, ...(code ?? []).flatMap((text) => text.split('\n'))];
}

test('a sentence that names three of the four processes names all', () => {
  // The fourth has no part in what they say.
  const exceptions = [
    'know it.', // security.md: the worker has no SECRETS_KEY
    'with a heap of 512 MB', // guarantees.md: what a test runs
    'two intakes, two workers and two notifiers', // guarantees.md: what the fault run runs
    "run with the rights of the schema's owner", // docs/decisions/dispatching-and-cancelling.md
    '| `QUEUE_URL` |',
    'SECRETS_KEY',
    'secrets_key', // the worker has none
  ];
  const incomplete = PAGES.flatMap((path) =>
    sentencesOf(path)
      .filter((sentence) => named(sentence).length === 3 && !exceptions.some((part) => sentence.includes(part)))
      .map((sentence) => `${path}: ${sentence}`),
  );
  expect(incomplete).toEqual([]);
});

test('a sentence about a setting that names two of its processes names all of them', () => {
  const settings = new Map<string, string[]>();
  for (const { names, processes } of SETTINGS) for (const name of names) settings.set(name, processes);
  expect(settings.get('SECRETS_KEY')).toEqual(['intake', 'portal', 'notifier']);
  const incomplete = PAGES.filter((path) => /^docs\/operating|^deploy/.test(path)).flatMap((path) =>
    sentencesOf(path).flatMap((sentence) =>
      [...sentence.matchAll(/`([A-Z_]+)[`=]/g)].flatMap(([, name = '']) => {
        const processes = settings.get(name) ?? [];
        const missing = processes.filter((process) => !named(sentence).includes(process));
        return missing.length > 0 && processes.length - missing.length >= 2 ? [`${path}: ${sentence}`] : [];
      }),
    ),
  );
  expect(incomplete).toEqual([]);
});

/** A default as the page of the settings shows it. */
function shown(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return value === '' || typeof value === 'object' ? 'none' : String(value);
}

test.each(PROCESSES)('the page of the settings has the defaults of the %s', async (app) => {
  const { readConfig } = await import(`@orders/${app}/config.ts`);
  const config: Record<string, unknown> = readConfig(REQUIRED_SETTINGS);
  const differing: string[] = [];
  for (const { names, values } of SETTINGS.filter(({ processes }) => processes.includes(app))) {
    // Behind a semicolon are the defaults of the last names in one process, such as `portal 8081`.
    const [common = '', ...others] = values.replaceAll('`', '').split('; ');
    const own = others.find((value) => value.startsWith(`${app} `))?.slice(app.length + 1);
    const defaults = common.split(', ');
    if (own) defaults.splice(-1, 1, own);
    for (const [index, name] of names.entries()) {
      const listed = (defaults.length === 1 ? defaults[0] : defaults[index]) ?? '';
      // A text with a space is no value, such as `those of the system`.
      if (!(name in config) || name in REQUIRED_SETTINGS || listed.includes(' ')) continue;
      const expected = /^\d+(ms|[smhd])$/.test(listed) ? String(parseDuration(listed)) : listed.replace('any', '0');
      if (shown(config[name]) !== expected) differing.push(`${name}: ${listed}, but it is ${shown(config[name])}`);
    }
  }
  expect(differing).toEqual([]);
  const page = read('docs/operating/configuration.md');
  expect(Object.keys(config).filter((name) => !page.includes(`\`${name}`))).toEqual([]);
});

test('the picture of the imports is that of the sources', () => {
  expect(read('docs/concepts/architecture.md')).toContain(drawImports());
});

test('the source files and folders that the pages name exist', () => {
  // A folder, or a test file without its extension, is the beginning of a path.
  const isPartOf = (file: string, name: string) =>
    `/${file}`.endsWith(`/${name}`) ||
    ['/', '.'].some((end) => `/${file}`.includes(`/${name.replace(/\/$/, '')}${end}`));
  const missing = PAGES.flatMap((path) =>
    [...read(path).matchAll(/`([\w./-]+\.(?:tsx?|sh|sql)|(?:apps|packages|src|test|verification)\/[\w/-]+)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !FILES.some((file) => isPartOf(file, name)))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('links lead to existing files and headings', () => {
  const existing = (path: string) =>
    FILES.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
  const anchorsOf = (path: string) => [
    ...[...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)),
    ...[...read(path).matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id),
  ];
  const broken = PAGES.flatMap((path) =>
    [
      ...read(path)
        .replaceAll(/^ *```[\s\S]*?^ *```/gm, '')
        .matchAll(/\]\(([^)\s]+)\)/g),
    ]
      .map(([, href = '']) => href)
      .filter((href) => !/^[a-z]+:/.test(href))
      .filter((href) => {
        const [file = '', anchor] = href.split('#');
        const target = file === '' ? path : join(dirname(path), file);
        return !existing(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
      })
      .map((href) => `${path}: ${href}`),
  );
  expect(broken).toEqual([]);
});

test('the page of the commands names each command', async () => {
  const rows = (read('docs/operating/commands.md').split(/^## /m)[0] ?? '').split(/^- /m);
  const commandsOf = async (...group: string[]) => {
    const { stdout } = await run([...group, '--help'], {});
    return [...(stdout.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'help');
  };
  const missing: string[] = [];
  for (const group of await commandsOf()) {
    const ofGroup = rows.filter((row) => row.includes(`\`${group}`));
    const names = await commandsOf(group);
    if (names.length === 0 && ofGroup.length === 0) missing.push(group);
    for (const name of names) {
      if (!ofGroup.some((row) => new RegExp(`[\` ]${name}\\b`).test(row))) missing.push(`${group} ${name}`);
    }
  }
  expect(missing).toEqual([]);
});
