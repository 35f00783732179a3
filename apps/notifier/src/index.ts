export { type NotifierConfig, readConfig } from './config.ts';
export { createNotifier, type NotifierService } from './create-notifier.ts';
