/** `npm run draw:imports`: draws which apps and packages import which, from their sources, into architecture.md. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'docs/concepts/architecture.md');
const PICTURE = /```mermaid\nflowchart TD\n[\s\S]*?```/;
const WORKSPACE = /^(?:apps\/portal\/page|(?:apps|packages)\/[^/]+)(?=\/)/;
const IMPORT = /(?:\bfrom|\bimport\(?)\s*'([^']+)'/g;

type Graph = Map<string, Set<string>>;

const byName = (a: string, b: string) => a.localeCompare(b);

/** Which workspace imports which, by the files of their `src`, types included. */
function readImports(): Graph {
  const files = execFileSync('git', ['ls-files', 'apps', 'packages'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  const workspaceOf = (path: string) => WORKSPACE.exec(path)?.[0];
  const manifests = files.filter(
    (path) => path.endsWith('/package.json') && path === `${workspaceOf(path)}/package.json`,
  );
  const named = new Map(manifests.map((path) => [JSON.parse(read(path)).name, dirname(path)]));
  const imports: Graph = new Map(manifests.map((path) => [dirname(path), new Set()]));
  for (const path of files) {
    const from = workspaceOf(path);
    if (!from || !path.startsWith(`${from}/src/`) || !/\.tsx?$/.test(path)) continue;
    for (const [, name = ''] of read(path).matchAll(IMPORT)) {
      const isPath = name.startsWith('.');
      const to = isPath ? workspaceOf(join(dirname(path), name)) : named.get(name.split('/').slice(0, 2).join('/'));
      if (to && to !== from) imports.get(from)?.add(to);
    }
  }
  return imports;
}

/** Everything that a workspace imports, directly or through others. @throws {Error} where imports form a cycle. */
function reached(imports: Graph, from: string, path: string[] = []): Set<string> {
  if (path.includes(from)) throw new Error(`Imports form a cycle: ${[...path, from].join(' → ')}`);
  const direct = [...(imports.get(from) ?? [])];
  return new Set(direct.flatMap((to) => [to, ...reached(imports, to, [...path, from])]));
}

/** The diagram of the apps and of what they import. An import that other arrows lead to has no arrow of its own. */
export function drawImports(): string {
  const imports = readImports();
  const apps = [...imports.keys()].filter((name) => name.startsWith('apps/'));
  const names = [...new Set(apps.flatMap((app) => [app, ...reached(imports, app)]))].sort(byName);
  const lines = names.map((from) => {
    const direct = [...(imports.get(from) ?? [])].sort(byName);
    const indirect = new Set(direct.flatMap((to) => [...reached(imports, to)]));
    const drawn = direct.filter((to) => !indirect.has(to)).map((to) => basename(to));
    const node = `  ${basename(from)}["${from}"]`;
    return drawn.length === 0 ? node : `${node} --> ${drawn.join(' & ')}`;
  });
  return ['```mermaid', 'flowchart TD', ...lines, '```'].join('\n');
}

if (import.meta.main) writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(PICTURE, drawImports));
