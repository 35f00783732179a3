import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { blocksUnder } from '../../test/harness/markdown-blocks.ts';
import { type Compose, openCompose } from './deployment.ts';
import { run } from './run.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** The blocks under a heading of the pages in docs/operating that are for a shell. */
export async function readBlocks(heading: string): Promise<string[]> {
  const directory = join(ROOT, 'docs/operating');
  const files = (await readdir(directory)).filter((name) => name.endsWith('.md'));
  const pages = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
  return blocksUnder(pages.join('\n'), heading, '');
}

/** What the pages name. */
const IMAGE = 'order-ingestion';
export const NEXT_POSTGRES_IMAGE = `${IMAGE}:next-postgres`;

/** A clone of this working tree, in which an operator pastes the blocks of docs/operating. */
export interface Clone extends Compose {
  /** Runs these lines in bash, after the definitions of "Commands on these pages". @returns what they print. */
  bash(lines: string, variables?: Record<string, string>): Promise<string>;
  /** Runs the blocks of a section, or one of them, as they stand on the page. */
  paste(heading: string, block?: number): Promise<string>;
  /** Removes the containers and volumes, and keeps the directory. */
  down(): Promise<void>;
  /** Removes everything. */
  remove(): Promise<void>;
}

/**
 * @param project the name of the Compose project.
 * @param signal ends whatever is under way.
 */
export async function makeClone(project: string, signal: AbortSignal): Promise<Clone> {
  const directory = await mkdtemp(join(tmpdir(), `${project}-`));
  const copy = `git clone --quiet "$1" "$2"; cd "$1"
    git ls-files -z --cached --others --exclude-standard --deduplicate | tar --null --ignore-failed-read -cT - | tar -x -C "$2"`;
  await run('bash', ['-euc', copy, 'bash', ROOT, directory], { signal });
  const [functions = ''] = await readBlocks('Commands on these pages');
  const env = {
    ...process.env,
    COMPOSE_PROJECT_NAME: project,
    // The load here comes from one account.
    RATE_LIMIT: '100000/1s',
  };
  const bash = (lines: string, variables: Record<string, string> = {}, end: { signal?: AbortSignal } = { signal }) => {
    const script = `set -euo pipefail; cd ${directory}\n${functions}\n${lines}`;
    return run('bash', ['-c', script], { env: { ...env, ...variables }, ...end });
  };
  const compose = (...args: string[]) => bash(`docker compose ${args.map(quote).join(' ')}`);
  const down = async () =>
    void (await bash('docker compose --profile monitoring down --volumes --remove-orphans --timeout 5', {}, {}));

  return {
    ...openCompose(compose, signal),
    bash,
    async paste(heading, block) {
      const blocks = await readBlocks(heading);
      return bash(block === undefined ? blocks.join('\n') : (blocks[block] as string));
    },
    down,
    async remove() {
      await down().catch(() => {});
      await run('docker', ['image', 'rm', '--force', IMAGE, `${IMAGE}:before`, NEXT_POSTGRES_IMAGE]).catch(() => {});
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** @throws {Error} where this would take away what somebody has on this machine. */
export async function requireFreeMachine(signal: AbortSignal): Promise<void> {
  const image = await run('docker', ['image', 'ls', '--quiet', IMAGE], { signal });
  if (image.trim())
    throw new Error(`there is an image ${IMAGE} on this machine, which would be replaced; remove it first`);
  for (const port of [8080, 8081]) {
    const isTaken = await fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      ({ cause }) => cause?.code !== 'ECONNREFUSED',
    );
    if (isTaken) throw new Error(`port ${port} of this machine is taken; the pages use it`);
  }
}

const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
