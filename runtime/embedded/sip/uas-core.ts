import {
  formatNameAddr,
  initialCSeq,
  parseNameAddr,
  SipParseError,
  SipRequest,
  type ServerTransaction,
  type SipResponse,
  type Source,
} from '../stack/index.ts';
import type { SipCommand } from './app-command.ts';
import type { AppConnection } from './app-connection.ts';
import type { Core, ServerRecord } from './core.ts';
import { Dialog } from './dialog.ts';
import { metaOf, networkFields, newId, newRequestFields, nokFields, sentResponseFields } from './frame-fields.ts';
import { contactValue, copyHeaders, finish } from './message-building.ts';
import { behindNat } from './nat.ts';
import type { ProxyCore } from './proxy-core.ts';
import { ReliableProvisional } from './reliable-provisional.ts';
import { watchSubscription } from './subscription.ts';
import { MIN_SE } from './session-timers.ts';
import type { UacCore } from './uac-core.ts';

const UNKNOWN_TRANSACTION = 'Response not sent due to unknown transaction';

/** Methods this server knows, and may have no application for (503); any other is 501. */
const KNOWN_METHODS = new Set([
  'INVITE',
  'BYE',
  'OPTIONS',
  'REGISTER',
  'INFO',
  'PRACK',
  'UPDATE',
  'SUBSCRIBE',
  'NOTIFY',
  'REFER',
  'MESSAGE',
  'PUBLISH',
]);

/** Methods that make no sense without a dialog. */
const DIALOG_ONLY = new Set(['BYE', 'PRACK', 'UPDATE']);

/** Methods that may come with a To tag although no dialog of this server is meant. */
const OUTSIDE_ANYWAY = new Set(['NOTIFY', 'OPTIONS', 'REGISTER', 'PUBLISH']);

/** Requests that come in, and applications' responses to them. */
export class UasCore {
  readonly #core: Core;
  readonly #uac: UacCore;
  readonly #proxy: ProxyCore;

  constructor(core: Core, uac: UacCore, proxy: ProxyCore) {
    this.#core = core;
    this.#proxy = proxy;
    this.#uac = uac;
  }

