import type { Logger } from './logger.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
type Level = (typeof LOG_LEVELS)[number];

/** How much a process logs now. */
interface LogLevel {
  level: string;
  /** When it goes back to what the process began with; ISO 8601. */
  until?: string;
}

/** Shows and sets how much a running process logs. */
export interface LevelSwitch {
  now(): LogLevel;
  /** @param forMs goes back after so many milliseconds to the level that the process began with; null stays. */
  set(level: Level, forMs: number | null): void;
}

/** Changes the level of a running process, which ends with it. */
export function createLevelSwitch(logger: Logger): LevelSwitch {
  const first = logger.level;
  let until: string | null = null;
  let back: NodeJS.Timeout | undefined;

  function change(level: string): void {
    const was = logger.level;
    // Said at a level that always passes: who silences a process leaves a trace of that.
    logger.error('log level changed', { was, now: level, ...(until !== null && { until }) });
    logger.level = level;
  }

  return {
    now: () => ({ level: logger.level, ...(until !== null && { until }) }),
    set(level, forMs) {
      clearTimeout(back);
      until = forMs === null ? null : new Date(Date.now() + forMs).toISOString();
      change(level);
      if (forMs === null) return;
      back = setTimeout(() => {
        until = null;
        change(first);
      }, forMs).unref();
    },
  };
}
