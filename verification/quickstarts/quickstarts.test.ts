import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { setRateLimit } from '@orders/database/accounts/accounts.ts';
import { readSenderPages } from '@orders/intake/docs/sender-pages/sender-pages.ts';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { findOnPath } from '@orders/test-services/redis.ts';
import { startReply } from '../../test/harness/api.ts';
import { makeDirectory } from '../../test/harness/directory.ts';
import { startLossyProxy } from '../../test/harness/lossy-proxy.ts';
import { readBlocks } from '../../test/harness/markdown-blocks.ts';
import { useStack } from '../../test/harness/use-stack.ts';

const PAGE = readSenderPages().find(({ name }) => name === 'quickstarts')?.markdown ?? '';
const BLOCKS = readBlocks(PAGE);

/** For the SDK of any version, without a package. */
const PROJECT = `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework>
  </PropertyGroup>
</Project>
`;
const DOTNET = {
  build: 'dotnet build --nologo --output out Quickstart.csproj',
  run: 'dotnet out/Quickstart.dll',
};
/** Debian has no .NET. Mono's compiler takes the program with stand-ins for what came after Mono. */
const MONO = {
  build:
    'mcs -langversion:latest -main:Program -r:System.Net.Http.dll -r:System.Web.Extensions.dll -out:out.exe Program.cs StandIns.cs',
  run: 'mono out.exe',
};

const PROGRAMS = [
  { language: 'go', prefix: 'GO', file: 'quickstart.go', build: 'go build -o out quickstart.go', run: './out' },
  {
    language: 'java',
    prefix: 'JAVA',
    file: 'Quickstart.java',
    build: 'javac -Xlint:all -Werror Quickstart.java',
    run: 'java Quickstart',
  },
  { language: 'csharp', prefix: 'CS', file: 'Program.cs', ...(findOnPath('dotnet') ? DOTNET : MONO) },
];
type Program = (typeof PROGRAMS)[number];

test('the page has these programs', () => {
  expect(BLOCKS.map(({ language }) => language)).toEqual(PROGRAMS.map(({ language }) => language));
});

describe.each(PROGRAMS)('$language', (program: Program) => {
  const directory = makeDirectory();
  const { stack, knex, db, intake, api } = useStack({ intake: { BASE_PATH: '/api' }, worker: true });

  const execute = (command: string, variables: Record<string, string> = {}) =>
    promisify(execFile)('bash', ['-c', command], {
      cwd: join(directory, 'work'),
      env: { ...baseEnvironment(), HOME: directory, LANG: 'C.UTF-8', ...variables },
    });
  const run = (url: string, key = 'oik_x', secret = 'oss_x') =>
    execute(program.run, { ORDERS_URL: url, ORDERS_API_KEY: key, ORDERS_SIGNING_SECRET: secret });

  beforeAll(async () => {
    const work = join(directory, 'work');
    await mkdir(work);
    const [block] = BLOCKS.filter(({ language }) => language === program.language);
    await writeFile(join(work, program.file), block?.text ?? '');
    await writeFile(join(work, 'Quickstart.csproj'), PROJECT);
    if (program.build === MONO.build)
      await copyFile(join(import.meta.dirname, 'StandIns.cs'), join(work, 'StandIns.cs'));
    await execute(program.build);
  });

  test('sends an order and a webhook, through a lost reply, a 503 and a rate limit, never early', async () => {
    const account = await stack.account({ signing: true });
    await setRateLimit(db, account.id, { requests: 1, seconds: 15 });
    const front = await startLossyProxy(api.url);
    const { stdout } = await run(front.url, account.key, account.secret ?? '').finally(() => front.close());
    expect(stdout).toMatch(/^written \d+\nwritten \d+\n$/);
    const replies = intake.log.lines.filter(({ account_id }) => account_id === account.id);
    const statuses = replies.flatMap(({ method, status }) => (method === 'POST' ? status : []));
    expect(statuses).toEqual([202, 429, 202, 429, 202]);
    const orders = await knex('orders').where({ account_id: account.id }).orderBy('order_id');
    expect(orders.map(({ source_order_id, channel }) => [source_order_id, channel])).toEqual([
      [`${program.prefix}-1`, 'rest'],
      [`${program.prefix}-2`, 'webhook'],
    ]);
    const receipts = await knex('receipts').where({ account_id: account.id }).pluck('state');
    expect(receipts).toEqual(['written', 'written']);
  });

  test.each([307, 401, 422])('ends with an error after one request if the reply is %d', async (status) => {
    const other = await startReply(202, { receipt_id: 'elsewhere' });
    const service = await startReply(status, { code: 'no' }, { Location: `${other.url}/ingest/orders` });
    await expect(run(service.url)).rejects.toMatchObject({ stdout: '', stderr: expect.stringContaining(`${status} `) });
    expect(service.keys).toEqual([expect.stringMatching(new RegExp(`^${program.prefix}-1-[0-9a-fA-F]{16}$`))]);
    expect(other.keys).toEqual([]);
    await Promise.all([service.close(), other.close()]);
  });
});
