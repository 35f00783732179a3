import { type TracingEnvironment, tracesUrl } from '../config/tracing-environment.ts';
import { describeError } from './describe-error.ts';
import type { Logger } from './logger.ts';
import type { OpenTelemetry } from './open-telemetry.ts';
import type { Span, Tracing } from './span.ts';

/**
 * Returns null when tracing is disabled, so `tracing?.begin(…)` costs nothing. OpenTelemetry is not loaded before `start`.
 *
 * @param service the default for `OTEL_SERVICE_NAME`.
 */
export function createTracing(env: TracingEnvironment, service: string, logger: Logger): Tracing | null {
  const url = tracesUrl(env);
  if (url === null) return null;
  let open: OpenTelemetry | null = null;
  return {
    async start() {
      const { openTelemetry } = await import('./open-telemetry.ts');
      open = openTelemetry(env, url, service, logger);
    },
    begin: (name, options) => open?.begin(name, options) ?? null,
    async close(timeoutMs) {
      await open?.close(timeoutMs);
    },
  };
}

/** Runs work as one step and ends the span in any case; without a span it only runs the work. */
export async function withSpan<T>(span: Span | null | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span?.fail(errorTypeOf(error));
    throw error;
  } finally {
    span?.end();
  }
}

/** The type of an error for a failed span: its code (SQLSTATE, `ECONNREFUSED`, …) or class. */
export function errorTypeOf(error: unknown): string {
  const { code, name } = describeError(error);
  return String(code ?? name);
}
