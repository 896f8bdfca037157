/** The door of this room: what other rooms use of it. */
import type { Tracing } from './tracing.ts';

export {
  type Attributes,
  setTracing,
  type Span,
  traced,
  tracing,
  type Tracing,
  wantsTraces,
  within,
} from './tracing.ts';

/** Opens tracing. Loads OpenTelemetry, so call it only where `wantsTraces`. */
export async function openTracing(): Promise<Tracing> {
  const { openTracing: open } = await import('./open.ts');
  return open();
}
