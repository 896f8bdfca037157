/** Files of entities: their content in the file store, their metadata in the entity. */
import type { Readable } from 'node:stream';
import type { ByteRange, FileStore, ReceivedBlob } from '../../storage/files/index.ts';
import { ConflictError, NotFoundError } from '../errors.ts';
import type { ModelCollection } from '../model.ts';
import { type AttachmentInfo, attachmentProperty, checkName, infosOf, SINGLE } from './info.ts';
import type { Orphans } from './orphans.ts';

/** Where an attachment is. */
export interface AttachmentPlace {
  readonly collection: ModelCollection;
  readonly id: string;
  readonly date?: string | undefined;
  readonly field: string;
  /** In a property of several files. */
  readonly fileName?: string | undefined;
}

export interface AttachmentsOptions {
  readonly files: FileStore;
  readonly orphans: Orphans;
  /** Bytes of one file. */
  readonly limit: number;
  readonly now: () => number;
}

export class Attachments {
  readonly #options: AttachmentsOptions;

  constructor(options: AttachmentsOptions) {
    this.#options = options;
  }

  /** Bytes of one file. */
  get limit(): number {
    return this.#options.limit;
  }

  /** The attachments of a property; one of a name, or the only one, as a list of one. @throws NotFoundError */
  async infos({ collection, id, date, field, fileName }: AttachmentPlace): Promise<readonly AttachmentInfo[]> {
    const { multi } = attachmentProperty(collection.definition, field);
    const infos = infosOf(await collection.read(id, { date }), field);
    if (multi && fileName === undefined) return infos;
    const found = multi ? infos.filter(({ name }) => name === fileName) : infos;
    if (found.length === 0) throw new NotFoundError('Attachment', fileName ?? field);
    return found;
  }

  /** Undefined when the store has lost it. */
  open({ hasha }: AttachmentInfo, range?: ByteRange): Promise<Readable | undefined> {
    return this.#options.files.read(hasha, range);
  }

  /** Takes content in, hashed, without a place yet. @throws BlobTooLargeError */
  receive(content: AsyncIterable<Uint8Array>): Promise<ReceivedBlob> {
    return this.#options.files.receive(content, this.#options.limit);
  }

  discard(received: ReceivedBlob): Promise<void> {
    return this.#options.files.discard(received);
  }

  /**
   * Gives received content its place, instead of what is there.
   *
   * @param filename the name it had where it came from
   * @param isNew refuses the name of a file that is there, in a property of several
   * @throws NotFoundError, ConflictError, BadParameterError
   */
  async place(
    place: AttachmentPlace,
    received: ReceivedBlob,
    filename: string,
    { isNew = false }: { readonly isNew?: boolean } = {},
  ): Promise<AttachmentInfo> {
    const { collection, id, date, field } = place;
    const { multi } = attachmentProperty(collection.definition, field);
    const name = multi ? checkName(place.fileName ?? filename) : SINGLE;
    const { files, orphans, now } = this.#options;
    const { hasha, size } = received;
    const info = { hasha, link: files.link(hasha), mtime: new Date(now()).toISOString(), name, size, filename };
    // Noted first: if the node dies before the entity is written, the file is found and removed.
    await orphans.suspect([hasha]);
    await files.keep(received);
    await collection.edit(
      id,
      (before) => {
        if (!multi) return { [field]: info };
        const present = infosOf(before, field);
        const others = present.filter((each) => each.name !== name);
        if (isNew && others.length < present.length) throw new ConflictError('name');
        return { [field]: [...others, info] };
      },
      { date, attachments: true },
    );
    return info;
  }

  /** @throws NotFoundError */
  async remove({ collection, id, date, field, fileName }: AttachmentPlace): Promise<void> {
    const { multi } = attachmentProperty(collection.definition, field);
    await collection.edit(
      id,
      (before) => {
        const present = infosOf(before, field);
        const others = multi ? present.filter(({ name }) => name !== fileName) : [];
        if (others.length === present.length) throw new NotFoundError('Attachment', fileName ?? field);
        return { [field]: multi ? others : null };
      },
      { date, attachments: true },
    );
  }
}
