/** Traces of OpenTelemetry. Without the setting, `tracing()` is undefined and nothing of OpenTelemetry is loaded. */

/** A number, a text, or nothing, which leaves the attribute out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** `server`: a request from outside; `client`: one to outside; `internal`: work of the node. */
export type SpanKind = 'server' | 'client' | 'internal';

/** One operation of a trace, until its `end`. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** The header of W3C Trace Context, section 3.2. */
  readonly traceparent: string;
  child(name: string, kind: SpanKind, attributes?: Attributes): Span;
  set(attributes: Attributes): void;
  /** Does the work with this span as the current one, also after each `await`. */
  run<T>(work: () => T): T;
  /** @param error why it failed; absent: it did not */
  end(error?: unknown): void;
}

export interface Tracing {
  /** The span of the work in progress. */
  readonly current: Span | undefined;
  /**
   * Starts a span below the current one.
   * @param traceparent of the request that asks for the work; it takes precedence. An invalid one is ignored
   */
  start(name: string, kind: SpanKind, attributes?: Attributes, traceparent?: string): Span;
  /** Reports problems, such as a collector that does not answer. */
  reportTo(warn: (problem: string) => void): void;
  /** Sends what is left, for two seconds at most. */
  close(): Promise<void>;
}

let active: Tracing | undefined;

/** The tracing of this node; undefined: none. */
export function tracing(): Tracing | undefined {
  return active;
}

/** Switches tracing on or, with undefined, off. */
export function setTracing(to: Tracing | undefined): void {
  active = to;
}

/**
 * Does the work within a span of its own.
 * @param describe attributes; not called without tracing
 * @param work gets the span; undefined without tracing
 */
export function traced<T>(
  name: string,
  kind: SpanKind,
  describe: () => Attributes,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  return active === undefined ? work(undefined) : within(active.start(name, kind, describe()), work);
}

/** Does the work within a span, and ends it. */
export async function within<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    const result = await span.run(() => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** True when the environment asks for traces. */
export function wantsTraces(env: Readonly<Record<string, string | undefined>>): boolean {
  const { OTEL_SDK_DISABLED: disabled, OTEL_TRACES_EXPORTER: exporter = '' } = env;
  if (disabled?.toLowerCase() === 'true' || exporter === 'none') return false;
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '';
  return exporter === 'otlp' || endpoint !== '';
}
