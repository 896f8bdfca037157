/** Applications' responses to incoming requests. */
import { initialCSeq, SipParseError, SipRequest, type SipResponse } from '../stack/index.ts';
import type { SipCommand } from './app-command.ts';
import type { AppConnection } from './app-connection.ts';
import type { Core } from './core.ts';
import { Dialog, dialogIdOf } from './dialog.ts';
import { nokFields, protocolOf, sentResponseFields } from './frame-fields.ts';
import { contactValue, copyHeaders, finish } from './message-building.ts';
import { moveFlows } from './moved-flows.ts';
import { behindNat } from './nat.ts';
import { ReliableProvisional } from './reliable-provisional.ts';
import type { IncomingRequest } from './incoming-requests.ts';
import { watchSubscription } from './subscription.ts';
import { reportCancelled } from './report-cancelled.ts';

const UNKNOWN_TRANSACTION = 'Response not sent due to unknown transaction';

/** Sends the applications' responses to incoming requests. */
export class UasResponses {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Executes the command `sip` with a response. */
  respond(app: AppConnection, command: SipCommand, given: SipResponse): void {
    const record = this.#core.incoming.get(command.transactionId);
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

  #respond(app: AppConnection, command: SipCommand, record: IncomingRequest, given: SipResponse): void {
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
      protocol: invite ? protocolOf(source.transport) : '',
      address: source.address,
      port: source.port,
    };
    const dialogId =
      dialog?.id ?? (invite && !transaction.inDialog ? dialogIdOf(request.callId, request.fromTag ?? '') : '');
    app.send(sentResponseFields(command.id, meta, record.id, dialogId), response.head(), response.body);
    if (status >= 200) this.#afterFinal(record, response, begins);
  }

  #begin(record: IncomingRequest, given: SipResponse): Dialog {
    if (record.dialog === undefined) {
      const { transaction, app, id } = record;
      record.dialog = Dialog.asUas(transaction.request, transaction.localTag, app, id);
      record.dialog.flow = behindNat(transaction.request, record.dialog.target);
      this.#core.dialogs.add(record.dialog);
    }
    if (given.status >= 200) record.dialog.state = 'confirmed';
    return record.dialog;
  }

  #build(record: IncomingRequest, given: SipResponse): SipResponse {
    const { transaction } = record;
    const { status } = given;
    const { method } = transaction.request;
    const { local, transport } = transaction.source;
    const response = transaction.createResponse(status, given.reason);
    const reliable = method === 'INVITE' && isReliable(given);
    const success = status >= 200 && status < 300;
    // As observed at drachtio-server: the response to an UPDATE gets no Contact.
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

  #awaitPrack(record: IncomingRequest, response: SipResponse, data: Buffer): ReliableProvisional {
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

  /** Rejects the INVITE with a 5xx (RFC 3262 section 3). To the application it looks like a CANCEL of the caller. */
  #prackMissing(record: IncomingRequest): void {
    const { transaction } = record;
    if (!transaction.reply(504)) return;
    const { request, source } = transaction;
    const cancel = new SipRequest('CANCEL', request.uri);
    for (const name of ['Via', 'From', 'To', 'Call-ID']) cancel.add(name, request.header(name) ?? '');
    cancel.add('CSeq', `${request.cseq.number} CANCEL`).add('Reason', 'SIP;cause=504;text="PRACK timeout"');
    reportCancelled(this.#core, record, cancel, source);
    this.#core.cdr.stop('application', 'call-rejected', cancel);
  }

  #afterFinal(record: IncomingRequest, response: SipResponse, begins: boolean): void {
    this.#core.incoming.answered(record);
    const { dialog, transaction } = record;
    const { method } = transaction.request;
    const invite = method === 'INVITE';
    if (method === 'REGISTER' && response.status < 300) moveFlows(this.#core, transaction.request);
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
