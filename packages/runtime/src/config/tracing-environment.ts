import Joi from 'joi';
import { wholeNumber } from './environment.ts';

/** What decides whether, where and how much is traced: OpenTelemetry's own variables. */
export interface TracingEnvironment {
  OTEL_SDK_DISABLED: boolean;
  /** Of an OTLP receiver, to which `/v1/traces` is added. This or the next one switches tracing on. */
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  /** Where spans go, as it is. */
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;
  OTEL_EXPORTER_OTLP_HEADERS: Record<string, string>;
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf';
  /** Milliseconds for one export with its retries. */
  OTEL_EXPORTER_OTLP_TIMEOUT: number;
  OTEL_SERVICE_NAME?: string;
  OTEL_RESOURCE_ATTRIBUTES: Record<string, string>;
  OTEL_TRACES_SAMPLER: (typeof SAMPLERS)[number];
  /** The share of traces, for the samplers by ratio. */
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

/** `name=value,…`, the values percent-encoded (W3C Baggage, as OpenTelemetry writes headers and attributes). */
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

/** Where spans go; null where tracing is off. */
export function tracesUrl(env: TracingEnvironment): string | null {
  if (env.OTEL_SDK_DISABLED) return null;
  if (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  return base ? `${base.replace(/\/$/, '')}/v1/traces` : null;
}
