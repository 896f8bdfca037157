/** An application's request and its responses. */
import {
  type ClientTransaction,
  type Destination,
  SipParseError,
  type SipFailureReason,
  type SipRequest,
  SipResponse,
  type SipTransportError,
  tagOf,
  token,
} from '../stack/index.ts';
import type { AppConnection } from './app-connection.ts';
import type { Core } from './core.ts';
import { Dialog, dialogIdOf } from './dialog.ts';
import { metaOf, networkFields, protocolOf } from './frame-fields.ts';
import { behindNat } from './nat.ts';
import { watchSubscription } from './subscription.ts';

/** Status and reason of the response that stands for a request that could not be delivered. */
const FAILURES: Readonly<Record<SipFailureReason, readonly [number, string]>> = {
  refused: [503, 'Service Unavailable'],
  unreachable: [503, 'Service Unavailable'],
  closed: [503, 'Service Unavailable'],
  insecure: [503, 'Service Unavailable'],
  'too-large': [513, 'Message Too Large'],
  unresolved: [503, 'DNS Error'],
  'no-transport': [416, 'Unsupported URI Scheme'],
  timeout: [408, 'Request Timeout'],
};

/** Ends dialogs that no application wants. */
export interface Cleaner {
  /** Answers with ACK and BYE: for the 2xx of a further fork, or of an application whose connection has closed. */
  decline(transaction: ClientTransaction | undefined, response: SipResponse): void;
}

/** A request that an application sent, and its responses. */
export class Exchange {
  /** Set as soon as the stack has the request. */
  transaction: ClientTransaction | undefined;
  /** Called when the host name of the destination has been looked up, before the request is sent. */
  resolved: ((destination: Destination) => void) | undefined;
  readonly #core: Core;
  readonly #cleaner: Cleaner;
  readonly #app: AppConnection;
  readonly #id: string;
  readonly #request: SipRequest;
  readonly #destination: Destination | undefined;
  /** The dialog that the request was sent in, or that its responses began. */
  #dialog: Dialog | undefined;
  readonly #inDialog: boolean;
  #answered = false;

  constructor(
    core: Core,
    cleaner: Cleaner,
    app: AppConnection,
    id: string,
    request: SipRequest,
    destination: Destination | undefined,
    dialog: Dialog | undefined,
  ) {
    this.#core = core;
    this.#cleaner = cleaner;
    this.#app = app;
    this.#id = id;
    this.#request = request;
    this.#destination = destination;
    this.#dialog = dialog;
    this.#inDialog = dialog !== undefined;
  }