  /** A new request from the network. */
  request(transaction: ServerTransaction): void {
    const { request } = transaction;
    const dialog = this.#core.dialogs.ofRequest(request);
    if (dialog !== undefined) this.#inDialog(dialog, transaction);
    else if (this.#proxy.forward(transaction)) return;
    else if (transaction.inDialog && !OUTSIDE_ANYWAY.has(request.method)) transaction.reply(481);
    else this.#outsideDialog(transaction);
  }

  /** The ACK of a 2xx. */
  ack(ack: SipRequest, source: Source, invite: ServerTransaction | undefined): void {
    const dialog = this.#core.dialogs.ofRequest(ack);
    if (dialog === undefined) {
      this.#proxy.forwardAck(ack);
      return;
    }
    // An ACK that comes again has been passed on already.
    if (invite === undefined) return;
    const app = this.#core.apps.successor(dialog.app);
    const initial = dialog.role === 'uas' && ack.cseq.number === dialog.initialSeq;
    const meta = { ...metaOf(ack, source), protocol: '' };
    app?.send(networkFields(meta, initial ? dialog.transactionId : newId(), dialog.id), ack.head(false), ack.body);
  }

  /** A CANCEL; the stack has answered it and the INVITE. */
  cancelled(invite: ServerTransaction, cancel: SipRequest, source: Source): void {
    const record = this.#core.serverOf.get(invite);
    if (record === undefined) return;
    this.#tellCancelled(record, cancel, source);
    this.#core.cdr.stop('network', 'call-canceled', cancel);
  }

  /** No ACK for a 2xx: BYE (RFC 3261 section 13.3.1.4). */
  ackMissing(invite: ServerTransaction): void {
    const dialog = this.#core.dialogs.ofRequest(withToTag(invite));
    if (dialog === undefined) return;
    const bye = this.#uac.terminate(dialog, 'SIP;cause=200;text="ACK timeout"');
    if (bye !== undefined) this.#core.cdr.stop('application', 'ackbye', bye);
  }

  /** Executes `sip` with a response. */
  respond(app: AppConnection, command: SipCommand, given: SipResponse): void {
    const record = this.#core.servers.get(command.transactionId);
    if (record === undefined || !record.transaction.open) {
      app.send(nokFields(command.id, UNKNOWN_TRANSACTION));
      return;
    }
    try {
      this.#respond(app, command, record, given);
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      app.send(nokFields(command.id, error.message));
    }
  }

  /** The application is gone: requests it has not answered get 503. */
  abandon(app: AppConnection): void {
    for (const record of this.#core.servers.values()) {
      if (record.app !== app || !record.transaction.open) continue;
      record.transaction.reply(503);
      this.#ended(record);
      if (record.dialog?.state === 'early') this.#core.dialogs.remove(record.dialog);
    }
  }

  // ---- requests ----------------------------------------------------------------------------------------------------

  #outsideDialog(transaction: ServerTransaction): void {
    const { request, source } = transaction;
    const { method } = request;
    if (DIALOG_ONLY.has(method)) {
      transaction.reply(481);
      return;
    }
    // One without any Contact is left to the application, as observed.
    if (method === 'INVITE' && !this.#hasReadableContact(request)) {
      transaction.reply(400);
      return;
    }
    // Another branch of a request that is being served (RFC 3261 section 8.2.2.2), or somebody who takes another's
    // Call-ID and tag: applications know dialogs by these alone.
    if (method === 'INVITE' && this.#core.dialogs.byId(inviteDialogId(request), 'uas') !== undefined) {
      transaction.reply(482);
      return;
    }
    const app = this.#core.apps.pick(method.toLowerCase());
    if (app === undefined) {
      transaction.reply(KNOWN_METHODS.has(method) ? 503 : 501);
      return;
    }
    const record = this.#record(transaction, app, undefined);
    app.send(newRequestFields(metaOf(request, source), record.id, source.local), request.head(false), request.body);
    if (method === 'INVITE') this.#core.cdr.attempt('network', request);
  }

