/** Voice messages in mailboxes. The node keeps them; scenarios fill and play mailboxes. */
import type { DomainName } from '../../domain-name/index.ts';

/** Prefix of a message's id in place of a sound. */
export const MESSAGE = 'message:';

export interface VoiceMessage {
  readonly id: string;
  /** Number and name of who left it; the name may be empty. */
  readonly number: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly heard: boolean;
  readonly milliseconds: number;
}

export interface MessageToLeave {
  readonly number: string;
  readonly name: string;
  /** WAV file, which is copied. */
  readonly file: string;
  readonly milliseconds: number;
}

/**
 * Mailboxes of a domain by number; the login of a sipuser means its number. All reject with a ScenarioError code
 * `unavailable` while the database or the file store is away.
 */
export interface VoicemailPort {
  /** @returns the id; undefined: the mailbox is full */
  deposit(domain: DomainName, mailbox: string, message: MessageToLeave): Promise<string | undefined>;
  /** New messages first, and the oldest first among each. */
  list(domain: DomainName, mailbox: string): Promise<readonly VoiceMessage[]>;
  /** @returns false for an unknown message */
  mark(domain: DomainName, mailbox: string, id: string, heard: boolean): Promise<boolean>;
  /** @returns false for an unknown message */
  remove(domain: DomainName, mailbox: string, id: string): Promise<boolean>;
  /** The sound of a message as a WAV file that media servers play; undefined for an unknown message. */
  sound(domain: DomainName, id: string): Promise<string | undefined>;
}

/** Mailboxes in memory, for simulations. */
export class MemoryVoicemail implements VoicemailPort {
  readonly #boxes = new Map<string, VoiceMessage[]>();
  readonly #files = new Map<string, string>();
  readonly #now: () => number;
  #count = 0;

  /** @param now milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  async deposit(_: DomainName, mailbox: string, { number, name, file, milliseconds }: MessageToLeave): Promise<string> {
    const id = `message-${++this.#count}`;
    this.#files.set(id, file);
    const box = this.#boxes.get(mailbox) ?? [];
    this.#boxes.set(mailbox, [...box, { id, number, name, created: this.#now(), heard: false, milliseconds }]);
    return id;
  }

  async list(_: DomainName, mailbox: string): Promise<readonly VoiceMessage[]> {
    return newFirst(this.#boxes.get(mailbox) ?? []);
  }

  async mark(_: DomainName, mailbox: string, id: string, heard: boolean): Promise<boolean> {
    return this.#change(mailbox, id, (message) => [{ ...message, heard }]);
  }

  async remove(_: DomainName, mailbox: string, id: string): Promise<boolean> {
    return this.#change(mailbox, id, () => []);
  }

  async sound(_: DomainName, id: string): Promise<string | undefined> {
    return this.#files.get(id);
  }

  #change(mailbox: string, id: string, change: (message: VoiceMessage) => readonly VoiceMessage[]): boolean {
    const box = this.#boxes.get(mailbox) ?? [];
    this.#boxes.set(
      mailbox,
      box.flatMap((message) => (message.id === id ? change(message) : [message])),
    );
    return box.some((message) => message.id === id);
  }
}

/** Messages in the order in which they are played: new ones first. */
export function newFirst<Message extends { readonly heard: boolean }>(
  messages: readonly Message[],
): readonly Message[] {
  return [...messages.filter(({ heard }) => !heard), ...messages.filter(({ heard }) => heard)];
}
