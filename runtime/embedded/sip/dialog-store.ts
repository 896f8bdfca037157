import type { SipRequest } from '../stack/index.ts';
import { type Dialog, dialogIdOf } from './dialog.ts';

/** All dialogs of the server. */
export class DialogStore {
  readonly #dialogs = new Map<string, Dialog>();

  get size(): number {
    return this.#dialogs.size;
  }

  add(dialog: Dialog): void {
    this.#dialogs.set(`${dialog.role}|${dialog.id}`, dialog);
  }

  remove(dialog: Dialog): void {
    const key = `${dialog.role}|${dialog.id}`;
    if (this.#dialogs.get(key) === dialog) this.#dialogs.delete(key);
    dialog.expiry?.cancel();
    dialog.endSession();
  }

  /**
   * The dialog with the id that applications use. A call of this server to itself has two dialogs with one id, which
   * differ in `role`.
   */
  byId(id: string, role?: 'uac' | 'uas'): Dialog | undefined {
    if (role !== undefined) return this.#dialogs.get(`${role}|${id}`);
    return this.#dialogs.get(`uac|${id}`) ?? this.#dialogs.get(`uas|${id}`);
  }

  /** The dialog of an incoming request, by Call-ID and both tags (RFC 3261 section 12.2.2). */
  ofRequest(request: SipRequest): Dialog | undefined {
    const { callId, fromTag = '', toTag } = request;
    if (toTag === undefined) return undefined;
    const asCallee = this.#dialogs.get(`uas|${dialogIdOf(callId, fromTag)}`);
    if (asCallee?.localTag === toTag) return asCallee;
    const asCaller = this.#dialogs.get(`uac|${dialogIdOf(callId, toTag)}`);
    if (asCaller === undefined) return undefined;
    // Before the 2xx any fork may send requests (UPDATE, INFO), afterwards only the fork that answered.
    return asCaller.state === 'early' || asCaller.remoteTag === fromTag ? asCaller : undefined;
  }

  [Symbol.iterator](): Iterator<Dialog> {
    return this.#dialogs.values();
  }
}
