import { authorization, type Challenge, parseChallenge } from './sip/digest.ts';
import { Dialog } from './sip/dialog.ts';
import type { ClientTransaction } from './sip/client-transaction.ts';
import { tagOf } from './sip/address.ts';
import { header, headerLines, token, type SipHeader, type SipRequest, type SipResponse } from './sip/message.ts';
import type { Peer } from './sip/transport.ts';
import { PhoneCall, type CallContext } from './phone-call.ts';
import { Moment } from './wait.ts';

export interface OutgoingCallOptions {
  readonly target: string;
  /** URI of To, unless it is the Request-URI. */
  readonly to: string;
  /** Address of record, `sip:login@domain`. */
  readonly from: string;
  readonly displayName: string | undefined;
  readonly via: Peer;
  readonly username: string;
  readonly password: string;
  readonly headers: readonly SipHeader[];
  /** Sends the INVITE without an offer: the 200 offers, the ACK answers (RFC 3261 section 13.2.1). */
  readonly lateOffer: boolean;
}

/** A call made by this phone. */
export class OutgoingCall extends PhoneCall {
  readonly callId = `${token()}@127.0.0.1`;
  readonly #options: OutgoingCallOptions;
  readonly #fromTag = token();
  readonly #ringing: Moment<number>;
  readonly #earlyMedia: Moment<number>;
  #cseq = 1;
  #transaction: ClientTransaction;
  #provisional = false;
  #cancelled = false;
  #cancelSent = false;

  constructor(context: CallContext, options: OutgoingCallOptions) {
    super(context);
    this.#options = options;
    this.#ringing = new Moment(`${context.label} ringing`);
    this.#earlyMedia = new Moment(`${context.label} early media`);
    this.#transaction = this.#invite();
  }

  /** The INVITE was repeated with the password. */
  get wasChallenged(): boolean {
    return this.#cseq > 1;
  }

  /** The first 101-199, as status. */
  async ringing(withinMs = 15_000): Promise<number> {
    return this.#ringing.wait(withinMs);
  }

  /** The first provisional answer with a session description. */
  async earlyMedia(withinMs = 15_000): Promise<number> {
    return this.#earlyMedia.wait(withinMs);
  }

  /** The status with which the call was refused; rejects when it was answered or ended otherwise. */
  async refused(withinMs = 15_000): Promise<{ status: number; reason: string }> {
    const end = await this.ended(withinMs);
    if (end.by !== 'refused' || end.status === undefined) throw new Error(`not refused, but ended by: ${end.by}`);
    return { status: end.status, reason: end.reason ?? '' };
  }

  /** A header of the 2xx that answered this call. */
  async answerHeader(name: string): Promise<string | undefined> {
    const response = await this.answeredMoment.wait(5000);
    return response && header(response, name);
  }

  /** CANCEL, sent as soon as a provisional answer allows it (RFC 3261 section 9.1); waits for the end. */
  async cancel(withinMs = 15_000): Promise<void> {
    this.#cancelled = true;
    this.#sendCancel();
    await this.ended(withinMs);
  }

  override async hangup(): Promise<void> {
    if (!this.live) return;
    if (this.established) await this.bye();
    else await this.cancel();
  }

  #invite(authorize?: SipHeader): ClientTransaction {
    const { displayName, from, target, to, via, headers, lateOffer } = this.#options;
    const display = displayName === undefined ? '' : `"${displayName}" `;
    const request: SipRequest = {
      kind: 'request',
      method: 'INVITE',
      uri: target,
      headers: [
        { name: 'From', value: `${display}<${from}>;tag=${this.#fromTag}` },
        { name: 'To', value: `<${to}>` },
        { name: 'Call-ID', value: this.callId },
        { name: 'CSeq', value: `${this.#cseq} INVITE` },
        ...(lateOffer ? this.contactHeaders() : this.sdpHeaders()),
        ...headers,
        ...(authorize === undefined ? [] : [authorize]),
      ],
      body: lateOffer ? '' : this.session.offer(),
    };
    let repeatAck: (() => void) | undefined;
    const transaction = this.context.endpoint.send(request, via, {
      provisional: (response) => this.#receiveProvisional(response),
      repeated2xx: () => repeatAck?.(),
    });
    void transaction.final.then((response) => {
      if (response === undefined) return this.finish({ by: 'lost' });
      if (response.status >= 300) return this.#receiveRefusal(response, authorize !== undefined);
      this.dialog = Dialog.ofCaller(transaction.request, response);
      const answer = lateOffer ? this.#answerLate(response) : '';
      repeatAck = this.acknowledge(transaction.request, answer);
      return this.#receiveAnswer(response);
    });
    return transaction;
  }

  #receiveProvisional(response: SipResponse): void {
    this.#provisional = true;
    if (this.#cancelled) this.#sendCancel();
    if (response.status === 100) return;
    if (tagOf(header(response, 'to')) !== undefined && header(response, 'contact') !== undefined) {
      this.dialog = Dialog.ofCaller(this.#transaction.request, response);
    }
    if (response.body !== '' && !this.#options.lateOffer) {
      this.session.acceptAnswer(response.body);
      this.#earlyMedia.reach(response.status);
    }
    this.#ringing.reach(response.status);
  }

  #answerLate(response: SipResponse): string {
    const answer = this.session.answer(response.body);
    if (answer === undefined) this.context.endpoint.violation('the offer in the 200 has no common codec');
    return answer ?? '';
  }

  #receiveAnswer(response: SipResponse): void {
    if (!this.#options.lateOffer) this.session.acceptAnswer(response.body);
    this.answeredMoment.reach(response);
    // The answer crossed the CANCEL.
    if (this.#cancelled) void this.bye();
  }

  #receiveRefusal(response: SipResponse, retried: boolean): void {
    const proxy = response.status === 407;
    if ((proxy || response.status === 401) && !retried) {
      const challenge = headerLines(response, proxy ? 'proxy-authenticate' : 'www-authenticate')
        .map(parseChallenge)
        .find((entry) => entry !== undefined);
      if (challenge !== undefined) {
        this.#retryWith(challenge, proxy);
        return;
      }
    }
    const by = this.#cancelled && response.status === 487 ? 'cancelled' : 'refused';
    const end = { by, status: response.status, reason: response.reason } as const;
    this.#ringing.miss(`refused with ${response.status} ${response.reason}`);
    this.#earlyMedia.miss(`refused with ${response.status} ${response.reason}`);
    this.finish(end);
  }

  #retryWith(challenge: Challenge, proxy: boolean): void {
    const { username, password, target } = this.#options;
    this.#cseq += 1;
    this.#provisional = false;
    this.#transaction = this.#invite({
      name: proxy ? 'Proxy-Authorization' : 'Authorization',
      value: authorization({ challenge, username, password, method: 'INVITE', uri: target, nonceCount: 1 }),
    });
  }

  #sendCancel(): void {
    if (!this.#provisional || this.#cancelSent || !this.live || this.answeredMoment.reached) return;
    this.#cancelSent = true;
    void this.#awaitCancelAnswer();
  }

  async #awaitCancelAnswer(): Promise<void> {
    const response = await this.context.endpoint.cancel(this.#transaction).final;
    // The 200 to the INVITE ended its transaction: a CANCEL that crossed it has no match (RFC 3261 section 9.2).
    const crossed = this.answeredMoment.reached && response?.status === 481;
    if (response?.status === 200 || crossed) return;
    this.context.endpoint.violation(`CANCEL was answered with ${response?.status ?? 'nothing'}`);
  }
}
