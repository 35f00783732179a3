import { until } from '@orders/test-services/until.ts';
import { type Deployment, prepareDeployment } from './deployment.ts';
import { PERSONAL, readSamples, startLoad } from './load.ts';
import { line, type Report, type RunContext, run, say } from './run.ts';
import { createSender, type Sender } from './sender.ts';
import { APPS, inspectExits, inspectHardening, inspectLogs, inspectRoles, untilSettled, verify } from './verify.ts';

const SERVICES = ['postgres', 'redis', ...APPS] as const;
const WORKERS = 4;
/** Receipts that must be named before, and again after, each restart. */
const BETWEEN = 50;
const AT_ONCE = 16;

/** Brings the service up in containers, sends, scales, restarts, kills and verifies; whatever comes, all is removed. */
export async function tryCompose(context: RunContext): Promise<Report> {
  const { signal } = context;
  await run('docker', ['version'], { signal }).catch(() => {
    throw new Error('no Docker engine answers');
  });
  const deployment = await prepareDeployment(signal);
  try {
    return await walk(deployment, context);
  } finally {
    say('removes everything');
    await deployment.remove();
  }
}

async function walk(deployment: Deployment, { rate, signal }: RunContext): Promise<Report> {
  const { compose, orders, image, intakeUrl, portalUrl } = deployment;
  const lines: string[] = [];
  const violations: string[] = [];

  say('builds the image');
  await compose('build');
  const size = Number(await run('docker', ['image', 'inspect', '--format', '{{.Size}}', image], { signal }));
  lines.push(line('image', `${Math.round(size / 1e6)} MB`));
  say('starts everything');
  await compose('up', '--detach', '--no-build', '--wait');
  violations.push(...(await inspectHardening(deployment)));

  const account = ['Compose Kitchen'];
  await orders('accounts', 'create', ...account);
  const { key } = await orders('keys', 'create', ...account);
  const [{ secret }] = (await orders('signing', 'enable', ...account)).secrets;
  const { link } = await orders('users', 'invite', 'compose@example.com', '--account', ...account);
  const page = await fetch(portalUrl, { signal });
  if (page.status !== 200 || !link.startsWith(`${portalUrl}/`)) violations.push('the portal shows no page');
  const guides = await fetch(`${intakeUrl}/docs/senders`, { signal });
  if (guides.status !== 200) violations.push('intake shows no pages for senders');
  const sender = createSender({ url: intakeUrl, apiKey: key, signingSecret: secret, signal });

  const samples = await sendSamples(sender);
  await untilSettled(deployment, signal);
  violations.push(...(await inspectRoles(deployment)));
  lines.push(line('samples', `${samples} sent and settled`));

  say(`scales the workers to ${WORKERS}`);
  await compose('up', '--detach', '--no-build', '--no-recreate', '--wait', '--scale', `worker=${WORKERS}`);
  lines.push(...(await restartUnderLoad(deployment, sender, { rate, signal })));

  say('waits until everything is settled, and verifies');
  await untilSettled(deployment, signal);
  const found = await verify(deployment, sender.ledger);
  violations.push(...found.violations);
  const states = Object.entries(found.states).map(([state, count]) => `${count} ${state}`);
  lines.push(
    line('stored', `${found.receipts} receipts (${states.join(', ')}), ${found.orders} orders`),
    line('told to clients', `${sender.ledger.accepted.size} receipts, after ${sender.ledger.repeated} attempts more`),
  );

  const logs = await inspectLogs(deployment, [...deployment.secrets, key, secret, link.split('#')[1], ...PERSONAL]);
  violations.push(...logs.violations);
  say('stops everything');
  await compose('stop');
  const exits = await inspectExits(deployment);
  violations.push(...exits.violations);
  lines.push(line('logs, exits', `${logs.bytes} characters searched for secrets; ${exits.ended} containers ended`));
  return { lines, violations };
}

async function sendSamples(sender: Sender): Promise<number> {
  const samples = await readSamples();
  say(`sends ${samples.length} samples`);
  const left = samples.values();
  const sendSome = async () => {
    for (const order of left) await sender.deliver(order);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendSome));
  return samples.length;
}

async function restartUnderLoad(
  deployment: Deployment,
  sender: Sender,
  { rate, signal }: RunContext,
): Promise<string[]> {
  const lines: string[] = [];
  const load = startLoad(sender, rate, signal);
  const disrupt = async (what: string, act: () => Promise<unknown>) => {
    await load.untilAccepted(BETWEEN);
    say(what);
    const [before, startedAt] = [sender.ledger.repeated, Date.now()];
    await act();
    await deployment.untilHealthy();
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
    lines.push(line(what, `all healthy after ${seconds} s; ${sender.ledger.repeated - before} attempts were repeated`));
    await load.untilAccepted(BETWEEN);
  };
  for (const service of SERVICES) {
    await disrupt(`restarts ${service}`, () => deployment.compose('restart', service));
  }
  await disrupt('kills a worker', () => killWorker(deployment, signal));
  const offered = await load.stop();
  return [line('load', `${offered} orders offered, ${rate} a second`), ...lines];
}

/** `kill -9`, after which the engine starts it again. */
async function killWorker({ compose, containers }: Deployment, signal: AbortSignal): Promise<void> {
  // The first process of the container only hands on signals; its child is the worker.
  await compose('exec', '--no-TTY', 'worker', 'sh', '-c', 'kill -9 $(cat /proc/1/task/1/children)');
  const isBack = async () => (await containers('worker')).some(({ RestartCount }) => RestartCount > 0);
  await until('the killed worker was started again', isBack, { seconds: 60, everyMs: 500, signal });
}
