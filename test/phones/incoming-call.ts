import { parseNameAddr, parseUri } from './sip/address.ts';
import { Dialog } from './sip/dialog.ts';
import { header, type SipHeader, type SipRequest } from './sip/message.ts';
import type { ServerTransaction } from './sip/server-transaction.ts';
import { PhoneCall, type CallContext } from './phone-call.ts';
import { Arrivals } from './wait.ts';

/** A call to this phone. Before `ring`, `answer` or `reject` the far end has only received a 100. */
export class IncomingCall extends PhoneCall {
  readonly invite: SipRequest;
  /** Answers a cancelled INVITE with 200: the two cross. */
  answersCancelled = false;
  /** Acknowledgements of its reliable responses. */
  readonly #pracks = new Arrivals<SipRequest>('PRACK');
  readonly #transaction: ServerTransaction;
  readonly #reliable: boolean;
  #rseq = 70;

  /** @param reliable rings by reliable responses (RFC 3262) */
  constructor(context: CallContext, transaction: ServerTransaction, reliable = false) {
    super(context);
    this.#reliable = reliable;
    this.invite = transaction.request;
    this.#transaction = transaction;
    this.dialog = Dialog.ofCalled(transaction.request, transaction.localTag, context.contact);
  }

  get callId(): string {
    return header(this.invite, 'call-id') ?? '';
  }

  /** User part of From: the number shown. */
  get callerId(): string {
    return parseUri(parseNameAddr(header(this.invite, 'from') ?? '').uri).user ?? '';
  }

  /** Display name of From: the name shown. */
  get callerName(): string | undefined {
    return parseNameAddr(header(this.invite, 'from') ?? '').display;
  }

  header(name: string): string | undefined {
    return header(this.invite, name);
  }

  isInviteOf(transaction: ServerTransaction): boolean {
    return transaction === this.#transaction;
  }

  ring(): void {
    this.#transaction.respond(180, { headers: [...this.contactHeaders(), ...this.#required()] });
  }

  /** Its last reliable response has been acknowledged. */
  async acknowledged(withinMs = 15_000): Promise<void> {
    const prack = await this.#pracks.next(withinMs);
    const expected = `${this.#rseq} ${header(this.invite, 'cseq')}`;
    const rack = header(prack, 'rack');
    if (rack !== expected) this.context.endpoint.violation(`PRACK: RAck is ${rack}, not ${expected}`);
  }

  /** 183 with a session description: the caller can hear this phone before the answer. */
  ringWithEarlyMedia(): void {
    const body = this.invite.body === '' ? undefined : this.session.answer(this.invite.body);
    if (body === undefined) throw new Error('early media needs an offer this phone can answer');
    this.#transaction.respond(183, { headers: [...this.sdpHeaders(), ...this.#required()], body });
  }

  /** Answers with 200 and waits for the ACK. @param described the session description, unless it is the phone's own; empty: none */
  async answer(withinMs = 5000, described?: string): Promise<void> {
    const late = this.invite.body === '';
    const body = described ?? (late ? this.session.offer() : this.session.answer(this.invite.body));
    if (body === undefined) {
      this.reject(488);
      throw new Error('the offer of the INVITE cannot be answered');
    }
    this.#transaction.respond(200, { headers: body === '' ? this.contactHeaders() : this.sdpHeaders(), body });
    const taken = late ? this.takeLateAnswer(this.#transaction) : this.#transaction.acked;
    void taken.then(() => this.answeredMoment.reach(undefined));
    await this.answered(withinMs);
  }

  /** @param options.headers e.g. the Contact of a redirection */
  reject(status: number, options: { headers?: readonly SipHeader[] } = {}): void {
    this.#transaction.respond(status, options);
    this.finish({ by: 'here', status });
  }

  /** The CANCEL arrived: the INVITE ends with 487, unless its answer crosses it. */
  cancelled(): void {
    if (this.answersCancelled) {
      this.answer().catch((err: unknown) => this.context.endpoint.violation(String(err)));
      return;
    }
    this.#transaction.respond(487);
    this.finish({ by: 'cancelled' });
  }

  override receive(transaction: ServerTransaction): void {
    if (transaction.request.method !== 'PRACK') return super.receive(transaction);
    for (const mistake of this.requireDialog().receive(transaction.request))
      this.context.endpoint.violation(`PRACK: ${mistake}`);
    transaction.respond(200);
    this.#pracks.push(transaction.request);
  }

  #required(): SipHeader[] {
    if (!this.#reliable) return [];
    this.#rseq += 1;
    return [
      { name: 'Require', value: '100rel' },
      { name: 'RSeq', value: String(this.#rseq) },
    ];
  }

  override async hangup(): Promise<void> {
    if (!this.live) return;
    if (this.#transaction.status >= 200) await this.bye();
    else this.reject(486);
  }
}
