import { randomUUID } from 'node:crypto';
import {
  type Context,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { withTimeout } from '../concurrency/timers.ts';
import type { TracingEnvironment } from '../config/tracing-environment.ts';
import { createOutageLog, type Logger, type OutageLog } from './logger.ts';
import type { Span, SpanOptions, Tracing } from './span.ts';

const EXPORT_INTERVAL_MS = 2000;
/** Max ended spans that wait for export; more are dropped. */
const MAX_QUEUED_SPANS = 8192;

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER, internal: SpanKind.INTERNAL };

export type OpenTelemetry = Pick<Tracing, 'begin' | 'close'>;

/**
 * OpenTelemetry's SDK for this process. Nothing is registered globally, and the SDK keeps no context: callers pass the parent of a span.
 * Only `createTracing` loads this module, and only when tracing is enabled.
 */
export function openTelemetry(env: TracingEnvironment, url: string, service: string, logger: Logger): OpenTelemetry {
  const collector = createOutageLog(logger, 'trace receiver', 'spans are dropped, orders are not affected');
  const { OTEL_EXPORTER_OTLP_HEADERS: headers, OTEL_EXPORTER_OTLP_TIMEOUT: timeoutMillis } = env;
  const exporter = withOutageLog(new OTLPTraceExporter({ url, headers, timeoutMillis }), collector);
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': service,
        'service.instance.id': randomUUID(),
        ...env.OTEL_RESOURCE_ATTRIBUTES,
        ...(env.OTEL_SERVICE_NAME && { 'service.name': env.OTEL_SERVICE_NAME }),
      }),
    ),
    sampler: sampleIfLinked(samplerOf(env)),
    spanProcessors: [
      new BatchSpanProcessor({ exporter, scheduledDelayMillis: EXPORT_INTERVAL_MS, maxQueueSize: MAX_QUEUED_SPANS }),
    ],
  });
  const tracer = provider.getTracer('orders');

  function begin(name: string, { kind = 'internal', links = [], attributes = {} }: SpanOptions, parent: Context) {
    const span = tracer.startSpan(
      name,
      { kind: KINDS[kind], attributes: attributes, links: links.flatMap(contextOf).map((context) => ({ context })) },
      parent,
    );
    return span.isRecording() ? recorded(span) : null;
  }

  function recorded(span: SdkSpan): Span {
    const { traceId, spanId } = span.spanContext();
    return {
      traceId,
      traceparent: `00-${traceId}-${spanId}-01`,
      begin: (name, options = {}) => begin(name, options, trace.setSpan(ROOT_CONTEXT, span)),
      rename: (name) => span.updateName(name),
      set: (attributes) => span.setAttributes(attributes),
      fail: (type) => span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
      end: () => span.end(),
    };
  }

  return {
    begin(name, options = {}) {
      const [remote] = options.parent === undefined ? [] : contextOf(options.parent);
      return begin(name, options, remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT);
    },
    async close(timeoutMs) {
      await withTimeout(provider.shutdown(), timeoutMs);
    },
  };
}

function contextOf(traceparent: string): SpanContext[] {
  const context = parseTraceParent(traceparent);
  return context ? [{ ...context, isRemote: true }] : [];
}

function samplerOf(env: TracingEnvironment): Sampler {
  const ratio = () => new TraceIdRatioBasedSampler(env.OTEL_TRACES_SAMPLER_ARG);
  switch (env.OTEL_TRACES_SAMPLER) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return ratio();
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: ratio() });
  }
}

/** The span of a batch has no parent, as it belongs to many requests. It and its steps are sampled if one of those requests is. */
function sampleIfLinked(sampler: Sampler): Sampler {
  return {
    shouldSample(context, traceId, name, kind, attributes, links) {
      const isSampled = ({ traceFlags }: SpanContext) => (traceFlags & TraceFlags.SAMPLED) !== 0;
      const parent = trace.getSpanContext(context);
      const isStep = parent !== undefined && !parent.isRemote && isSampled(parent);
      if (isStep || links.some((link) => isSampled(link.context)))
        return { decision: SamplingDecision.RECORD_AND_SAMPLED };
      return sampler.shouldSample(context, traceId, name, kind, attributes, links);
    },
  };
}

function withOutageLog(exporter: SpanExporter, collector: OutageLog): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) collector.recovered();
        else collector.failed(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
