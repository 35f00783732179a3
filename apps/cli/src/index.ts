export type { Surroundings } from './context.ts';
export { runCli } from './run-cli.ts';
