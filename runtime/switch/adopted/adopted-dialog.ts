/** A call of a dead node that this node goes on with. */
import type { SharedCall } from '../../callstore/index.ts';
import type { LiveDialog, LiveLeg } from '../../runs/index.ts';
import { asDomainName } from '../../domain-name/index.ts';
import type { AdoptedSide } from './adopted-side.ts';

/** How an adopted call ends. */
export interface AdoptedEnd {
  readonly by: 'a' | 'b' | 'external' | 'failure' | 'lost';
  readonly reason: string;
}

/** Two phones whose sound goes on at the media server. Nothing can be done to it but ending it. */
export class AdoptedDialog implements LiveDialog {
  readonly call: SharedCall;
  /** Id of the dead process. */
  readonly node: string;
  readonly #sides: readonly AdoptedSide[];
  readonly #ended: (end: AdoptedEnd) => void;
  readonly #bindings: Set<string>;
  #over = false;

  /**
   * @param sides in the order of the call's
   * @param ended called once, after BYE was sent to all sides
   */
  constructor(node: string, call: SharedCall, sides: readonly AdoptedSide[], ended: (end: AdoptedEnd) => void) {
    this.node = node;
    this.call = call;
    this.#sides = sides;
    this.#ended = ended;
    this.#bindings = new Set(call.facts.labels);
  }

  get dialogid(): string {
    return this.call.entry.view.dialogid;
  }

  get status(): 'dialog' {
    return 'dialog';
  }

  get legs(): readonly LiveLeg[] {
    return this.call.sides.map(({ callid, side, number, uris, domain }) => ({
      callid,
      side,
      number,
      uris,
      domain: asDomainName(domain),
      allowEvents: undefined,
      movable: false,
      joinable: false,
    }));
  }

  get bindings(): readonly string[] {
    return [...this.#bindings];
  }

  get held(): boolean {
    return false;
  }

  setBindings(labels: readonly string[]): void {
    this.#bindings.clear();
    for (const label of labels) this.#bindings.add(label);
  }

  sendDtmf(): boolean {
    return false;
  }

  notify(): boolean {
    return false;
  }

  stopHoldMelody(): Promise<boolean> {
    return Promise.resolve(false);
  }

  terminate(): void {
    this.end({ by: 'external', reason: 'Request Terminated' });
  }

  /** Sends BYE to both phones and their channels. Idempotent. */
  end(end: AdoptedEnd): void {
    if (this.#over) return;
    this.#over = true;
    for (const side of this.#sides) side.end();
    this.#ended(end);
  }

  /** Takes the call over at SIP servers that know how, and asks whether the phones are there. */
  begin(): void {
    for (const [at, side] of this.#sides.entries()) {
      const by = at === 0 ? 'a' : 'b';
      side.handle((reason, lost) => this.end({ by: lost ? 'failure' : by, reason }));
      side.check();
    }
  }

  /** Leaves the phones to their node. */
  leave(): void {
    this.#over = true;
    for (const side of this.#sides) side.leave(this.node);
  }
}
