/** Listens to a party that has just answered, and tells a person from a machine. */
import type { MediaEndpoint } from '../endpoint.ts';
import { tapEndpoint } from '../tap.ts';
import { untilAborted } from '../until-aborted.ts';
import { type Answering, AnsweringAnalysis, type AnsweringLimits } from './answering.ts';

const SAMPLES_A_MS = 8;
/** How often a party that sends nothing is noticed, and the delay of the network until it counts as silent. */
const CHECK_MS = 100;
const LATE_MS = 500;

/**
 * @throws MediaError when the media server has no capacity; EndpointGone when the party has left; the signal's reason
 */
export async function detectMachine(
  endpoint: MediaEndpoint,
  limits: AnsweringLimits,
  signal: AbortSignal,
): Promise<Answering> {
  const analysis = new AnsweringAnalysis(limits);
  const found = Promise.withResolvers<Answering>();
  const hear = (samples: Int16Array): void => {
    const result = analysis.hear(samples);
    if (result !== undefined) found.resolve(result);
  };
  const tap = await tapEndpoint(endpoint, hear);
  const begun = performance.now();
  // Phones that suppress silence send nothing meanwhile.
  const fill = (): void => {
    const missing = Math.floor(performance.now() - begun - analysis.heardMs);
    if (missing > LATE_MS) hear(new Int16Array(missing * SAMPLES_A_MS));
  };
  // After a turn that took long, packets wait to be read: they are no silence.
  const timer = setInterval(() => setImmediate(fill), CHECK_MS);
  try {
    return await untilAborted(found.promise, AbortSignal.any([signal, endpoint.gone]));
  } finally {
    clearInterval(timer);
    await tap.close();
  }
}
