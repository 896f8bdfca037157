import type { Answer } from '../../runs/index.ts';
import type { ReferRequest } from '../../signalling/index.ts';
import type { Attempt } from '../placing/attempt.ts';
import type { PhoneLeg } from '../legs/phone-leg.ts';
import type { SwitchTools } from '../tools.ts';

/** Reports the progress of a REFER to its phone, by NOTIFY (RFC 3515 section 2.4.4). */
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

  /** Starts the attempt at once, and reports its first and its final answer. */
  follow(start: () => Pick<Attempt, 'provisional' | 'final'>): void {
    void this.#tell('SIP/2.0 100 Trying', false);
    this.#follow(start).catch((err: unknown) => this.#tools.failed(err, 'REFER', this.#leg));
  }

  /** Reports the final answer, once; settles when the phone has the NOTIFY, or is gone. Never rejects. */
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
