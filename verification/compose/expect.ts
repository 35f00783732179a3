import type { Clone } from './clone.ts';
import { line, type Report } from './run.ts';
import type { Sender } from './sender.ts';
import { verify } from './verify.ts';

/** What an upgraded system has is what a fresh one gets. */
export async function compareSchemas(clone: Clone, violations: string[]): Promise<void> {
  await clone.bash(`psql -qc 'create database fresh'
    docker compose run --rm --no-deps -T -e DATABASE_URL=postgres://orders@postgres:5432/fresh migrate`);
  // \restrict carries a random word.
  const dump = (database: string) =>
    clone.bash(
      `docker compose exec -T postgres pg_dump -U orders --schema-only ${database} | grep -v '^.\\(un\\)\\?restrict'`,
    );
  const [upgraded, fresh] = [await dump('orders'), await dump('fresh')];
  if (upgraded === fresh) return;
  const known = new Set(fresh.split('\n'));
  const differences = upgraded.split('\n').filter((text) => !known.has(text));
  violations.push(
    `the upgraded schema differs from a fresh one: ${differences.slice(0, 5).join(' | ') || 'it lacks something'}`,
  );
}

export async function expectAll(
  clone: Clone,
  sender: Sender,
  what: string,
  { lines, violations }: Report,
): Promise<void> {
  const found = await verify(clone, sender.ledger);
  violations.push(...found.violations.map((violation) => `${what}: ${violation}`));
  lines.push(line(what, `${sender.ledger.accepted.size} receipts told to clients; ${found.orders} orders stored`));
}

export async function expectArchiving(clone: Clone, violations: string[]): Promise<void> {
  const mode = (await clone.bash("psql -Atc 'show archive_mode'")).trim();
  if (mode !== 'on') violations.push(`archive_mode is ${mode}`);
}

export async function nowOf(clone: Clone): Promise<string> {
  return (await clone.bash(`psql -Atc "select clock_timestamp()"`)).trim();
}

/** What the proxy of deploy/compose/tls.yml does with requests for the two hosts, and without TLS. */
export async function expectTls(clone: Clone, violations: string[]): Promise<void> {
  const ask = (what: string) =>
    clone.bash(`curl --silent --output /dev/null --write-out '%{http_code}' --cacert fullchain.pem \\
      --resolve '*:443:127.0.0.1' --resolve '*:80:127.0.0.1' ${what}`);
  const statuses: Record<string, string> = {
    'https://orders.example.com/ingest/orders --data {}': '401',
    'https://portal.example.com/': '200',
    'http://portal.example.com/': '308',
    'http://orders.example.com/ingest/orders --data {}': '403',
  };
  for (const [what, expected] of Object.entries(statuses)) {
    const status = await ask(what);
    if (status !== expected) violations.push(`the proxy answered ${status} instead of ${expected} to ${what}`);
  }
}

/** Whether the images of `docker compose <options>` are on this machine. */
export async function hasImages(clone: Clone, options: string): Promise<boolean> {
  const missing = `for image in $(docker compose ${options} config --images | sort -u); do
    docker image inspect "$image" > /dev/null 2>&1 || echo "$image"; done`;
  return (await clone.bash(missing)).trim() === '';
}
