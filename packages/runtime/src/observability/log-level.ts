import type { Logger } from './logger.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
type Level = (typeof LOG_LEVELS)[number];

interface LogLevel {
  level: string;
  /** When the initial level is restored; ISO 8601. */
  until?: string;
}

/** Shows and sets the log level of a running process. */
export interface LevelSwitch {
  now(): LogLevel;
  /** @param forMs milliseconds until the initial level is restored; null: never. */
  set(level: Level, forMs: number | null): void;
}

/** The level is lost at a restart. */
export function createLevelSwitch(logger: Logger): LevelSwitch {
  const initial = logger.level;
  let until: string | null = null;
  let timer: NodeJS.Timeout | undefined;

  function change(level: string): void {
    const was = logger.level;
    // `error` is always logged, so a change to any level leaves a trace.
    logger.error('log level changed', { was, now: level, ...(until !== null && { until }) });
    logger.level = level;
  }

  return {
    now: () => ({ level: logger.level, ...(until !== null && { until }) }),
    set(level, forMs) {
      clearTimeout(timer);
      until = forMs === null ? null : new Date(Date.now() + forMs).toISOString();
      change(level);
      if (forMs === null) return;
      timer = setTimeout(() => {
        until = null;
        change(initial);
      }, forMs).unref();
    },
  };
}
