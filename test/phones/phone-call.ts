import type { CallSession } from './call-session.ts';
import type { Direction } from './media/sdp.ts';
import type { RtpImpairment } from './media/rtp-session.ts';
import type { RtpReport } from './media/rtp-statistics.ts';
import { parseCSeq } from './sip/address.ts';
import type { Dialog } from './sip/dialog.ts';
import type { SipEndpoint } from './sip/endpoint.ts';
import { header, type SipHeader, type SipRequest, type SipResponse } from './sip/message.ts';
import type { ServerTransaction } from './sip/server-transaction.ts';
import { Arrivals, Moment } from './wait.ts';

/** How a call ended: who ended it, and with which status if it was never answered. */
export interface CallEnd {
  readonly by: 'here' | 'there' | 'refused' | 'cancelled' | 'lost';
  readonly status?: number;
  /** The reason phrase of a refusal, or the Reason header of a BYE. */
  readonly reason?: string;
}

/** Services of the phone that owns the call. */
export interface CallContext {
  readonly endpoint: SipEndpoint;
  readonly session: CallSession;
  /** `sip:login@127.0.0.1:port`, for Contact. */
  readonly contact: string;
  readonly label: string;
}

const ALLOW = { name: 'Allow', value: 'INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, NOTIFY, REFER' };
const SDP_TYPE = { name: 'Content-Type', value: 'application/sdp' };

/** One call of a test phone, from either side. Every `within` and `for` is in milliseconds. */
export abstract class PhoneCall {
  readonly session: CallSession;
  /** Media directions set by the far end with re-INVITE or UPDATE, in order. */
  readonly directions = new Arrivals<Direction>('change of direction');
  /** Bodies of INFO requests received. */
  readonly infos: string[] = [];
  readonly notifies = new Arrivals<SipRequest>('NOTIFY');
  /** Re-INVITEs of the far end that it cancelled. */
  readonly cancelledOffers = new Arrivals<SipRequest>('CANCEL of a re-INVITE');
  readonly messages = new Arrivals<SipRequest>('MESSAGE');
  /** Status with which re-INVITEs of the far end are refused from now on. */
  refuses: number | undefined;
  /** Called with each re-INVITE of the far end, which is answered when the result settles. */
  delays: () => Promise<void> = () => Promise.resolve();
  protected readonly context: CallContext;
  protected readonly answeredMoment: Moment<SipResponse | undefined>;
  protected readonly endedMoment: Moment<CallEnd>;
  protected dialog: Dialog | undefined;
  #reinviting = false;

  protected constructor(context: CallContext) {
    this.context = context;
    this.session = context.session;
    this.answeredMoment = new Moment(`${context.label} answered`);
    this.endedMoment = new Moment(`${context.label} ended`);
  }

  abstract get callId(): string;

  /** Ends the call in the way that its state requires, and waits for the end. */
  abstract hangup(): Promise<void>;

  get live(): boolean {
    return !this.endedMoment.reached;
  }

  get established(): boolean {
    return this.answeredMoment.reached && this.live;
  }

  get end(): CallEnd | undefined {
    return this.endedMoment.value;
  }

  async answered(withinMs = 15_000): Promise<void> {
    await this.answeredMoment.wait(withinMs);
  }

  async ended(withinMs = 15_000): Promise<CallEnd> {
    return this.endedMoment.wait(withinMs);
  }

  /** Loses and delays packets of the sound from now on. */
  impairSound(rule: RtpImpairment): void {
    this.session.rtp.impair(rule);
  }

  /** Sends a tone from now on; undefined is silence. */
  play(frequency: number | undefined): void {
    this.session.rtp.play(frequency);
  }

  /** Sends samples (8 kHz, linear) once, then silence; settles when the last is out. */
  async say(samples: Int16Array): Promise<void> {
    await this.session.rtp.say(samples);
  }

  async hears(frequency: number, options: { withinMs?: number } = {}): Promise<void> {
    await this.session.rtp.listener.tone(frequency, options.withinMs ?? 3000);
  }

  /** It hears these keys as tones, and no others, from now on. */
  async hearsKeys(keys: string, options: { withinMs?: number } = {}): Promise<void> {
    await this.session.rtp.listener.keys(keys, options.withinMs ?? 3000);
  }

  async hearsSound(options: { withinMs?: number } = {}): Promise<void> {
    await this.session.rtp.listener.sound(options.withinMs ?? 3000);
  }

  /** Which of these tones it hears from now on, in a mix of several. */
  async hearsWhich(frequencies: readonly number[], options: { withinMs?: number } = {}): Promise<number[]> {
    return this.session.rtp.listener.tones(frequencies, options.withinMs ?? 3000);
  }

