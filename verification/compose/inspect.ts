import type { Compose } from './deployment.ts';

/** What runs our image. */
export const APPS = ['intake', 'worker', 'notifier', 'portal'] as const;

/** That each app runs as nobody in particular, can write nowhere but /tmp, and has no capability. */
export async function inspectHardening({ compose, containers }: Compose): Promise<string[]> {
  const violations: string[] = [];
  for (const app of APPS) {
    const [container] = await containers(app);
    if (!container?.HostConfig.ReadonlyRootfs) violations.push(`${app} has a root file system to write to`);
    const script =
      'id -u; grep CapEff /proc/self/status; for at in / /app /home/node /tmp; do touch $at/x && echo $at; done';
    const output = await compose('exec', '--no-TTY', app, 'sh', '-c', `${script}; true`);
    const [user, capabilities, ...writable] = output.trim().split('\n');
    if (user === '0') violations.push(`${app} runs as root`);
    if (!/:\s*0+$/.test(capabilities ?? '')) violations.push(`${app} has capabilities: ${capabilities}`);
    if (writable.join() !== '/tmp') violations.push(`${app} can write to ${writable.join(', ') || 'nothing'}`);
  }
  return violations;
}

/** That each app's sessions are of its own role, which is no superuser. */
export async function inspectRoles({ query }: Compose): Promise<string[]> {
  const sessions = await query<{ app: string; role: string }>(
    `select distinct substring(application_name from 'orders (intake|worker|notifier|portal)') as app, usename as role
     from pg_stat_activity where application_name ~ '^orders (intake|worker|notifier|portal)'`,
  );
  const violations = sessions
    .filter(({ app, role }) => role !== `orders_${app}`)
    .map(({ app, role }) => `${app} is in Postgres as ${role}`);
  for (const app of APPS)
    if (!sessions.some((session) => session.app === app)) violations.push(`${app} has no session`);
  const supers = await query<{ rolname: string }>(
    "select rolname from pg_roles where rolname ~ '^orders_' and rolsuper",
  );
  return [...violations, ...supers.map(({ rolname }) => `${rolname} is a superuser`)];
}

/** That no log shows one of these; `bytes` is how much there was to search. */
export async function inspectLogs(
  { compose }: Compose,
  secrets: readonly string[],
): Promise<{ bytes: number; violations: string[] }> {
  const logs = await compose('logs', '--no-color', '--no-log-prefix');
  const found = secrets.filter((secret) => logs.includes(secret));
  return { bytes: logs.length, violations: found.map((secret) => `the logs show "${secret.slice(0, 4)}…"`) };
}

/** Stops every container and verifies exit code 0. */
export async function inspectExits({ containers }: Compose): Promise<{ ended: number; violations: string[] }> {
  const all = await containers();
  const violations = all
    .filter(({ State }) => State.Running || State.ExitCode !== 0)
    .map(({ Config, State }) => {
      const name = Config.Labels['com.docker.compose.service'];
      return State.Running ? `${name} still runs` : `${name} ended with ${State.ExitCode}`;
    });
  return { ended: all.length, violations };
}
