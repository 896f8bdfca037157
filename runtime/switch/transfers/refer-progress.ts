import type { Answer } from '../../runs/index.ts';
import type { ReferRequest } from '../../signalling/index.ts';
import type { Attempt } from '../placing/attempt.ts';
import type { PhoneLeg } from '../legs/phone-leg.ts';
import type { SwitchTools } from '../tools.ts';

/** What a phone is told of that which it asked for by REFER. */
export class ReferProgress {
  readonly #tools: Pick<SwitchTools, 'failed'>;
  readonly #leg: PhoneLeg;
  readonly #request: Pick<ReferRequest, 'tell'>;
  #last: Promise<void> | undefined;

  constructor(tools: Pick<SwitchTools, 'failed'>, leg: PhoneLeg, request: Pick<ReferRequest, 'tell'>) {
    this.#tools = tools;
    this.#leg = leg;
    this.#request = request;
  }

  /** Starts it at once, and tells the phone its first answer and the final one. */
  follow(start: () => Pick<Attempt, 'provisional' | 'final'>): void {
    void this.#tell('SIP/2.0 100 Trying', false);
    this.#follow(start).catch((err: unknown) => this.#tools.failed(err, 'REFER', this.#leg));
  }

  /** Tells the phone how it ended, once; settles when the phone knows, or is gone. Never rejects. */
  last({ line }: Pick<Answer, 'line'>): Promise<void> {
    this.#last ??= this.#tell(line, true);
    return this.#last;
  }

  async #follow(start: () => Pick<Attempt, 'provisional' | 'final'>): Promise<void> {
    const { provisional, final } = start();
    const first = await provisional;
    if (first.status < 200) await this.#tell(first.line, false);
    await this.last(await final);
  }

  async #tell(line: string, last: boolean): Promise<void> {
    try {
      await this.#request.tell(line, last);
    } catch (err) {
      this.#tools.failed(err, 'NOTIFY', this.#leg);
    }
  }
}
