/** Asks a provider again and again whether it is there. */
import type { Provider } from '../../domain/index.ts';
import type { SipAnswer } from '../../signalling/index.ts';

export interface TrunkProbeTools {
  /** Sends OPTIONS; undefined when there is no address. Never rejects. */
  ask(provider: Provider): Promise<SipAnswer | undefined>;
  answered(provider: Provider, answer: SipAnswer): void;
}

/** Sends OPTIONS to a provider every `ping` seconds, from now to `end`. */
export class TrunkProbe {
  readonly provider: Provider;
  readonly #tools: TrunkProbeTools;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(tools: TrunkProbeTools, provider: Provider) {
    this.#tools = tools;
    this.provider = provider;
    void this.#ask();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const due = Date.now() + this.provider.ping * 1000;
    const answer = await this.#tools.ask(this.provider);
    if (this.#ended) return;
    if (answer !== undefined) this.#tools.answered(this.provider, answer);
    this.#timer = setTimeout(() => void this.#ask(), Math.max(0, due - Date.now())).unref();
  }
}
