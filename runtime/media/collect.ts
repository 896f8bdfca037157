/** Collects digits from a party. */
import type { MediaEndpoint } from './endpoint.ts';
import { untilAborted } from './until-aborted.ts';

export interface CollectSettings {
  readonly signal: AbortSignal;
  /** Prompts as media server sources, played in order; the first digit interrupts them. */
  readonly prompt: readonly string[];
  readonly min: number;
  readonly max: number;
  readonly timeoutMs: number;
  readonly interDigitMs: number;
  readonly terminators: string;
}

export interface Collected {
  readonly digits: string;
  readonly reason: 'complete' | 'terminator' | 'timeout';
  readonly terminator: string | undefined;
}

/**
 * Plays a prompt and collects digits. Digits typed before the prompt count and skip it.
 * @throws the reason of the signal; EndpointGone
 */
export async function collectDigits(endpoint: MediaEndpoint, settings: CollectSettings): Promise<Collected> {
  const { min, max, terminators } = settings;
  const prompting = new AbortController();
  let digits = '';
  const { promise: done, resolve: finish } = Promise.withResolvers<Collected>();
  let finished = false;
  let timer: NodeJS.Timeout | undefined;

  const end = (reason: Collected['reason'], terminator?: string) => {
    finished = true;
    clearTimeout(timer);
    finish({ digits, reason, terminator });
  };
  const expire = () => end(digits.length >= Math.max(min, 1) ? 'complete' : 'timeout');
  const wait = (ms: number) => {
    clearTimeout(timer);
    if (!finished) timer = setTimeout(expire, ms);
  };
  const take = (digit: string) => {
    if (finished) return;
    prompting.abort(new DOMException('interrupted by a digit', 'AbortError'));
    if (terminators.includes(digit)) return end('terminator', digit);
    digits += digit;
    if (digits.length >= max) return end('complete');
    wait(settings.interDigitMs);
  };

  const leave = endpoint.digits.listen(take);
  const stop = AbortSignal.any([settings.signal, endpoint.gone]);
  try {
    stop.throwIfAborted();
    takeTypedAhead(endpoint, take, () => finished);
    await playPrompt(endpoint, settings, prompting.signal);
    if (digits === '' && !finished) wait(settings.timeoutMs);
    return await untilAborted(done, stop);
  } finally {
    clearTimeout(timer);
    leave();
  }
}

function takeTypedAhead(endpoint: MediaEndpoint, take: (digit: string) => void, enough: () => boolean): void {
  while (!enough()) {
    const digit = endpoint.digits.take();
    if (digit === undefined) return;
    take(digit);
  }
}

async function playPrompt(endpoint: MediaEndpoint, settings: CollectSettings, interrupted: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([settings.signal, interrupted]);
  for (const source of settings.prompt) {
    if (interrupted.aborted) return;
    try {
      await endpoint.play(source, signal);
    } catch (error) {
      if (!interrupted.aborted || settings.signal.aborted) throw error;
    }
  }
}