  async hearsNot(frequency: number, options: { forMs: number }): Promise<void> {
    await this.session.rtp.listener.noTone(frequency, options.forMs);
  }

  rtp(): RtpReport {
    return this.session.rtp.report();
  }

  async sendDtmf(digits: string, options: { by?: 'rfc4733' | 'info' } = {}): Promise<void> {
    if ((options.by ?? 'rfc4733') === 'rfc4733') {
      await this.session.rtp.sendDigits(digits);
      return;
    }
    for (const digit of digits) {
      const body = `Signal=${digit}\r\nDuration=160\r\n`;
      const response = await this.request('INFO', [{ name: 'Content-Type', value: 'application/dtmf-relay' }], body);
      if (response.status !== 200) throw new Error(`INFO was answered with ${response.status}`);
    }
  }

  async receivesDtmf(digits: string, options: { withinMs?: number } = {}): Promise<void> {
    await this.session.rtp.receivesDigits(digits, options.withinMs ?? 3000);
  }

  async hold(direction: 'sendonly' | 'inactive' = 'sendonly'): Promise<void> {
    await this.#changeDirection(direction);
  }

  async unhold(): Promise<void> {
    await this.#changeDirection('sendrecv');
  }

  /** Names this call in a Replaces header (RFC 3891 section 3). */
  get replaces(): string {
    const { callId, localTag, remoteTag } = this.requireDialog();
    return `${callId};to-tag=${remoteTag};from-tag=${localTag}`;
  }

  /** The far end's Contact. */
  get remoteTarget(): string {
    return this.requireDialog().remoteTarget;
  }

  /** A request inside the dialog; rejects when no final answer comes. */
  async request(method: string, headers: readonly SipHeader[] = [], body = ''): Promise<SipResponse> {
    const dialog = this.requireDialog();
    const { endpoint } = this.context;
    const response = await endpoint.send(dialog.request(method, headers, body), endpoint.peerOf(dialog.nextHop)).final;
    if (response === undefined) throw new Error(`${this.context.label}: no answer to ${method}`);
    return response;
  }

  owns(request: SipRequest): boolean {
    return this.dialog?.owns(request) === true;
  }

  /** A request of the far end inside this call's dialog. */
  receive(transaction: ServerTransaction): void {
    for (const mistake of this.requireDialog().receive(transaction.request)) {
      this.context.endpoint.violation(`${transaction.request.method} in dialog: ${mistake}`);
    }
    switch (transaction.request.method) {
      case 'BYE':
        transaction.respond(200);
        this.finish({ by: 'there', ...reasonOf(transaction.request) });
        break;
      case 'INVITE':
        transaction.respond(100);
        void this.delays().then(() => {
          // Not after a CANCEL.
          if (transaction.status < 200) this.#receiveOffer(transaction);
        });
        break;
      case 'UPDATE':
        this.#receiveOffer(transaction);
        break;
      case 'INFO':
        this.infos.push(transaction.request.body);
        transaction.respond(200);
        break;
      case 'MESSAGE':
        this.messages.push(transaction.request);
        transaction.respond(200);
        break;
      case 'NOTIFY':
        this.notifies.push(transaction.request);
        transaction.respond(200);
        break;
      case 'OPTIONS':
        transaction.respond(200, { headers: [ALLOW] });
        break;
      default:
        transaction.respond(405, { headers: [ALLOW] });
    }
  }

  /** The far end has cancelled its re-INVITE. */
  offerCancelled(transaction: ServerTransaction): void {
    transaction.respond(487);
    this.cancelledOffers.push(transaction.request);
  }

  /** Abandons the call without a message, like a phone without power. */
  abandon(): void {
    this.finish({ by: 'lost' });
  }

  protected requireDialog(): Dialog {
    if (this.dialog === undefined) throw new Error(`${this.context.label}: there is no dialog yet`);
    return this.dialog;
  }

  protected contactHeaders(): SipHeader[] {
    return [{ name: 'Contact', value: `<${this.context.contact}>` }, ALLOW];
  }

  protected sdpHeaders(): SipHeader[] {
    return [...this.contactHeaders(), SDP_TYPE];
  }

  protected finish(end: CallEnd): void {
    if (this.endedMoment.reached) return;
    const status = end.status === undefined ? '' : ` ${end.status} ${end.reason ?? ''}`;
    this.answeredMoment.miss(`the call ended first (${end.by}${status})`);
    this.session.rtp.close();
    this.session.fax?.close();
    this.endedMoment.reach(end);
  }

  /** BYE, for an established call. */
  protected async bye(): Promise<void> {
    const response = await this.request('BYE');
    // 481: both sides hung up at the same moment.
    if (response.status !== 200 && response.status !== 481) {
      this.context.endpoint.violation(`BYE was answered with ${response.status}`);
    }
    this.finish({ by: 'here' });
  }

