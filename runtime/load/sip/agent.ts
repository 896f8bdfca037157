/** The SIP side of all phones of a load: one endpoint, one server. */
import {
  type ClientTransaction,
  type Destination,
  formatHostPort,
  newCallId,
  parseUri,
  type ServerTransaction,
  SipEndpoint,
  SipParseError,
  SipRequest,
  type SipResponse,
  SipTransportError,
  token,
} from '../../embedded/stack/index.ts';
import type { Account } from '../plan.ts';
import { credentialsFor } from './digest.ts';
import type { Dialog } from './dialog.ts';

/** Takes requests inside a dialog. */
export interface DialogUser {
  request(transaction: ServerTransaction): void;
}

/** Takes the progress of a request. */
export interface Responses {
  provisional?(response: SipResponse): void;
  /** @param request the request that was answered, a repetition with credentials perhaps */
  final(response: SipResponse, request: SipRequest, transaction: ClientTransaction): void;
  /** No answer came. */
  failed(reason: string): void;
}

/** Cancels an INVITE. */
export interface Cancellable {
  cancel(): void;
}

/** Sends requests to the server, whatever their URI, and hands incoming ones to calls. */
export class SipAgent {
  /** Takes a call. */
  onInvite: (login: string, transaction: ServerTransaction) => void = (_, transaction) => void transaction.reply(480);
  readonly #endpoint: SipEndpoint;
  readonly #server: Destination;
  readonly #domain: string;
  readonly #dialogs = new Map<string, DialogUser>();
  #address = '';

  private constructor(server: Destination, domain: string) {
    this.#server = server;
    this.#domain = domain;
    this.#endpoint = new SipEndpoint({
      handler: { request: (transaction) => this.#request(transaction) },
      // 180 comes at once.
      tryingDelay: 200,
    });
  }

  /** @throws ListenError when this machine has no such address */
  static async open(
    server: { readonly host: string; readonly port: number },
    localHost: string,
    domain: string,
  ): Promise<SipAgent> {
    const agent = new SipAgent({ transport: 'udp', ...server }, domain);
    const point = await agent.#endpoint.listenUdp({ host: localHost, port: 0 });
    agent.#address = formatHostPort(point.host, point.port);
    return agent;
  }

  /** Contact of an account's phone. */
  contactOf(login: string): string {
    return `<sip:${login}@${this.#address}>`;
  }

  /** URI of a login or number in the domain. */
  uriOf(user: string): string {
    return `sip:${user}@${this.#domain}`;
  }

  get registrar(): string {
    return `sip:${this.#domain}`;
  }

  /**
   * Sends a request of an account outside any dialog, and again with its password when that is asked.
   * @param complete adds headers and body
   */
  send(
    method: string,
    uri: string,
    account: Account,
    to: string,
    complete: (request: SipRequest) => void,
    responses: Responses,
  ): Cancellable {
    const from = `<${this.uriOf(account.login)}>;tag=${token()}`;
    const callId = newCallId();
    let isCancelled = false;
    let running: ClientTransaction | undefined;
    const attempt = (cseq: number): void => {
      const request = new SipRequest(method, uri).add('Max-Forwards', '70').add('From', from).add('To', `<${to}>`);
      request.add('Call-ID', callId).add('CSeq', `${cseq} ${method}`).add('Contact', this.contactOf(account.login));
      complete(request);
      if (credentials !== undefined) request.add(credentials.name, credentials.value);
      running = this.transact(request, {
        ...responses,
        final: (response, sent, transaction) => {
          const isAsked = (response.status === 401 || response.status === 407) && cseq === 1 && !isCancelled;
          credentials = isAsked ? credentialsFor(response, account, method, uri) : undefined;
          if (credentials === undefined) responses.final(response, sent, transaction);
          else attempt(cseq + 1);
        },
      });
    };
    let credentials: ReturnType<typeof credentialsFor>;
    attempt(1);
    return {
      cancel: () => {
        isCancelled = true;
        running?.cancel();
      },
    };
  }

  /** Sends a request as it is. */
  transact(request: SipRequest, responses: Responses): ClientTransaction {
    const transaction: ClientTransaction = this.#endpoint.request(request, this.#server, {
      response: (response) => {
        if (response.status < 200) responses.provisional?.(response);
        else responses.final(response, request, transaction);
      },
      failed: (error) => responses.failed(error.reason),
    });
    return transaction;
  }

  /** Confirms a 2xx to an INVITE. */
  acknowledge(invite: ClientTransaction, dialog: Dialog): void {
    this.#endpoint.sendAck(invite, dialog.request('ACK'), this.#server);
  }

  /** From now on the user gets the requests inside the dialog. */
  open(dialog: Dialog, user: DialogUser): void {
    this.#dialogs.set(`${dialog.callId}|${dialog.localTag}`, user);
  }

  /** Later requests inside the dialog are answered with 481. */
  forget(dialog: Dialog): void {
    this.#dialogs.delete(`${dialog.callId}|${dialog.localTag}`);
  }

  close(): Promise<void> {
    return this.#endpoint.close();
  }

  #request(transaction: ServerTransaction): void {
    const { request } = transaction;
    try {
      if (transaction.inDialog) {
        const user = this.#dialogs.get(`${request.callId}|${request.toTag ?? ''}`);
        if (user === undefined) transaction.reply(481);
        else user.request(transaction);
      } else if (request.method === 'INVITE') this.onInvite(parseUri(request.uri).user ?? '', transaction);
      else transaction.reply(request.method === 'OPTIONS' || request.method === 'NOTIFY' ? 200 : 405);
    } catch (error) {
      if (!(error instanceof SipParseError) && !(error instanceof SipTransportError)) throw error;
      transaction.reply(400, { reason: error.message.replace(/[\r\n]/g, ' ') });
    }
  }
}
