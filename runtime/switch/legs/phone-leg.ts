/** The leg of a phone: its SIP dialog and its endpoint. */
import type { HomeOf, SipPlace } from '../../callstore/index.ts';
import type { DtmfProto, SipMessage } from '../../runs/index.ts';
import {
  bestCodec,
  type CodecName,
  type CodecWish,
  codecWish,
  type EndpointServer,
  type FarEndWish,
  type MediaEndpoint,
  MediaError,
} from '../../media/index.ts';
import {
  answer,
  type DialogTags,
  dtmfOfInfo,
  LocalDescription,
  parseAllowEvents,
  type ReinviteAnswer,
  ReinviteRefused,
  type SdpOrigin,
  type SipAnswer,
} from '../../signalling/index.ts';
import { sdpDirection } from '../../sip-facts/index.ts';
import { StateMachine } from '../../transitions/index.ts';
import { DtmfSender } from './dtmf-sender.ts';
import type { Device, EndCause, FaxSide, LegOwner, PhoneMessage } from './leg.ts';
import type { Party } from './party.ts';
import type { ShownCaller } from './shown-caller.ts';
import { codecsOf } from './codecs-of.ts';
import { srtpOf } from './srtp-policy.ts';
import { FarDialog, FarInvite, type FarPhones } from '../lines/far-phones.ts';
import type { DialogLine, InviteLine, MovedDialog } from '../lines/line.ts';
import type { MovableLeg, MovedPhone } from './moved-phone.ts';
import { tellMediaEnd } from './media-end.ts';
import { PHONE_LEG_TRANSITIONS, type PhoneLegEvent, type PhoneLegState } from './phone-leg-state.ts';
import type { AnsweredPhone, ArrivedPhone, PhoneLegTools } from './phone-leg-tools.ts';

/** Milliseconds to wait for the session description of a caller whose INVITE had none. */
const ACK_MS = 3000;
/** Headers of an INVITE that matter to a call which another node takes over. */
const MOVED_HEADERS = ['Allow-Events', 'Replaces', 'Referred-By'];

/**
 * A leg to a phone: its SIP dialog and its endpoint. A caller's leg begins unanswered (`incoming`), a called party's
 * when it has answered (`outgoing`).
 */
export class PhoneLeg implements MovableLeg {
  readonly callid: string;
  readonly party: Party;
  owner: LegOwner | undefined;
  /** Set before the call is placed. */
  shownAs: ShownCaller | undefined;
  readonly #tools: PhoneLegTools;
  readonly #description: LocalDescription;
  readonly #allowEvents: ReadonlySet<string>;
  readonly dtmf = new DtmfSender(
    (digits, proto) => this.#sendDigits(digits, proto),
    () => this.#endpoint?.gone ?? AbortSignal.abort(),
  );
  #invite: InviteLine | undefined;
  /** Of a phone that another node's endpoint had before. */
  readonly #wish: FarEndWish | undefined;
  readonly #state: StateMachine<PhoneLegState, PhoneLegEvent>;
  #sip: DialogLine | undefined;
  /** True while another node may take the call over: it gets what the phone sends. */
  #lent = false;
  /** True when the phone has a session description of the endpoint. */
  #described = false;
  #endpoint: MediaEndpoint | undefined;
  #preparing: Promise<MediaEndpoint> | undefined;
  #answering: Promise<void> | undefined;
  #held = false;
  #handingOn: Promise<void> = Promise.resolve();
  /** Resolves to whether the session description in the caller's ACK is usable. */
  readonly #lateAnswer = Promise.withResolvers<boolean>();

