/** The domain-center: domains, accounts, routing, and registered contacts. Opening order: see `storage/index.ts`. */
import type { ChangeNotices, Storage } from '../storage/index.ts';
import { type CollectionOptions, createCollections } from './collections/index.ts';
import { LiveDirectory } from './live-directory.ts';
import { PersistentLocation } from './location/persistent-location.ts';

export * from './errors.ts';
export { type AgentRow, StoredAgents } from './agents.ts';
export { isNamed, sipUserNamed } from './account-names.ts';
export { type StoredSubscription, StoredSubscriptions } from './subscriptions.ts';
export { Collection, type Change, type ChangeListener, type WriteOptions } from './collections/collection.ts';
export type { CollectionQuery } from './collections/query.ts';
export type { CollectionDefinition, Input, Row } from './collections/definition.ts';
export { type CollectionOptions, type Collections, createCollections } from './collections/index.ts';
export { type AsrOptions, type AsrServer, asrOptionsProblem } from './collections/asr-options.ts';
export type { DomainRow } from './collections/domains.ts';
export { canonicalLanguage, PromptFile, type PromptRow } from './collections/prompts.ts';
export type { ProviderRow } from './collections/providers.ts';
export type { RecordingRuleRow } from './collections/recordingrules.ts';
export {
  canRun,
  type CheckScript,
  type Imports,
  moduleName,
  type ScriptCheck,
  type ScriptData,
  type ScriptKind,
  type ScriptModules,
  type ScriptProblem,
  type ScriptRow,
  type ScriptVersion,
  type Serving,
  servingOf,
} from './collections/script-row.ts';
export { checkScriptText, type ScriptText } from './collections/check-script-text.ts';
export { domainModules, readModules } from './collections/script-modules.ts';
export { listScriptVersions, readScriptVersion, servingBefore } from './collections/script-versions.ts';
export { type CheckWebhook, type WebhookRow, type WebhookState } from './collections/webhooks.ts';
export { digestSecrets } from './collections/sipusers.ts';
export type { LiveDirectory } from './live-directory.ts';
export { MAX_CONTACTS, type StoredBinding } from './location/contact-table.ts';
export type { ContactSharing, PersistentLocation } from './location/persistent-location.ts';
export { type Registration, Registrations } from './location/registrations.ts';
export { Code, Composite, composites, Id, Label, Login, Password } from './collections/fields.ts';
export { checkRoles } from './collections/role-codes.ts';
export { referredFirst } from './collections/several.ts';
export type {
  ContactBinding,
  Directory,
  Domain,
  FeatureCode,
  Gateway,
  LocationStore,
  NumberFormat,
  Numbering,
  NumberRule,
  Provider,
  RouteDecision,
  SipUser,
} from './directory.ts';
export { type DialPattern, dialPattern } from './routing/pattern.ts';

/** Loads the domain-center into memory. Changes go through `directory.collections`. */
export async function openDirectory(storage: Storage, options: CollectionOptions = {}): Promise<LiveDirectory> {
  const directory = new LiveDirectory(createCollections(storage.db, { notices: noticesOf(storage), ...options }));
  await directory.reload();
  return directory;
}

/**
 * Loads the unexpired registered contacts.
 *
 * @param directory a sipuser removed from it loses its contacts at once
 * @param now clock, milliseconds since the epoch
 */
export async function openLocation(
  storage: Storage,
  directory: LiveDirectory,
  now: () => number = Date.now,
): Promise<PersistentLocation> {
  const location = new PersistentLocation(storage, now);
  await location.load();
  const { sipusers, providers } = directory.collections;
  for (const accounts of [sipusers, providers]) {
    accounts.onChange(async ({ before, after }) => {
      if (before !== undefined && after === undefined) await location.removeAll(before.id);
    });
  }
  return location;
}

/** Change notices for collections; undefined on a single node. */
export function noticesOf({ kind, notices }: Storage): ChangeNotices | undefined {
  return kind === 'postgres' ? notices : undefined;
}
