import Joi from 'joi';
import { wholeNumber } from './environment.ts';

/** OpenTelemetry's standard variables. */
export interface TracingEnvironment {
  OTEL_SDK_DISABLED: boolean;
  /** Base URL of an OTLP receiver; `/v1/traces` is appended. This or the next one enables tracing. */
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  /** Full URL for spans. */
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_HEADERS: Record<string, string>;
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf';
  /** Milliseconds for one export, including its retries. */
  OTEL_EXPORTER_OTLP_TIMEOUT: number;
  OTEL_SERVICE_NAME?: string;
  OTEL_RESOURCE_ATTRIBUTES: Record<string, string>;
  OTEL_TRACES_SAMPLER: (typeof SAMPLERS)[number];
  /** The sampled share of traces, for ratio samplers. */
  OTEL_TRACES_SAMPLER_ARG: number;
}

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

const receiver = Joi.string().uri({ scheme: ['http', 'https'] });

/** `name=value,…` with percent-encoded values (W3C Baggage, OpenTelemetry's format for headers and attributes). */
const pairs = Joi.string()
  .custom((text: string) => {
    const read = text.split(',').filter((pair) => pair.trim() !== '');
    return Object.fromEntries(
      read.map((pair) => {
        const [, name, value] = /^\s*([^\s=]+)\s*=(.*)$/.exec(pair) ?? [];
        if (name === undefined || value === undefined) throw new Error('no pair');
        return [name, decodeURIComponent(value.trim())];
      }),
    );
  })
  .message('{{#label}} must be name=value,name=value with percent-encoded values')
  .default({});

export const tracingEnvironment: Record<keyof TracingEnvironment, Joi.Schema> = {
  OTEL_SDK_DISABLED: Joi.boolean().default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: receiver,
  OTEL_EXPORTER_OTLP_HEADERS: pairs,
  OTEL_EXPORTER_OTLP_PROTOCOL: Joi.string().valid('http/protobuf').default('http/protobuf'),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(10_000, 1, 600_000),
  OTEL_SERVICE_NAME: Joi.string(),
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  OTEL_TRACES_SAMPLER: Joi.string()
    .valid(...SAMPLERS)
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: Joi.number().min(0).max(1).default(1),
};

/** The URL for spans; null when tracing is disabled. */
export function tracesUrl(env: TracingEnvironment): string | null {
  if (env.OTEL_SDK_DISABLED) return null;
  if (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return base ? `${base.replace(/\/$/, '')}/v1/traces` : null;
}
