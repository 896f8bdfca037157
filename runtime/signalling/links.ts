/** All SIP servers of a node. */
import { type Log, type SipHandlers, SipLink, type SipLinkOptions } from './link.ts';
import type { WaitingInvite } from './left-waiting.ts';
import type { RingingInvite } from './ringing-journal.ts';
import type { SipDialog, SipDialogPlace } from './sip-dialog.ts';
import type { SipServerAddress } from './server-address.ts';
import type { SipAnswer } from './answers.ts';
import type { OutgoingInvite, OutgoingInviteOptions } from './outgoing-invite.ts';
import type { OutgoingMessageOptions } from './outgoing-message.ts';
import type { NotifyResult, OutgoingNotifyOptions } from './outgoing-notify.ts';
import type { OutgoingOptionsOptions } from './outgoing-options.ts';
import { Registration, type RegistrationOptions } from './registration.ts';

/** All SIP servers of a node: calls come in through any of them, and go out through each of the own site in turn. */
export class SipLinks {
  readonly all: readonly SipLink[];
  #turn = 0;

  private constructor(all: readonly SipLink[]) {
    this.all = all;
  }

  /**
   * Connects to every SIP server. Settles when one has accepted; the others are added when they answer.
   * @param options.timeoutMs time to wait for the first one
   * @throws SipLinkError when none has accepted in time
   */
  static async connect(
    addresses: readonly SipServerAddress[],
    handlers: SipHandlers,
    log: Log,
    { timeoutMs = 5000, ...options }: SipLinkOptions = {},
  ): Promise<SipLinks> {
    const links = new SipLinks(addresses.map((address) => SipLink.open(address, handlers, log, options)));
    try {
      await Promise.any(links.all.map((link) => link.accepted(timeoutMs)));
    } catch (error) {
      links.close();
      throw error instanceof AggregateError ? error.errors[0] : error;
    }
    links.#cancelLeftRinging();
    return links;
  }

  get connected(): boolean {
    return this.all.some(({ connected }) => connected);
  }

  /** Number of connected SIP servers. */
  get usable(): number {
    return this.all.filter(({ connected }) => connected).length;
  }

  /** `ip:port` of the servers' UDP listeners. */
  get addresses(): readonly string[] {
    return this.all.flatMap(({ addresses }) => addresses);
  }

  /** `ip:port` of the servers' TLS listeners. */
  get tlsAddresses(): readonly string[] {
    return this.all.flatMap(({ tlsAddresses }) => tlsAddresses);
  }

  /** URLs of the listeners for WebSockets at this port. */
  webSocketUrls(port: number): readonly string[] {
    return this.all.flatMap((link) => link.webSocketUrls(port));
  }

  /** The listener of a connected server for WebSockets: TLS for `secure` if it has that, else plain. */
  webSocket(secure: boolean): { host: string; port: number; tls: boolean } | undefined {
    for (const tls of secure ? [true, false] : [false, true]) {
      for (const link of this.all) {
        const found = link.connected ? link.webSocket(tls) : undefined;
        if (found !== undefined) return { ...found, tls };
      }
    }
    return undefined;
  }

  /** True when one of the servers listens at this address (without brackets). */
  listensAt(host: string): boolean {
    return this.all.some(({ hosts }) => hosts.has(host));
  }

  /** True: other applications of the servers get their new requests. Those within dialogs still come. */
  set rests(rests: boolean) {
    for (const link of this.all) link.rests = rests;
  }

  /** Name of the SIP server for the next call, in turn. Undefined when none is connected. */
  next(): string | undefined {
    return this.#inTurn()?.name;
  }

  /** Sends an INVITE through the named server, or through another one when that is not connected. */
  invite(options: OutgoingInviteOptions): OutgoingInvite {
    return this.#link(options.via).invite(options);
  }

  /** Sends a MESSAGE through the named server, or through another one when that is not connected. */
  message(options: OutgoingMessageOptions): Promise<SipAnswer> {
    return this.#link(options.via).message(options);
  }

  /** Sends a NOTIFY through the named server, or through another one when that is not connected. Never rejects. */
  notify(options: OutgoingNotifyOptions): Promise<NotifyResult> {
    return this.#link(options.via).notify(options);
  }

  /** Sends OPTIONS through the named server, or through another one when that is not connected. Never rejects. */
  options(options: OutgoingOptionsOptions): Promise<SipAnswer> {
    return this.#link(options.via).options(options);
  }

  /**
   * Creates a registration at a foreign registrar without sending anything. It stays with one SIP server while that is
   * connected.
   */
  registration(options: RegistrationOptions): Registration {
    let via: string | undefined;
    return new Registration(() => {
      const link = this.#link(via);
      via = link.name;
      return link.srf;
    }, options);
  }

  /** Cancels INVITEs that another node left, and refuses those that it left unanswered. Where a server is away, nothing happens. */
  settleLeft(ringing: readonly RingingInvite[], waiting: readonly WaitingInvite[]): void {
    for (const link of this.all) {
      if (!link.connected) continue;
      link.cancelRinging(ringing.filter(({ server }) => server === link.name));
      const unanswered = waiting.filter(({ server }) => server === link.name);
      if (unanswered.length > 0) void link.refuseWaiting(unanswered);
    }
  }

  /**
   * Goes on with a dialog that another node made. The SIP server sends its requests here from now on, if it can do so.
   * @param silence seconds without a request after which the phone is asked whether it is still there
   * @returns undefined when its server is not connected
   */
  adopt(place: SipDialogPlace, silence: number): SipDialog | undefined {
    return this.all.find(({ name, connected }) => connected && name === place.server)?.adopt(place, silence);
  }

  close(): void {
    for (const link of this.all) link.close();
  }

  /** Each server settles its own entries once connected; the first one also those of removed servers. */
  #cancelLeftRinging(): void {
    const names = new Set(this.all.map(({ name }) => name));
    let first = true;
    for (const link of this.all) {
      void link.firstAccepted.then(() => {
        const orphansToo = first;
        first = false;
        link.cancelLeftRinging((server) =>
          server !== undefined && names.has(server) ? server === link.name : orphansToo,
        );
      });
    }
  }

  #link(via: string | undefined): SipLink {
    const named = this.all.find(({ name, connected }) => connected && name === via);
    const link = named ?? this.#inTurn() ?? this.all[0];
    if (link === undefined) throw new Error('a node without a SIP server');
    return link;
  }

  #inTurn(): SipLink | undefined {
    const turn = this.#turn++;
    const { length } = this.all;
    const inTurn = Array.from({ length }, (_, at) => this.all[(turn + at) % length]);
    const connected = inTurn.filter((link) => link?.connected === true);
    return connected.find((link) => link?.isRemote === false) ?? connected[0];
  }
}
