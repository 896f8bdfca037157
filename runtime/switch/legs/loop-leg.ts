/** The two halves of a loop, and the loop between them. */
import { randomUUID } from 'node:crypto';
import { type EndpointServer, type MediaEndpoint, MediaError } from '../../media/index.ts';
import { DtmfSender } from './dtmf-sender.ts';
import { type EndpointPair, openPair, type PairTools } from '../sound/endpoint-pair.ts';
import type { CallingLeg, EndCause, LegOwner } from './leg.ts';
import type { Party } from './party.ts';

/** Events of a loop. */
export interface LoopEvents {
  /** The party behind the loop rings. */
  ringing(): void;
  /** The loop ended; called once. */
  over(): void;
}

/**
 * One half of a loop: a scenario's call that comes in again as the call of a phone would. What is played to one half is
 * heard on the other, and both end together.
 */
export class LoopLeg implements CallingLeg {
  readonly callid: string;
  readonly party: Party;
  readonly held = false;
  readonly dtmf: DtmfSender;
  owner: LegOwner | undefined;
  readonly #loop: Loop;

  constructor(loop: Loop, party: Party) {
    this.#loop = loop;
    this.party = party;
    this.callid = `${randomUUID()}@${party.domain}`;
    this.dtmf = new DtmfSender(
      async (digits) => this.endpoint?.sendDtmf(digits),
      () => loop.over,
    );
  }

  get endpoint(): MediaEndpoint | undefined {
    return this.#loop.endpointOf(this);
  }

  get mediaServer(): EndpointServer | undefined {
    return this.endpoint?.server;
  }

  get ended(): boolean {
    return this.#loop.over.aborted;
  }

  release(cause: EndCause): void {
    this.#loop.end(this, cause.reason);
  }

  ring(): void {
    this.#loop.events.ringing();
  }

  prepareMedia(on?: EndpointServer): Promise<MediaEndpoint> {
    return this.#loop.open(this, on);
  }

  earlyMedia(): boolean {
    // The calling scenario hears nothing before the answer.
    return false;
  }

  answered(): Promise<void> {
    return this.ended ? Promise.reject(new MediaError('the call is over', 487)) : Promise.resolve();
  }
}

/** What the two halves share: their endpoints, and their end. */
export class Loop {
  /** The called party, as the calling scenario sees it. */
  readonly near: LoopLeg;
  /** The caller, as the called party sees it. */
  readonly far: LoopLeg;
  readonly events: LoopEvents;
  readonly #tools: PairTools;
  readonly #over = new AbortController();
  #opening: Promise<EndpointPair> | undefined;
  #pair: EndpointPair | undefined;

  constructor(tools: PairTools, parties: { readonly near: Party; readonly far: Party }, events: LoopEvents) {
    this.#tools = tools;
    this.events = events;
    this.near = new LoopLeg(this, parties.near);
    this.far = new LoopLeg(this, parties.far);
  }

  /** Aborted when the call is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  endpointOf(leg: LoopLeg): MediaEndpoint | undefined {
    return leg === this.near ? this.#pair?.one : this.#pair?.other;
  }

  /**
   * Opens both endpoints at the first call.
   * @returns the endpoint of the leg
   * @throws MediaError, with status 488 when they are on another media server than `on`
   */
  async open(leg: LoopLeg, on: EndpointServer | undefined): Promise<MediaEndpoint> {
    this.#opening ??= openPair(this.#tools, leg, on);
    const pair = await this.#opening;
    if (this.#pair === undefined) this.#use(pair);
    if (on !== undefined && on !== pair.one.server)
      throw new MediaError("a scenario's call cannot move to another media server", 488);
    return leg === this.near ? pair.one : pair.other;
  }

  #use(pair: EndpointPair): void {
    this.#pair = pair;
    if (this.over.aborted) pair.close();
    for (const { gone } of [pair.one, pair.other])
      gone.addEventListener('abort', () => this.end(undefined, 'media lost', true), { once: true });
  }

  /** @param by the released half, whose owner is not told; undefined: both owners are told */
  end(by: LoopLeg | undefined, reason: string, lost?: boolean): void {
    if (this.over.aborted) return;
    this.#over.abort();
    this.#pair?.close();
    this.events.over();
    for (const leg of [this.near, this.far]) if (leg !== by) leg.owner?.legEnded(leg, reason, lost);
  }
}
