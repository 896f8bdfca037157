/** Asks far ends again and again whether they are there. */
import type { SipAnswer } from '../../signalling/index.ts';

/** A far end to ask. */
export interface Probed {
  /** Names it among all that are asked. */
  readonly key: string;
  /** Seconds between two questions. */
  readonly seconds: number;
  /** Where and how it is asked; a change begins anew. */
  readonly settings: string;
  /** Sends OPTIONS; undefined when there is no address. Never rejects. */
  ask(): Promise<SipAnswer | undefined>;
  answered(answer: SipAnswer): void;
}

/** Sends OPTIONS to one far end every so many seconds, from now to `end`. */
class Probe {
  readonly probed: Probed;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(probed: Probed) {
    this.probed = probed;
    void this.#ask();
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const due = Date.now() + this.probed.seconds * 1000;
    const answer = await this.probed.ask();
    if (this.#ended) return;
    if (answer !== undefined) this.probed.answered(answer);
    if (this.#ended) return;
    this.#timer = setTimeout(() => void this.#ask(), Math.max(0, due - Date.now())).unref();
  }
}

/** The far ends that a node asks. */
export class Probes {
  readonly #probes = new Map<string, Probe>();

  /** Asks these from now on, and no others. One whose settings have not changed keeps its turn. */
  keep(wanted: readonly Probed[]): void {
    const byKey = new Map(wanted.map((probed) => [probed.key, probed]));
    for (const [key, { probed }] of this.#probes) {
      const now = byKey.get(key);
      if (now?.seconds !== probed.seconds || now.settings !== probed.settings) this.end(key);
    }
    for (const probed of wanted) this.begin(probed);
  }

  /** Asks this one too, unless it is asked already. */
  begin(probed: Probed): void {
    if (!this.#probes.has(probed.key)) this.#probes.set(probed.key, new Probe(probed));
  }

  end(key: string): void {
    this.#probes.get(key)?.end();
    this.#probes.delete(key);
  }

  close(): void {
    for (const key of this.#probes.keys()) this.end(key);
  }
}
