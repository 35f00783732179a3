import { type TracingEnvironment, tracesUrl } from '../config/tracing-environment.ts';
import { describeError } from './describe-error.ts';
import type { Logger } from './logger.ts';
import type { OpenTelemetry } from './open-telemetry.ts';

/** Facts about a span: ids, codes, counts and words of ours, never what a sender wrote. */
export type SpanFacts = Record<string, string | number | boolean | string[]>;

/** What a span is, and where it belongs. */
export interface SpanOptions {
  /** `server` answers a request, `consumer` a job; else it is a step of its parent. */
  kind?: 'server' | 'consumer' | 'internal';
  /** The text of a `traceparent` header (W3C Trace Context) that it continues; one that is not well-formed is none. */
  parent?: string | undefined;
  /** The same of other spans that it has to do with; where one of them is recorded, so is this one. At most 128 are kept. */
  links?: readonly string[];
  attributes?: SpanFacts;
}

/** A span that is recorded. */
export interface Span {
  /** Names it to another process: 55 characters. */
  readonly traceparent: string;
  readonly traceId: string;
  /** Begins a step of it. */
  begin(name: string, options?: Omit<SpanOptions, 'parent'>): Span | null;
  rename(name: string): void;
  set(attributes: SpanFacts): void;
  /** @param type a class or code of error; its text could hold anything. */
  fail(type: string): void;
  /** Once. One that is never ended is not sent. */
  end(): void;
}

/** The spans of one process, sent on in the background. */
export interface Tracing {
  start(): Promise<void>;
  /** Begins a span that has no parent in this process; null where the sampler does not want it. */
  begin(name: string, options?: SpanOptions): Span | null;
  /** Sends what is left, for so many milliseconds at most. */
  close(timeoutMs: number): Promise<void>;
}

/**
 * Tracing, if the environment switches it on. Else null, and `tracing?.begin(…)` costs nothing: nothing of OpenTelemetry is loaded before
 * `start`.
 *
 * @param service the name that spans come under, unless the environment gives another.
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

/** Does work as one step and ends the span with it, however it ends; without a span it just does the work. */
export function withSpan<T>(span: Span | null | undefined, work: () => Promise<T>): Promise<T> {
  return span ? endedWith(span, work) : work();
}

async function endedWith<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.fail(typeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** What a failed span may say of an error: its code (SQLSTATE, `ECONNREFUSED`, …) or class. */
export function typeOf(error: unknown): string {
  const { code, name } = describeError(error);
  return String(code ?? name);
}
