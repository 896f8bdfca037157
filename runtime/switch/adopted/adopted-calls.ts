/** Calls that a dead node left: ended, or adopted where both phones can still hear each other. */
import {
  type CallHistory,
  type CallIndex,
  type MemoryCallStore,
  type SharedCall,
  type SharedSide,
  tellOnce,
} from '../../callstore/index.ts';
import type { DomainName } from '../../domain-name/index.ts';
import type { MediaServers } from '../../media/index.ts';
import type { LiveDialog } from '../../runs/index.ts';
import type { Log, SipLinks } from '../../signalling/index.ts';
import type { DialogEvents } from '../dialogs/dialog-book.ts';
import { FarDialog, type FarPhones } from '../lines/far-phones.ts';
import { type AdoptedPhone, AdoptedSide } from './adopted-side.ts';
import { AdoptedDialog, type AdoptedEnd } from './adopted-dialog.ts';

/**
 * Seconds after which a silent phone is asked whether its call goes on. drachtio-server answers the BYE of a phone itself when the
 * connection that made the call is gone, and tells nobody: this is how long the other phone then waits.
 */
export const LOST_SILENCE_S = 5;

export interface AdoptedCallsOptions {
  readonly store: MemoryCallStore;
  readonly events: DialogEvents;
  readonly history?: CallHistory | undefined;
  /** Keeps the calls for other nodes, as this one may die, too. */
  readonly index?: CallIndex | undefined;
  /** Learns of every adopted call, and of its end. */
  readonly lamps: { changed(call: AdoptedDialog): void; gone(call: AdoptedDialog): void };
  readonly log: Log;
  servers(): { readonly sip: SipLinks; readonly media: MediaServers };
  /** Phones whose SIP dialogs other nodes have. */
  phones(): FarPhones | undefined;
}

const LOST: AdoptedEnd = { by: 'lost', reason: 'Node Lost' };

/** The calls of dead nodes that this node goes on with. They can be listed, found and ended, and nothing else. */
export class AdoptedCalls {
  readonly #options: AdoptedCallsOptions;
  readonly #calls = new Map<string, AdoptedDialog>();
  /** Ids of those that this node has ended, for their nodes if these only stood still. */
  readonly #ended = new Set<string>();

  constructor(options: AdoptedCallsOptions) {
    this.#options = options;
  }

