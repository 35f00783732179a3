import { collectGarbage, runApp } from '@orders/runtime/lifecycle/run-process.ts';
import { readConfig } from './config.ts';
import { createPortal } from './create-portal.ts';

await runApp('portal', () => readConfig(process.env), createPortal);
collectGarbage();
