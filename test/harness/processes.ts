import { mainOf, type Output, startProgram } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import { closeAtEnd } from './close-at-end.ts';

/**
 * Starts an app as a separate process, as in production, so that a test can kill it. It is killed after the test file at the latest.
 *
 * @param root of the working tree that contains the app; by default this one.
 */
export async function startApp(
  app: 'intake' | 'worker' | 'portal' | 'notifier' | 'cli',
  env: Record<string, string>,
  { root, ...options }: { args?: string[]; output?: Output; root?: string } = {},
): Promise<Child> {
  const child = await startProgram(mainOf(app, root), { LOG_LEVEL: 'error', ...env }, options);
  closeAtEnd({ close: () => child.stop('SIGKILL') });
  return child;
}
