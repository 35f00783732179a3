import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Child, startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { runAsUnprivileged } from '@orders/test-services/postgres.ts';
import { closeAtEnd } from './close-at-end.ts';
import { createStandInCompose, type StandInCompose } from './stand-in-compose.ts';
import { type Call, type Result, standInPrograms } from './stand-in-programs.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** What the pages and the Compose files name. */
const PORTS = ['5432', '6379', '8080', '8081', '8090', '8404', '9090'];
/** Each machine has one address for others, one for each service, and a last one in place of its 127.0.0.1. */
const ADDRESSES = 32;

/** A machine with a fake `docker compose`, `scp` and `systemctl`. */
export interface StandInMachine {
  /** In place of the address on the page. */
  address: string;
  /** In place of 127.0.0.1 there. */
  loopback: string;
  /** Runs a block in bash, after the definitions of the pages. @throws {Error} with the output if a command fails. */
  paste(block: string): Promise<string>;
  isRunning(service: string): boolean;
}

/** Machines that run the Compose files of this clone, on addresses and ports of their own of the loopback interface of Linux. */
export interface StandInMachines {
  machines: Record<string, StandInMachine>;
  /** The port in place of one that the page names. */
  port(named: string): string;
  close(): Promise<void>;
}

/**
 * @param named the addresses on the page, by the name of the machine.
 * @param options.definitions come before each block. `programs` is the directory of Postgres, with `pg_basebackup`. `env` is for each app.
 */
export async function startStandInMachines(
  named: Record<string, string>,
  { definitions, programs, env: own }: { definitions: string; programs: string; env: Record<string, string> },
): Promise<StandInMachines> {
  const root = await mkdtemp(join(tmpdir(), 'orders-machines-'));
  await chmod(root, 0o755);
  const as = runAsUnprivileged([programs, root]);
  const subnet = `127.${1 + ((process.pid >> 8) % 250)}.${process.pid % 256}`;
  const ports = new Map<string, string>();
  for (const port of PORTS) ports.set(port, String(await freePort()));
  const port = (name: string) => ports.get(name) as string;
  const addresses = new Map(
    Object.values(named).map((address, index) => [address, `${subnet}.${index * ADDRESSES + 1}`]),
  );
  const haproxyDirectory = join(root, 'haproxy');
  const bin = join(root, 'bin');
  const PATH = [programs, bin, process.env.PATH].join(':');

  /** With the addresses and ports of this test. */
  function replaceNames(content: string, loopback: string): string {
    return (
      content
        // Connections on the loopback interface come from there.
        .replaceAll(/10\.0\.0\.\d+\/32/g, '<loopback>')
        .replaceAll(/10\.0\.0\.\d+/g, (address) => addresses.get(address) ?? address)
        .replaceAll('127.0.0.1', loopback)
        .replaceAll('<loopback>', '127.0.0.1/32')
        .replaceAll(new RegExp(`\\b(?:${PORTS.join('|')})\\b`, 'g'), port)
        .replaceAll(/\/(?:etc|run)\/haproxy/g, haproxyDirectory)
        // More need more open files than a process may have here.
        .replace('maxconn 8000', 'maxconn 400')
    );
  }

  async function createMachine(address: string, first: number): Promise<StandInMachine & StandInCompose> {
    const place = join(root, address);
    const directory = join(place, 'orders');
    const loopback = `${subnet}.${first + ADDRESSES - 2}`;
    for (const path of ['docker-compose.yml', 'deploy/compose', 'deploy/postgres', 'deploy/haproxy'])
      await cp(join(ROOT, path), join(directory, path), { recursive: true });
    for (const file of ['publish-postgres', 'stores', 'apps'].map((name) => `deploy/compose/${name}.yml`))
      await rewrite(join(directory, file), loopback);
    for (const file of ['docker-compose.yml', 'deploy/haproxy/haproxy.cfg'])
      await rewrite(join(directory, file), loopback);
    for (const path of ['postgres', 'redis', 'sockets', 'secrets']) {
      await mkdir(join(place, path));
      if (as.owner && path !== 'redis') await chown(join(place, path), as.owner.uid, as.owner.gid);
    }
    const machine = createStandInCompose({
      place,
      directory,
      addressOf: (index) => `${subnet}.${first + 1 + index}`,
      port,
      PATH,
      as,
      own,
    });
    return {
      ...machine,
      address,
      loopback,
      async paste(block) {
        const script = `${definitions}\n${replaceNames(block, loopback)}`;
        const { code, stdout, stderr } = await shell.run(['bash', '-eo', 'pipefail'], {
          stdin: script,
          cwd: directory,
        });
        if (code !== 0) throw new Error(`exit code ${code} of:\n${block}\n${stdout}\n${stderr}`);
        return stdout;
      },
    };
  }

  async function rewrite(file: string, loopback: string): Promise<void> {
    await writeFile(file, replaceNames(await readFile(file, 'utf8'), loopback));
  }

  let haproxy: Child | null = null;
  const machines = new Map<string, StandInMachine & StandInCompose>();
  async function handleCall({ program, args, cwd }: Call): Promise<Result> {
    if (program === 'systemctl') {
      await haproxy?.stop();
      haproxy = await startChild('haproxy', ['-db', '-f', join(haproxyDirectory, 'haproxy.cfg')], { stdio: 'ignore' });
      return { code: 0 };
    }
    const machine = [...machines.values()].find(({ address }) => cwd === join(root, address, 'orders'));
    return machine?.handle(args) ?? { code: 1, stderr: `${cwd} is not the directory of a clone\n` };
  }
  const shell = await standInPrograms(bin, handleCall, ['docker', 'systemctl']);
  await mkdir(haproxyDirectory);
  for (const [name, source] of Object.entries({ scp: SCP.replace('ROOT', root), 'docker-entrypoint.sh': ENTRYPOINT })) {
    await writeFile(join(bin, name), source);
    await chmod(join(bin, name), 0o755);
  }
  for (const [index, [name, address]] of Object.entries(named).entries())
    machines.set(name, await createMachine(addresses.get(address) as string, index * ADDRESSES + 1));

  return closeAtEnd<StandInMachines>({
    machines: Object.fromEntries(machines),
    port,
    async close() {
      await haproxy?.stop();
      for (const machine of machines.values()) await machine.close();
      await shell.close();
      await rm(root, { recursive: true, force: true });
    },
  });
}

/** Copies to the directory of another machine. */
const SCP = `#!/bin/bash
to=\${@: -1}
exec cp -r "\${@:1:$#-1}" "ROOT/\${to%%:*}/\${to#*:}"
`;

/** In place of that of the image: it makes the cluster where there is none. Nobody may replicate. */
const ENTRYPOINT = `#!/bin/bash
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth=trust --encoding=UTF8 --no-locale > /dev/null
  printf 'local all all trust\\nhost all all all scram-sha-256\\n' > "$PGDATA/pg_hba.conf"
  echo "create database $POSTGRES_DB" | postgres --single -D "$PGDATA" postgres > /dev/null
fi
exec "$1" -D "$PGDATA" -c listen_addresses="$LISTEN" -c port="$PGPORT" -c unix_socket_directories="$PGHOST" -c fsync=off "\${@:2}"
`;
