import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const CLIENT = resolve(import.meta.dirname, '../../../packages/client');
const driver = (name: string) => join(import.meta.dirname, name);

/** Settings of a php.ini that change how PHP writes queries and numbers. */
const INI = ['-d', 'arg_separator.output=;', '-d', 'serialize_precision=17'];

/** The clients for senders, with the program that runs each. */
export const CLIENTS = [
  { language: 'TypeScript', program: null, command: [process.execPath, driver('driver.ts')] },
  { language: 'Python', program: 'python3', command: ['python3', driver('driver.py'), join(CLIENT, 'python')] },
  { language: 'PHP', program: 'php', command: ['php', ...INI, driver('driver.php'), join(CLIENT, 'php')] },
] as const;

/** A call of a client: names in snake_case and times in seconds, which each driver translates. */
export interface ClientCall {
  method: string;
  args?: unknown[];
  /** `take` of `events` is for how many. */
  options?: Record<string, unknown>;
  /** Options of the client, in addition to address and key. */
  client?: Record<string, unknown>;
}

/** What a call returned; or its error, by the name of its class without `Error` or `Exception`; or why it cannot be made. */
export interface Outcome {
  ok?: unknown;
  error?: Record<string, unknown>;
  misuse?: string;
}

type Client = (typeof CLIENTS)[number];
interface Connection {
  base_url: string;
  api_key: string;
  signing_secret?: string | undefined;
}

/** Makes calls with the client of a language, in a process of its own. @throws {Error} with what it printed, if it fails otherwise. */
export async function callClient(client: Client, to: Connection, calls: readonly ClientCall[]): Promise<Outcome[]> {
  const [program, ...args] = client.command;
  const running = promisify(execFile)(program, args, { timeout: 200_000 });
  const filled = calls.map((call) => ({ args: [], options: {}, ...call, client: { ...to, ...call.client } }));
  running.child.stdin?.end(JSON.stringify(filled));
  const { stdout, stderr } = await running;
  if (stderr) throw new Error(stderr);
  return JSON.parse(stdout);
}
