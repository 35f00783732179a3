import { until } from '@orders/test-services/until.ts';
import type { Compose } from './deployment.ts';
import type { Ledger } from './sender.ts';

interface ReceiptRow {
  receipt_id: string;
  state: string;
  source_order_id: string;
  order_id: number | null;
}

interface OrderRow {
  order_id: number;
  source_order_id: string;
  receipt_id: string;
}

/** What was found, counted and by its violations. */
export interface Findings {
  states: Record<string, number>;
  receipts: number;
  orders: number;
  violations: string[];
}

/** Waits until nothing is left to do. */
export async function untilSettled({ query }: Compose, signal: AbortSignal): Promise<void> {
  const isSettled = async () => {
    const [row] = await query<{ settled: boolean }>(
      `select not exists (select from receipts where state not in ('written', 'duplicate', 'dead'))
          and not exists (select from outbox) as settled`,
    );
    return row?.settled;
  };
  const what = 'every receipt is final and no outbox row is left';
  await until(what, isSettled, { seconds: 180, everyMs: 500, signal });
}

/** Compares what the clients were told with what Postgres holds. */
export async function verify({ query }: Compose, ledger: Ledger): Promise<Findings> {
  const receipts = await query<ReceiptRow>('select receipt_id, state, source_order_id, order_id from receipts');
  const orders = await query<OrderRow>('select order_id, source_order_id, receipt_id from orders');
  const violations = [...ledger.violations];
  const stored = new Map(receipts.map((receipt) => [receipt.receipt_id, receipt]));
  const ordersOf = Map.groupBy(orders, (order) => order.source_order_id);

  for (const [receiptId, sourceOrderId] of ledger.accepted) {
    const receipt = stored.get(receiptId);
    if (!receipt) violations.push(`lost: receipt ${receiptId}`);
    else if (receipt.source_order_id !== sourceOrderId) violations.push(`mistaken: receipt ${receiptId}`);
  }
  for (const { receipt_id, state } of receipts) {
    if (state !== 'written' && state !== 'duplicate') violations.push(`${state}: receipt ${receipt_id}`);
  }
  for (const sourceOrderId of new Set(ledger.accepted.values())) {
    const found = ordersOf.get(sourceOrderId)?.length ?? 0;
    if (found !== 1) violations.push(`${found === 0 ? 'lost' : 'doubled'}: ${found} orders for ${sourceOrderId}`);
  }
  for (const { order_id, receipt_id } of orders) {
    const receipt = stored.get(receipt_id);
    const isItsOwn = receipt?.state === 'written' && receipt.order_id === order_id;
    if (!isItsOwn) violations.push(`order ${order_id} is not what its receipt says`);
  }
  const states = Object.fromEntries(
    [...Map.groupBy(receipts, ({ state }) => state)].map(([state, { length }]) => [state, length]),
  );
  if ((states.written ?? 0) !== orders.length)
    violations.push(`${states.written} written, but ${orders.length} orders`);
  return { states, receipts: receipts.length, orders: orders.length, violations };
}

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