  private constructor(
    tools: PhoneLegTools,
    party: Party,
    side:
      | { invite: InviteLine; callid: string }
      | Omit<AnsweredPhone, 'allowEvents'>
      | Omit<ArrivedPhone, 'allowEvents'>,
    allowEvents: readonly string[],
  ) {
    this.#allowEvents = new Set(allowEvents);
    this.#tools = tools;
    this.party = party;
    this.#description = 'invite' in side ? new LocalDescription() : side.description;
    this.#state = new StateMachine(PHONE_LEG_TRANSITIONS, 'invite' in side ? 'ringing' : 'answered');
    if ('invite' in side) {
      this.#invite = side.invite;
      this.callid = side.callid;
      side.invite.cancelled.addEventListener('abort', () => this.#ended('CANCEL'), { once: true });
    } else if ('wish' in side) {
      this.callid = side.callid;
      this.#wish = side.wish;
      this.#held = side.held;
      this.#established(side.sip);
    } else {
      this.callid = side.sip.callId;
      this.#use(side.endpoint);
      this.#established(side.sip);
    }
  }

  /**
   * @param known.callid name of the leg on this platform; default: the Call-ID of the INVITE
   * @param known.allowEvents event packages that the device listed when it registered, lower case
   */
  static incoming(
    tools: PhoneLegTools,
    party: Party,
    invite: InviteLine,
    known: { readonly callid?: string; readonly allowEvents?: readonly string[] } = {},
  ): PhoneLeg {
    const { callid = invite.callId, allowEvents = [] } = known;
    const listed = parseAllowEvents(invite.header('Allow-Events'));
    return new PhoneLeg(tools, party, { invite, callid }, [...allowEvents, ...listed]);
  }

  static outgoing(tools: PhoneLegTools, party: Party, established: AnsweredPhone): PhoneLeg {
    return new PhoneLeg(tools, party, established, established.allowEvents);
  }

  /** The session with the phone goes on with an endpoint of this node, by a re-INVITE. */
  static arrived(tools: PhoneLegTools, party: Party, phone: ArrivedPhone): PhoneLeg {
    return new PhoneLeg(tools, party, phone, phone.allowEvents);
  }

  /** The device at the far end, once there is a dialog with it. */
  get device(): Device | undefined {
    const sip = this.#sip;
    if (sip === undefined) return undefined;
    return {
      allowEvents: this.#allowEvents,
      notify: (event) => {
        if (!this.#state.is('answered')) return false;
        sip.notify(event).catch((err: unknown) => this.#tools.failed(err, 'NOTIFY', this));
        return true;
      },
    };
  }

  get fax(): FaxSide | undefined {
    const [sip, endpoint] = [this.#sip, this.#endpoint];
    if (sip === undefined || endpoint === undefined || !this.#state.is('answered')) return undefined;
    return {
      endpoint,
      offer: (sdp, unwanted) => sip.reinvite(this.#description.of(sdp), unwanted),
      describe: (sdp) => this.#description.of(sdp),
      failed: (error) => {
        if (!this.ended) this.#tools.failed(error, 'T.38', this);
      },
    };
  }

  get tags(): readonly DialogTags[] {
    const tags = this.#sip?.tags ?? this.#invite?.tags;
    return tags === undefined ? [] : [tags];
  }

  get sipPlace(): SipPlace | undefined {
    return this.#sip?.place;
  }

  get home(): HomeOf | undefined {
    return this.#sip instanceof FarDialog ? this.#sip.phone.at : undefined;
  }

  get sdpOrigin(): SdpOrigin {
    return this.#description.origin;
  }

  get endpoint(): MediaEndpoint | undefined {
    return this.#endpoint;
  }

  get mediaServer(): EndpointServer | undefined {
    return this.#endpoint?.server;
  }

  get held(): boolean {
    return this.#held;
  }

  get ended(): boolean {
    return this.#state.is('ended');
  }

  ring(): void {
    if (this.#state.is('ringing')) this.#invite?.progress();
  }

  earlyMedia(): boolean {
    if (this.#endpoint === undefined) return false;
    if (!this.#state.is('ringing')) return this.#state.is('answered');
    this.#described = true;
    this.#invite?.progress(this.#description.of(this.#endpoint.localSdp));
    // Without an offer in the INVITE, the caller's session description comes in the ACK.
    return this.#invite?.sdp !== '';
  }

  async prepareMedia(on?: EndpointServer): Promise<MediaEndpoint> {
    this.#preparing ??= this.#makeEndpoint(on);
    const endpoint = await this.#preparing;
    if (on !== undefined && endpoint.server !== on) await this.#moveMedia(endpoint, on);
    return endpoint;
  }

  async answered(room?: string): Promise<void> {
    // A transfer may take the leg while its answer is on its way: then both wait for the one answer.
    this.#answering ??= this.#state.is('answered') ? Promise.resolve() : this.#answer(room);
    await this.#answering;
  }

  async #answer(room: string | undefined): Promise<void> {
    const endpoint = await this.prepareMedia();
    if (this.#invite === undefined || this.#state.step('accept') === undefined)
      throw new MediaError('the caller is gone', 487);
    const sip = await this.#invite.accept(this.#description.of(endpoint.localSdp), room);
    if (this.#state.step('accepted') === undefined) {
      await sip.bye();
      throw new MediaError('the caller is gone', 487);
    }
    this.#established(sip);
    // Without an offer in the INVITE, the caller's session description comes in the ACK. Nothing can be sent to it before, and
    // FreeSWITCH drops a channel that is bridged before.
    if (this.#invite.sdp === '') await this.#lateAnswerTaken(endpoint);
  }

  release(cause: EndCause): void {
    const from = this.#state.step('over');
    if (from === undefined) return;
    if (from === 'ringing') this.#invite?.reject(cause.status, cause.reason);
    const headers: Record<string, string> = cause.header === undefined ? {} : { Reason: cause.header };
    if (this.#sip !== undefined) this.#tools.background(this.#sip.bye(headers), 'BYE', this);
    this.#dropMedia();
  }

  async #lateAnswerTaken({ gone }: MediaEndpoint): Promise<void> {
    const timer = setTimeout(() => this.#lateAnswer.resolve(true), ACK_MS);
    gone.addEventListener('abort', () => this.#lateAnswer.resolve(false), { once: true });
    const taken = await this.#lateAnswer.promise;
    clearTimeout(timer);
    if (this.ended) throw new MediaError('the caller is gone', 487);
    if (!taken) throw new MediaError('the caller acknowledged the call without a usable session description', 488);
  }

  get #codecWish(): CodecWish | undefined {
    return codecWish(codecsOf(this.#tools.directory, this.party));
  }

  get codec(): CodecName | undefined {
    const offer = this.#invite?.sdp ?? '';
    return this.#endpoint?.codec ?? (offer === '' ? undefined : bestCodec(offer, this.#codecWish));
  }

  async #makeEndpoint(on: EndpointServer | undefined): Promise<MediaEndpoint> {
    if (this.#wish !== undefined) return await this.#continueSession(this.#wish, on);
    const offer = this.#invite?.sdp ?? '';
    const endpoint = await this.#tools.createEndpoint({
      remoteSdp: offer === '' ? undefined : offer,
      via: this.#invite?.via,
      peer: this.#invite?.source.address,
      srtp: srtpOf(this.#tools.directory, this.party),
      codecs: this.#codecWish,
      on,
    });
    if (this.ended) {
      await endpoint.destroy();
      throw new MediaError('the caller is gone', 487);
    }
    this.#use(endpoint);
    return endpoint;
  }

  /** @throws MediaError with status 488 when the phone refuses the re-INVITE */
  async #moveMedia(endpoint: MediaEndpoint, on: EndpointServer): Promise<void> {
    if (this.#state.is('answering')) await this.#answering;
    const sip = this.#sip;
    if (sip === undefined) throw new MediaError('the caller is not answered yet: its media cannot move', 488);
    await endpoint.moveTo(on, (offer) => this.#offer(sip, offer));
  }

  /** @throws MediaError with status 488 when the phone refuses the re-INVITE */
  async #offer(sip: DialogLine, offer: string): Promise<string> {
    try {
      const answered = await sip.reinvite(this.#description.of(offer));
      void this.#heldAs(answered);
      return answered;
    } catch (error) {
      if (!(error instanceof ReinviteRefused)) throw error;
      throw new MediaError('the phone refused the re-INVITE to another media server', 488, { cause: error });
    }
  }

  /** @throws MediaError with status 488 when the phone refuses the re-INVITE */
  async #continueSession(wish: FarEndWish, on: EndpointServer | undefined): Promise<MediaEndpoint> {
    const sip = this.#sip;
    if (sip === undefined) throw new MediaError('the phone is gone', 487);
    const endpoint = await this.#tools.createEndpoint({ ...wish, on });
    try {
      const offer = (sdp: string): Promise<string> => this.#offer(sip, sdp);
      await endpoint.answered(await offer(endpoint.localSdp), offer);
      if (this.ended) throw new MediaError('the phone is gone', 487);
    } catch (error) {
      await endpoint.destroy();
      throw error;
    }
    this.#use(endpoint);
    return endpoint;
  }

  /**
   * Gives the phone's SIP dialog to another node, which may take the call over. The leg keeps its endpoint, and waits for
   * `takeBack` or `leave`.
   * @throws MediaError with status 488 for a caller who hears early media: its session is fixed before the answer
   */
  async lend(phones: FarPhones): Promise<MovedPhone> {
    if (this.#state.is('answering')) await this.#answering;
    if (this.ended) throw new MediaError('the phone is gone', 487);
    const { callid, party, shownAs } = this;
    const known = { callid, party, shownAs, allowEvents: [...this.#allowEvents] };
    if (this.#sip !== undefined) {
      this.#lent = true;
      return { ...known, ...this.#home(this.#sip, phones), dialog: this.#movedDialog(this.#sip) };
    }
    const invite = this.#invite;
    if (invite === undefined) throw new MediaError('the phone is gone', 487);
    if (this.#described) throw new MediaError('the caller is not answered yet: its media cannot move', 488);
    this.#lent = true;
    const { callId, sdp, via, source } = invite;
    const headers = Object.fromEntries(
      MOVED_HEADERS.flatMap((name) => {
        const value = invite.header(name);
        return value === undefined ? [] : [[name.toLowerCase(), value]];
      }),
    );
    const at = invite instanceof FarInvite ? invite.phone.at : phones.homes.add({ invite });
    return { ...known, ...at, invite: { callId, sdp, via, source, headers } };
  }

  #home(sip: DialogLine, phones: FarPhones): HomeOf {
    return sip instanceof FarDialog ? sip.phone.at : phones.homes.add({ dialog: sip });
  }

  #movedDialog(sip: DialogLine): MovedDialog {
    const { callId, tags, place } = sip;
    const wish = this.#endpoint?.wish ?? this.#wish ?? {};
    const { sdpOrigin: description, held } = this;
    return { callId, tags, wish, description, held, ...(place && { place }) };
  }

  /**
   * The other node has not taken the call over.
   * @param at where the phone's SIP dialog is
   * @param description of the other node's session with the phone; undefined: the phone still has that of this leg
   * @throws MediaError when the phone does not take the session of this leg again; errors of its home
   */
  async takeBack(phones: FarPhones, at: HomeOf, description: SdpOrigin | undefined): Promise<void> {
    const [invite, sip] = [this.#invite, this.#sip];
    if (sip === undefined) {
      if (invite instanceof FarInvite) this.#invite = new FarInvite(await phones.attach(at), invite.moved);
      else phones.homes.remove(at.key);
      this.#lent = false;
      if (this.#invite?.cancelled.aborted === true) this.#ended('CANCEL');
      else this.#invite?.cancelled.addEventListener('abort', () => this.#ended('CANCEL'), { once: true });
      return;
    }
    let line: DialogLine = sip;
    if (sip instanceof FarDialog) line = new FarDialog(await phones.attach(at, sip.phone.place), sip);
    else phones.homes.remove(at.key);
    this.#lent = false;
    this.#established(line);
    if (description === undefined || this.ended || this.#endpoint === undefined) return;
    this.#description.resume(description);
    await this.#endpoint.modify(await this.#offer(line, this.#endpoint.localSdp));
  }

  /** The leg is lost: its phone is released, as far as it can be reached. */
  drop(reason: string): void {
    this.#lent = false;
    if (this.ended) return;
    this.release({ by: 'failure', status: 503, reason });
    this.owner?.legEnded(this, reason, true);
  }

  /** True from the answer on. */
  get isAnswered(): boolean {
    return this.#sip !== undefined;
  }

  /** The session description that the phone has of this leg's endpoint. */
  get described(): SdpOrigin | undefined {
    return this.#endpoint === undefined ? undefined : this.sdpOrigin;
  }

  /** The call goes on at another node: nothing is sent to the phone. */
  leave(): void {
    if (this.#state.step('over') === undefined) return;
    if (this.#sip instanceof FarDialog) this.#sip.phone.forget();
    else if (this.#invite instanceof FarInvite) this.#invite.phone.forget();
    this.#dropMedia();
  }

  #use(endpoint: MediaEndpoint): void {
    this.#endpoint = endpoint;
    this.#preparing ??= Promise.resolve(endpoint);
    endpoint.gone.addEventListener('abort', () => this.#mediaGone(endpoint), { once: true });
    endpoint.onInfo = (contentType, body) => {
      const digit = dtmfOfInfo(contentType, body);
      if (digit !== undefined) this.#handOn(digit);
    };
  }

  #established(sip: DialogLine): void {
    this.#sip = sip;
    sip.handle({
      ended: (reason, lost) => this.#ended(reason, lost),
      reinvite: (sdp, cancelled) => this.#reinvite(sdp, cancelled),
      answerInAck: (sdp) => void this.#answeredInAck(sdp),
      messaged: (message) => this.#messaged(message),
      refer: (request) => this.#tools.refer(this, request),
    });
  }

  /** A re-INVITE or UPDATE of the phone: new address, hold, or back from hold (RFC 3264 section 8.4). */
  async #reinvite(sdp: string | undefined, cancelled?: AbortSignal): Promise<ReinviteAnswer> {
    if (this.#endpoint === undefined || this.#lent) return { status: 491 };
    const present = this.owner?.legDescription?.(this) ?? this.#endpoint.localSdp;
    if (sdp === undefined) return { status: 200, sdp: this.#description.of(present) };
    return this.#renegotiate(sdp, cancelled);
  }

  async #answeredInAck(sdp: string): Promise<void> {
    this.#lateAnswer.resolve(sdp !== '' && (await this.#renegotiate(sdp)).status === 200);
  }

  #renegotiate(sdp: string, cancelled?: AbortSignal): Promise<ReinviteAnswer> {
    const sound = (): Promise<ReinviteAnswer> => this.#takeSound(sdp);
    return this.owner?.legOffered?.(this, sdp, sound, cancelled) ?? sound();
  }

  async #takeSound(sdp: string): Promise<ReinviteAnswer> {
    try {
      const described = await this.#endpoint?.modify(sdp);
      const settled = this.#heldAs(sdp);
      // A phone with its answer talks: from then on the call outlives this node, as the media server keeps bridges alone.
      if (!this.#held) await settled;
      return described === undefined ? { status: 491 } : { status: 200, sdp: this.#description.of(described) };
    } catch (error) {
      if (!this.ended) this.#tools.failed(error, 're-INVITE', this);
      return { status: error instanceof MediaError ? error.status : 500 };
    }
  }

  #heldAs(sdp: string): Promise<void> | undefined {
    const direction = sdpDirection(sdp);
    return this.#setHeld(direction === 'sendonly' || direction === 'inactive');
  }

  #setHeld(held: boolean): Promise<void> | undefined {
    if (held === this.#held) return undefined;
    this.#held = held;
    return this.owner?.legHeld(this, held);
  }

  /**
   * Sends a request within the call. Never rejects.
   * @returns the phone's answer: 481 when the call is over, 408 when the phone does not answer
   */
  async sendMessage({ method, contentType, body, headers }: SipMessage): Promise<SipAnswer> {
    const sip = this.#sip;
    if (sip === undefined || this.ended) return answer(481, undefined, true);
    try {
      const type: Record<string, string> = body === '' ? {} : { 'Content-Type': contentType };
      return answer(await sip.request(method, { ...headers, ...type }, body), undefined, false);
    } catch (err) {
      this.#tools.failed(err, method, this);
      return answer(this.#state.is('ended') ? 481 : 408, undefined, true);
    }
  }

  #messaged(message: PhoneMessage): void {
    const digit = message.method === 'INFO' ? dtmfOfInfo(message.contentType, message.body) : undefined;
    if (digit === undefined) this.owner?.legMessaged?.(this, message);
    else this.#endpoint?.receiveDtmf(digit).catch((err: unknown) => this.#tools.failed(err, 'INFO', this));
  }

  async #sendDigits(digits: string, proto: DtmfProto): Promise<void> {
    if (proto === 'sipinfo') await this.#sip?.sendDtmf(digits);
    else await this.#endpoint?.sendDtmf(digits);
  }

  /** Passes an opponent's digit to a phone that takes digits only by INFO; one request at a time keeps the order. */
  #handOn(digit: string): void {
    this.#handingOn = this.#handingOn
      .then(() => this.#sip?.sendDtmf(digit))
      .catch((err: unknown) => this.#tools.failed(err, 'INFO', this));
  }

  #mediaGone(endpoint: MediaEndpoint): void {
    void tellMediaEnd(this.#tools, this, endpoint);
    if (this.ended) return;
    this.release({ by: 'failure', status: 500, reason: 'Media Lost' });
    this.owner?.legEnded(this, 'media lost', true);
  }

  #ended(reason: string, lost?: boolean): void {
    // The other node learns of it, or this one when it takes the call back.
    if (this.#lent) return;
    if (this.#state.step('over') === undefined) return;
    this.#dropMedia();
    this.owner?.legEnded(this, reason, lost);
  }

  #dropMedia(): void {
    if (this.#endpoint !== undefined) this.#tools.background(this.#endpoint.destroy(), 'endpoint', this);
  }
}
