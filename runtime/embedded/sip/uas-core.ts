/** The user agent server: incoming requests. */
import {
  formatNameAddr,
  parseNameAddr,
  SipParseError,
  SipRequest,
  type ServerTransaction,
  type Source,
} from '../stack/index.ts';
import type { AppConnection } from './app-connection.ts';
import { RETRY_AFTER } from './call-gate.ts';
import type { Core } from './core.ts';
import { type Dialog, dialogIdOf } from './dialog.ts';
import { metaOf, networkFields, newId, newRequestFields } from './frame-fields.ts';
import { behindNat } from './nat.ts';
import type { ProxyCore } from './proxy-core.ts';
import { MIN_SE } from './session-timers.ts';
import { reportCancelled } from './report-cancelled.ts';
import type { UacCore } from './uac-core.ts';

/** Methods that get 503 while no application takes them; all others get 501. */
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

/** Methods that are valid only inside a dialog. */
const DIALOG_ONLY = new Set(['BYE', 'PRACK', 'UPDATE']);

/**
 * Methods whose requests may have a To tag without belonging to a dialog of this server. A SUBSCRIBE: applications keep
 * subscriptions over a restart of the server.
 */
const OUTSIDE_ANYWAY = new Set(['NOTIFY', 'OPTIONS', 'REGISTER', 'PUBLISH', 'SUBSCRIBE']);

/** Routes incoming requests: to the dialog's application, to one that takes the method, or onwards as a proxy. */
export class UasCore {
  readonly #core: Core;
  readonly #uac: UacCore;
  readonly #proxy: ProxyCore;

  constructor(core: Core, uac: UacCore, proxy: ProxyCore) {
    this.#core = core;
    this.#proxy = proxy;
    this.#uac = uac;
  }

  /** Takes a new request from the network. */
  request(transaction: ServerTransaction): void {
    const { request } = transaction;
    const dialog = this.#core.dialogs.ofRequest(request);
    if (dialog !== undefined) this.#inDialog(dialog, transaction);
    else if (this.#proxy.forward(transaction)) return;
    else if (transaction.inDialog && !OUTSIDE_ANYWAY.has(request.method)) transaction.reply(481);
    else this.#outsideDialog(transaction);
  }

  /** Takes the ACK of a 2xx. */
  ack(ack: SipRequest, source: Source, invite: ServerTransaction | undefined): void {
    const dialog = this.#core.dialogs.ofRequest(ack);
    if (dialog === undefined) {
      this.#proxy.forwardAck(ack);
      return;
    }
    // A repeated ACK has been passed on before.
    if (invite === undefined) return;
    const app = this.#core.apps.successor(dialog.app);
    const initial = dialog.role === 'uas' && ack.cseq.number === dialog.initialSeq;
    const meta = { ...metaOf(ack, source), protocol: '' };
    app?.send(networkFields(meta, initial ? dialog.transactionId : newId(), dialog.id), ack.head(false), ack.body);
  }

  /** Takes a CANCEL; the stack has already answered the CANCEL and the INVITE. */
  cancelled(invite: ServerTransaction, cancel: SipRequest, source: Source): void {
    const record = this.#core.incoming.of(invite);
    if (record === undefined) return;
    reportCancelled(this.#core, record, cancel, source);
    this.#core.cdr.stop('network', 'call-canceled', cancel);
  }

  /** Ends the dialog of a 2xx that got no ACK (RFC 3261 section 13.3.1.4). */
  ackMissing(invite: ServerTransaction): void {
    const dialog = this.#core.dialogs.ofRequest(withToTag(invite));
    if (dialog === undefined) return;
    const bye = this.#uac.terminate(dialog, 'SIP;cause=200;text="ACK timeout"');
    if (bye !== undefined) this.#core.cdr.stop('application', 'ackbye', bye);
  }

  /** Answers the open requests of an application whose connection has closed with 503. */
  abandon(app: AppConnection): void {
    for (const record of this.#core.incoming.unanswered()) {
      if (record.app !== app || !record.transaction.open) continue;
      record.transaction.reply(503);
      this.#core.incoming.answered(record);
      if (record.dialog?.state === 'early') this.#core.dialogs.remove(record.dialog);
    }
  }

  #outsideDialog(transaction: ServerTransaction): void {
    const { request, source } = transaction;
    const { method } = request;
    if (DIALOG_ONLY.has(method)) {
      transaction.reply(481);
      return;
    }
    // As observed at drachtio-server: an INVITE without any Contact goes to the application.
    if (method === 'INVITE' && !this.#hasReadableContact(request)) {
      transaction.reply(400);
      return;
    }
    // A second branch of the same request (RFC 3261 section 8.2.2.2), or a caller that uses another call's Call-ID and
    // tag. Applications identify dialogs by these two alone.
    if (
      method === 'INVITE' &&
      this.#core.dialogs.byId(dialogIdOf(request.callId, request.fromTag ?? ''), 'uas') !== undefined
    ) {
      transaction.reply(482);
      return;
    }
    const app = this.#core.apps.pick(method.toLowerCase());
    if (app === undefined) {
      transaction.reply(KNOWN_METHODS.has(method) ? 503 : 501);
      return;
    }
    // An INVITE with Replaces continues a call.
    if (method === 'INVITE' && this.#core.gate?.pass(request.header('replaces') !== undefined) === false) {
      transaction.reply(503, { headers: { 'Retry-After': String(RETRY_AFTER) } });
      return;
    }
    const record = this.#core.incoming.open(transaction, app, undefined);
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
    // A NAT may have mapped the peer to another port since.
    dialog.flow = behindNat(request, dialog.target) ?? (modifies ? undefined : dialog.flow);
    const record = this.#core.incoming.open(transaction, app, dialog);
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

  /** Answers the open INVITEs of an ended dialog with 487 (section 15.1.2). */
  #end(dialog: Dialog): void {
    this.#core.dialogs.remove(dialog);
    for (const record of this.#core.incoming.unanswered()) {
      if (record.dialog === dialog && record.transaction.request.method === 'INVITE' && record.transaction.open) {
        record.transaction.reply(487);
        this.#core.incoming.answered(record);
      }
    }
  }

  #acknowledgeProvisional(dialog: Dialog, prack: SipRequest): boolean {
    for (const record of this.#core.incoming.unanswered()) {
      if (record.dialog !== dialog || record.reliable === undefined) continue;
      if (!record.reliable.matches(prack.header('rack') ?? '')) continue;
      record.reliable.stop();
      record.reliable = undefined;
      return true;
    }
    return false;
  }
}

/** The INVITE as a request inside the dialog that it began, for looking the dialog up. */
function withToTag(transaction: ServerTransaction): SipRequest {
  const { request, localTag } = transaction;
  if (transaction.inDialog) return request;
  const to = parseNameAddr(request.header('to') ?? '', 'To');
  const probe = new SipRequest(request.method, request.uri);
  probe.add('From', request.header('from') ?? '').add('Call-ID', request.callId);
  probe.add('To', formatNameAddr({ ...to, params: new Map([...to.params, ['tag', localTag]]) }));
  return probe;
}