  /**
   * Adopts the call when both phones and their sound are still there; otherwise ends it with BYE, its media, an event and a record.
   * @param node id of the dead process
   * @param isOurs asked before anything is done: false leaves the call to another node
   */
  async take(node: string, call: SharedCall, isOurs: () => Promise<boolean>): Promise<void> {
    const { log } = this.#options;
    const { inviteid, dialogid } = call.entry.view;
    const sides = (await this.#hasSound(call)) ? await this.#sides(call) : undefined;
    if (!(await isOurs())) {
      for (const side of sides ?? []) side.leave();
      return;
    }
    if (sides !== undefined) {
      this.#adopt(node, call, sides);
      return log.info({ call: inviteid, dialogid }, 'a call of a dead node is adopted');
    }
    log.warn({ call: inviteid, dialogid }, 'a call of a dead node is ended');
    for (const side of call.sides) this.#release(side);
    this.#finish(call, LOST);
  }

  find(domain: DomainName, dialogid: string): LiveDialog | undefined {
    const found = this.#calls.get(dialogid);
    return found?.call.entry.domains.includes(domain) === true ? found : undefined;
  }

  /** Which of these calls this node has ended. */
  ended(dialogids: readonly string[]): readonly string[] {
    return dialogids.filter((id) => this.#ended.has(id));
  }

  /** The node was not dead: it has its calls again. @param node id of its process */
  giveBack(node: string): void {
    for (const adopted of this.#calls.values()) if (adopted.node === node) this.#leave(adopted);
  }

  /** Ends all adopted calls. */
  close(): void {
    for (const adopted of this.#calls.values()) adopted.end({ by: 'external', reason: 'Service Unavailable' });
  }

  #finish(call: SharedCall, { by, reason }: AdoptedEnd): void {
    const { entry, facts } = call;
    const { inviteid, dialogid } = entry.view;
    // This node may have stood still, too, and another one has adopted the call since.
    const elsewhere = this.#options.index?.endedElsewhere(dialogid) ?? false;
    this.#ended.add(dialogid);
    this.#forget(dialogid);
    const at = Date.now();
    const legs = facts.legs.map((leg) => (leg.ended === undefined ? { ...leg, ended: at } : leg));
    this.#options.history?.over({ ...facts, legs, end: { at, by, status: null, reason } });
    const users = entry.sipUsers.flatMap(({ userId }) => userId ?? []);
    const side = by === 'a' || by === 'b' ? { side: by } : {};
    const data = { inviteid, connectionid: inviteid, dialogid, reason, ...side };
    tellOnce(elsewhere, () => this.#options.events.emit(entry.domains, 'call_end', data, users));
  }

  /** True for a call of two phones whose channels live: the media server ends those that are not bridged when their node dies. */
  async #hasSound({ entry, sides }: SharedCall): Promise<boolean> {
    const channels = sides.flatMap(({ media, sip }) => (media === undefined || sip === undefined ? [] : [media]));
    if (entry.view.status !== 'dialog' || sides.length !== 2 || channels.length !== 2) return false;
    const { media } = this.#options.servers();
    const alive = await Promise.all(channels.map((channel) => media.hasChannel(channel)));
    return alive.every(Boolean);
  }

  /** @returns undefined when the call cannot be adopted */
  async #sides(call: SharedCall): Promise<readonly AdoptedSide[] | undefined> {
    const sides = (await Promise.all(call.sides.map((side) => this.#side(side)))).filter((side) => side !== undefined);
    if (sides.length === call.sides.length) return sides;
    for (const side of sides) side.leave();
    return undefined;
  }

  #adopt(node: string, call: SharedCall, sides: readonly AdoptedSide[]): void {
    const adopted = new AdoptedDialog(node, call, sides, (end) => this.#finish(call, end));
    const { dialogid } = adopted;
    this.#calls.set(dialogid, adopted);
    this.#options.store.put(call.entry);
    this.#options.index?.changed(dialogid, () => call);
    this.#options.lamps.changed(adopted);
    adopted.begin();
  }

  /** Undefined when one of the SIP servers is not connected, or the home of the phone does not answer. */
  async #side(side: SharedSide): Promise<AdoptedSide | undefined> {
    const { sip: links } = this.#options.servers();
    const { media, origin } = side;
    const phone = await this.#phone(side);
    const channel = media?.sip && links.adopt(media.sip, LOST_SILENCE_S);
    if (phone !== undefined && channel !== undefined) return new AdoptedSide(phone, channel, origin);
    phone?.leave();
    channel?.leave();
    return undefined;
  }

  /** The SIP dialog stays with its home, if that lives. */
  async #phone({ sip, home }: SharedSide): Promise<AdoptedPhone | undefined> {
    if (sip === undefined) return undefined;
    const phones = this.#options.phones();
    const { callId, localTag: local, remoteTag: remote } = sip;
    if (phones !== undefined && home !== undefined && !phones.isGone(home)) {
      try {
        return new FarDialog(await phones.attach(home, sip), { callId, tags: { local, remote } });
      } catch (err) {
        if (!phones.isGone(home)) {
          this.#options.log.warn({ err, callid: callId }, 'the node of a phone does not answer');
          return undefined;
        }
      }
    }
    return this.#options.servers().sip.adopt(sip, LOST_SILENCE_S);
  }

  #leave(adopted: AdoptedDialog): void {
    this.#forget(adopted.dialogid);
    adopted.leave();
  }

  #forget(dialogid: string): void {
    const adopted = this.#calls.get(dialogid);
    if (adopted === undefined) return;
    this.#calls.delete(dialogid);
    this.#options.store.remove(dialogid);
    this.#options.index?.over(dialogid);
    this.#options.lamps.gone(adopted);
  }

  #release({ callid, sip, media, home }: SharedSide): void {
    const { log } = this.#options;
    const servers = this.#options.servers();
    if (media !== undefined) void servers.media.endChannel(media);
    if (sip === undefined) return;
    const headers = { Reason: 'SIP;cause=500;text="Node lost"' };
    if (home !== undefined) return void this.#options.phones()?.end(home, sip, headers);
    const dialog = servers.sip.adopt(sip, LOST_SILENCE_S);
    dialog?.bye(headers).catch((err: unknown) => log.info({ err, callid }, 'a phone of a lost call does not answer'));
  }
}
