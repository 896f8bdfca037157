/** Opens tracing with the SDK of OpenTelemetry. Loaded only when traces are asked for. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';
import * as api from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Attributes, Span, SpanKind, Tracing } from './tracing.ts';

const KINDS: Readonly<Record<SpanKind, api.SpanKind>> = {
  server: api.SpanKind.SERVER,
  client: api.SpanKind.CLIENT,
  internal: api.SpanKind.INTERNAL,
};

/** Milliseconds for the last export: a collector that does not answer must not keep a node from its end. */
const CLOSE_MS = 2000;

/** W3C Trace Context, section 3.2.2: version, trace id, span id, flags. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Opens tracing; the exporter reads the variables `OTEL_EXPORTER_OTLP_*`, the resource `OTEL_SERVICE_NAME` and the like. */
export function openTracing(): Tracing {
  const named = resourceFromAttributes({ 'service.name': process.env['OTEL_SERVICE_NAME'] ?? 'ringmaster' });
  const { OTEL_BSP_SCHEDULE_DELAY: delay = '5000' } = process.env;
  const exporting = { exporter: new OTLPTraceExporter(), scheduledDelayMillis: Number(delay) || 5000 };
  const provider = new TracerProvider({
    sampler: samplerOf(process.env),
    resource: defaultResource()
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(named),
    spanProcessors: [new BatchSpanProcessor(exporting)],
  });
  const tracer = provider.getTracer('ringmaster');
  const storage = new AsyncLocalStorage<NodeSpan>();
  const start = (name: string, kind: SpanKind, attributes: Attributes, parent: api.SpanContext | undefined): Span => {
    const context = parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
    const options = { kind: KINDS[kind], attributes: { ...attributes } };
    return new NodeSpan(tracer.startSpan(name, options, context), storage, start);
  };
  return {
    get current() {
      return storage.getStore();
    },
    start: (name, kind, attributes = {}, traceparent = '') =>
      start(name, kind, attributes, parsed(traceparent) ?? storage.getStore()?.context),
    reportTo: (warn) => {
      const ignore = (): void => undefined;
      const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
      api.diag.setLogger(logger, { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
    },
    close: async () => {
      const tooLate = setTimeout(CLOSE_MS, undefined, { ref: false });
      await Promise.race([provider.shutdown(), tooLate]);
    },
  };
}

/** The share of traces that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` ask for; all by default. */
function samplerOf(env: NodeJS.ProcessEnv): Sampler {
  const { OTEL_TRACES_SAMPLER: name = 'parentbased_always_on', OTEL_TRACES_SAMPLER_ARG: share = '1' } = env;
  const root = name.endsWith('traceidratio')
    ? new TraceIdRatioBasedSampler(Number(share))
    : name.endsWith('always_off')
      ? new AlwaysOffSampler()
      : new AlwaysOnSampler();
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

type Start = (name: string, kind: SpanKind, attributes: Attributes, parent: api.SpanContext | undefined) => Span;

class NodeSpan implements Span {
  readonly context: api.SpanContext;
  readonly #span: api.Span;
  readonly #storage: AsyncLocalStorage<NodeSpan>;
  readonly #start: Start;

  constructor(span: api.Span, storage: AsyncLocalStorage<NodeSpan>, start: Start) {
    this.#span = span;
    this.#storage = storage;
    this.#start = start;
    this.context = span.spanContext();
  }

  get traceId(): string {
    return this.context.traceId;
  }

  get spanId(): string {
    return this.context.spanId;
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-${this.context.traceFlags.toString(16).padStart(2, '0')}`;
  }

  child(name: string, kind: SpanKind, attributes: Attributes = {}): Span {
    return this.#start(name, kind, attributes, this.context);
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes({ ...attributes });
  }

  run<T>(work: () => T): T {
    return this.#storage.run(this, work);
  }

  end(error?: unknown): void {
    if (error !== undefined) this.#span.setStatus({ code: api.SpanStatusCode.ERROR, message: messageOf(error) });
    this.#span.end();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The remote parent. Undefined for an invalid header, and for ids of zeroes alone, which are invalid. */
function parsed(traceparent: string): api.SpanContext | undefined {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? [];
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return api.isSpanContextValid(context) ? context : undefined;
}
