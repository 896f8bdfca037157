/** Metadata of attachments (specification, "Attachment metadata"), as entities hold them. */
import { isFields } from '../check.ts';
import type { PropertyDefinition, ResolvedClass } from '../class-definition.ts';
import { BadParameterError, CannotApplyError, NotFoundError } from '../errors.ts';
import type { Entity } from '../fields.ts';

export interface AttachmentInfo {
  /** `sha256;<HEX>` */
  readonly hasha: string;
  /** Where the file is stored. */
  readonly link: string;
  /** ISO 8601, UTC. */
  readonly mtime: string;
  /** In a list of attachments the last part of the file's path, else `content`. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** The name that the file had where it came from. */
  readonly filename: string;
}

/** Name of the only file of a property. */
export const SINGLE = 'content';
const MAX_NAME = 255;

/** @throws NotFoundError when the class has no such attachment property */
export function attachmentProperty({ allProperties }: ResolvedClass, field: string): PropertyDefinition {
  const property = allProperties.find(({ name }) => name === field);
  if (property?.data_type !== 'attachment') throw new NotFoundError('Attachment property', field);
  return property;
}

/** The attachments of one property. */
export function infosOf(entity: Readonly<Record<string, unknown>>, field: string): readonly AttachmentInfo[] {
  const value = entity[field];
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the platform writes them
  return list.filter(isFields) as unknown as readonly AttachmentInfo[];
}

/** The value of an attachment property with these files in it; those of the same name make way. */
export function withFiles({ multi }: PropertyDefinition, value: unknown, files: readonly AttachmentInfo[]): unknown {
  if (!multi) return files[0] ?? value;
  const names = new Set(files.map(({ name }) => name));
  return [...infosOf({ value }, 'value').filter(({ name }) => !names.has(name)), ...files];
}

/** Hashes of all files of an entity. */
export function hashesOf({ allProperties }: ResolvedClass, entity: Entity): readonly string[] {
  return allProperties
    .filter(({ data_type: type }) => type === 'attachment')
    .flatMap(({ name }) => infosOf(entity, name).map(({ hasha }) => hasha));
}

/**
 * What a client says a file is called: the last part of a path, as it can stand in a header. Empty when nothing is left.
 */
export function plainName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? '';
  const plain = last
    .replaceAll(/\p{Cc}/gu, '')
    .toWellFormed()
    .trim()
    .slice(0, MAX_NAME);
  return plain === '.' || plain === '..' ? '' : plain;
}

/** A name that is part of a path. @throws BadParameterError for one that no path can lead to */
export function checkName(name: string): string {
  if (name !== '' && plainName(name) === name) return name;
  throw new BadParameterError('name', `must be 1 to ${MAX_NAME} characters without / \\ and control characters`);
}

/** @throws CannotApplyError when the digest that came with a file is of something else */
export function checkDigest(hasha: string, digest: string | undefined): void {
  if (digest === undefined || digest === hasha) return;
  throw new CannotApplyError('content-digest', 'is not the SHA-256 of what arrived', digest);
}

/** Metadata of files that the store has kept, by the property that they are for. */
export type KeptFiles = ReadonlyMap<string, readonly AttachmentInfo[]>;
