export { readConfig, type WorkerConfig } from './config.ts';
export { createWorker, type WorkerService } from './create-worker.ts';
