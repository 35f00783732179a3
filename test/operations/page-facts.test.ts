import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { anchorOf } from '@orders/doc-pages/render-page.ts';
import { run } from '../cli/run.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PAGES = FILES.filter((path) => /^(README|SECURITY|CONTRIBUTING|docs\/.*|deploy\/.*)\.md$/.test(path));
const PROCESSES = ['intake', 'worker', 'portal', 'notifier'];

const named = (text: string) => PROCESSES.filter((process) => new RegExp(`\\b${process}s?\\b`, 'i').test(text));

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
    '116, 99, 127 MiB', // performance.md: what was measured
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
  for (const [, names = '', processes = ''] of read('docs/operating/configuration.md').matchAll(
    /^\| (`[^|]+) \| ([^|]+) \|/gm,
  )) {
    const all = /\b(all|apps)\b/.test(processes) ? PROCESSES : named(processes);
    for (const [, name = ''] of names.matchAll(/`([A-Z_]+)`/g)) settings.set(name, all);
  }
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

test('the source files that the pages name exist', () => {
  const missing = PAGES.flatMap((path) =>
    [...read(path).matchAll(/`([\w./-]+\.(?:tsx?|sh|sql))`/g)]
      .map(([, name = '']) => name)
      .filter((name) => !FILES.some((file) => file === name || file.endsWith(`/${name}`)))
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
  const rows = read('docs/operating/commands.md')
    .split('\n')
    .filter((line) => line.startsWith('|'));
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
