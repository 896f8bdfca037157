/** The registered contacts in memory, including unsaved ones. */
import type { ContactBinding } from '../directory.ts';

/** Limits contacts per account: a device may register with ever new ones (RFC 3261 section 10.3 sets no limit). */
export const MAX_CONTACTS = 10;

export interface StoredBinding extends ContactBinding {
  /** The first REGISTER of the contact, milliseconds since the epoch. */
  readonly since: number;
  /** The last one, milliseconds since the epoch. */
  readonly saved: number;
}

/** Key of a binding. */
export interface BindingKey {
  readonly sipUserId: string;
  readonly contact: string;
}

export class ContactTable {
  /** By account, then by contact; the last saved contact is last. */
  readonly #accounts = new Map<string, Map<string, StoredBinding>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The account's contacts, newest first. */
  of(sipUserId: string): readonly StoredBinding[] {
    return [...(this.#accounts.get(sipUserId)?.values() ?? [])].toReversed();
  }

  get(key: BindingKey): StoredBinding | undefined {
    return this.#accounts.get(key.sipUserId)?.get(key.contact);
  }

  /** Adds or renews a binding. Returns the dropped bindings: the least recently renewed. */
  put(binding: StoredBinding): readonly StoredBinding[] {
    const contacts = this.#accounts.get(binding.sipUserId) ?? new Map<string, StoredBinding>();
    this.#accounts.set(binding.sipUserId, contacts);
    if (!contacts.delete(binding.contact)) this.#count++;
    contacts.set(binding.contact, binding);
    const evicted = [...contacts.values()].slice(0, -MAX_CONTACTS);
    for (const old of evicted) this.remove(old);
    return evicted;
  }

  remove({ sipUserId, contact }: BindingKey): boolean {
    const contacts = this.#accounts.get(sipUserId);
    if (contacts?.delete(contact) !== true) return false;
    this.#count--;
    if (contacts.size === 0) this.#accounts.delete(sipUserId);
    return true;
  }

  *all(): Generator<StoredBinding> {
    for (const contacts of this.#accounts.values()) yield* contacts.values();
  }
}
