import { parseArgs } from 'node:util';
import { writeArchive } from './archive.ts';
import { bundleApps } from './bundle-apps.ts';
import { packServedClient } from './pack-client.ts';

const HELP = `Usage: npm run bundle -- [--archive]

Writes what the image runs to bundle/, and the client that intake serves.

Options:
  --archive   also writes orders-<version>-<platform>.tar.gz: all that runs, with Node, for machines without containers
              (docs/operating/systemd.md). Needs the portal's page: npm run build
  --help

Exit codes: 0 written, 1 not, 2 wrong usage.
`;

function readOptions(): { archive?: boolean; help?: boolean } {
  try {
    return parseArgs({ options: { archive: { type: 'boolean' }, help: { type: 'boolean' } } }).values;
  } catch (error) {
    process.stderr.write(`bundle: ${(error as Error).message}\n`);
    process.exit(2);
  }
}

const { archive, help } = readOptions();
if (help) process.stdout.write(HELP);
else {
  await bundleApps();
  await packServedClient();
  if (archive) process.stdout.write(`${await writeArchive(process.cwd())}\n`);
}
