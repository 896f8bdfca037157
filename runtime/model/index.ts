/** The dynamic data model: classes, entities, filters. Opened after storage, closed before it. */
export * from './errors.ts';
export type {
  ClassDefinition,
  ClassOptions,
  DataType,
  IndexKind,
  PropertyDefinition,
  ResolvedClass,
  StorageMode,
} from './class-definition.ts';
export type {
  ChangeOperation,
  ListAnswer,
  ListQuery,
  Model,
  ModelChange,
  ModelClasses,
  ModelCollection,
  ModelListener,
  ModelSettings,
  ReadOptions,
  UpdateOptions,
} from './model.ts';
export type { KeptFiles } from './attachments/info.ts';
export type { Entity, Input } from './fields.ts';
export type { AttachmentPlace, Attachments } from './attachments/attachments.ts';
export { type AttachmentInfo, attachmentProperty, checkDigest, plainName } from './attachments/info.ts';
export { BlobTooLargeError, type ByteRange, FileMissingError, FileStoreError } from '../storage/index.ts';
export { StorageTimeoutError, StorageUnavailableError } from '../storage/index.ts';
export { type AuditEntry, AuditLog } from './audit-log.ts';
export { AUDIT, builtIn, builtInName, CALL_HISTORY, RUN_HISTORY, openBuiltIn, refuseBuiltInWrite } from './built-in.ts';
export { ClassRules } from './class-rules.ts';
export { openModel } from './open-model.ts';
export { parseInterval } from './query.ts';
export * as filters from './filter/index.ts';
export {
  applyMask,
  canonical,
  type Expression,
  ExpressionParser,
  type FieldTypes,
  fieldTypes,
  FilterError,
  First,
  flatten,
  isIntegral,
  type Mask,
  type OrderEntry,
  orderToSql,
  parseFilter,
  parseMask,
  parseOrder,
  sortItems,
  SqlCompiler,
  type SqlField,
  toPredicate,
  type ValueType,
} from './filter/index.ts';
export {
  countOf,
  type ListType,
  localPages,
  pageOf,
  type Pages,
  type PageWish,
  type Selection,
  selectionOf,
} from './pages.ts';
