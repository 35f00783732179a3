/** Attributes of a span: ids, codes, counts and constants, never data of a sender. */
export type SpanAttributes = Record<string, string | number | boolean | string[]>;

export interface SpanOptions {
  /** `server` handles a request, `consumer` a job; `internal` (the default) is a step of its parent. */
  kind?: 'server' | 'consumer' | 'internal';
  /** Value of the `traceparent` header (W3C Trace Context) that it continues; a malformed one is ignored. */
  parent?: string | undefined;
  /** `traceparent`s of related spans. If one of them is sampled, so is this span. At most 128 are kept. */
  links?: readonly string[];
  attributes?: SpanAttributes;
}

/** A span that is recorded. */
export interface Span {
  /** 55 characters. */
  readonly traceparent: string;
  readonly traceId: string;
  /** Begins a child span. */
  begin(name: string, options?: Omit<SpanOptions, 'parent'>): Span | null;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** @param type class or code of the error, never its message. */
  fail(type: string): void;
  /** Must be called exactly once; a span that is never ended is not sent. */
  end(): void;
}

/** The spans of one process, exported in the background. */
export interface Tracing {
  start(): Promise<void>;
  /** Begins a span that has no parent in this process; null if it is not sampled. */
  begin(name: string, options?: SpanOptions): Span | null;
  /** Exports the remaining spans within `timeoutMs` milliseconds. */
  close(timeoutMs: number): Promise<void>;
}
