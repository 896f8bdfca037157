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
  /** File name given by the client. */
  readonly filename: string;
}

/** Name of the file in a property of a single file. */
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the platform writes attachment properties
  return list.filter(isFields) as unknown as readonly AttachmentInfo[];
}

/** The value of an attachment property with these files added; files of the same name are replaced. */
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
 * A client's file name, reduced to the last part of its path and to characters allowed in a header. Empty when nothing
 * remains.
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

/** Checks a name that becomes part of a path. @throws BadParameterError */
export function checkName(name: string): string {
  if (name !== '' && plainName(name) === name) return name;
  throw new BadParameterError('name', `must be 1 to ${MAX_NAME} characters without / \\ and control characters`);
}

/** @throws CannotApplyError when the digest sent with a file does not match its content */
export function checkDigest(hasha: string, digest: string | undefined): void {
  if (digest === undefined || digest === hasha) return;
  throw new CannotApplyError('content-digest', 'is not the SHA-256 of the received content', digest);
}

/** Metadata of stored files, by attachment property. */
export type KeptFiles = ReadonlyMap<string, readonly AttachmentInfo[]>;
