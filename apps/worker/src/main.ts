import { runApp } from '@orders/runtime/lifecycle/run-process.ts';
import { readConfig } from './config.ts';
import { createWorker } from './create-worker.ts';

await runApp('worker', () => readConfig(process.env), createWorker);