  #hasReadableContact(request: SipRequest): boolean {
    const contact = request.values('contact')[0];
    if (contact === undefined) return true;
    try {
      parseNameAddr(contact, 'Contact');
      return true;
    } catch (error) {
      if (error instanceof SipParseError) return false;
      throw error;
    }
  }

  #inDialog(dialog: Dialog, transaction: ServerTransaction): void {
    const { request, source } = transaction;
    const { method } = request;
    if (!dialog.acceptSeq(request.cseq.number)) {
      // Section 12.2.2: out of order.
      transaction.reply(500);
      return;
    }
    const modifies = method === 'INVITE' || method === 'UPDATE';
    if (modifies && !this.#core.sessions.offered(dialog, request)) {
      transaction.reply(422, { headers: { 'Min-SE': String(MIN_SE) } });
      return;
    }
    const app = this.#core.apps.successor(dialog.app);
    if (app === undefined) {
      transaction.reply(481);
      if (method === 'BYE') this.#core.dialogs.remove(dialog);
      return;
    }
    dialog.app = app;
    if (method === 'PRACK' && !this.#acknowledgeProvisional(dialog, request)) {
      transaction.reply(481);
      return;
    }
    if (modifies || method === 'SUBSCRIBE') this.#refresh(dialog, request);
    // A NAT may have given the peer another port since.
    dialog.flow = behindNat(request, dialog.target) ?? (modifies ? undefined : dialog.flow);
    const record = this.#record(transaction, app, dialog);
    app.send(networkFields(metaOf(request, source), record.id, dialog.id), request.head(false), request.body);
    if (
      method === 'NOTIFY' &&
      dialog.method === 'SUBSCRIBE' &&
      /^\s*terminated/i.test(request.header('subscription-state') ?? '')
    ) {
      this.#core.dialogs.remove(dialog);
    }
    if (method === 'BYE') {
      record.dialog = undefined;
      this.#end(dialog);
      this.#core.cdr.stop('network', 'normal-release', request);
    }
  }

  #refresh(dialog: Dialog, request: SipRequest): void {
    try {
      dialog.refreshTarget(request);
    } catch (error) {
      // A Contact that cannot be read: the old target stays in use.
      if (!(error instanceof SipParseError)) throw error;
    }
  }

  /** Section 15.1.2: requests of the dialog that are still open get 487. */
  #end(dialog: Dialog): void {
    this.#core.dialogs.remove(dialog);
    for (const record of this.#core.servers.values()) {
      if (record.dialog === dialog && record.transaction.request.method === 'INVITE' && record.transaction.open) {
        record.transaction.reply(487);
        this.#ended(record);
      }
    }
  }

  #acknowledgeProvisional(dialog: Dialog, prack: SipRequest): boolean {
    for (const record of this.#core.servers.values()) {
      if (record.dialog !== dialog || record.reliable === undefined) continue;
      if (!record.reliable.matches(prack.header('rack') ?? '')) continue;
      record.reliable.stop();
      record.reliable = undefined;
      return true;
    }
    return false;
  }

  #record(transaction: ServerTransaction, app: AppConnection, dialog: Dialog | undefined): ServerRecord {
    const record: ServerRecord = { id: newId(), transaction, app, dialog, reliable: undefined };
    this.#core.servers.set(record.id, record);
    this.#core.serverOf.set(transaction, record);
    transaction.onTerminated = () => this.#forget(record);
    return record;
  }

  #forget(record: ServerRecord): void {
    this.#ended(record);
    this.#core.serverOf.delete(record.transaction);
  }

  /** It has its final response. */
  #ended(record: ServerRecord): void {
    this.#core.servers.delete(record.id);
    record.reliable?.stop();
    record.reliable = undefined;
  }

  #tellCancelled(record: ServerRecord, cancel: SipRequest, source: Source): void {
    const { dialog, app, transaction } = record;
    // drachtio-server reports the INVITE's size here.
    const meta = { ...metaOf(cancel, source), size: transaction.request.wireSize };
    app.send(networkFields(meta, record.id, dialog?.id ?? ''), cancel.head(), cancel.body);
    this.#ended(record);
    if (dialog?.state === 'early') this.#core.dialogs.remove(dialog);
  }

  // ---- responses ---------------------------------------------------------------------------------------------------

  #respond(app: AppConnection, command: SipCommand, record: ServerRecord, given: SipResponse): void {
    const { transaction } = record;
    const { request, source } = transaction;
    const { status } = given;
    const { method } = request;
    const invite = method === 'INVITE';
    if (!transaction.inDialog && record.dialog === undefined && given.toTag !== undefined)
      transaction.localTag = given.toTag;
    const begins = (invite || method === 'SUBSCRIBE') && !transaction.inDialog;
    const dialog = begins && status > 100 && status < 300 ? this.#begin(record, given) : record.dialog;
    const response = this.#build(record, given);
    const data = transaction.send(response);
    if (data === undefined) {
      app.send(nokFields(command.id, UNKNOWN_TRANSACTION));
      return;
    }
    record.reliable?.stop();
    record.reliable = undefined;
    if (invite && isReliable(given)) record.reliable = this.#awaitPrack(record, response, data);
    const meta = {
      size: data.length,
      protocol: invite ? source.transport : '',
      address: source.address,
      port: source.port,
    };
    const dialogId = dialog?.id ?? (invite && !transaction.inDialog ? inviteDialogId(request) : '');
    app.send(sentResponseFields(command.id, meta, record.id, dialogId), response.head(), response.body);
    if (status >= 200) this.#afterFinal(record, response, begins);
  }

  #begin(record: ServerRecord, given: SipResponse): Dialog {
    if (record.dialog === undefined) {
      const { transaction, app, id } = record;
      record.dialog = Dialog.asUas(transaction.request, transaction.localTag, app, id);
      record.dialog.flow = behindNat(transaction.request, record.dialog.target);
      this.#core.dialogs.add(record.dialog);
    }
    if (given.status >= 200) record.dialog.state = 'confirmed';
    return record.dialog;
  }

  #build(record: ServerRecord, given: SipResponse): SipResponse {
    const { transaction } = record;
    const { status } = given;
    const { method } = transaction.request;
    const { local, transport } = transaction.source;
    const response = transaction.createResponse(status, given.reason);
    const reliable = method === 'INVITE' && isReliable(given);
    const success = status >= 200 && status < 300;
    // As observed, the answer to an UPDATE gets none.
    const named = method === 'INVITE' || method === 'SUBSCRIBE';
    const contact = given.header('contact');
    if (contact !== undefined && method === 'REGISTER') response.add('Contact', contact);
    else if (contact !== undefined || reliable || (success && named)) {
      const { host } = this.#core.endpoint.addressFor({
        transport,
        host: transaction.source.address,
        port: transaction.source.port,
      });
      response.add('Contact', contactValue(contact, { host, port: local.port, transport }));
    }
    const session =
      status === 200 && method === 'INVITE' && !transaction.inDialog && !given.has('session-expires')
        ? this.#core.sessions.answerTo(transaction.request)
        : undefined;
    if (session !== undefined) response.add('Session-Expires', session);
    if (reliable) response.add('RSeq', String((record.reliable?.rseq ?? initialCSeq()) + 1));
    copyHeaders(given, response, ['contact', 'record-route', ...(reliable ? ['rseq'] : [])]);
    finish(response, given.body);
    return response;
  }

  #awaitPrack(record: ServerRecord, response: SipResponse, data: Buffer): ReliableProvisional {
    const { endpoint } = this.#core;
    const { transaction } = record;
    return new ReliableProvisional(
      Number(response.header('rseq')),
      transaction.request.cseq.number,
      endpoint.timers,
      endpoint.timerValues,
      () => transaction.resend(data),
      () => this.#prackMissing(record),
    );
  }

  /** RFC 3262 section 3: reject with a 5xx. The application learns of it as if the caller had given up. */
  #prackMissing(record: ServerRecord): void {
    const { transaction } = record;
    if (!transaction.reply(504)) return;
    const { request, source } = transaction;
    const cancel = new SipRequest('CANCEL', request.uri);
    for (const name of ['Via', 'From', 'To', 'Call-ID']) cancel.add(name, request.header(name) ?? '');
    cancel.add('CSeq', `${request.cseq.number} CANCEL`).add('Reason', 'SIP;cause=504;text="PRACK timeout"');
    this.#tellCancelled(record, cancel, source);
    this.#core.cdr.stop('application', 'call-rejected', cancel);
  }

  #afterFinal(record: ServerRecord, response: SipResponse, begins: boolean): void {
    this.#ended(record);
    const { dialog, transaction } = record;
    const { method } = transaction.request;
    const invite = method === 'INVITE';
    if (dialog !== undefined && response.status < 300 && (invite || method === 'UPDATE')) {
      dialog.describe(response);
      this.#core.sessions.answered(dialog, response);
    }
    if (method === 'SUBSCRIBE' && response.status < 300 && dialog !== undefined) {
      watchSubscription(this.#core, dialog, transaction.request, response);
    }
    if (response.status >= 300) {
      if (begins && dialog !== undefined) this.#core.dialogs.remove(dialog);
      if (begins && invite) this.#core.cdr.stop('application', 'call-rejected', response);
    } else if (begins && invite) this.#core.cdr.start('application', 'uas', response);
  }
}

/** Whether the application wants this provisional response acknowledged (RFC 3262 section 3). */
function isReliable(given: SipResponse): boolean {
  const { status } = given;
  return status > 100 && status < 200 && given.values('require').some((value) => value.toLowerCase() === '100rel');
}

function inviteDialogId(request: SipRequest): string {
  return `${request.callId};from-tag=${request.fromTag ?? ''}`;
}

/** The INVITE as a request inside the dialog it began, to look that up. */
function withToTag(transaction: ServerTransaction): SipRequest {
  const { request, localTag } = transaction;
  if (transaction.inDialog) return request;
  const to = parseNameAddr(request.header('to') ?? '', 'To');
  const probe = new SipRequest(request.method, request.uri);
  probe.add('From', request.header('from') ?? '').add('Call-ID', request.callId);
  probe.add('To', formatNameAddr({ ...to, params: new Map([...to.params, ['tag', localTag]]) }));
  return probe;
}
