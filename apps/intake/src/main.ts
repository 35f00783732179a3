import { runApp } from '@orders/runtime/lifecycle/run-process.ts';
import { readConfig } from './config.ts';
import { createIntake } from './create-intake.ts';

await runApp('intake', () => readConfig(process.env), createIntake);
