import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { openApi } from '../harness/api.ts';
import { makeDirectory } from '../harness/directory.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { startApp } from '../harness/processes.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { useStack } from '../harness/use-stack.ts';

const UNAVAILABLE = 'trace receiver unavailable; spans are dropped, orders are not affected';
const AVAILABLE_AGAIN = 'trace receiver available again';
const directory = makeDirectory();

const { stack, account } = useStack({ queue: QUEUE_KIND, account: true });

type Settings = Record<string, string>;

/** Starts both apps as processes, sends one order and stops them after it is written. @returns the URLs of all loaded modules. */
async function writeOneOrder(name: string, settings: { intake: Settings; worker: Settings }): Promise<string[]> {
  const port = await freePort();
  const loaded = join(directory, randomBytes(4).toString('hex'));
  const env = {
    ...stack.env,
    NODE_OPTIONS: `--import=${resolve(import.meta.dirname, '../harness/loaded-modules.ts')}`,
    LOADED_MODULES: loaded,
  };
  const [ownIntake, ownWorker] = [
    await startApp('intake', { ...env, PORT: String(port), ...settings.intake }),
    await startApp('worker', { ...env, ...settings.worker }),
  ];
  try {
    const api = await until('intake answers', () => openApi(`http://127.0.0.1:${port}`).catch(() => null));
    expect(await api.process(account, { source_order_id: name })).toMatchObject({ status: 'written' });
  } finally {
    await ownIntake.stop();
    await ownWorker.stop();
  }
  expect([ownIntake.process.exitCode, ownWorker.process.exitCode]).toEqual([0, 0]);
  return (await readFile(loaded, 'utf8')).split('\n');
}

const ofTracing = (modules: string[]) =>
  modules.filter((url) => /@opentelemetry\/(sdk|exporter|otlp|resources|core)|open-telemetry\.ts/.test(url));

test('tracing without an endpoint or with OTEL_SDK_DISABLED loads no module and sends nothing', async () => {
  const receiver = await startOtlpReceiver();
  const disabled = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SDK_DISABLED: 'true' };
  const modules = await writeOneOrder('off', { intake: {}, worker: disabled });
  expect(modules).toContainEqual(expect.stringContaining('winston'));
  expect(ofTracing(modules)).toEqual([]);
  expect(receiver.requests).toEqual([]);
  await receiver.close();
});

test('a process sends its spans before it exits', async () => {
  const receiver = await startOtlpReceiver();
  // The wake-up must deliver the order, not the sweeper, and a slow machine gets time to send spans.
  const slowTimers = { SWEEP_AFTER: '10m', DRAIN_TIMEOUT: '3m' };
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...slowTimers };
  const modules = await writeOneOrder('on', { intake: on, worker: on });
  expect(ofTracing(modules)).not.toEqual([]);
  const names = receiver.spans.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['POST /ingest/orders', 'record receipt', 'write order', 'process batch']),
  );
  await receiver.close();
});

test('with the receiver down or rejecting spans orders are written, and the log says so once', async () => {
  const { port, url, close } = await startOtlpReceiver();
  await close();
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: '300' };
  const [ownIntake, ownWorker] = [await stack.intake(tracing), await stack.worker(tracing)];
  const accept = async (name: string) => {
    const { status, body } = await ownIntake.api.order(account, { source_order_id: name });
    expect(status).toBe(202);
    expect((await ownIntake.api.final(account, body.receipt_id)).body.status).toBe('written');
  };
  const linesWith = (text: string) =>
    [ownIntake, ownWorker].map(({ log }) => log.lines.filter(({ message }) => message === text).length);
  await accept('gone-1');
  await until('both apps log the outage', async () => !linesWith(UNAVAILABLE).includes(0));
  const refusing = await startOtlpReceiver({ port, status: 401 });
  await until('the app retries several times', async () => {
    await accept(`refused-${randomBytes(4).toString('hex')}`);
    return refusing.requests.length > 4;
  });
  expect([linesWith(UNAVAILABLE), linesWith(AVAILABLE_AGAIN)]).toEqual([
    [1, 1],
    [0, 0],
  ]);
  await refusing.close();
  const receiver = await startOtlpReceiver({ port });
  await until('both apps log the recovery', async () => {
    await accept(`back-${randomBytes(4).toString('hex')}`);
    return !linesWith(AVAILABLE_AGAIN).includes(0);
  });
  expect(receiver.spans.length).toBeGreaterThan(0);
  await ownIntake.close();
  await ownWorker.close();
  await receiver.close();
});