  response(response: SipResponse): void {
    const { status } = response;
    // A 100 stays on its hop; towards the caller the server sends its own.
    if (status === 100) return;
    if (status >= 200) this.#core.outgoing.delete(this.#id);
    try {
      if (this.#begins && !this.#track(response)) return;
    } catch (error) {
      if (!(error instanceof SipParseError)) throw error;
      // The Contact cannot be read: the application decides about the response.
    }
    this.#report(response);
    if (status >= 200) this.#afterFinal(response);
  }

  failed(error: SipTransportError): void {
    this.#core.outgoing.delete(this.#id);
    const [status, reason] = FAILURES[error.reason];
    const response = new SipResponse(status, reason);
    response.add('Via', this.#request.header('via') ?? '').add('From', this.#request.header('from') ?? '');
    const to = this.#request.header('to') ?? '';
    response.add('To', tagOf(to) === undefined ? `${to};tag=${token()}` : to);
    response.add('Call-ID', this.#request.callId).add('CSeq', this.#request.header('cseq') ?? '');
    if (error.reason === 'insecure') response.add('Warning', warning(error));
    response.add('Content-Length', '0');
    const known = error.reason !== 'unresolved' && error.reason !== 'no-transport';
    const protocol = known && this.#destination !== undefined ? protocolOf(this.#destination.transport) : 'unknown';
    this.#app.send(
      networkFields({ size: 0, protocol, address: '', port: 0 }, this.#id, this.#dialogId),
      response.head(),
    );
    this.#afterFinal(response);
  }

  /** Whether the request can begin a dialog. */
  get #begins(): boolean {
    return !this.#inDialog && (this.#request.method === 'INVITE' || this.#request.method === 'SUBSCRIBE');
  }

  get #dialogId(): string {
    if (this.#dialog !== undefined) return this.#dialog.id;
    return this.#begins ? dialogIdOf(this.#request.callId, this.#request.fromTag ?? '') : '';
  }

  #report(response: SipResponse): void {
    const meta = response.source === undefined ? NOT_ON_WIRE : metaOf(response, response.source);
    this.#app.send(networkFields(meta, this.#id, this.#dialogId), response.head(false), response.body);
  }

  /**
   * Updates the dialog that a response begins.
   * @returns false when the response must not reach the application.
   */
  #track(response: SipResponse): boolean {
    const { status, toTag } = response;
    if (status >= 300) return true;
    const success = status >= 200;
    if (success && this.#answered) {
      this.#cleaner.decline(this.transaction, response);
      return false;
    }
    if (toTag === undefined && !success) return true;
    if (this.#dialog === undefined) {
      this.#dialog = Dialog.asUac(this.#request, response, this.#app, this.#id);
      this.#dialog.invite = this.transaction;
      this.#core.dialogs.add(this.#dialog);
    }
    if (success) this.#dialog.confirm(response);
    else if (!this.#dialog.early(response)) return false;
    this.#dialog.flow = behindNat(response, this.#dialog.target);
    if (!success) return true;
    this.#answered = true;
    this.#dialog.unwanted = this.transaction?.cancelled === true;
    // The INVITE of a closed connection was cancelled, and no other application knows of it.
    const invite = this.#request.method === 'INVITE';
    if (!this.#app.open && (invite || this.#core.apps.successor(this.#app) === undefined)) {
      this.#core.dialogs.remove(this.#dialog);
      this.#cleaner.decline(this.transaction, response);
      return false;
    }
    if (invite) {
      this.#dialog.describe(this.#request);
      this.#core.sessions.accepted(this.#dialog, response);
      this.#core.cdr.start('network', 'uac', response);
    } else watchSubscription(this.#core, this.#dialog, this.#request, response);
    return true;
  }

  #afterFinal(response: SipResponse): void {
    const { status } = response;
    const dialog = this.#dialog;
    const { method } = this.#request;
    if (this.#begins) {
      if (status < 300) return;
      if (dialog !== undefined) this.#core.dialogs.remove(dialog);
      if (method === 'INVITE') {
        this.#core.cdr.stop('network', status === 487 ? 'call-canceled' : 'call-rejected', response);
      }
      return;
    }
    if (dialog === undefined) return;
    if (method === 'SUBSCRIBE' && status < 300) watchSubscription(this.#core, dialog, this.#request, response);
    if (method === 'INVITE' && status < 300) this.#core.sessions.accepted(dialog, response);
    // As observed at drachtio-server: a Contact in the response to a re-INVITE does not change the remote target.
    // A challenged BYE is sent again with credentials, so the dialog stays.
    if (method === 'BYE' && status !== 401 && status !== 407) this.#core.dialogs.remove(dialog);
    else if (method === 'NOTIFY' && this.#endsSubscription(dialog)) this.#core.dialogs.remove(dialog);
  }

  #endsSubscription(dialog: Dialog): boolean {
    const state = this.#request.header('subscription-state')?.toLowerCase() ?? '';
    return dialog.method === 'SUBSCRIBE' && state.startsWith('terminated');
  }
}

/** Why a TLS connection was not made (RFC 3261 section 20.43, code 399), for the log of the application. */
function warning({ target, detail = '' }: SipTransportError): string {
  const text = `${target}: ${detail}`.replace(/[\r\n]+/g, ' ').replace(/["\\]/g, "'");
  return `399 ringmaster "${text}"`;
}

const NOT_ON_WIRE = { size: 0, protocol: 'unknown', address: '', port: 0 } as const;
