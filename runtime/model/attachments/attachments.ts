/** Files of entities: their content in the file store, their metadata in the entity. */
import type { Readable } from 'node:stream';
import { type ByteRange, FileMissingError, type FileStore, type ReceivedBlob } from '../../storage/index.ts';
import { ConflictError, NotFoundError } from '../errors.ts';
import type { ResolvedClass } from '../class-definition.ts';
import type { ModelCollection } from '../model.ts';
import type { KeptFiles } from './info.ts';
import { type AttachmentInfo, attachmentProperty, checkName, infosOf, SINGLE, withFiles } from './info.ts';
import type { Orphans } from './orphans.ts';

/** Address of an attachment. */
export interface AttachmentPlace {
  readonly collection: ModelCollection;
  readonly id: string;
  readonly date?: string | undefined;
  readonly field: string;
  /** File name; only for a property of several files. */
  readonly fileName?: string | undefined;
}

/** An uploaded file. */
export interface NewFile {
  /** Name of the attachment property. */
  readonly field: string;
  readonly received: ReceivedBlob;
  /** File name given by the client. */
  readonly filename: string;
  /** For a property of several files: the stored name, instead of `filename`. */
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

  /** The attachments of a property: all, or the one named `fileName`. @throws NotFoundError */
  async infos({ collection, id, date, field, fileName }: AttachmentPlace): Promise<readonly AttachmentInfo[]> {
    const { multi } = attachmentProperty(collection.definition, field);
    const infos = infosOf(await collection.read(id, { date }), field);
    if (multi && fileName === undefined) return infos;
    const found = multi ? infos.filter(({ name }) => name === fileName) : infos;
    if (found.length === 0) throw new NotFoundError('Attachment', fileName ?? field);
    return found;
  }

  /** @throws FileMissingError, FileStoreError */
  async open({ hasha }: AttachmentInfo, range?: ByteRange): Promise<Readable> {
    const { files } = this.#options;
    const content = await files.read(hasha, range);
    if (content === undefined) throw new FileMissingError(files.link(hasha));
    return content;
  }

  /** Receives content and hashes it; it is not stored under its hash yet. @throws BlobTooLargeError */
  receive(content: AsyncIterable<Uint8Array>): Promise<ReceivedBlob> {
    return this.#options.files.receive(content, this.#options.limit);
  }

  /** Notes files that may be without an entity; the clean-up removes them if they still are. */
  suspect(hashes: readonly string[]): Promise<void> {
    return this.#options.orphans.suspect(hashes);
  }

  discard(received: ReceivedBlob): Promise<void> {
    return this.#options.files.discard(received);
  }

  /**
   * Stores files for an entity that is written next. If that write never happens, the clean-up removes them.
   *
   * @throws NotFoundError, BadParameterError, FileStoreError
   */
  async keep(definition: ResolvedClass, newFiles: readonly NewFile[]): Promise<KeptFiles> {
    const { files, orphans, now } = this.#options;
    const kept = new Map<string, AttachmentInfo[]>();
    for (const { field, received, filename, fileName } of newFiles) {
      const { multi } = attachmentProperty(definition, field);
      const { hasha, size } = received;
      const name = multi ? checkName(fileName ?? filename) : SINGLE;
      const info = { hasha, link: files.link(hasha), mtime: new Date(now()).toISOString(), name, size, filename };
      kept.set(field, [...(kept.get(field) ?? []), info]);
    }
    await orphans.suspect(newFiles.map(({ received }) => received.hasha));
    for (const { received } of newFiles) await files.keep(received);
    return kept;
  }

  /**
   * Stores files of an existing entity, all or none; files of the same name are replaced.
   *
   * @param isNew refuses an existing file name in a property of several files
   * @returns their metadata
   * @throws NotFoundError, ConflictError, BadParameterError, FileStoreError
   */
  async place(
    { collection, id, date, field, fileName }: AttachmentPlace,
    newFiles: readonly Omit<NewFile, 'field'>[],
    { isNew = false }: { readonly isNew?: boolean } = {},
  ): Promise<readonly AttachmentInfo[]> {
    const { definition } = collection;
    const kept = await this.keep(
      definition,
      newFiles.map((file) => ({ fileName, ...file, field })),
    );
    const infos = kept.get(field) ?? [];
    const names = new Set(infos.map(({ name }) => name));
    const property = attachmentProperty(definition, field);
    await collection.edit(
      id,
      (before) => {
        const isTaken = property.multi && isNew && infosOf(before, field).some(({ name }) => names.has(name));
        if (isTaken) throw new ConflictError('name');
        return { [field]: withFiles(property, before[field], infos) };
      },
      { date, attachments: true },
    );
    return infos;
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
