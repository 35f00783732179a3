import { collectGarbage, runApp } from '@orders/runtime/lifecycle/run-process.ts';
import { readConfig } from './config.ts';
import { createNotifier } from './create-notifier.ts';

await runApp('notifier', () => readConfig(process.env), createNotifier);
collectGarbage();
