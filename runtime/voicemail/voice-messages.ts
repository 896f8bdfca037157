/** The voice messages of all mailboxes: kept for every node on the database. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileStore, type NoticePayload, sql, type Storage } from '../storage/index.ts';

/** Most messages of one mailbox. */
export const MAX_MESSAGES = 500;
/** Topic of the change notices to other nodes. */
const TOPIC = 'voicemail';

/** A stored message. */
export interface VoiceMessageRow {
  readonly id: string;
  readonly domain_id: string;
  readonly mailbox: string;
  /** Number and name of who left it. */
  readonly number: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Milliseconds since the epoch; 0: new. */
  readonly heard: number;
  readonly milliseconds: number;
  /** Bytes of the WAV file, and its hash in the file store. */
  readonly size: number;
  readonly hasha: string;
}

export type NewMessage = Pick<VoiceMessageRow, 'domain_id' | 'mailbox' | 'number' | 'name' | 'milliseconds'>;

export interface MessageCounts {
  /** Messages that nobody has heard. */
  readonly fresh: number;
  readonly old: number;
}

export interface VoiceMessagesOptions {
  readonly storage: Storage;
  readonly files: FileStore;
  /** Notes files that may have lost their last owner. */
  readonly suspect: (hashes: readonly string[]) => Promise<void>;
  /** Bytes of one message. */
  readonly maxBytes: number;
}

/** The mailbox has as many messages as it may have. */
export class MailboxFullError extends Error {
  override readonly name = 'MailboxFullError';
  constructor(mailbox: string) {
    super(`the mailbox ${mailbox} has ${MAX_MESSAGES} messages and takes no more: delete some`);
  }
}

type ChangeListener = (domainId: string, mailbox: string) => void;

export class VoiceMessages {
  readonly #options: VoiceMessagesOptions;
  readonly #listeners = new Set<ChangeListener>();
  readonly #stop: () => void;

  constructor(options: VoiceMessagesOptions) {
    this.#options = options;
    this.#stop = options.storage.notices.subscribe(TOPIC, {
      notice: (payload) => this.#changedElsewhere(payload),
      // Every mailbox may have changed.
      gap: () => this.#tell('', ''),
    });
  }

  close(): void {
    this.#stop();
  }

  /** @param listener gets the changed mailbox, of this node or another one; an empty domain: every mailbox may have changed */
  onChange(listener: ChangeListener): void {
    this.#listeners.add(listener);
  }

  /**
   * Stores a message with a copy of this WAV file.
   * @throws MailboxFullError, BlobTooLargeError, FileStoreError
   */
  async deposit(
    { domain_id, mailbox, number, name, milliseconds }: NewMessage,
    file: string,
  ): Promise<VoiceMessageRow> {
    const { files, suspect, storage, maxBytes } = this.#options;
    const { fresh, old } = await this.counts(domain_id, mailbox);
    if (fresh + old >= MAX_MESSAGES) throw new MailboxFullError(mailbox);
    const received = await files.receive(createReadStream(file), maxBytes);
    try {
      // In case the node stops before a message owns it.
      await suspect([received.hasha]);
      await files.keep(received);
    } catch (error) {
      await files.discard(received);
      throw error;
    }
    const { hasha, size } = received;
    const kept = { id: randomUUID(), size, hasha, created: Date.now(), heard: 0 };
    const row = { ...kept, domain_id, mailbox, number, name, milliseconds };
    await storage.db.insertInto('voice_messages').values(row).execute();
    await this.#changed(domain_id, mailbox);
    return row;
  }

  async counts(domainId: string, mailbox: string): Promise<MessageCounts> {
    const { rows } = await sql<{ fresh: number; old: number }>`
      select count(*) filter (where heard = 0) as fresh, count(*) filter (where heard > 0) as old
      from voice_messages where domain_id = ${domainId} and mailbox = ${mailbox}`.execute(this.#options.storage.db);
    return rows[0] ?? { fresh: 0, old: 0 };
  }

  /** The oldest first. @param mailbox undefined: all of the domains */
  async list(domainIds: readonly string[], mailbox?: string): Promise<readonly VoiceMessageRow[]> {
    if (domainIds.length === 0) return [];
    let query = this.#options.storage.db.selectFrom('voice_messages').selectAll().where('domain_id', 'in', domainIds);
    if (mailbox !== undefined) query = query.where('mailbox', '=', mailbox);
    return query.orderBy('created').orderBy('id').execute();
  }

  read(id: string): Promise<VoiceMessageRow | undefined> {
    return this.#options.storage.db.selectFrom('voice_messages').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Marks a message as heard, or as new. @returns false when it is gone */
  async mark(
    { id, domain_id, mailbox }: Pick<VoiceMessageRow, 'id' | 'domain_id' | 'mailbox'>,
    heard: boolean,
  ): Promise<boolean> {
    const { db } = this.#options.storage;
    const { rows } = await sql<{ id: string }>`
      update voice_messages set heard = case when ${heard}::boolean then greatest(heard, ${Date.now()}::bigint) else 0 end
      where id = ${id} returning id`.execute(db);
    if (rows.length > 0) await this.#changed(domain_id, mailbox);
    return rows.length > 0;
  }

  /** @returns false when it is gone */
  async remove(id: string): Promise<boolean> {
    const row = await this.#options.storage.db
      .deleteFrom('voice_messages')
      .where('id', '=', id)
      .returning(['domain_id', 'mailbox', 'hasha'])
      .executeTakeFirst();
    if (row === undefined) return false;
    await this.#options.suspect([row.hasha]);
    await this.#changed(row.domain_id, row.mailbox);
    return true;
  }

  /** Removes the messages of domains that are not there any more. @param domainIds those that are */
  async removeOthers(domainIds: readonly string[]): Promise<void> {
    const { rows } = await sql<{ hasha: string }>`
      delete from voice_messages where domain_id <> all(${[...domainIds]}::text[]) returning hasha`.execute(
      this.#options.storage.db,
    );
    if (rows.length > 0) await this.#options.suspect(rows.map(({ hasha }) => hasha));
  }

  /** True when a message has this file. */
  async isFileInUse(hasha: string): Promise<boolean> {
    const { db } = this.#options.storage;
    return (
      (await db.selectFrom('voice_messages').select('id').where('hasha', '=', hasha).limit(1).execute()).length > 0
    );
  }

  /** The WAV file as a stream; undefined when the file store lacks it. @throws FileStoreError */
  content(hasha: string, start: number, end: number): ReturnType<FileStore['read']> {
    return this.#options.files.read(hasha, { start, end });
  }

  async #changed(domainId: string, mailbox: string): Promise<void> {
    this.#tell(domainId, mailbox);
    await this.#options.storage.notices.publish(TOPIC, { domain: domainId, mailbox });
  }

  #changedElsewhere(payload: NoticePayload): void {
    if (payload === null || typeof payload !== 'object' || !('domain' in payload)) return;
    const { domain, mailbox } = payload;
    if (typeof domain === 'string' && typeof mailbox === 'string') this.#tell(domain, mailbox);
  }

  #tell(domainId: string, mailbox: string): void {
    for (const listener of this.#listeners) listener(domainId, mailbox);
  }
}
