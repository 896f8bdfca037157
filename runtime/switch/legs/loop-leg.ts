/** The two halves of a loop, and the loop between them. */
import { randomUUID } from 'node:crypto';
import type { HomeOf } from '../../callstore/index.ts';
import { type EndpointServer, type MediaEndpoint, MediaError } from '../../media/index.ts';
import { DtmfSender } from './dtmf-sender.ts';
import { type EndpointPair, openPair, type PairTools } from '../sound/endpoint-pair.ts';
import type { FarPhones } from '../lines/far-phones.ts';
import type { EndCause, LegOwner } from './leg.ts';
import { LoopLine } from './loop-line.ts';
import type { MovableLeg, MovedPhone } from './moved-phone.ts';
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
export class LoopLeg implements MovableLeg {
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

  /** @throws MediaError with status 488 when the loop is open at this node already */
  async lend(phones: FarPhones): Promise<MovedPhone> {
    const { callid, party } = this;
    const line = await this.#loop.reachOut(this);
    const at = phones.homes.add({ invite: line });
    const { callId, sdp, source } = line;
    return { ...at, callid, party, allowEvents: [], invite: { callId, sdp, source, headers: {} } };
  }

  takeBack(phones: FarPhones, { key }: HomeOf): Promise<void> {
    phones.homes.remove(key);
    this.#loop.drawBack();
    return Promise.resolve();
  }

  leave(): void {
    // The other half goes on.
    this.owner = undefined;
  }

  drop(reason: string): void {
    this.#loop.end(undefined, reason, true);
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
  /** Of the near half, while the far half is at another node. */
  #alone: MediaEndpoint | undefined;

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
    return leg === this.near ? (this.#alone ?? this.#pair?.one) : this.#pair?.other;
  }

  /** Opens the near half alone, for a far half that goes to another node. */
  async reachOut(leg: LoopLeg): Promise<LoopLine> {
    if (this.#opening !== undefined || leg !== this.far)
      throw new MediaError("a scenario's call cannot move to another node", 488);
    const endpoint = await this.#tools.createEndpoint({});
    this.#alone = endpoint;
    if (this.over.aborted) this.drawBack();
    endpoint.gone.addEventListener('abort', () => {
      if (this.#alone === endpoint) this.end(undefined, 'media lost', true);
    });
    const loop = {
      over: this.over,
      ringing: () => this.events.ringing(),
      end: (reason: string) => this.end(this.far, reason),
    };
    return new LoopLine(this.far.callid, loop, endpoint);
  }

  /** The far half is back, or the call is over. */
  drawBack(): void {
    const endpoint = this.#alone;
    this.#alone = undefined;
    if (endpoint !== undefined) this.#tools.background(endpoint.destroy(), 'endpoint', this.near);
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
    this.drawBack();
    this.events.over();
    for (const leg of [this.near, this.far]) if (leg !== by) leg.owner?.legEnded(leg, reason, lost);
  }
}
