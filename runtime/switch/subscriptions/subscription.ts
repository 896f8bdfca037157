/** One subscription of a phone: sends its NOTIFYs, and ends in time (RFC 6665). */
import type { ContactBinding } from '../../domain/index.ts';
import type { NotifierDialog, NotifyResult, OutgoingNotifyOptions } from '../../signalling/index.ts';
import { StateMachine } from '../../transitions/index.ts';
import type { ResourceState } from './event-package.ts';
import { NOTIFY_TRANSITIONS, type NotifyEvent, type NotifyState } from './subscription-state.ts';

/** Milliseconds between two NOTIFYs of a subscription (RFC 4235 section 3.10). */
export const PAUSE_MS = 1000;
/** Milliseconds until a NOTIFY that failed for now is tried again. */
const RETRY_MS = 15_000;
/** Answers after which a NOTIFY is tried again: the SIP server is away, or the phone is busy with itself. */
const FOR_NOW = new Set([500, 503]);

/** What is kept of a subscription over a restart. */
export interface SubscriptionFacts {
  readonly id: string;
  readonly sipUserId: string;
  readonly event: string;
  /** Parameter `id` of Event; empty without one. */
  readonly eventId: string;
  /** Number or login in the Request-URI. */
  readonly target: string;
  /** Key of the resource. */
  readonly key: string;
  readonly dialog: NotifierDialog;
  readonly remoteTag: string;
  /** Sender of the SUBSCRIBE. */
  readonly source: ContactBinding['source'];
  /** First hop of the route set, if any. */
  readonly route: string | undefined;
  /** Name of the SIP server. */
  readonly via: string | undefined;
  /** Milliseconds since the epoch. */
  readonly began: number;
  readonly expires: number;
}

export interface SubscriptionTools {
  /** The present state; undefined: the resource is gone, or not for this phone any more. */
  readonly state: (facts: SubscriptionFacts) => Promise<ResourceState | undefined>;
  readonly notify: (options: OutgoingNotifyOptions) => Promise<NotifyResult>;
  /** Next hop outside the server's dialog. */
  readonly nextHop: (facts: SubscriptionFacts) => string | undefined;
  /** The subscription is over. */
  readonly ended: (subscription: Subscription, reason: string) => void;
  readonly failed: (err: unknown, facts: SubscriptionFacts) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export class Subscription {
  #facts: SubscriptionFacts;
  readonly #tools: SubscriptionTools;
  readonly #machine = new StateMachine<NotifyState, NotifyEvent>(NOTIFY_TRANSITIONS, 'idle');
  #version: number;
  /** The state of the last NOTIFY; undefined: the next one is sent in any case. */
  #told: string | undefined;
  #cseq = 0;
  #inDialog = true;
  #expiry: NodeJS.Timeout | undefined;
  #rest: NodeJS.Timeout | undefined;

  /** @param resumed true: an earlier process has sent NOTIFYs of it */
  constructor(facts: SubscriptionFacts, tools: SubscriptionTools, resumed = false) {
    this.#facts = facts;
    this.#tools = tools;
    // Above the versions of an earlier process, which sent one a second at most.
    this.#version = resumed ? Math.ceil((tools.now() - facts.began) / PAUSE_MS) + 2 : 0;
    this.#watchExpiry();
  }

  get facts(): SubscriptionFacts {
    return this.#facts;
  }

  get state(): NotifyState {
    return this.#machine.state;
  }

  /** Prolongs it, and sends the whole state. @param change new expiry, and the target of the refresh */
  refresh(change: Pick<SubscriptionFacts, 'expires' | 'source' | 'dialog'>): void {
    const { server } = this.#facts.dialog;
    this.#facts = { ...this.#facts, ...change, dialog: { ...change.dialog, server } };
    this.#watchExpiry();
    this.#told = undefined;
    this.change();
  }

  /** The resource has changed: the phone learns its state, soon if it got a NOTIFY just now. */
  change(): void {
    if (this.#machine.step('change') === 'idle') void this.#send();
  }

  /** Ends it without a word: the phone knows, or cannot be reached. */
  drop(): void {
    clearTimeout(this.#expiry);
    clearTimeout(this.#rest);
    this.#machine.step('over');
  }

  /**
   * Ends it with a last NOTIFY.
   * @param reason as of RFC 6665 section 4.1.3: `timeout`, `noresource`, `deactivated` ...
   */
  async terminate(reason: string): Promise<void> {
    if (this.#machine.is('ended')) return;
    this.drop();
    this.#tools.ended(this, reason);
    const state = reason === 'timeout' ? await this.#state() : undefined;
    await this.#notify(`terminated;reason=${reason}`, state);
  }

  async #send(): Promise<void> {
    try {
      const state = await this.#tools.state(this.#facts);
      if (this.#machine.is('ended')) return;
      if (state === undefined) return await this.terminate('noresource');
      const text = state.text(0);
      if (text === this.#told) return this.#unchanged();
      this.#told = text;
      const seconds = Math.max(0, Math.ceil((this.#facts.expires - this.#tools.now()) / 1000));
      this.#answered(await this.#notify(`active;expires=${seconds}`, state));
    } catch (err) {
      this.#tools.failed(err, this.#facts);
      this.#pause('failed', RETRY_MS);
    }
  }

  #answered({ answer }: NotifyResult): void {
    if (this.#machine.is('ended')) return;
    const { status } = answer;
    if (status < 300) this.#pause('answered', PAUSE_MS);
    else if (FOR_NOW.has(status)) {
      this.#told = undefined;
      this.#pause('failed', RETRY_MS);
    } else {
      // No answer, or the phone does not know the subscription any more (section 4.2.2).
      this.drop();
      this.#tools.ended(this, `${status}`);
    }
  }

  /** The phone knows the state already: no NOTIFY, and no pause after it. */
  #unchanged(): void {
    this.#machine.step('answered');
    if (this.#machine.step('rested') === 'due') void this.#send();
  }

  #pause(event: 'answered' | 'failed', milliseconds: number): void {
    if (this.#machine.step(event) === undefined) return;
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      if (this.#machine.step('rested') === 'due') void this.#send();
    }, milliseconds).unref();
  }

  async #notify(substate: string, state: ResourceState | undefined): Promise<NotifyResult> {
    const { event, eventId, dialog, via } = this.#facts;
    // Above the numbers of the server's dialog, and above those of an earlier process.
    this.#cseq = Math.max(this.#cseq + 1, Math.floor(this.#tools.now() / 1000));
    const result = await this.#tools.notify({
      dialog: this.#inDialog ? dialog : { ...dialog, server: undefined },
      nextHop: this.#tools.nextHop(this.#facts),
      via,
      cseq: this.#cseq,
      event: eventId === '' ? event : `${event};id=${eventId}`,
      state: substate,
      body: state && { type: state.type, text: state.text(this.#version++) },
    });
    const { status, local } = result.answer;
    if (!result.inDialog && !(local && status === 503)) this.#inDialog = false;
    return result;
  }

  async #state(): Promise<ResourceState | undefined> {
    try {
      return await this.#tools.state(this.#facts);
    } catch (err) {
      this.#tools.failed(err, this.#facts);
      return undefined;
    }
  }

  #watchExpiry(): void {
    clearTimeout(this.#expiry);
    const left = Math.max(0, this.#facts.expires - this.#tools.now());
    this.#expiry = setTimeout(() => void this.terminate('timeout'), left).unref();
  }
}
