import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { closeOpened } from '../harness/close-at-end.ts';

type ProjectConfig = ConstructorParameters<typeof ModernFakeTimers>[0]['config'];

/** Jest's environment of a test file: it uses the globals of the worker process and does not copy them per file. */
export default class Environment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimersModern: ModernFakeTimers;
  private readonly console = globalThis.console;
  private readonly exit = process.exit;

  constructor({ projectConfig }: { projectConfig: ProjectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup(): Promise<void> {}

  async handleTestEvent({ name }: { name: string }): Promise<void> {
    if (name === 'test_fn_success' || name === 'test_fn_failure') await closeOpened('test');
  }

  /** Closes what the file opened, and restores the globals that Jest replaced for it. */
  async teardown(): Promise<void> {
    await closeOpened('test');
    await closeOpened('file');
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    globalThis.console = this.console;
    process.exit = this.exit;
  }

  getVmContext(): null {
    return null;
  }

  exportConditions(): string[] {
    return ['node'];
  }
}
