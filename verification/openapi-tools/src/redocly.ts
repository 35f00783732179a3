import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runScript } from './run-tool.ts';

const COMMAND = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const CONFIG = resolve(import.meta.dirname, '../redocly.yaml');
/** It would report the run to its makers and look for a newer version. */
const OFFLINE = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Runs `redocly lint` on the document at this URL. @throws {Error} that lists the problems, warnings too. */
export async function lintWithRedocly(url: string): Promise<void> {
  await runScript(COMMAND, ['lint', url, '--config', CONFIG, '--format', 'stylish'], OFFLINE);
}