  /** ACK to a 2xx of an INVITE of this phone: same CSeq number, new branch (RFC 3261 section 13.2.2.4). */
  protected acknowledge(invite: SipRequest, body = ''): () => void {
    const dialog = this.requireDialog();
    const { number } = parseCSeq(header(invite, 'cseq') ?? '');
    const ack = dialog.request('ACK', body === '' ? [] : [SDP_TYPE], body, number);
    return this.context.endpoint.sendAck(ack, this.context.endpoint.peerOf(dialog.nextHop));
  }

  async #changeDirection(direction: Direction): Promise<void> {
    const before = this.session.wanted;
    this.session.wanted = direction;
    const response = await this.reinvite();
    if (response.status >= 300) {
      this.session.wanted = before;
      throw new Error(`the re-INVITE was answered with ${response.status} ${response.reason}`);
    }
  }

  /** Offers a fax by T.38 (`beside sound`: with a refused stream of sound before it); the answer's status. */
  async offerFax(form: 'alone' | 'beside sound' = 'alone', cancelled?: Promise<unknown>): Promise<number> {
    this.session.wantsFax = form;
    const { status } = await this.reinvite({ cancelled });
    if (status >= 300) this.session.wantsFax = undefined;
    return status;
  }

  /** Offers sound in place of a fax; the answer's status. */
  async offerSound(): Promise<number> {
    const before = this.session.wantsFax;
    this.session.wantsFax = undefined;
    const { status } = await this.reinvite();
    if (status >= 300) this.session.wantsFax = before;
    return status;
  }

  /** Sends a re-INVITE with the present offer and takes the answer. `offerless`: the 200 offers, the ACK answers; `cancelled`: settles when it is taken back. */
  async reinvite(
    options: { offerless?: boolean; cancelled?: Promise<unknown> | undefined } = {},
  ): Promise<SipResponse> {
    const offerless = options.offerless === true;
    const dialog = this.requireDialog();
    const { endpoint } = this.context;
    const request = offerless
      ? dialog.request('INVITE', this.contactHeaders())
      : dialog.request('INVITE', this.sdpHeaders(), this.session.offer());
    let repeatAck: (() => void) | undefined;
    this.#reinviting = true;
    try {
      const transaction = endpoint.send(request, endpoint.peerOf(dialog.nextHop), { repeated2xx: () => repeatAck?.() });
      void options.cancelled?.then(() => endpoint.cancel(transaction));
      const response = await transaction.final;
      if (response === undefined) throw new Error(`${this.context.label}: no answer to the re-INVITE`);
      if (response.status < 300) {
        const answer = offerless ? this.session.answer(response.body) : '';
        repeatAck = this.acknowledge(transaction.request, answer ?? '');
        if (!offerless) this.session.acceptAnswer(response.body);
      }
      return response;
    } finally {
      this.#reinviting = false;
    }
  }

  /** Sends an UPDATE with the present offer and takes the answer (RFC 3311). */
  async update(): Promise<SipResponse> {
    const response = await this.request('UPDATE', this.sdpHeaders(), this.session.offer());
    if (response.status === 200) this.session.acceptAnswer(response.body);
    return response;
  }

  #receiveOffer(transaction: ServerTransaction): void {
    const { request } = transaction;
    if (request.method === 'INVITE' && this.#reinviting) {
      transaction.respond(491);
      return;
    }
    if (request.method === 'INVITE' && this.refuses !== undefined) {
      transaction.respond(this.refuses);
      return;
    }
    if (request.body === '') {
      if (request.method === 'UPDATE') transaction.respond(200, { headers: this.contactHeaders() });
      else this.#offerInAnswer(transaction);
      return;
    }
    const body = this.session.answer(request.body);
    if (body === undefined) {
      transaction.respond(488);
      return;
    }
    transaction.respond(200, { headers: this.sdpHeaders(), body });
    this.directions.push(this.session.remote?.direction ?? 'sendrecv');
  }

  /** A re-INVITE without a body: the 200 offers, the ACK answers. */
  #offerInAnswer(transaction: ServerTransaction): void {
    transaction.respond(200, { headers: this.sdpHeaders(), body: this.session.offer() });
    void this.takeLateAnswer(transaction);
  }

  protected async takeLateAnswer(transaction: ServerTransaction): Promise<void> {
    const ack = await transaction.acked;
    if (ack.body === '') this.context.endpoint.violation('the ACK to a 200 with an offer has no answer');
    else this.session.acceptAnswer(ack.body);
  }
}

function reasonOf(request: SipRequest): { reason?: string } {
  const reason = header(request, 'reason');
  return reason === undefined ? {} : { reason };
}
