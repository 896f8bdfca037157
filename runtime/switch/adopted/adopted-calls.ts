/** Calls that a dead node left: ended, or adopted where both phones can still hear each other. */
import type { CallHistory, MemoryCallStore, SharedCall, SharedSide } from '../../callstore/index.ts';
import type { DomainName } from '../../domain-name/index.ts';
import type { MediaServers } from '../../media/index.ts';
import type { LiveDialog } from '../../runs/index.ts';
import type { Log, SipDialog, SipLinks } from '../../signalling/index.ts';
import type { DialogEvents } from '../dialogs/dialog-book.ts';
import { AdoptedSide } from './adopted-side.ts';
import { AdoptedDialog, type AdoptedEnd } from './adopted-dialog.ts';

/**
 * Seconds after which a silent phone is asked whether its call goes on. drachtio-server answers the BYE of a phone itself when the
 * connection that made the call is gone, and tells nobody: this is how long the other phone then waits.
 */
const SILENCE_S = 5;

export interface AdoptedCallsOptions {
  readonly store: MemoryCallStore;
  readonly events: DialogEvents;
  readonly history?: CallHistory | undefined;
  readonly log: Log;
  servers(): { readonly sip: SipLinks; readonly media: MediaServers };
}

const LOST: AdoptedEnd = { by: 'lost', reason: 'Node Lost' };

/** The calls of dead nodes that this node goes on with. They can be listed, found and ended, and nothing else. */
export class AdoptedCalls {
  readonly #options: AdoptedCallsOptions;
  readonly #calls = new Map<string, AdoptedDialog>();

  constructor(options: AdoptedCallsOptions) {
    this.#options = options;
  }

  /**
   * Adopts the call when both phones and their sound are still there; otherwise ends it with BYE, its media, an event and a record.
   * @param node id of the dead process
   */
  async take(node: string, call: SharedCall): Promise<void> {
    const { log } = this.#options;
    const { inviteid, dialogid } = call.entry.view;
    const adopted = (await this.#hasSound(call)) ? this.#adopt(node, call) : undefined;
    if (adopted !== undefined) return log.info({ call: inviteid, dialogid }, 'a call of a dead node is adopted');
    log.warn({ call: inviteid, dialogid }, 'a call of a dead node is ended');
    for (const side of call.sides) this.#release(side);
    this.#finish(call, LOST);
  }

  find(domain: DomainName, dialogid: string): LiveDialog | undefined {
    const found = this.#calls.get(dialogid);
    return found?.call.entry.domains.includes(domain) === true ? found : undefined;
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
    this.#calls.delete(dialogid);
    this.#options.store.remove(dialogid);
    const at = Date.now();
    const legs = facts.legs.map((leg) => (leg.ended === undefined ? { ...leg, ended: at } : leg));
    this.#options.history?.over({ ...facts, legs, end: { at, by, status: null, reason } });
    const users = entry.sipUsers.flatMap(({ userId }) => userId ?? []);
    const side = by === 'a' || by === 'b' ? { side: by } : {};
    this.#options.events.emit(
      entry.domains,
      'call_end',
      { inviteid, connectionid: inviteid, dialogid, reason, ...side },
      users,
    );
  }

  /** True for a call of two phones whose channels live: the media server ends those that are not bridged when their node dies. */
  async #hasSound({ entry, sides }: SharedCall): Promise<boolean> {
    const channels = sides.flatMap(({ media, sip }) => (media === undefined || sip === undefined ? [] : [media]));
    if (entry.view.status !== 'dialog' || sides.length !== 2 || channels.length !== 2) return false;
    const { media } = this.#options.servers();
    const alive = await Promise.all(channels.map((channel) => media.hasChannel(channel)));
    return alive.every(Boolean);
  }

  #adopt(node: string, call: SharedCall): AdoptedDialog | undefined {
    const sides = call.sides.map((side) => this.#side(side)).filter((side) => side !== undefined);
    if (sides.length !== call.sides.length) {
      for (const side of sides) side.leave();
      return undefined;
    }
    const adopted = new AdoptedDialog(node, call, sides, (end) => this.#finish(call, end));
    this.#calls.set(adopted.dialogid, adopted);
    this.#options.store.put(call.entry);
    adopted.check();
    return adopted;
  }

  /** Undefined when one of the SIP servers is not connected. */
  #side({ sip, media, origin }: SharedSide): AdoptedSide | undefined {
    const { sip: links } = this.#options.servers();
    if (sip === undefined || media?.sip === undefined) return undefined;
    const phone = links.adopt(sip, SILENCE_S);
    const channel = links.adopt(media.sip, SILENCE_S);
    if (phone !== undefined && channel !== undefined) return new AdoptedSide(phone, channel, origin);
    phone?.leave();
    channel?.leave();
    return undefined;
  }

  #leave(adopted: AdoptedDialog): void {
    this.#calls.delete(adopted.dialogid);
    this.#options.store.remove(adopted.dialogid);
    adopted.leave();
  }

  #release({ callid, sip, media }: SharedSide): void {
    const { log } = this.#options;
    const servers = this.#options.servers();
    if (media !== undefined) void servers.media.endChannel(media);
    if (sip === undefined) return;
    const dialog: SipDialog | undefined = servers.sip.adopt(sip, SILENCE_S);
    const headers = { Reason: 'SIP;cause=500;text="Node lost"' };
    dialog?.bye(headers).catch((err: unknown) => log.info({ err, callid }, 'a phone of a lost call does not answer'));
  }
}
